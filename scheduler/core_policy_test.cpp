// Deletes that wait, tombstones, new uids under an old name, restarts and the journal, and what is reported.
#include <gtest/gtest.h>

#include "scheduler/core.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using Outcome = BindAnswered::Outcome;
using Found = RereadAnswered::Found;

// A core that knows n1 and n2 and has pod a queued.
struct Bench {
  World world;
  NodeFacts n1 = world.node("n1", 1000), n2 = world.node("n2", 1000);
  PodFacts a = world.pod("a"), b = world.pod("b"), c = world.pod("c");
  Driver d;

  explicit Bench(const Policy& policy) : d(world.catalog, world.config(policy)) {
    d.add(at(0), n1);
    d.add(at(0), a, watch());
  }
  explicit Bench(std::string_view preset_name) : Bench(*preset(preset_name)) {}

  // Of pods without a node.
  Watch watch() const { return d.core.policy().watches == Watches::kOne ? Watch::kAll : Watch::kQueued; }
  // Of pods with a node.
  Watch bound_watch() const { return d.core.policy().watches == Watches::kOne ? Watch::kAll : Watch::kScheduled; }
  PodFacts bound(const PodFacts& pod) const { return World::on(pod, n1.node); }
  void tombstone(Time now, Watch watch, const PodFacts& last) {
    d.step(now, PodChanged{watch, Verb::kDeleted, last, KnownFrom::kList});
  }
  int64_t charged() const {
    return static_cast<int64_t>(d.core.books().book(n1.node).cpu_milli + d.core.books().book(n2.node).cpu_milli);
  }
  bool nowhere(const PodFacts& pod) const {
    return !d.scheduled(pod.pod) && !d.assumed(pod.pod) &&
           d.core.queued().state(pod.pod) == QueuedStore::State::kAbsent;
  }
};

// --- Deletes that wait

// The race of kubernetes#6023: confirmed and deleted before the answer to its bind is there.
TEST(CoreDeletesWait, TheAnswerComesFirst) {
  for (const char* name : {"delete-both", "locked-delete"}) {
    SCOPED_TRACE(name);
    const bool waits = std::string_view(name) == "locked-delete";
    Bench bench(name);
    Driver& d = bench.d;
    d.decide(at(1));
    d.add(at(2), bench.bound(bench.a), Watch::kScheduled);
    d.remove(at(3), bench.bound(bench.a), Watch::kScheduled);
    EXPECT_EQ(d.scheduled(bench.a.pod), waits);
    d.add(at(4), bench.bound(bench.b), Watch::kScheduled);
    EXPECT_EQ(d.scheduled(bench.b.pod), !waits) << "what its watch brings waits behind it";
    EXPECT_TRUE(d.core.seen(bench.b.pod));
    d.add(at(4), bench.c, Watch::kQueued);
    EXPECT_TRUE(d.queued(bench.c.pod)) << "the other watch does not wait";
    d.answer(at(5), bench.a.pod, bench.n1.node);
    EXPECT_FALSE(d.scheduled(bench.a.pod));
    EXPECT_EQ(d.assumed(bench.a.pod), !waits) << "a zombie unless the delete waited";
    EXPECT_TRUE(d.scheduled(bench.b.pod));
    EXPECT_EQ(bench.charged(), waits ? 100 : 200);
  }
}

TEST(CoreDeletesWait, OnlyForTheirOwnPodsBind) {
  Bench bench("locked-delete");
  Driver& d = bench.d;
  d.add(at(0), bench.bound(bench.b), Watch::kScheduled);
  d.decide(at(1));
  d.remove(at(2), bench.bound(bench.b), Watch::kScheduled);
  EXPECT_FALSE(d.scheduled(bench.b.pod));
  d.remove(at(3), bench.a, Watch::kQueued);
  EXPECT_FALSE(d.core.queued().at(bench.a.pod).known()) << "the queue's watch has nothing to wait for";
}

TEST(CoreDeletesWait, AListThatLacksThePodWaitsAsTheDeleteDoes) {
  for (const ListKind kind : {ListKind::kOwn, ListKind::kPeriodic}) {
    Bench bench(with("locked-delete", {{"relist", "1h"}}));
    Driver& d = bench.d;
    d.decide(at(1));
    d.add(at(2), bench.bound(bench.a), Watch::kScheduled);
    {
      const std::vector<PodFacts> without = {bench.bound(bench.b)};
      d.step(at(3), PodsListed{Watch::kScheduled, without, kind});
    }
    EXPECT_TRUE(d.scheduled(bench.a.pod));
    EXPECT_FALSE(d.scheduled(bench.b.pod));
    d.remove(at(4), bench.bound(bench.b), Watch::kScheduled);
    d.answer(at(5), bench.a.pod, bench.n1.node);
    EXPECT_TRUE(bench.nowhere(bench.a));
    EXPECT_TRUE(bench.nowhere(bench.b)) << "listed, then deleted, in this order";
    EXPECT_EQ(bench.charged(), 0);
  }
}

TEST(CoreDeletesWait, AListThatHoldsThePodDoesNotWait) {
  Bench bench("locked-delete");
  Driver& d = bench.d;
  d.decide(at(1));
  d.add(at(2), bench.bound(bench.a), Watch::kScheduled);
  const std::vector<PodFacts> both = {bench.bound(bench.a), bench.bound(bench.b)};
  d.step(at(3), PodsListed{Watch::kScheduled, both});
  EXPECT_TRUE(d.scheduled(bench.b.pod));
}

TEST(CoreDeletesWait, ABindWithoutAnAnswerIsGivenUpAndTheStreamGoesOn) {
  Bench bench(with("locked-delete", {{"deletes-wait", "10s"}}));
  Driver& d = bench.d;
  d.decide(at(1000));
  d.add(at(2000), bench.bound(bench.a), Watch::kScheduled);
  d.remove(at(3000), bench.bound(bench.a), Watch::kScheduled);
  EXPECT_EQ(d.core.next_wake(), at(11'000));
  d.step(at(11'000), TimeReached{});
  EXPECT_FALSE(d.core.in_flight(bench.a.pod));
  ASSERT_NE(d.effect<ReportEvent>(), nullptr);
  EXPECT_EQ(d.effect<ReportEvent>()->text, ReportEvent::Text::kBindUnknown);
  EXPECT_TRUE(bench.nowhere(bench.a));
  d.answer(at(12'000), bench.a.pod, bench.n1.node);
  EXPECT_TRUE(bench.nowhere(bench.a)) << "an answer that comes too late says nothing";
  EXPECT_EQ(d.core.next_wake(), Time::never());
}

TEST(CoreDeletesWait, AGivenUpBindOfAPendingPodIsReadAgain) {
  Bench bench(with("locked-delete", {{"deletes-wait", "10s"}}));
  Driver& d = bench.d;
  d.decide(at(0));
  d.run_to(at(10'000));
  EXPECT_TRUE(d.parked(bench.a.pod));
  d.run_to(at(11'000));
  ASSERT_NE(d.effect<RereadPod>(), nullptr);
  EXPECT_EQ(d.effect<RereadPod>()->pod, bench.a.pod);
}

// --- Ticks

TEST(CoreExpiry, OnATickOrExactly) {
  struct Row {
    const char* expiry;
    int64_t answered;
    Time expected;  // TTL 10 s, bind sent at 1 s
  };
  for (const Row& row : {Row{"exact", 2345, at(12'345)}, Row{"tick", 2345, at(13'000)}, Row{"tick", 2999, at(13'000)},
                         Row{"tick", 3000, at(14'000)}}) {  // a deadline must have passed, not be reached
    SCOPED_TRACE(std::string(row.expiry) + " " + std::to_string(row.answered));
    Bench bench(with("upstream-2016", {{"ttl", "10s"}, {"expiry", row.expiry}}));
    bench.d.decide(at(1000));
    EXPECT_EQ(bench.d.core.next_wake(), Time::never()) << "an open bind never expires";
    bench.d.answer(at(row.answered), bench.a.pod, bench.n1.node);
    EXPECT_EQ(bench.d.core.next_wake(), row.expected);
    bench.d.step(row.expected, TimeReached{});
    EXPECT_NE(bench.d.effect<AssumptionExpired>(), nullptr);
    EXPECT_EQ(bench.charged(), 0);
  }
}

TEST(CoreExpiry, WhatAnOpenBindHeldUpLeavesAtTheNextTick) {
  Bench bench(with("upstream-2016", {{"ttl", "10s"}, {"ttl-from", "assume"}}));
  bench.d.decide(at(1000));
  bench.d.answer(at(20'500), bench.a.pod, bench.n1.node);
  EXPECT_EQ(bench.d.core.next_wake(), at(21'000));
}

// --- Tombstones

// A pod of which the last version seen had no node, though it was bound since; a list made its deletion known
// (kubernetes#106102).
TEST(CoreTombstone, OfAPodThatIsAssumed) {
  struct Row {
    const char* policy;
    bool stays;
  };
  for (const Row& row : {Row{"upstream-2016", true}, Row{"upstream-now", false}}) {
    for (const bool by_list : {false, true}) {
      SCOPED_TRACE(std::string(row.policy) + (by_list ? ", by its own list" : ", as a tombstone"));
      Bench bench(row.policy);
      Driver& d = bench.d;
      d.decide(at(1));
      d.answer(at(2), bench.a.pod, bench.n1.node);
      ASSERT_TRUE(d.assumed(bench.a.pod));
      if (by_list) {
        d.step(at(3), PodsListed{Watch::kAll, {}});
      } else {
        bench.tombstone(at(3), Watch::kAll, bench.a);
      }
      EXPECT_EQ(d.assumed(bench.a.pod), row.stays);
      EXPECT_EQ(bench.charged(), row.stays ? 100 : 0);
    }
  }
}

TEST(CoreTombstone, OfAPodThatIsScheduled) {
  struct Row {
    const char* policy;
    bool last_seen_bound, stays;
  };
  for (const Row& row : {Row{"upstream-2016", false, true}, Row{"upstream-2016", true, false},
                         Row{"upstream-now", false, false}, Row{"upstream-now", true, false}}) {
    SCOPED_TRACE(std::string(row.policy) + (row.last_seen_bound ? ", bound" : ", unbound"));
    Bench bench(row.policy);
    bench.d.add(at(1), bench.bound(bench.b));
    bench.tombstone(at(2), Watch::kAll, row.last_seen_bound ? bench.bound(bench.b) : bench.b);
    EXPECT_EQ(bench.d.scheduled(bench.b.pod), row.stays);
    EXPECT_EQ(bench.charged(), row.stays ? 100 : 0);
  }
}

TEST(CoreTombstone, OfAPodThatIsQueued) {
  for (const char* policy : {"upstream-2016", "upstream-now"}) {
    Bench bench(policy);
    bench.tombstone(at(1), Watch::kAll, bench.a);
    EXPECT_TRUE(bench.nowhere(bench.a));
  }
}

// The wiring of 2015: each watch's tombstone goes to its own store, by key (kubernetes-facts 1.5, ForgetPodByKey).
TEST(CoreTombstone, OfTwoWatches) {
  struct Row {
    const char* policy;
    Watch watch;
    bool scheduled, assumed;
  };
  for (const Row& row :
       {Row{"naive", Watch::kScheduled, false, true}, Row{"delete-both", Watch::kScheduled, false, false},
        Row{"delete-both", Watch::kQueued, true, true}}) {
    SCOPED_TRACE(row.policy);
    Bench bench(row.policy);
    Driver& d = bench.d;
    d.decide(at(1));
    d.answer(at(2), bench.a.pod, bench.n1.node);
    d.add(at(3), bench.bound(bench.a), Watch::kScheduled);
    bench.tombstone(at(4), row.watch, bench.a);
    EXPECT_EQ(d.scheduled(bench.a.pod), row.scheduled);
    EXPECT_EQ(d.assumed(bench.a.pod), row.assumed);
  }
}

// --- Another uid under one name

// The watch has missed that a was deleted: what it shows next under this name has another uid (kubernetes#85726).
TEST(CoreUidChange, AsItComesOutUnderEachPolicy) {
  enum class Next : uint8_t { kSameNode, kOtherNode, kPending };
  struct Row {
    const char* policy;
    Next next;
    bool old_stays, scheduled, queued;
  };
  const Row rows[] = {
      {"upstream-2016", Next::kSameNode, true, false, false}, {"upstream-2016", Next::kOtherNode, true, false, false},
      {"upstream-2016", Next::kPending, true, false, false},  {"upstream-now", Next::kSameNode, false, true, false},
      {"upstream-now", Next::kOtherNode, false, true, false}, {"upstream-now", Next::kPending, false, false, true},
  };
  for (const Row& row : rows) {
    for (const char* how : {"frame", "list"}) {
      SCOPED_TRACE(std::string(row.policy) + ", " + std::to_string(static_cast<int>(row.next)) + ", " + how);
      Bench bench(row.policy);
      Driver& d = bench.d;
      const PodFacts old = bench.bound(bench.a);
      d.add(at(1), old);
      PodFacts next = bench.world.pod("a", "second", bench.world.shape(300));
      if (row.next == Next::kSameNode) next.node = bench.n1.node;
      if (row.next == Next::kOtherNode) next.node = bench.n2.node;
      const std::vector<PodFacts> listed = {next};
      if (std::string_view(how) == "list") {
        d.step(at(2), PodsListed{Watch::kAll, listed});
      } else {
        d.modify(at(2), next);
      }
      const auto check = [&] {
        EXPECT_EQ(d.scheduled(old.pod), row.old_stays);
        EXPECT_EQ(d.scheduled(next.pod), row.scheduled);
        EXPECT_EQ(d.queued(next.pod), row.queued);
        EXPECT_EQ(bench.charged(), (row.old_stays ? 100 : 0) + (row.scheduled ? 300 : 0));
      };
      check();
      if (row.next == Next::kPending) continue;
      d.modify(at(3), next);  // for ever: each update is of a pod that the cache does not hold
      check();
    }
  }
}

TEST(CoreUidChange, ByNameTheNewOneTakesTheSlot) {
  Bench bench(with("combined", {{"watches", "one"}}));
  bench.d.add(at(1), bench.bound(bench.a));
  const PodFacts next = bench.world.pod("a", "second", bench.world.shape(300), "n2");
  bench.d.modify(at(2), next);
  EXPECT_FALSE(bench.d.scheduled(bench.a.pod));
  EXPECT_TRUE(bench.d.scheduled(next.pod));
  EXPECT_EQ(bench.charged(), 300);
}

// The queue of upstream goes by name, whatever its cache does (kubernetes-facts 4.1).
TEST(CoreUidChange, APendingPodGivesItsPlaceUp) {
  for (const char* policy : {"upstream-2016", "upstream-now"}) {
    for (const char* node : {"", "n1"}) {
      Bench bench(policy);
      const PodFacts next = bench.world.pod("a", "second", bench.world.shape(300), node);
      bench.d.modify(at(1), next);
      EXPECT_TRUE(bench.nowhere(bench.a));
      EXPECT_EQ(bench.d.queued(next.pod), !next.bound());
      EXPECT_EQ(bench.d.scheduled(next.pod), next.bound());
    }
  }
}

TEST(CoreUidChange, AfterADeletedTheNameIsFree) {
  for (const char* policy : {"upstream-2016", "upstream-now"}) {
    Bench bench(policy);
    bench.d.add(at(1), bench.bound(bench.a));
    bench.d.remove(at(2), bench.bound(bench.a));
    const PodFacts next = bench.world.pod("a", "second", bench.world.shape(300), "n1");
    bench.d.add(at(3), next);
    EXPECT_TRUE(bench.d.scheduled(next.pod));
    EXPECT_EQ(bench.charged(), 300);
  }
}

// --- Restart and journal

TEST(CoreRestart, NothingSurvivesButWhatIsOnDisk) {
  for (const Policy& policy : presets()) {
    SCOPED_TRACE(policy.name);
    Bench bench(policy);
    Driver& d = bench.d;
    d.add(at(1), bench.bound(bench.b), bench.bound_watch());
    ASSERT_EQ(d.decide(at(2)), bench.n1.node);
    d.add(at(3), bench.c, bench.watch());
    const std::vector<Decision> survived = d.core.journal();
    EXPECT_EQ(survived.size(), policy.keeps_journal() ? 1U : 0U);
    const uint64_t chain = d.core.chain();
    d.core.clear_touched();
    d.step(at(4), Restarted{survived});
    EXPECT_NE(d.core.chain(), chain);
    EXPECT_TRUE(bench.nowhere(bench.b) && bench.nowhere(bench.c));
    EXPECT_FALSE(d.core.in_flight(bench.a.pod));
    EXPECT_FALSE(d.core.seen(bench.c.pod));
    EXPECT_FALSE(d.core.books().book(bench.n1.node).known);
    EXPECT_EQ(d.assumed(bench.a.pod), policy.keeps_journal());
    EXPECT_EQ(bench.charged(), policy.keeps_journal() ? 100 : 0);
    EXPECT_EQ(d.core.stores_hash() == 0, !policy.keeps_journal());
    for (const PodFacts& pod : {bench.a, bench.b, bench.c}) {
      const auto touched = d.core.touched_pods();
      EXPECT_NE(std::find(touched.begin(), touched.end(), pod.pod), touched.end());
    }
    d.answer(at(5), bench.a.pod, bench.n1.node, Outcome::kRefused);
    EXPECT_EQ(d.assumed(bench.a.pod), policy.keeps_journal()) << "the answer went to a dead process";
  }
}

TEST(CoreRestart, TheGridOfRelistsGoesOn) {
  Bench bench("combined");
  bench.d.step(at(1234), Restarted{});
  EXPECT_EQ(bench.d.core.next_wake(), at(60'000));
}

// A crash between decision and bind: every other policy lists and finds the pod pending. This one believes its disk.
TEST(CoreRestart, AJournalHoldsThePodBackForATtl) {
  Bench bench("journal");
  Driver& d = bench.d;
  d.decide(at(1000));  // written; the process dies before it is sent
  const std::vector<Decision> survived = d.core.journal();
  d.step(at(2000), Restarted{survived});
  const std::vector<PodFacts> pending = {bench.a};
  d.step(at(2000), PodsListed{Watch::kQueued, pending});
  EXPECT_FALSE(d.queued(bench.a.pod)) << "it is assumed";
  EXPECT_EQ(d.core.next_wake(), at(32'000));
  d.step(at(32'000), TimeReached{});
  EXPECT_EQ(bench.charged(), 0);
  ASSERT_NE(d.effect<ForgetDecision>(), nullptr);
  EXPECT_FALSE(d.queued(bench.a.pod)) << "nobody tells of it";
  d.step(at(60'000), PodsListed{Watch::kQueued, pending, ListKind::kPeriodic});
  EXPECT_TRUE(d.queued(bench.a.pod));
}

TEST(CoreJournal, ADecisionIsWrittenBeforeItsBindIsSent) {
  Bench bench("journal");
  bench.d.decide(at(1));
  ASSERT_EQ(bench.d.effects.size(), 2U);
  const auto* written = std::get_if<PersistDecision>(&bench.d.effects[0]);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->decision.pod, bench.a.pod);
  EXPECT_EQ(written->decision.node, bench.n1.node);
  EXPECT_EQ(written->decision.shape, bench.a.shape);
  EXPECT_NE(std::get_if<BindPod>(&bench.d.effects[1]), nullptr);
  bench.d.answer(at(2), bench.a.pod, bench.n1.node);
  EXPECT_EQ(bench.d.effect<ForgetDecision>(), nullptr) << "won, but not yet known to be seen by anyone";
}

TEST(CoreJournal, ADecisionIsForgottenOnceItsOutcomeIsKnown) {
  using Do = void (*)(Bench&);
  struct Row {
    const char* what;
    Do lead_to, then;  // the second forgets
  };
  const Do nothing = [](Bench&) {};
  const Do won = [](Bench& bench) { bench.d.answer(at(2), bench.a.pod, bench.n1.node); };
  const Do unknown = [](Bench& bench) {
    bench.d.answer(at(2), bench.a.pod, bench.n1.node, Outcome::kUnknown);
    bench.d.run_to(at(1002));
  };
  const Row rows[] = {
      {"refused", nothing, [](Bench& bench) { bench.d.answer(at(2), bench.a.pod, bench.n1.node, Outcome::kRefused); }},
      {"seen scheduled", won, [](Bench& bench) { bench.d.add(at(3), bench.bound(bench.a), Watch::kScheduled); }},
      {"deleted", won, [](Bench& bench) { bench.d.remove(at(3), bench.bound(bench.a), Watch::kScheduled); }},
      {"expired", won, [](Bench& bench) { bench.d.run_to(at(30'002)); }},
      {"unknown, then read", unknown,
       [](Bench& bench) {
         bench.d.step(at(1003), RereadAnswered{bench.a.pod, Found::kPending});
       }},
      {"its name's next life is seen scheduled", won,
       [](Bench& bench) {
         bench.d.add(at(3), bench.world.pod("a", "second", bench.world.shape(1), "n1"), Watch::kScheduled);
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Bench bench("journal");
    bench.d.decide(at(1));
    row.lead_to(bench);
    EXPECT_EQ(bench.d.core.journal().size(), 1U);
    row.then(bench);
    EXPECT_TRUE(bench.d.core.journal().empty());
    ASSERT_NE(bench.d.effect<ForgetDecision>(), nullptr);
    EXPECT_EQ(bench.d.effect<ForgetDecision>()->pod, bench.a.pod);
  }
}

TEST(CoreJournal, WithoutOneNothingIsWritten) {
  for (const Policy& policy : {*preset("combined"), with("no-assume", {{"journal", "yes"}})}) {
    Bench bench(policy);
    bench.d.decide(at(1));
    EXPECT_EQ(bench.d.effect<PersistDecision>(), nullptr);
    EXPECT_TRUE(bench.d.core.journal().empty());
  }
}

// --- What is reported

TEST(CoreReports, EachOutcomeOfAnAttempt) {
  struct Row {
    Outcome outcome;
    ReportEvent::Text text;
    bool patched;
  };
  for (const Row& row : {Row{Outcome::kBound, ReportEvent::Text::kAssigned, false},
                         Row{Outcome::kRefused, ReportEvent::Text::kBindRefused, true},
                         Row{Outcome::kUnknown, ReportEvent::Text::kBindUnknown, true}}) {
    Bench bench("combined");
    bench.d.decide(at(1));
    EXPECT_EQ(bench.d.effect<ReportEvent>(), nullptr);
    bench.d.answer(at(2), bench.a.pod, bench.n1.node, row.outcome);
    const auto* event = bench.d.effect<ReportEvent>();
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->pod, bench.a.pod);
    EXPECT_EQ(event->node, bench.n1.node);
    EXPECT_EQ(event->text, row.text);
    EXPECT_EQ(event->scheduled(), !row.patched);
    const auto* patch = bench.d.effect<PatchStatus>();
    ASSERT_EQ(patch != nullptr, row.patched);
    EXPECT_TRUE(patch == nullptr || patch->text == row.text);
  }
}

TEST(CoreReports, APodThatFitsNowhere) {
  Bench bench("combined");
  bench.d.step(at(1), NodeChanged{Verb::kDeleted, bench.n1});
  bench.d.decide(at(2));
  ASSERT_NE(bench.d.effect<ReportEvent>(), nullptr);
  EXPECT_EQ(bench.d.effect<ReportEvent>()->text, ReportEvent::Text::kNoFit);
  EXPECT_FALSE(bench.d.effect<ReportEvent>()->node.known());
  EXPECT_NE(bench.d.effect<PatchStatus>(), nullptr);
}

}  // namespace
}  // namespace inquest::scheduler
