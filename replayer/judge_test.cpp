// The judge alone: a core and a truth that the test leads apart and together again.
#include "replayer/judge.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using scheduler::Watch;

struct Court {
  TestTrace trace;  // for its catalog
  Truth truth{trace.catalog()};
  scheduler::Core core;
  Judge judge;
  PodFacts a = trace.pod("a"), b = trace.pod("b");
  NodeId n1 = trace.catalog().node("n1"), n2 = trace.catalog().node("n2");
  UnknownBinds binds;
  trace::Seq seq = 0;

  explicit Court(std::string_view policy = "naive", Duration lag = Duration::seconds(1))
      : core(trace.catalog(),
             {*scheduler::preset(policy), kTraceStart, {trace.catalog().string(TestTrace::kScheduler)}, 0}),
        judge(lag) {}

  Judge::Scene scene() const { return {truth, core, binds}; }
  // The instant is over.
  void settle(int64_t ms, Cure cause = Cure::kFrame, Judge::Phase phase = Judge::Phase::kTrace) {
    for (const PodId pod : core.touched_pods()) judge.note(pod, cause);
    for (const NodeId node : core.touched_nodes()) judge.note(node, cause);
    for (const PodId pod : truth.touched_pods()) judge.note(pod, Cure::kTruth);
    for (const NodeId node : truth.touched_nodes()) judge.note(node, Cure::kTruth);
    core.clear_touched();
    truth.clear_touched();
    judge.settle(scene(), at(ms), ++seq, phase);
  }
  void tell(int64_t ms, Verb verb, const PodFacts& pod, Watch watch = Watch::kAll) {
    core.step(at(ms), scheduler::PodChanged{watch, verb, pod});
  }
  void tell(int64_t ms, Verb verb, const NodeFacts& node) { core.step(at(ms), scheduler::NodeChanged{verb, node}); }
  void assume(int64_t ms, const PodFacts& pod, NodeId node) {
    core.step(at(ms), scheduler::DecideAs{pod.pod, node});
    core.step(at(ms), scheduler::BindAnswered{pod.pod, node, scheduler::BindAnswered::Outcome::kBound});
  }
  PodFacts bound(const PodFacts& pod) { return trace.on(pod, "n1"); }

  // "zombie-scheduled a on n1 0..2000 event"
  std::vector<std::string> findings(int64_t end_ms) {
    std::vector<std::string> out;
    for (const Finding& finding : judge.finish(at(end_ms))) {
      std::string words(name_of(finding.verdict));
      if (finding.pod) words.append(" ").append(trace.catalog().name(trace.catalog().key_of(finding.pod)));
      if (finding.node) words.append(" on ").append(trace.catalog().node_name(finding.node));
      words.append(" ").append(std::to_string((finding.birth - kTraceStart).ns / 1'000'000)).append("..");
      if (finding.end) words.append(std::to_string((*finding.end - kTraceStart).ns / 1'000'000));
      words.append(" ").append(name_of(finding.cure));
      if (finding.after_end) words.append(" after end");
      if (finding.root) words.append(" under ").append(std::to_string(*finding.root + 1));
      out.push_back(words);
    }
    return out;
  }
};
using Words = std::vector<std::string>;

TEST(Judge, NothingWhereViewAndTruthAgree) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.tell(0, Verb::kAdded, court.a);
  court.settle(0);
  court.truth.apply(Verb::kModified, court.bound(court.a));
  court.tell(5, Verb::kModified, court.bound(court.a));
  court.settle(5);
  EXPECT_EQ(court.findings(60'000), Words{});
}

TEST(Judge, EachVerdictIsBornAndCured) {
  struct Row {
    const char* what;
    void (*part)(Court&);  // at 100 ms
    void (*heal)(Court&);  // at 5,000 ms
    const char* open;      // as it stands if nothing heals it
    const char* healed;
  };
  const Row rows[] = {
      {"zombie-scheduled: a uid in S that the truth no longer holds",
       [](Court& c) {
         c.tell(100, Verb::kAdded, c.bound(c.a));
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kDeleted, c.bound(c.a)); }, "zombie-scheduled a on n1 100.. never",
       "zombie-scheduled a on n1 100..5000 event"},
      {"the same of a pod that is terminal",
       [](Court& c) {
         PodFacts done = c.bound(c.a);
         c.tell(100, Verb::kAdded, done);
         done.phase = PodPhase::kSucceeded;
         c.truth.apply(Verb::kAdded, done);
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kDeleted, c.bound(c.a)); }, "zombie-scheduled a on n1 100.. never",
       "zombie-scheduled a on n1 100..5000 event"},
      {"zombie-assumed",
       [](Court& c) {
         c.tell(100, Verb::kAdded, c.a);
         c.assume(100, c.a, c.n1);
         c.settle(100);
       },
       [](Court& c) {
         c.tell(5000, Verb::kAdded, c.trace.pod("a", "next"));  // its name is queued again: purged by a decision
         c.core.step(at(5000), scheduler::AttemptFailed{c.b.pod});
         c.truth.apply(Verb::kAdded, c.trace.pod("a", "next"));
       },
       "zombie-assumed a on n1 100.. never", "zombie-assumed a on n1 100..5000 event"},
      {"ghost-queued: gone",
       [](Court& c) {
         c.tell(100, Verb::kAdded, c.a);
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kDeleted, c.a, Watch::kQueued); }, "ghost-queued a 100.. never",
       "ghost-queued a 100..5000 event"},
      {"missing-scheduled",
       [](Court& c) {
         c.truth.apply(Verb::kAdded, c.bound(c.a));
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kAdded, c.bound(c.a)); }, "missing-scheduled a on n1 100.. never",
       "missing-scheduled a on n1 100..5000 event"},
      {"missing-queued",
       [](Court& c) {
         c.truth.apply(Verb::kAdded, c.a);
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kAdded, c.a); }, "missing-queued a 100.. never",
       "missing-queued a 100..5000 event"},
      {"wrong-node",
       [](Court& c) {
         c.truth.apply(Verb::kAdded, c.trace.on(c.a, "n2"));
         c.tell(100, Verb::kAdded, c.bound(c.a));
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kModified, c.trace.on(c.a, "n2")); }, "wrong-node a on n1 100.. never",
       "wrong-node a on n1 100..5000 event"},
      {"ghost-node",
       [](Court& c) {
         c.tell(100, Verb::kAdded, c.trace.node("n1"));
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kDeleted, c.trace.node("n1")); }, "ghost-node on n1 100.. never",
       "ghost-node on n1 100..5000 event"},
      {"missing-node",
       [](Court& c) {
         c.truth.apply(Verb::kAdded, c.trace.node("n1"));
         c.settle(100);
       },
       [](Court& c) { c.tell(5000, Verb::kAdded, c.trace.node("n1")); }, "missing-node on n1 100.. never",
       "missing-node on n1 100..5000 event"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Court ill;
    row.part(ill);
    EXPECT_EQ(ill.findings(60'000), Words{row.open});
    Court cured;
    row.part(cured);
    row.heal(cured);
    cured.settle(5000);
    EXPECT_EQ(cured.findings(60'000), Words{row.healed});
  }
}

// Of several steps within an instant the one that ended it is its cure, not the first that touched its pod.
TEST(Judge, TheStepThatEndsAnEpisodeIsItsCure) {
  Court court;
  const auto changed = [&](Cure cause) { court.judge.changed(court.scene(), court.a.pod, cause); };
  court.tell(0, Verb::kAdded, court.bound(court.a));
  court.settle(0);
  court.tell(5000, Verb::kModified, court.bound(court.a));
  court.judge.note(court.a.pod, Cure::kRelist);
  changed(Cure::kRelist);
  court.tell(5000, Verb::kDeleted, court.bound(court.a));
  changed(Cure::kFrame);
  court.tell(5000, Verb::kAdded, court.bound(court.a));
  changed(Cure::kDecision);  // it is there again …
  court.tell(5000, Verb::kDeleted, court.bound(court.a));
  changed(Cure::kAnswer);  // … and now it is gone
  court.settle(5000);
  EXPECT_EQ(court.findings(60'000), Words{"zombie-scheduled a on n1 0..5000 answer"});
}

// In A it stands where A has it, whatever S says.
TEST(Judge, EachStoreNamesItsOwnNode) {
  Court court;
  court.tell(0, Verb::kAdded, court.a);
  court.assume(0, court.a, court.n2);
  court.tell(0, Verb::kModified, court.bound(court.a), Watch::kScheduled);
  court.settle(0);
  EXPECT_EQ(court.findings(60'000),
            (Words{"zombie-scheduled a on n1 0.. never", "zombie-assumed a on n2 0.. never under 1"}));
}

TEST(Judge, WhileASchedulerIsAwayItsStoresAreEmptyAndLackNothing) {
  Court court;
  court.tell(0, Verb::kAdded, court.bound(court.a));      // a zombie …
  court.truth.apply(Verb::kAdded, court.bound(court.b));  // … and one that is missing
  court.settle(0);
  court.core.step(at(5000), scheduler::Restarted{});
  court.truth.apply(Verb::kAdded, court.trace.pod("c"));
  for (const PodId pod : court.core.touched_pods()) court.judge.note(pod, Cure::kRestart);
  for (const PodId pod : court.truth.touched_pods()) court.judge.note(pod, Cure::kTruth);
  court.judge.settle({court.truth, court.core, court.binds, true}, at(5000), 7, Judge::Phase::kTrace);
  EXPECT_EQ(court.findings(60'000),
            (Words{"zombie-scheduled a on n1 0..5000 restart", "missing-scheduled b on n1 0.. never"}));
}

TEST(Judge, AGhostIsAlsoWhoIsBoundInTruth) {
  Court court;
  court.truth.apply(Verb::kAdded, court.bound(court.a));
  court.tell(0, Verb::kAdded, court.a);
  court.settle(0);
  EXPECT_EQ(court.findings(60'000),
            (Words{"ghost-queued a on n1 0.. never", "missing-scheduled a on n1 0.. never under 1"}));
}

TEST(Judge, WhatIsNobodysBusinessIsNotMissing) {
  Court court;
  PodFacts foreign = court.a, gated = court.b, deleting = court.trace.pod("c");
  foreign.scheduler = court.trace.catalog().string("another");
  gated.gated = true;
  deleting.deletion = at(1);
  for (const PodFacts& pod : {foreign, gated, deleting}) court.truth.apply(Verb::kAdded, pod);
  court.settle(0);
  EXPECT_EQ(court.findings(60'000), Words{});
}

TEST(Judge, AParkedPodAndOneInFlightAreNotMissing) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.truth.apply(Verb::kAdded, court.b);
  court.tell(0, Verb::kAdded, court.a);
  court.tell(0, Verb::kAdded, court.b);
  court.core.step(at(0), scheduler::AttemptFailed{court.a.pod});
  court.core.step(at(0), scheduler::DecideAs{court.b.pod, court.n1});
  court.settle(0);
  EXPECT_EQ(court.findings(60'000), Words{});
}

TEST(Judge, TheLagBoundExcusesExactlyItself) {
  for (const int64_t healed_at : {999, 1000, 1001}) {
    Court court;
    court.truth.apply(Verb::kAdded, court.a);
    court.settle(0);
    court.tell(healed_at, Verb::kAdded, court.a);
    court.settle(healed_at);
    const auto expected = healed_at > 1000 ? Words{"missing-queued a 0..1001 event"} : Words{};
    EXPECT_EQ(court.findings(60'000), expected);
  }
}

// Nothing will heal what is open when time stands still; it outlives the bound as soon as it has reached it.
TEST(Judge, WhatIsOpenAtTheEndNeedsTheBoundToHaveRunOut) {
  for (const int64_t end : {999, 1000, 1001}) {
    Court court;
    court.truth.apply(Verb::kAdded, court.a);
    court.settle(0);
    EXPECT_EQ(court.findings(end), end >= 1000 ? Words{"missing-queued a 0.. never"} : Words{});
  }
}

TEST(Judge, AnInstantIsJudgedWhenItIsOver) {
  Court court("naive", Duration{0});
  court.truth.apply(Verb::kAdded, court.a);
  court.tell(0, Verb::kAdded, court.a);
  court.settle(0);
  court.truth.apply(Verb::kDeleted, court.a);
  court.tell(7, Verb::kDeleted, court.a);
  court.settle(7);
  EXPECT_EQ(court.findings(60'000), Words{});
}

TEST(Judge, ACureAfterTheEndIsMarked) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.settle(0);
  court.tell(3000, Verb::kAdded, court.a);
  court.settle(3000, Cure::kRelist, Judge::Phase::kAfterEnd);
  EXPECT_EQ(court.findings(60'000), Words{"missing-queued a 0..3000 relist after end"});
}

TEST(Judge, ATruthThatCatchesUpIsACureToo) {
  Court court;
  court.tell(0, Verb::kAdded, court.bound(court.a));
  court.settle(0);
  court.truth.apply(Verb::kAdded, court.bound(court.a));
  court.settle(2000);
  EXPECT_EQ(court.findings(60'000), Words{"zombie-scheduled a on n1 0..2000 truth"});
}

TEST(Judge, TwoEpisodesAreTwoFindings) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.settle(0);
  court.tell(2000, Verb::kAdded, court.a);
  court.settle(2000);
  court.tell(3000, Verb::kDeleted, court.a, Watch::kQueued);
  court.settle(3000);
  EXPECT_EQ(court.findings(60'000), (Words{"missing-queued a 0..2000 event", "missing-queued a 3000.. never"}));
}

// --- Consequences and refusals

// n1 has 1000m; a zombie holds 700m of it, and 700m more are bound there.
struct Crowded : Court {
  Crowded() {
    const NodeFacts node = trace.node("n1", 1000);
    truth.apply(Verb::kAdded, node);
    tell(0, Verb::kAdded, node);
    settle(0);
  }
};

TEST(Judge, AnOvercommitBecauseOfAZombieNestsInIt) {
  Crowded court;
  const PodFacts zombie = court.trace.on(court.trace.pod("zombie", "", 0, 700), "n1");
  const PodFacts other = court.trace.on(court.trace.pod("other", "", 0, 700), "n1");
  court.tell(10, Verb::kAdded, zombie);
  court.settle(10);
  court.tell(20, Verb::kAdded, other);
  court.truth.apply(Verb::kAdded, other);
  court.settle(20);
  EXPECT_EQ(court.findings(60'000),
            (Words{"zombie-scheduled zombie on n1 10.. never", "overcommit on n1 20.. never under 1"}));
}

TEST(Judge, ATrueOvercommitIsNoFaultOfTheView) {
  Crowded court;
  for (const char* name : {"x", "y"}) {
    const PodFacts pod = court.trace.on(court.trace.pod(name, "", 0, 700), "n1");
    court.tell(10, Verb::kAdded, pod);
    court.truth.apply(Verb::kAdded, pod);
  }
  court.settle(10);
  const auto findings = court.judge.finish(at(60'000));
  ASSERT_EQ(findings.size(), 2U);
  const size_t root = findings[0].verdict == Verdict::kOvercommitTruth ? 0 : 1;
  EXPECT_FALSE(findings[root].root);
  EXPECT_EQ(findings[1 - root].verdict, Verdict::kOvercommitView);
  EXPECT_EQ(findings[root].misfit.kind, scheduler::Misfit::Kind::kCpu);
}

TEST(Judge, ARefusalBelongsToTheZombieThatHoldsThePort) {
  Crowded court;
  const PodFacts zombie = court.trace.on(court.trace.pod("zombie", "", 8080), "n1");
  const PodFacts older = court.trace.on(court.trace.pod("older", "", 9090), "n1");
  const PodFacts wants = court.trace.pod("wants", "", 8080);
  court.truth.apply(Verb::kAdded, wants);
  court.tell(5, Verb::kAdded, wants);
  court.tell(5, Verb::kAdded, older);
  court.settle(5);
  court.tell(10, Verb::kAdded, zombie);
  court.settle(10);
  court.judge.refused(court.scene(), {wants.pod, court.n1, {scheduler::Misfit::Kind::kPort, zombie.pod, nullptr, {}}},
                      at(20));
  const auto findings = court.judge.finish(at(60'000));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].would_refuse.empty());
  ASSERT_EQ(findings[1].would_refuse.size(), 1U);
  EXPECT_EQ(findings[1].pod, zombie.pod);
  EXPECT_EQ(findings[1].would_refuse[0].pod, wants.pod);
  EXPECT_EQ(findings[1].would_refuse[0].at, at(20));
  EXPECT_EQ(court.judge.refused_within_lag(), 0U);
}

TEST(Judge, ARefusalForLackOfRoomBelongsToTheOldestZombieThere) {
  Crowded court;
  for (const auto& [ms, name] : {std::pair(10, "old"), std::pair(20, "young")}) {
    court.tell(ms, Verb::kAdded, court.trace.on(court.trace.pod(name, "", 0, 400), "n1"));
    court.settle(ms);
  }
  const auto refusal = [&](NodeId node, scheduler::Misfit::Kind kind) {
    court.judge.refused(court.scene(), {court.a.pod, node, {kind, {}, nullptr, {}}}, at(30));
  };
  refusal(court.n1, scheduler::Misfit::Kind::kCpu);
  refusal(court.n2, scheduler::Misfit::Kind::kCpu);         // nobody's fault
  refusal(court.n2, scheduler::Misfit::Kind::kNoSuchNode);  // of a node that was never seen nothing can be said
  EXPECT_EQ(court.judge.refused_within_lag(), 1U);
  const auto findings = court.judge.finish(at(60'000));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].would_refuse.size(), 1U);
  EXPECT_TRUE(findings[1].would_refuse.empty());
}

TEST(Judge, OfZombiesOfOneInstantTheLowerOrdinalIsToBlame) {
  Crowded court;
  const PodFacts first = court.trace.on(court.trace.pod("first", "", 0, 400), "n1");
  const PodFacts second = court.trace.on(court.trace.pod("second", "", 0, 400), "n1");
  court.tell(10, Verb::kAdded, second);
  court.tell(10, Verb::kAdded, first);
  court.settle(10);
  const scheduler::Misfit no_cpu{scheduler::Misfit::Kind::kCpu, {}, nullptr, {}};
  court.judge.refused(court.scene(), {court.a.pod, court.n1, no_cpu}, at(20));
  court.tell(30, Verb::kDeleted, first);  // it left in this instant, which is not over
  court.judge.refused(court.scene(), {court.b.pod, court.n1, no_cpu}, at(30));
  court.settle(30);
  court.judge.refused(court.scene(), {court.a.pod, court.n1, no_cpu}, at(40));
  const auto findings = court.judge.finish(at(60'000));
  EXPECT_EQ(court.judge.refused_within_lag(), 1U) << "the first zombie lasted 20 ms";
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].pod, second.pod);
  ASSERT_EQ(findings[0].would_refuse.size(), 2U);
  EXPECT_EQ(findings[0].would_refuse[0].at, at(30));
  EXPECT_EQ(findings[0].would_refuse[1].at, at(40));
}

TEST(Judge, TheFirstCauseOfAnInstantCounts) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.settle(0);
  court.tell(2000, Verb::kAdded, court.a);
  court.judge.note(court.a.pod, Cure::kRelist);
  court.judge.note(court.a.pod, Cure::kTtl);
  court.settle(2000);
  EXPECT_EQ(court.findings(60'000), Words{"missing-queued a 0..2000 relist"});
}

TEST(Judge, RefusalsOfAnEpisodeWithinTheBoundAreOnlyCounted) {
  Crowded court;
  const PodFacts zombie = court.trace.on(court.trace.pod("zombie", "", 8080), "n1");
  court.tell(10, Verb::kAdded, zombie);
  court.settle(10);
  court.judge.refused(court.scene(), {court.a.pod, court.n1, {scheduler::Misfit::Kind::kPort, zombie.pod, nullptr, {}}},
                      at(20));
  court.tell(30, Verb::kDeleted, zombie);
  court.settle(30);
  EXPECT_EQ(court.judge.refused_within_lag(), 1U);
  EXPECT_EQ(court.findings(60'000), Words{});
}

TEST(Judge, APointNeedsNoBoundAndStandsInOrder) {
  Court court;
  court.truth.apply(Verb::kAdded, court.a);
  court.judge.point(Verdict::kTimeTravel, court.b.pod, {}, {}, at(50), 7);
  court.judge.point(Verdict::kDoubleBind, court.a.pod, court.n1, court.a.shape, at(40), 6);
  const auto findings = court.judge.finish(at(60'000));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].verdict, Verdict::kDoubleBind);
  EXPECT_EQ(findings[0].birth_seq, 6U);
  EXPECT_EQ(findings[0].holds, court.a.shape);
  EXPECT_EQ(findings[1].end, at(50));
}

TEST(Judge, NamesOfVerdictsAndCures) {
  EXPECT_EQ(name_of(Verdict::kOvercommitView), "overcommit");
  EXPECT_EQ(name_of(Verdict::kOvercommitTruth), "overcommit");
  std::vector<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(Verdict::kTimeTravel); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_FALSE(name_of(verdict).empty());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), name_of(verdict)), verdict == Verdict::kOvercommitTruth ? 1 : 0);
    seen.push_back(name_of(verdict));
  }
  for (int i = 0; i <= static_cast<int>(Cure::kTruth); ++i) EXPECT_FALSE(name_of(static_cast<Cure>(i)).empty());
}

}  // namespace
}  // namespace inquest::replayer
