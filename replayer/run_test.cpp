// Whole runs in mode follow, over small traces: whose decisions, when they take effect, and what it comes to.
#include "replayer/run.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Words = std::vector<std::string>;

// n1 and n2, and nobody yet.
struct Lab {
  TestTrace trace;
  std::unique_ptr<Recording> recording;

  Lab() {
    trace.nodes_listed(0, {trace.node("n1"), trace.node("n2")});
    trace.pods_listed(0, {});
  }
  const Recording& load() {
    if (!recording) recording = trace.load();
    return *recording;
  }
  Outcome run(const RunConfig& config) {
    auto outcome = replay(load(), config);
    INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
    return std::move(*outcome);
  }
  Words findings(const RunConfig& config) { return describe(load(), run(config)); }
};

TEST(Run, ACleanTraceIsOkUnderThoseThatForget) {
  Lab lab;
  for (int i = 0; i < 5; ++i) {
    const PodFacts pod = lab.trace.place(i * 100, std::string("p").append(std::to_string(i)), i % 2 == 0 ? "n1" : "n2");
    lab.trace.frame(i * 100 + 50, Verb::kDeleted, pod);
  }
  for (const char* policy : {"no-assume", "delete-both", "combined"}) {
    SCOPED_TRACE(policy);
    const Outcome outcome = lab.run(config(policy));
    EXPECT_EQ(outcome.ending, Ending::kOk);
    EXPECT_EQ(describe(lab.load(), outcome), Words{});
    EXPECT_EQ(outcome.followed, 5U);
    EXPECT_EQ(outcome.inferred, 0U);
    EXPECT_EQ(outcome.skipped, 0U);
    EXPECT_EQ(outcome.refused_within_lag, 0U);
  }
}

// The seed's zombie: confirmed and deleted before the next decision.
TEST(Run, UnderNaiveADeleteBeforeTheNextDecisionLeavesAZombie) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1", 8080);
  lab.trace.frame(100, Verb::kDeleted, pod1);
  lab.trace.place(5000, "pod2", "n1", 8080);
  const Outcome outcome = lab.run(config("naive"));
  EXPECT_EQ(outcome.ending, Ending::kViolated);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(describe(lab.load(), outcome.findings[0]), "zombie-assumed pod1 on n1 from 100 to never by never");
  ASSERT_EQ(outcome.findings[0].would_refuse.size(), 1U);
  EXPECT_EQ(outcome.findings[0].would_refuse[0].at, at(5010));
  EXPECT_EQ(outcome.findings[0].race, Race::kDeletedBeforePurge);
  EXPECT_FALSE(outcome.findings[0].because);
  for (size_t i = 1; i < outcome.findings.size(); ++i) EXPECT_TRUE(outcome.findings[i].root) << i;
}

TEST(Run, InferredBindsAreFollowedAndMarked) {
  Lab lab;
  const PodFacts a = lab.trace.pod("a");
  lab.trace.frame(10, Verb::kAdded, a);
  lab.trace.frame(20, Verb::kModified, lab.trace.on(a, "n1"));
  lab.trace.frame(30, Verb::kDeleted, lab.trace.on(a, "n1"));
  const Outcome outcome = lab.run(config("combined"));
  EXPECT_EQ(outcome.ending, Ending::kOk);
  EXPECT_EQ(outcome.followed, 1U);
  EXPECT_EQ(outcome.inferred, 1U);
}

// A request was sent before its pod's ADDED came to us: it takes effect with the ADDED, and so does its answer.
TEST(Run, ARequestSentBeforeThePodWasSeenTakesEffectWhenItIs) {
  Lab lab;
  const PodFacts a = lab.trace.pod("a");
  const auto asked = lab.trace.request(10, a, "n1");
  lab.trace.answer(20, asked, 201);
  lab.trace.frame(30, Verb::kAdded, a);
  lab.trace.frame(4000, Verb::kModified, lab.trace.on(a, "n1"));
  lab.trace.frame(5000, Verb::kDeleted, lab.trace.on(a, "n1"));
  const Outcome outcome = lab.run(config("delete-both"));
  EXPECT_EQ(outcome.followed, 1U);
  EXPECT_EQ(outcome.skipped, 0U);
  // It is assumed from its ADDED on, though the answer was earlier; the recorded stream is that late with its news.
  EXPECT_EQ(describe(lab.load(), outcome), Words{"stale-view of pods with a node from 30 to 4000 by event"});
  // Without the assumed store the bound pod is in no store.
  EXPECT_EQ(lab.findings(config("no-assume")),
            (Words{"missing-scheduled a on n1 from 30 to 4000 by event",
                   "stale-view of pods with a node from 30 to 4000 by event under 1"}));
}

TEST(Run, APodThatNeverCameIntoViewIsSkippedAndCounted) {
  Lab lab;
  lab.trace.answer(20, lab.trace.request(10, lab.trace.pod("never"), "n1"), 201);
  lab.trace.place(30, "a", "n1");
  const Outcome outcome = lab.run(config("combined"));
  EXPECT_EQ(outcome.followed, 1U);
  EXPECT_EQ(outcome.skipped, 1U);
  EXPECT_EQ(outcome.ending, Ending::kOk);
}

TEST(Run, AnAddedThatTheFaultDropsKeepsThePodOutOfView) {
  Lab lab;
  lab.trace.place(10, "a", "n1");
  const Outcome outcome = lab.run(config("no-assume", {drop("pods name=a nth=all")}));
  EXPECT_EQ(outcome.skipped, 1U);
  EXPECT_EQ(outcome.faults[0].fired, 2U);
  EXPECT_EQ(outcome.ending, Ending::kViolated);
}

TEST(Run, WhatCameAfterTheWatchClosedIsOutsideCoverage) {
  Lab lab;
  lab.trace.place(10, "a", "n1");
  lab.trace.mark(100, trace::RecordKind::kClose);
  lab.trace.request(200, lab.trace.pod("late"), "n1");
  const Outcome outcome = lab.run(config("combined"));
  EXPECT_EQ(outcome.outside_coverage, 1U);
  EXPECT_EQ(outcome.followed, 1U);
  EXPECT_EQ(outcome.end, at(100));
  EXPECT_EQ(outcome.ending, Ending::kOk);
}

// --- Whose decisions

// kube wins twice, the toy once; of a third pod the toy was refused.
void race(Lab& lab) {
  const auto bind = [&](int64_t ms, const char* name, const char* winner, const char* loser) {
    const PodFacts pod = lab.trace.pod(name);
    lab.trace.frame(ms, Verb::kAdded, pod);
    const auto won = lab.trace.request(ms + 10, pod, "n1", winner), lost = lab.trace.request(ms + 11, pod, "n2", loser);
    lab.trace.answer(ms + 20, won, 201);
    lab.trace.answer(ms + 21, lost, 409);
    lab.trace.frame(ms + 30, Verb::kModified, lab.trace.on(pod, "n1"));
  };
  bind(0, "p1", "kube", "toy");
  bind(100, "p2", "toy", "kube");
  bind(200, "p3", "kube", "toy");
}

TEST(Run, FollowsWhoWonMostUnlessTold) {
  Lab lab;
  race(lab);
  EXPECT_EQ(lab.load().catalog().text((*followed_scheduler(lab.load(), ""))->name), "kube");
  RunConfig as_toy = config("combined"), as_kube = config("combined");
  as_toy.as = "toy";
  as_kube.as = "kube";
  const Outcome kube = lab.run(config("combined")), toy = lab.run(as_toy);
  EXPECT_EQ(kube.chain, lab.run(as_kube).chain);
  EXPECT_NE(kube.chain, toy.chain);
  EXPECT_EQ(kube.followed, 3U);
  EXPECT_EQ(toy.followed, 3U);
  EXPECT_EQ(kube.ending, Ending::kOk);
  EXPECT_EQ(toy.ending, Ending::kOk);
}

TEST(Run, NobodyOfThatNameIsAnErrorThatListsThem) {
  Lab lab;
  race(lab);
  RunConfig wrong = config("combined");
  wrong.as = "nobody";
  const auto outcome = replay(lab.load(), wrong);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kUsage);
  EXPECT_EQ(outcome.error().message(),
            "--as: no scheduler 'nobody' bound anything in this trace (schedulers: kube, toy)");
}

TEST(Run, ATraceWithoutAnyBindFollowsNobody) {
  Lab lab;
  const Outcome outcome = lab.run(config("combined"));
  EXPECT_EQ(outcome.ending, Ending::kOk);
  EXPECT_EQ(outcome.followed, 0U);
}

TEST(Run, ItsOwnPodsAreThoseItSentBindsForOrThoseNamed) {
  Lab lab;
  PodFacts foreign = lab.trace.pod("foreign");
  foreign.scheduler = lab.trace.catalog().string("another");
  lab.trace.frame(5, Verb::kAdded, foreign);
  lab.trace.place(10, "a", "n1");
  // Dropped ADDED of a pod that nobody binds: missing in the queue only if it is one's own.
  lab.trace.frame(50, Verb::kAdded, lab.trace.pod("b"));
  lab.trace.frame(60, Verb::kAdded, [&] {
    PodFacts pod = lab.trace.pod("c");
    pod.scheduler = foreign.scheduler;
    return pod;
  }());
  RunConfig run = config("delete-both", {drop("ADDED name=b"), drop("ADDED name=c")});
  EXPECT_EQ(lab.findings(run), Words{"missing-queued b from 50 to never by never"});
  run.scheduler_names = {"another"};
  EXPECT_EQ(lab.findings(run), Words{"missing-queued c from 60 to never by never"});
}

// --- Attempts

TEST(Run, AFailedAttemptIsADecisionSoNaivePurges) {
  for (const bool fails : {false, true}) {
    Lab lab;
    const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
    PodFacts waits = lab.trace.pod("waits");
    lab.trace.frame(50, Verb::kAdded, waits);
    waits.scheduled = fails ? Condition::kFalse : Condition::kAbsent;
    lab.trace.frame(60, Verb::kModified, waits);
    lab.trace.frame(100, Verb::kDeleted, pod1);
    const Words zombie = {"zombie-assumed pod1 on n1 from 100 to never by never"};
    EXPECT_EQ(lab.findings(config("naive")), fails ? Words{} : zombie);
  }
}

TEST(Run, ARefusedBindIsParkedReadAgainAndFollowed) {
  Lab lab;
  const PodFacts a = lab.trace.pod("a");
  lab.trace.frame(0, Verb::kAdded, a);
  lab.trace.answer(20, lab.trace.request(10, a, "n1"), 500);
  lab.trace.answer(3020, lab.trace.request(3000, a, "n2"), 201);
  lab.trace.frame(3030, Verb::kModified, lab.trace.on(a, "n2"));
  const Outcome outcome = lab.run(config("combined"));
  EXPECT_EQ(outcome.ending, Ending::kOk);
  EXPECT_EQ(outcome.followed, 2U);
}

// --- Faults

TEST(Run, ADroppedDeletedIsOneZombieWithItsCause) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1", 8080);
  lab.trace.place(200, "other", "n2");
  const auto seq = lab.trace.frame(400, Verb::kDeleted, pod1);
  lab.trace.place(5000, "pod2", "n1", 8080);
  const std::vector<Fault> plan = {drop("pods DELETED name=pod1")};

  const Outcome stays = lab.run(config("delete-both", plan));
  EXPECT_EQ(stays.ending, Ending::kViolated);
  EXPECT_EQ(stays.roots(), 1U);
  const Finding& zombie = stays.findings[0];
  EXPECT_EQ(describe(lab.load(), zombie), "zombie-scheduled pod1 on n1 from 400 to never by never");
  ASSERT_TRUE(zombie.because);
  EXPECT_EQ(zombie.because->seq, seq);
  EXPECT_EQ(zombie.because->verb, Verb::kDeleted);
  EXPECT_EQ(zombie.race, Race::kNone);
  EXPECT_EQ(zombie.would_refuse.size(), 1U);
  ASSERT_EQ(lab.load().catalog().shape(zombie.holds).ports.size(), 1U);
  EXPECT_EQ(stays.drain, Duration::seconds(1));

  const Outcome heals = lab.run(config("combined", plan));
  EXPECT_EQ(heals.roots(), 1U);
  EXPECT_EQ(describe(lab.load(), heals.findings[0]),
            "zombie-scheduled pod1 on n1 from 400 to 60000 by relist after end");
  EXPECT_EQ(heals.drain, Duration::seconds(91));
}

// The last record is dropped: the drain is as long as the bound, and that is enough.
TEST(Run, ADroppedDeletedAtTheVeryEndIsFound) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
  lab.trace.frame(400, Verb::kDeleted, pod1);
  EXPECT_EQ(lab.findings(config("delete-both", {drop("pods DELETED")})),
            (Words{"zombie-scheduled pod1 on n1 from 400 to never by never",
                   "zombie-assumed pod1 on n1 from 400 to never by never under 1"}));
}

TEST(Run, TheDrainMayBeChosen) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
  lab.trace.frame(400, Verb::kDeleted, pod1);
  RunConfig run = config("combined", {drop("pods DELETED")});
  run.drain = Duration::seconds(10);
  EXPECT_EQ(lab.findings(run), Words{"zombie-scheduled pod1 on n1 from 400 to never by never"});
  run.drain = Duration{0};
  EXPECT_EQ(lab.findings(run), Words{}) << "too short to outlive the bound";
  run.lag = Duration::seconds(59);
  run.drain.reset();
  EXPECT_EQ(lab.findings(run), Words{"zombie-scheduled pod1 on n1 from 400 to 60000 by relist after end"});
  run.lag = Duration::seconds(60);
  EXPECT_EQ(lab.findings(run), Words{});
}

// The confirmation comes later than the TTL: the assumption is gone before it.
TEST(Run, AConfirmationLaterThanTheTtlLosesTheAssumption) {
  Lab lab;
  lab.trace.place(0, "a", "n1");
  lab.trace.place(100'000, "b", "n1");
  RunConfig run = config("combined", {delay("pods MODIFIED name=a by=45s")});
  run.policy.relist = {};
  const Outcome outcome = lab.run(run);
  // Assumed at 20 ms, expired 30 s later; the frame of 30 ms comes 45 s late.
  EXPECT_EQ(describe(lab.load(), outcome), (Words{"missing-scheduled a on n1 from 30020 to 45030 by event",
                                                  "early-expire a on n1 from 30020 to 30020 by truth under 1"}));
  ASSERT_TRUE(outcome.findings[0].because);
  EXPECT_EQ(outcome.findings[0].because->fault, 0U);
}

TEST(Run, ADelayWithinTheTtlIsSurvived) {
  Lab lab;
  lab.trace.place(0, "a", "n1");
  lab.trace.place(100'000, "b", "n1");
  RunConfig run = config("combined", {delay("pods MODIFIED name=a by=25s watch=scheduled")});
  run.policy.relist = {};
  EXPECT_EQ(lab.findings(run), Words{});
}

TEST(Run, AFaultThatNeverFiredLeavesTheVerdictUnknown) {
  Lab lab;
  lab.trace.place(0, "a", "n1");
  const Outcome outcome = lab.run(config("combined", {drop("pods DELETED name=nobody")}));
  EXPECT_EQ(outcome.ending, Ending::kUnknown);
  ASSERT_EQ(outcome.unknown_because.size(), 1U);
  EXPECT_EQ(outcome.unknown_because[0],
            "fault 1 (drop pods DELETED name=nobody) never fired: no pod here has a name such as 'nobody'");
}

TEST(Run, ADelayThatADropOverruledHasNotFired) {
  Lab lab;
  const PodFacts a = lab.trace.place(0, "a", "n1");
  lab.trace.frame(50, Verb::kDeleted, a);
  const Outcome outcome = lab.run(config("combined", {drop("DELETED"), delay("DELETED by=1s")}));
  ASSERT_EQ(outcome.unknown_because.size(), 1U);
  EXPECT_EQ(outcome.unknown_because[0], "fault 2 (delay DELETED by=1s) never fired: a drop overruled it");
}

TEST(Run, FindingsWeighMoreThanWhatIsUnknown) {
  Lab lab;
  const PodFacts a = lab.trace.place(0, "a", "n1");
  lab.trace.frame(50, Verb::kDeleted, a);
  const Outcome outcome = lab.run(config("delete-both", {drop("DELETED"), drop("name=nobody")}));
  EXPECT_EQ(outcome.ending, Ending::kViolated);
  EXPECT_EQ(outcome.unknown_because.size(), 1U);
}

TEST(Run, WithoutNodesTheVerdictIsUnknown) {
  TestTrace trace;
  trace.pods_listed(0, {});
  trace.place(10, "a", "n1");
  const auto recording = trace.load();
  const Outcome outcome = *replay(*recording, config("combined"));
  EXPECT_EQ(outcome.ending, Ending::kUnknown);
  ASSERT_EQ(outcome.unknown_because.size(), 1U);
  EXPECT_NE(outcome.unknown_because[0].find("no nodes"), std::string::npos);
}

TEST(Run, ADroppedNodeIsMissedInTheView) {
  Lab lab;
  lab.trace.frame(10, Verb::kAdded, lab.trace.node("n3"));
  lab.trace.place(20, "a", "n1");
  EXPECT_EQ(lab.findings(config("delete-both", {drop("nodes ADDED name=n3")})),
            Words{"missing-node on n3 from 10 to never by never"});
  EXPECT_EQ(lab.findings(config("combined", {drop("nodes ADDED name=n3")})),
            Words{"missing-node on n3 from 10 to 60000 by relist after end"});
}

// --- Points

TEST(Run, TwoAcceptedBindsOfOneUidAreADoubleBind) {
  Lab lab;
  lab.trace.place(0, "a", "n1");
  lab.trace.answer(60, lab.trace.request(50, lab.trace.pod("a"), "n1", "other"), 201);
  EXPECT_EQ(lab.findings(config("combined")), Words{"double-bind a on n1 from 60 to 60 by truth"});
}

TEST(Run, BindingAgainAfterItsOwnSuccessIsADoubleBind) {
  Lab lab;
  lab.trace.place(0, "a", "n1");
  lab.trace.answer(60, lab.trace.request(50, lab.trace.pod("a"), "n2"), 409);
  EXPECT_EQ(lab.findings(config("combined")), Words{"double-bind a on n2 from 50 to 50 by truth"});
}

TEST(Run, BindingAgainAndWinningAgainIsOneDoubleBind) {
  for (const int64_t answered : {50, 60}) {
    Lab lab;
    lab.trace.place(0, "a", "n1");
    lab.trace.answer(answered, lab.trace.request(50, lab.trace.pod("a"), "n2"), 201);
    EXPECT_EQ(lab.findings(config("combined")), Words{"double-bind a on n2 from 50 to 50 by truth"});
  }
}

TEST(Run, AListThatHoldsADeletedPodIsTimeTravel) {
  Lab lab;
  const PodFacts a = lab.trace.place(0, "a", "n1");
  lab.trace.frame(50, Verb::kDeleted, a);
  lab.trace.pods_listed(100, {a});
  EXPECT_EQ(lab.findings(config("combined")), Words{"time-travel a on n1 from 100 to 100 by truth"});
}

TEST(Run, AnOlderVersionIsTimeTravel) {
  Lab lab;
  PodFacts a = lab.trace.pod("a");
  a.rv = 500;
  lab.trace.frame(10, Verb::kAdded, a);
  a.rv = 400;
  lab.trace.frame(20, Verb::kModified, a);
  EXPECT_EQ(lab.findings(config("combined")), Words{"time-travel a from 20 to 20 by truth"});
}

TEST(Run, ABindThatNamesNoNodeIsSurvived) {
  Lab lab;
  const PodFacts a = lab.trace.pod("a");
  lab.trace.frame(10, Verb::kAdded, a);
  lab.trace.answer(30, lab.trace.request(20, a, ""), 201);
  EXPECT_EQ(lab.run(config("combined")).ending, Ending::kOk);
}

// --- Lists within the trace

TEST(Run, AListThatOpensTheWatchAnewBringsTheViewUpToDate) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
  lab.trace.frame(400, Verb::kDeleted, pod1);
  lab.trace.pods_listed(10'000, {});
  lab.trace.place(20'000, "b", "n1");
  // A policy that never re-lists of its own accord hears of it all the same: the watch's own list is the truth to it,
  // and what it lacks is a delete, which goes where deletes go.
  const Words dropped = lab.findings(config("delete-both", {drop("pods DELETED")}));
  EXPECT_EQ(dropped, (Words{"zombie-scheduled pod1 on n1 from 400 to 10000 by relist",
                            "zombie-assumed pod1 on n1 from 400 to 10000 by relist under 1"}));
  const Words corrected = lab.findings(config("combined", {drop("pods DELETED")}));
  EXPECT_EQ(corrected, Words{"zombie-scheduled pod1 on n1 from 400 to 10000 by relist"});
}

// --- Elsewhere

TEST(Run, LooksWhetherTheProposalWouldHaveHealedIt) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
  lab.trace.place(200, "other", "n2");
  lab.trace.frame(400, Verb::kDeleted, pod1);
  const RunConfig run = config("delete-both", {drop("pods DELETED")});
  Outcome outcome = lab.run(run);
  ASSERT_TRUE(look_elsewhere(lab.load(), run, outcome).ok());
  ASSERT_TRUE(outcome.findings[0].elsewhere);
  EXPECT_EQ(outcome.findings[0].elsewhere->policy, "combined");
  EXPECT_EQ(outcome.findings[0].elsewhere->cure, Cure::kRelist);
  EXPECT_EQ(outcome.findings[0].elsewhere->at, at(60'000));
  EXPECT_TRUE(outcome.findings[0].elsewhere->after_end);

  const RunConfig same = config("combined", {drop("pods DELETED")});
  Outcome healed = lab.run(same);
  ASSERT_TRUE(look_elsewhere(lab.load(), same, healed).ok());
  EXPECT_FALSE(healed.findings[0].elsewhere) << "it healed here already";
}

// Under the proposal the naive zombie never arises.
TEST(Run, WhatNeverArisesElsewhereHasNoInstantThere) {
  Lab lab;
  const PodFacts pod1 = lab.trace.place(0, "pod1", "n1");
  lab.trace.frame(400, Verb::kDeleted, pod1);
  Outcome outcome = lab.run(config("naive"));
  ASSERT_TRUE(look_elsewhere(lab.load(), config("naive"), outcome).ok());
  ASSERT_TRUE(outcome.findings[0].elsewhere);
  EXPECT_FALSE(outcome.findings[0].elsewhere->at);
}

// --- Limits and sameness

TEST(Run, ATraceThatClaimsCenturiesIsRefusedWhereItWouldBeRelisted) {
  Lab lab;
  lab.trace.frame(int64_t{86'400'000} * 365 * 200, Verb::kAdded, lab.trace.pod("a"));
  const auto outcome = replay(lab.load(), config("combined"));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kOutOfLimit);
  EXPECT_TRUE(replay(lab.load(), config("delete-both")).ok());
}

TEST(Run, TooLongADrainIsSaidToBeTheDrain) {
  Lab lab;
  lab.trace.frame(1000, Verb::kAdded, lab.trace.pod("a"));
  RunConfig run = config("combined");
  run.drain = Duration::seconds(int64_t{86'400} * 365 * 200);
  const auto outcome = replay(lab.load(), run);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message().find("--drain: time runs on for "), 0U) << outcome.error().message();
}

TEST(Run, TheSameRunTwiceIsTheSame) {
  Lab lab;
  race(lab);
  const PodFacts pod = lab.trace.place(1000, "x", "n1", 80);
  lab.trace.frame(1100, Verb::kDeleted, pod);
  lab.trace.place(2000, "y", "n1", 80);
  for (const scheduler::Policy& policy : scheduler::presets()) {
    SCOPED_TRACE(policy.name);
    const RunConfig run = config(policy.name, {drop("DELETED"), delay("name=y by=2s nth=all")});
    const Outcome first = lab.run(run), second = lab.run(run);
    EXPECT_EQ(first.chain, second.chain);
    EXPECT_EQ(first.inputs, second.inputs);
    EXPECT_EQ(describe(lab.load(), first), describe(lab.load(), second));
    EXPECT_NE(lab.run(config(policy.name)).chain, first.chain);
  }
}

}  // namespace
}  // namespace inquest::replayer
