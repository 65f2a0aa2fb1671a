// Whole runs in which a stream, a list, a bind or the clock misbehaves: what the scheduler makes of it, and when it
// heals.
#include <gtest/gtest.h>

#include "replayer/run.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Words = std::vector<std::string>;

Fault fault(FaultKind kind, std::string_view text) {
  auto parsed = parse_fault(kind, text);
  INQUEST_CHECK(parsed.ok(), parsed.ok() ? "" : parsed.error().message());
  return *parsed;
}

// pod1 is placed on n1 at once and deleted at 5 s; pod2 comes at 6 s; the trace goes on to 60 s.
struct Day {
  TestTrace trace;
  std::unique_ptr<Recording> recording;

  Day() {
    trace.nodes_listed(0, {trace.node("n1"), trace.node("n2")});
    trace.pods_listed(0, {});
    const PodFacts pod1 = trace.place(100, "pod1", "n1", 8080);
    trace.frame(5000, Verb::kDeleted, pod1);
    trace.place(6000, "pod2", "n2");
    trace.frame(60'000, Verb::kModified, trace.node("n2"));
  }
  Outcome run(const RunConfig& config) {
    if (!recording) recording = trace.load();
    auto outcome = replay(*recording, config);
    INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
    return std::move(*outcome);
  }
  Words findings(std::string_view policy, std::vector<Fault> faults) {
    const Outcome outcome = run(config(policy, std::move(faults)));
    return describe(*recording, outcome);
  }
};

// A watch that resumes gets all that it missed; nothing is listed, nothing is lost.
TEST(Streams, ACutThatResumesDeliversLate) {
  Day day;
  const Words findings = day.findings("delete-both", {fault(FaultKind::kDisconnect, "pods at=+4s for=3s then=resume")});
  ASSERT_FALSE(findings.empty());
  EXPECT_TRUE(findings[0].starts_with("zombie-scheduled pod1 on n1 from 5000 to ")) << findings[0];
  EXPECT_TRUE(findings[0].ends_with(" by event")) << findings[0];
  for (const std::string& finding : findings) EXPECT_EQ(finding.find("never"), std::string::npos) << finding;
}

// After a 410 the reflector lists, and what the list lacks was deleted meanwhile.
TEST(Streams, ACutThatIsGoneIsHealedByTheListsTombstones) {
  for (const char* then : {"gone", "relist"}) {
    Day day;
    const Words findings = day.findings(
        "delete-both", {fault(FaultKind::kDisconnect, std::string("pods at=+4s for=3s then=").append(then))});
    ASSERT_FALSE(findings.empty());
    EXPECT_TRUE(findings[0].starts_with("zombie-scheduled pod1 on n1 from 5000 to ")) << findings[0];
    EXPECT_TRUE(findings[0].ends_with(" by relist")) << findings[0];
  }
}

TEST(Streams, ACutOnOneWatchLeavesTheOther) {
  Day day;
  EXPECT_EQ(day.findings("delete-both", {fault(FaultKind::kDisconnect, "pods at=+7s for=10s watch=queued")}), Words{})
      << "nothing happened on it then";
}

// While nobody can be reached a periodic list fails; the next one heals.
TEST(Streams, APeriodicListDuringACutFails) {
  Day day;
  RunConfig how = config("combined", {fault(FaultKind::kDrop, "pods DELETED name=pod1"),
                                      fault(FaultKind::kDisconnect, "pods at=+9s for=2s then=resume")});
  how.policy.relist.period = Duration::seconds(10);
  const Outcome outcome = day.run(how);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(describe(*day.recording, outcome.findings[0]), "zombie-scheduled pod1 on n1 from 5000 to 20000 by relist");
}

TEST(Streams, ATombstoneTellsADeletionThatNoFrameTold) {
  Day day;
  EXPECT_EQ(day.findings("combined", {fault(FaultKind::kTombstone, "pods DELETED name=pod1")}), Words{});
}

// The scheduled store of 2015 keeps what nobody told it to drop, until a list.
TEST(Streams, AnEmptyListForgetsWhatIsThere) {
  Day day;
  RunConfig how = config("combined", {fault(FaultKind::kList, "pods at=+9s watch=scheduled empty=true")});
  how.policy.relist.period = Duration::seconds(10);
  const Outcome outcome = day.run(how);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(describe(*day.recording, outcome.findings[0]),
            "missing-scheduled pod2 on n2 from 10000 to 20000 by relist");
  ASSERT_TRUE(outcome.findings[0].because.has_value());
  EXPECT_EQ(outcome.findings[0].because->fault, 0U);
}

TEST(Streams, AStaleListBringsBackWhatIsGone) {
  Day day;
  RunConfig how = config("combined", {fault(FaultKind::kList, "pods at=+9s watch=scheduled stale=6s")});
  how.policy.relist.period = Duration::seconds(10);
  const Outcome outcome = day.run(how);
  const Words findings = describe(*day.recording, outcome);
  ASSERT_EQ(findings.size(), 2U) << testing::PrintToString(findings);
  EXPECT_EQ(findings[0], "zombie-scheduled pod1 on n1 from 10000 to 20000 by relist");
  EXPECT_EQ(findings[1], "missing-scheduled pod2 on n2 from 10000 to 20000 by relist");
}

// Its content is as of when it was asked for: what came meanwhile waits behind it on the stream.
TEST(Streams, ALateListArrivesAsItWasTaken) {
  Day day;
  RunConfig how = config("combined", {fault(FaultKind::kList, "pods at=+3s watch=scheduled late=3s")});
  how.policy.relist.period = Duration::seconds(4);
  const Outcome outcome = day.run(how);
  const Words findings = describe(*day.recording, outcome);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0], "zombie-scheduled pod1 on n1 from 5000 to 7000 by event");
}

TEST(Streams, FramesThatComeTwiceOrInTheOtherOrderDoNoHarm) {
  for (const Fault& one :
       {fault(FaultKind::kDuplicate, "pods MODIFIED name=pod1 by=2s"),
        fault(FaultKind::kDuplicate, "pods DELETED name=pod1"), fault(FaultKind::kSwap, "pods ADDED name=pod2"),
        fault(FaultKind::kBookmarks, "pods nth=all")}) {
    Day day;
    day.trace.mark(61'000, trace::RecordKind::kBookmark, 1000);
    const Outcome outcome = day.run(config("combined", {one}));
    EXPECT_EQ(describe(*day.recording, outcome), Words{}) << one.text;
    EXPECT_EQ(outcome.ending, Ending::kOk) << one.text << testing::PrintToString(outcome.unknown_because);
  }
}

// A MODIFIED that comes once more after the DELETED brings the pod back into a store that asks no questions.
TEST(Streams, ALateDuplicateRaisesTheDead) {
  Day day;
  EXPECT_EQ(day.findings("delete-both", {fault(FaultKind::kDuplicate, "pods MODIFIED name=pod1 by=10s")}),
            (Words{"zombie-scheduled pod1 on n1 from 10130 to never by never"}));
}

// The frames of the last second once more: the pod comes, and goes again.
TEST(Streams, AfterGoingBackTheEndIsTheSame) {
  Day day;
  EXPECT_EQ(day.findings("delete-both", {fault(FaultKind::kRvBack, "pods DELETED name=pod1 back=6s")}), Words{});
}

// A pod that is bound at 20 ms, answered at 30, and confirmed by its frame only at `ms`.
std::unique_ptr<Recording> confirmed_late(int64_t ms) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts pod = trace.pod("a");
  trace.frame(10, Verb::kAdded, pod);
  trace.answer(30, trace.request(20, pod, "n1"), 201);
  trace.frame(ms, Verb::kModified, trace.on(pod, "n1"));
  return trace.load();
}

TEST(Streams, AJumpOfTheClockEndsAnAssumptionEarly) {
  const auto recording = confirmed_late(20'000);
  const auto expired = [&](std::vector<Fault> faults) {
    const auto outcome = replay(*recording, config("combined", std::move(faults)));
    for (const Finding& finding : outcome->findings) {
      if (finding.verdict == Verdict::kEarlyExpire) return std::optional(finding.birth);
    }
    return std::optional<Time>();
  };
  EXPECT_EQ(expired({}), std::nullopt);
  EXPECT_EQ(expired({fault(FaultKind::kClock, "at=+10s step=25s")}), at(10'000));
  EXPECT_EQ(expired({fault(FaultKind::kClock, "at=+10s step=15s")}), at(15'030)) << "30 s of its own clock";
  EXPECT_EQ(expired({fault(FaultKind::kClock, "at=+10s step=-25s")}), std::nullopt);
}

TEST(Streams, AnAnswerThatIsLostLeavesThePodInNeitherStoreUntilItsFrame) {
  const auto recording = confirmed_late(5000);
  const auto lost = replay(*recording, config("combined", {fault(FaultKind::kBind, "name=a answer=lost")}));
  EXPECT_EQ(describe(*recording, *lost), (Words{"missing-scheduled a on n1 from 30 to 5000 by event",
                                                "stale-view of pods with a node from 30 to 5000 by event under 1"}));
  const auto late = replay(*recording, config("combined", {fault(FaultKind::kBind, "name=a answer=late by=2s")}));
  EXPECT_EQ(describe(*recording, *late), (Words{"missing-scheduled a on n1 from 30 to 2030 by answer",
                                                "stale-view of pods with a node from 30 to 5000 by event under 1"}));
  const auto refused = replay(*recording, config("combined", {fault(FaultKind::kBind, "name=a answer=409")}));
  EXPECT_FALSE(refused->findings.empty());
}

// What the recording shows cannot be bent: a bind that won was carried out.
TEST(Streams, ABindFaultThatContradictsTheRecordingIsUnknown) {
  Day day;
  const Outcome outcome = day.run(config("combined", {fault(FaultKind::kBind, "name=pod1 answer=lost applied=false")}));
  EXPECT_EQ(outcome.ending, Ending::kUnknown);
  ASSERT_EQ(outcome.unknown_because.size(), 1U);
  EXPECT_EQ(outcome.unknown_because[0],
            "fault 1 (bind name=pod1 answer=lost applied=false) never fired: the recorded bind was carried out, and "
            "follow bends no truth");
  const Outcome other = day.run(config("combined", {fault(FaultKind::kBind, "name=pod1 answer=other-uid")}));
  ASSERT_EQ(other.unknown_because.size(), 1U);
  EXPECT_EQ(
      other.unknown_because[0],
      "fault 1 (bind name=pod1 answer=other-uid) never fired: the recorded bind went to the pod that it names, and "
      "follow bends no truth (--mode decide does)");
}

// A policy that never lists again gives a fault of such a list nothing to do: nothing was tried, and it says why.
TEST(Streams, AListThatThePolicyNeverAsksForIsUnknown) {
  Day day;
  const Outcome outcome = day.run(config("delete-both", {fault(FaultKind::kList, "pods at=+10s empty")}));
  EXPECT_EQ(outcome.ending, Ending::kUnknown);
  ASSERT_EQ(outcome.unknown_because.size(), 1U);
  EXPECT_NE(outcome.unknown_because[0].find("this policy lists at its start and after a break (--relist never)"),
            std::string::npos);
}

// All that it had in memory is gone, a zombie as well; it lists anew.
TEST(Streams, ARestartHeals) {
  Day day;
  EXPECT_EQ(day.findings("delete-both",
                         {fault(FaultKind::kDrop, "pods DELETED name=pod1"), fault(FaultKind::kRestart, "at=+20s")}),
            (Words{"zombie-scheduled pod1 on n1 from 5000 to 20000 by restart",
                   "zombie-assumed pod1 on n1 from 5000 to 6010 by decision under 1"}));
  EXPECT_EQ(day.findings("combined", {fault(FaultKind::kRestart, "at=+5.5s for=2s")}), Words{});
}

// A dead process holds nothing: the zombie ends with it, not when it comes back.
TEST(Streams, AZombieEndsWithTheProcessThatHeldIt) {
  Day day;
  const Words findings = day.findings("delete-both", {fault(FaultKind::kDrop, "pods DELETED name=pod1"),
                                                      fault(FaultKind::kRestart, "at=+20s for=10s")});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0], "zombie-scheduled pod1 on n1 from 5000 to 20000 by restart");
}

// Found at random: the watch is cut when the scheduler begins anew, and what happens meanwhile was delivered all the
// same.
TEST(Streams, ARestartDuringACutListsOnceItCan) {
  Day day;
  const Words findings = day.findings(
      "delete-both", {fault(FaultKind::kDisconnect, "pods at=+4s for=3s"), fault(FaultKind::kRestart, "at=+4.5s")});
  EXPECT_FALSE(findings.empty());
  for (const std::string& finding : findings) {
    EXPECT_NE(finding.find("by relist"), std::string::npos) << finding;
    EXPECT_EQ(finding.find("never"), std::string::npos) << finding;
  }
}

// Found at random: the second one met a watch that was asked for and not yet answered.
TEST(Streams, TwoCutsInOneInstantAreOne) {
  Day day;
  const Words findings = day.findings("upstream-2016", {fault(FaultKind::kDisconnect, "at=+4s for=1ms then=gone"),
                                                        fault(FaultKind::kDisconnect, "at=+4s for=2s")});
  for (const std::string& finding : findings) EXPECT_EQ(finding.find("never"), std::string::npos) << finding;
}

TEST(Streams, WhatItWouldHaveDecidedWhileAwayIsCounted) {
  Day day;
  const Outcome outcome = day.run(config("combined", {fault(FaultKind::kRestart, "at=+5.5s for=2s")}));
  EXPECT_EQ(outcome.while_away, 1U);
  EXPECT_EQ(outcome.followed, 1U);
}

// The decision was written down before its bind: after the restart it holds room, though the pod has gone meanwhile.
TEST(Streams, AJournalMakesACrashExpensive) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts pod = trace.pod("a");
  trace.frame(10, Verb::kAdded, pod);
  trace.answer(500, trace.request(20, pod, "n1"), 201);
  trace.frame(1000, Verb::kDeleted, pod);
  trace.frame(90'000, Verb::kModified, trace.node("n1"));
  const auto recording = trace.load();
  const Fault crash = fault(FaultKind::kRestart, "at=+100ms for=2s");
  const auto forgets = replay(*recording, config("combined", {crash}));
  EXPECT_EQ(describe(*recording, *forgets), Words{});
  const auto remembers = replay(*recording, config("journal", {crash}));
  EXPECT_EQ(describe(*recording, *remembers), (Words{"zombie-assumed a on n1 from 2100 to 32100 by ttl"}));
}

// --- What the recorded streams themselves tell: found at random, against the reference judge

struct Recorded {
  TestTrace trace;

  Recorded() {
    trace.nodes_listed(0, {trace.node("n1")});
    trace.pods_listed(0, {});
  }
  Words findings(int64_t end) {
    trace.frame(end, Verb::kModified, trace.node("n1"));
    const auto recording = trace.load();
    const auto outcome = replay(*recording, config("combined"));
    INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
    return describe(*recording, *outcome);
  }
};

TEST(StaleView, AnAnswerThatComesAfterItsFrameTellsNothingNew) {
  Recorded day;
  const PodFacts pod = day.trace.pod("pod1");
  day.trace.frame(100, Verb::kAdded, pod);
  const trace::Seq asked = day.trace.request(110, pod, "n1");
  day.trace.frame(120, Verb::kModified, day.trace.on(pod, "n1"));
  day.trace.answer(130, asked, 201);
  EXPECT_EQ(day.findings(20'000), Words{});
}

TEST(StaleView, APodThatHasEndedWasShownAsItIs) {
  Recorded day;
  PodFacts pod = day.trace.place(100, "pod1", "n1");
  pod.phase = PodPhase::kSucceeded;
  day.trace.frame(5000, Verb::kModified, pod);
  EXPECT_EQ(day.findings(20'000), Words{});
}

TEST(DoubleBind, OfASchedulerThatHadWonBeforeAnotherDidIsItsRequest) {
  Recorded day;
  const PodFacts pod = day.trace.place(100, "pod1", "n1");
  day.trace.answer(210, day.trace.request(200, pod, "n1", "other"), 201);
  day.trace.answer(310, day.trace.request(300, pod, "n1"), 201);
  EXPECT_EQ(day.findings(20'000), (Words{"double-bind pod1 on n1 from 210 to 210 by truth",
                                         "double-bind pod1 on n1 from 300 to 300 by truth"}));
}

TEST(TimeTravel, IsOfOneStream) {
  Recorded day;
  PodFacts pod = day.trace.pod("pod1");
  pod.rv = 200;
  day.trace.frame(100, Verb::kAdded, pod);
  pod.rv = 201;
  day.trace.frame(200, Verb::kModified, pod);
  pod.rv = 200;
  day.trace.frame(300, Verb::kAdded, pod, TestTrace::kAside);  // it merely comes later there
  EXPECT_EQ(day.findings(20'000), Words{});
}

TEST(TimeTravel, IsAlsoThatADeletedPodIsShownAsItWasBefore) {
  Recorded day;
  const PodFacts pod = day.trace.place(100, "pod1", "n1");
  day.trace.frame(1000, Verb::kDeleted, pod);
  PodFacts before = day.trace.on(pod, "n1");
  before.rv = 103;  // of its confirmation
  day.trace.frame(2000, Verb::kModified, before);
  const Words findings = day.findings(20'000);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0], "zombie-scheduled pod1 on n1 from 2000 to 60000 by relist after end");
  EXPECT_EQ(findings[1], "time-travel pod1 on n1 from 2000 to 2000 by truth under 1");
}

}  // namespace
}  // namespace inquest::replayer
