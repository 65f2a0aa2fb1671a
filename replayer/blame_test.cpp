// Blame over small stories: one fault, several, some together, some that hide, and none.
#include "replayer/blame.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Words = std::vector<std::string>;

Fault fault(FaultKind kind, std::string_view text) {
  auto parsed = parse_fault(kind, text);
  INQUEST_CHECK(parsed.ok(), parsed.ok() ? "" : parsed.error().message());
  return *parsed;
}

// pod1 and pod2 are placed at once and deleted at 5 s and 6 s; the trace goes on to 20 s.
struct Day {
  TestTrace trace;
  std::unique_ptr<Recording> recording;

  Day() {
    trace.nodes_listed(0, {trace.node("n1"), trace.node("n2")});
    trace.pods_listed(0, {});
    const PodFacts pod1 = trace.place(100, "pod1", "n1"), pod2 = trace.place(200, "pod2", "n2");
    trace.frame(5000, Verb::kDeleted, pod1);
    trace.frame(6000, Verb::kDeleted, pod2);
    trace.place(8000, "pod3", "n2");
    trace.frame(20'000, Verb::kModified, trace.node("n2"));
  }

  Outcome blamed(const RunConfig& config, const BlameLimits& limits = {}) {
    if (!recording) recording = trace.load();
    auto outcome = replay(*recording, config);
    INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
    const auto done = blame(*recording, config, *outcome, limits);
    INQUEST_CHECK(done.ok(), done.ok() ? "" : done.error().message());
    return *std::move(outcome);
  }

  // "zombie-scheduled pod1: faults 1 2", of those that follow from no other.
  Words causes(const RunConfig& config, const BlameLimits& limits = {}) {
    Words out;
    for (const Finding& finding : blamed(config, limits).findings) {
      if (finding.root) continue;
      std::string line(name_of(finding.verdict));
      if (finding.pod) line.append(" ").append(recording->catalog().name(recording->catalog().key_of(finding.pod)));
      line.append(": ").append(name_of(finding.blame.kind));
      for (const FaultHit& hit : finding.blame.faults) line.append(" ").append(std::to_string(hit.fault + 1));
      out.push_back(line);
    }
    return out;
  }
};

TEST(Blame, OneFaultIsNamedWithTheRecordThatItHit) {
  Day day;
  const Outcome outcome = day.blamed(config("delete-both", {drop("pods DELETED name=pod1")}));
  ASSERT_EQ(outcome.roots(), 1U);
  const Finding& finding = outcome.findings[0];
  EXPECT_EQ(finding.blame.kind, Blame::Kind::kFaults);
  ASSERT_EQ(finding.blame.faults.size(), 1U);
  EXPECT_EQ(finding.blame.faults[0].at, at(5000));
  EXPECT_EQ(finding.blame.faults[0].verb, Verb::kDeleted);
  ASSERT_TRUE(finding.because);
  EXPECT_EQ(finding.because->fault, 0U);
}

TEST(Blame, OfTwoFaultsEachIsBlamedForWhatItMade) {
  Day day;
  EXPECT_EQ(day.causes(config("delete-both", {drop("pods DELETED name=pod1"), drop("pods DELETED name=pod2")})),
            (Words{"zombie-scheduled pod1: faults 1", "zombie-scheduled pod2: faults 2"}));
}

// The fault that touched pod2 last made nothing: its frame comes twice, and nothing else.
TEST(Blame, AFaultThatOnlyTouchedThePodIsNotNamed) {
  Day day;
  EXPECT_EQ(day.causes(config("delete-both", {drop("pods DELETED name=pod1"), fault(FaultKind::kDuplicate, "name=pod1"),
                                              fault(FaultKind::kDuplicate, "DELETED name=pod2")})),
            (Words{"zombie-scheduled pod1: faults 1"}));
}

// Neither its confirmation nor its end reaches the scheduler. With the one the assumption is purged, with the other it
// is deleted.
TEST(Blame, WhereItTakesBothBothAreNamed) {
  Day day;
  EXPECT_EQ(day.causes(config("upstream-now",
                              {drop("pods MODIFIED name=pod1"), fault(FaultKind::kDuplicate, "pods ADDED name=pod2"),
                               drop("pods DELETED name=pod1")})),
            (Words{"zombie-assumed pod1: faults 1 3"}));
}

// The plan loses the same DELETED twice over.
TEST(Blame, WhatEachOfTwoMakesAloneIsPutDownToBothJointly) {
  Day day;
  const Fault once = drop("pods DELETED name=pod1");
  EXPECT_EQ(day.causes(config("delete-both", {once, drop("pods DELETED name=pod2"), once})),
            (Words{"zombie-scheduled pod1: jointly 1 3", "zombie-scheduled pod2: faults 2"}));
}

// A drop overrules a delay of the same frame; without the drop the delay does the same harm.
TEST(Blame, AFaultThatWasOverruledIsTakenAwayToo) {
  Day day;
  EXPECT_EQ(day.causes(config("delete-both", {drop("pods DELETED name=pod1"), delay("pods DELETED name=pod1 by=9s")})),
            (Words{"zombie-scheduled pod1: jointly 1 2"}));
}

// Under naive pod2 stays assumed by itself: no decision comes between its confirmation and its DELETED. The restart
// that hides this is blamed for nothing, nor is what appears without it put down to the other fault.
TEST(Blame, AFaultThatHidesIsNotBlamed) {
  Day day;
  const Fault hides = fault(FaultKind::kRestart, "at=+4s");
  EXPECT_EQ(day.causes(config("naive", {drop("pods DELETED name=pod1")})),
            (Words{"zombie-scheduled pod1: faults 1", "zombie-assumed pod2: policy"}));
  EXPECT_EQ(day.causes(config("naive", {hides, drop("pods DELETED name=pod1")})),
            (Words{"zombie-scheduled pod1: faults 2"}));
}

TEST(Blame, WhatIsThereWithoutAnyFaultIsTheRecordingsOwn) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts pod1 = trace.place(100, "pod1", "n1");
  trace.frame(5000, Verb::kDeleted, pod1);
  const PodFacts pod2 = trace.place(6000, "pod2", "n1");
  trace.frame(9000, Verb::kDeleted, pod2);
  const auto recording = trace.load();
  for (const auto& faults : {std::vector<Fault>{}, {fault(FaultKind::kDuplicate, "ADDED name=pod1")}}) {
    const RunConfig run = config("naive", faults);
    auto outcome = replay(*recording, run);
    ASSERT_TRUE(outcome.ok());
    ASSERT_TRUE(blame(*recording, run, *outcome).ok());
    ASSERT_FALSE(outcome->findings.empty());
    for (const Finding& finding : outcome->findings) {
      EXPECT_EQ(finding.blame.kind, Blame::Kind::kPolicy) << describe(*recording, finding);
      EXPECT_EQ(finding.race, Race::kDeletedBeforePurge);
      EXPECT_FALSE(finding.because);
    }
  }
}

// The bound pod is in no store until the recorded stream shows it, 4 s late: under a policy that assumes it is not so.
TEST(Blame, APolicysDesignIsToldFromWhatWasRecorded) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  trace.answer(30, trace.request(20, a, "n1"), 201);
  trace.frame(4000, Verb::kModified, trace.on(a, "n1"));
  const auto recording = trace.load();
  const RunConfig run = config("no-assume");
  auto outcome = replay(*recording, run);
  ASSERT_TRUE(outcome.ok() && blame(*recording, run, *outcome).ok());
  ASSERT_EQ(describe(*recording, *outcome), (Words{"missing-scheduled a on n1 from 30 to 4000 by event",
                                                   "stale-view of pods with a node from 30 to 4000 by event under 1"}));
  EXPECT_EQ(outcome->findings[0].blame.kind, Blame::Kind::kPolicy);
  EXPECT_EQ(outcome->findings[1].blame.kind, Blame::Kind::kRecording);
}

// While nobody watched, the pod was confirmed and deleted; the list that ended the gap brings the zombie.
TEST(Blame, WhatBeganWithTheEndOfAGapIsPutDownToIt) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  trace.answer(30, trace.request(20, a, "n1"), 201);
  const trace::Seq gap = trace.mark(1000, trace::RecordKind::kGap, 110);
  trace.pods_listed(1000, {});
  trace.frame(9000, Verb::kModified, trace.node("n1"));
  const auto recording = trace.load();
  ASSERT_EQ(recording->gaps().size(), 1U);
  EXPECT_EQ(recording->gaps()[0].seq, gap);
  EXPECT_EQ(recording->gaps()[0].ended, at(1000));
  const RunConfig run = config("delete-both");
  auto outcome = replay(*recording, run);
  ASSERT_TRUE(outcome.ok() && blame(*recording, run, *outcome).ok());
  ASSERT_EQ(describe(*recording, *outcome), Words{"zombie-assumed a on n1 from 1000 to never by never"});
  EXPECT_EQ(outcome->findings[0].blame.kind, Blame::Kind::kGap);
  EXPECT_EQ(outcome->findings[0].blame.gap, std::optional<size_t>(0));
}

TEST(Blame, MoreFaultsThanTheLimitAreSaidToBeUnproved) {
  Day day;
  const RunConfig two = config("delete-both", {drop("pods DELETED name=pod1"), drop("pods DELETED name=pod2")});
  EXPECT_EQ(day.blamed(two, {1, 1'000'000}).too_many_to_blame, 2U);
  EXPECT_EQ(day.blamed(two, {9, 10}).too_many_to_blame, 2U);
  EXPECT_EQ(day.causes(two, {9, 10}), (Words{"zombie-scheduled pod1: unproved", "zombie-scheduled pod2: unproved"}));
  EXPECT_EQ(day.blamed(two).too_many_to_blame, 0U);
}

// A fork that leaves a fault out comes to what a run comes to whose plan never held it.
TEST(Blame, AMutedFaultIsNoFault) {
  for (const Mode mode : {Mode::kFollow, Mode::kDecide}) {
    for (const scheduler::Policy& policy : scheduler::presets()) {
      Day day;
      day.blamed(config("combined"));
      RunConfig with = config(policy.name, {drop("pods DELETED name=pod1"), delay("pods name=pod2 by=3s"),
                                            fault(FaultKind::kRestart, "at=+4s"), fault(FaultKind::kBind, "nth=2 lost"),
                                            fault(FaultKind::kList, "nth=2 empty")});
      with.mode = mode;
      with.drain = Duration::seconds(100);
      for (size_t muted = 0; muted < with.plan.faults.size(); ++muted) {
        SCOPED_TRACE(policy.name + " without fault " + std::to_string(muted + 1));
        RunConfig without = with;
        without.plan.faults.erase(without.plan.faults.begin() + static_cast<ptrdiff_t>(muted));
        const auto straight = replay(*day.recording, without);
        auto run = Run::start(*day.recording, with);
        ASSERT_TRUE(straight.ok() && run.ok());
        run->world().faults().mute(muted);
        while (run->advance()) {
        }
        const Outcome outcome = run->finish();
        EXPECT_EQ(outcome.chain, straight->chain);
        EXPECT_EQ(describe(*day.recording, outcome), describe(*day.recording, *straight));
      }
    }
  }
}

TEST(Blame, DecideIsBlamedToo) {
  Day day;
  RunConfig decide = config("delete-both", {drop("pods DELETED name=pod1"), delay("pods ADDED name=pod3 by=2s")});
  decide.mode = Mode::kDecide;
  const Words causes = day.causes(decide);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes[0], "zombie-scheduled pod1: faults 1");
}

}  // namespace
}  // namespace inquest::replayer
