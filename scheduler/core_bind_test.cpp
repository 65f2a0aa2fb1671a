// Decisions, binds, assumptions and backoff of a core.
#include <gtest/gtest.h>

#include "scheduler/core.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using Outcome = BindAnswered::Outcome;
using Found = RereadAnswered::Found;

// A core that knows n1 and has one pod queued.
struct Bench {
  World world;
  NodeFacts n1 = world.node("n1", 1000);
  PodFacts a = world.pod("a"), b = world.pod("b");
  Driver d;

  explicit Bench(const Policy& policy) : d(world.catalog, world.config(policy)) {
    d.add(at(0), n1);
    d.add(at(0), a, Watch::kQueued);
  }
  explicit Bench(std::string_view preset_name) : Bench(*preset(preset_name)) {}

  PodFacts bound(const PodFacts& pod) const { return World::on(pod, n1.node); }
  int64_t charged() const { return static_cast<int64_t>(d.core.books().book(n1.node).cpu_milli); }
};

TEST(CoreBind, SerialTakesNoDecisionWhileABindIsOpen) {
  Bench bench("combined");
  Driver& d = bench.d;
  d.add(at(0), bench.b, Watch::kQueued);
  EXPECT_TRUE(d.core.can_decide());
  EXPECT_EQ(d.decide(at(1)), bench.n1.node);
  EXPECT_TRUE(d.core.in_flight(bench.a.pod));
  EXPECT_FALSE(d.core.can_decide());
  d.answer(at(2), bench.a.pod, bench.n1.node);
  EXPECT_TRUE(d.core.can_decide());
  d.decide(at(3));
  d.answer(at(4), bench.b.pod, bench.n1.node);
  EXPECT_FALSE(d.core.can_decide()) << "the queue is empty";
}

TEST(CoreBind, ParallelBindsAreBounded) {
  Bench bench(with("combined", {{"binds", "2"}}));
  Driver& d = bench.d;
  for (size_t i = 0; i < 2; ++i) d.add(at(0), bench.world.pod(numbered("p", i)), Watch::kQueued);
  d.decide(at(1));
  EXPECT_TRUE(d.core.can_decide());
  d.decide(at(1));
  EXPECT_FALSE(d.core.can_decide());
  d.answer(at(2), bench.a.pod, bench.n1.node, Outcome::kRefused);
  EXPECT_TRUE(d.core.can_decide());
}

TEST(CoreBind, WhenItAssumes) {
  struct Row {
    const char* assume;
    bool while_open, after;
  };
  for (const Row& row : {Row{"never", false, false}, Row{"before", true, true}, Row{"after", false, true}}) {
    SCOPED_TRACE(row.assume);
    Bench bench(with("combined", {{"assume", row.assume}}));
    bench.d.decide(at(1));
    EXPECT_EQ(bench.d.assumed(bench.a.pod), row.while_open);
    EXPECT_EQ(bench.charged(), row.while_open ? 100 : 0);
    bench.d.answer(at(2), bench.a.pod, bench.n1.node);
    EXPECT_EQ(bench.d.assumed(bench.a.pod), row.after);
    EXPECT_EQ(bench.charged(), row.after ? 100 : 0);
    EXPECT_FALSE(bench.d.core.in_flight(bench.a.pod));
  }
}

// Marked for deletion before it is seen bound: upstream forgets it today, and the queue does not get it back.
TEST(CoreBind, WhatBecomesOfAnAssumptionWhenItsPodIsMarked) {
  for (const char* when_marked : {"keep", "forget"}) {
    SCOPED_TRACE(when_marked);
    const bool keeps = std::string_view(when_marked) == "keep";
    Bench bench(with("upstream-now", {{"when-marked", when_marked}}));
    Driver& d = bench.d;
    d.decide(at(1));
    ASSERT_TRUE(d.assumed(bench.a.pod));
    d.step(at(2), PodChanged{Watch::kAll, Verb::kModified, bench.a});
    EXPECT_TRUE(d.assumed(bench.a.pod)) << "nothing has changed";
    PodFacts marked = bench.a;
    marked.deletion = at(3);
    d.step(at(3), PodChanged{Watch::kAll, Verb::kModified, marked});
    EXPECT_EQ(d.assumed(bench.a.pod), keeps);
    EXPECT_EQ(bench.charged(), keeps ? 100 : 0);
    EXPECT_FALSE(d.queued(bench.a.pod));
    d.answer(at(4), bench.a.pod, bench.n1.node);
    EXPECT_EQ(d.assumed(bench.a.pod), keeps) << "its bind won: the watch will say so";
    d.step(at(5), PodChanged{Watch::kAll, Verb::kModified, bench.bound(marked)});
    EXPECT_TRUE(d.scheduled(bench.a.pod));
    EXPECT_EQ(bench.charged(), 100);
  }
}

TEST(CoreBind, AnAssumptionMadeBeforeARefusedBindIsDropped) {
  for (const Outcome outcome : {Outcome::kRefused, Outcome::kUnknown}) {
    Bench bench(with("combined", {{"assume", "before"}}));
    bench.d.decide(at(1));
    bench.d.answer(at(2), bench.a.pod, bench.n1.node, outcome);
    EXPECT_FALSE(bench.d.assumed(bench.a.pod));
    EXPECT_EQ(bench.charged(), 0);
    EXPECT_TRUE(bench.d.parked(bench.a.pod));
  }
}

// The first bind won, so the API has the pod there whatever it says to the second.
TEST(CoreBind, ASecondRefusedBindDoesNotDropAnAssumptionThatWon) {
  struct Row {
    const char* what;
    bool overlap;      // the second bind is sent before the first is answered
    const char* open;  // expire-while-bind-open
    const char* ttl_from;
    Time expires;  // TTL 10 s; binds at 1 s and 3 s, answers at 2 s or 4 s, and at 5 s
  };
  const Row rows[] = {
      {"one after the other, from the answer", false, "no", "answer", at(15'000)},
      {"one after the other, from the decision", false, "yes", "assume", at(11'000)},
      {"both open, from the answer", true, "no", "answer", at(15'000)},
      {"both open, from the decision", true, "yes", "assume", at(13'000)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Bench bench(with("delete-both", {{"ttl", "10s"},
                                     {"assume", "before"},
                                     {"binds", "4"},
                                     {"ttl-from", row.ttl_from},
                                     {"expire-while-bind-open", row.open}}));
    Driver& d = bench.d;
    const NodeFacts n2 = bench.world.node("n2", 1000);
    d.add(at(0), n2);
    d.step(at(1000), DecideAs{bench.a.pod, bench.n1.node});
    if (!row.overlap) d.answer(at(2000), bench.a.pod, bench.n1.node);
    d.step(at(3000), DecideAs{bench.a.pod, n2.node});
    if (row.overlap) d.answer(at(4000), bench.a.pod, bench.n1.node);
    d.answer(at(5000), bench.a.pod, n2.node, Outcome::kRefused);
    ASSERT_TRUE(d.assumed(bench.a.pod));
    EXPECT_EQ(d.core.assumed().find(bench.a.pod)->node, bench.n1.node);
    EXPECT_EQ(bench.charged(), 100);
    EXPECT_FALSE(d.parked(bench.a.pod));
    EXPECT_EQ(d.core.next_wake(), row.expires);
    d.run_to(at(20'000));
    EXPECT_FALSE(d.assumed(bench.a.pod));
    EXPECT_EQ(bench.charged(), 0);
  }
}

// When an assumption ends: bind sent at 1 s, answered at `answered`, TTL 10 s.
TEST(CoreBind, WhenItExpires) {
  struct Row {
    const char* assume;
    const char* from;
    const char* open;  // expire-while-bind-open
    int64_t answered;
    Time expected;
  };
  const Row rows[] = {
      {"before", "assume", "yes", 2000, at(11'000)},
      {"before", "assume", "yes", 20'000, at(11'000)},  // while the bind is open
      {"before", "assume", "no", 2000, at(11'000)},
      {"before", "assume", "no", 11'000, at(11'000)},
      {"before", "assume", "no", 20'000, at(20'000)},  // the bind held it up; its end is now
      {"before", "answer", "yes", 2000, at(12'000)},
      {"before", "answer", "no", 20'000, at(30'000)},
      {"after", "assume", "yes", 2000, at(12'000)},  // assumed at the answer
      {"after", "answer", "no", 2000, at(12'000)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.assume) + ", " + row.from + ", " + row.open + ", " + std::to_string(row.answered));
    Bench bench(
        with("delete-both",
             {{"ttl", "10s"}, {"assume", row.assume}, {"ttl-from", row.from}, {"expire-while-bind-open", row.open}}));
    Driver& d = bench.d;
    d.decide(at(1000));
    std::vector<Time> expired;
    const auto run_to = [&](Time now) {
      while (d.core.next_wake() <= now) {
        const Time wake = d.core.next_wake();
        d.step(wake, TimeReached{});
        const AssumptionExpired* effect = d.effect<AssumptionExpired>();
        if (effect == nullptr) continue;
        EXPECT_EQ(effect->pod, bench.a.pod);
        EXPECT_EQ(effect->node, bench.n1.node);
        expired.push_back(wake);
      }
    };
    run_to(at(row.answered));  // expiries stand before answers
    d.answer(at(row.answered), bench.a.pod, bench.n1.node);
    run_to(at(100'000));
    EXPECT_EQ(expired, std::vector{row.expected});
    EXPECT_FALSE(d.assumed(bench.a.pod));
    EXPECT_EQ(bench.charged(), 0);
  }
}

TEST(CoreBind, WithoutAnAnswerAnAssumptionCountedFromItStays) {
  Bench bench(with("delete-both", {{"ttl", "10s"}, {"assume", "before"}, {"ttl-from", "answer"}}));
  bench.d.decide(at(1));
  EXPECT_EQ(bench.d.core.next_wake(), Time::never());
}

TEST(CoreBind, AConfirmationBeforeTheAnswerLeavesNothingToAssume) {
  Bench bench("combined");
  bench.d.decide(at(1));
  bench.d.add(at(2), bench.bound(bench.a), Watch::kScheduled);
  bench.d.answer(at(3), bench.a.pod, bench.n1.node);
  EXPECT_FALSE(bench.d.assumed(bench.a.pod));
  EXPECT_EQ(bench.charged(), 100);
}

TEST(CoreBind, WhenAConfirmedAssumptionIsPurged) {
  for (const char* purge : {"decision", "event", "both"}) {
    SCOPED_TRACE(purge);
    const bool on_event = std::string_view(purge) != "decision";
    Bench bench(with("delete-both", {{"purge", purge}}));
    Driver& d = bench.d;
    d.decide(at(1));
    d.answer(at(2), bench.a.pod, bench.n1.node);
    d.add(at(3), bench.bound(bench.a), Watch::kScheduled);
    EXPECT_EQ(d.assumed(bench.a.pod), !on_event);
    EXPECT_EQ(bench.charged(), 100) << "one slot is charged once";
    d.add(at(4), bench.b, Watch::kQueued);
    EXPECT_EQ(d.assumed(bench.a.pod), !on_event);
    d.decide(at(5));
    EXPECT_FALSE(d.assumed(bench.a.pod));
    EXPECT_EQ(bench.charged(), 100);
  }
}

// kubernetes#6023: a delete that goes to the scheduled store only leaves the assumption, which counts again.
TEST(CoreBind, WhereDeletesGo) {
  for (const char* to : {"scheduled", "both"}) {
    SCOPED_TRACE(to);
    const bool stays = std::string_view(to) == "scheduled";
    Bench bench(with("naive", {{"deletes-to", to}}));
    Driver& d = bench.d;
    d.decide(at(1));
    d.answer(at(2), bench.a.pod, bench.n1.node);
    d.add(at(3), bench.bound(bench.a), Watch::kScheduled);
    d.remove(at(4), bench.bound(bench.a), Watch::kScheduled);
    EXPECT_FALSE(d.scheduled(bench.a.pod));
    EXPECT_EQ(d.assumed(bench.a.pod), stays);
    EXPECT_EQ(bench.charged(), stays ? 100 : 0);
    d.add(at(5), bench.b, Watch::kQueued);
    d.decide(at(6));
    EXPECT_EQ(d.assumed(bench.a.pod), stays) << "what is in no store is not purged";
  }
}

// SimpleModeler.list of 2015: an assumption whose name waits again is dropped at the next decision.
TEST(CoreBind, AnAssumptionWhoseNameIsQueuedAgainIsPurged) {
  const auto late = [](Bench& bench) { bench.d.answer(at(3), bench.a.pod, bench.n1.node); };
  const auto early = [](Bench& bench) { bench.d.answer(at(2), bench.a.pod, bench.n1.node); };
  for (const bool queued_first : {false, true}) {
    SCOPED_TRACE(queued_first ? "queued, then assumed" : "assumed, then queued");
    Bench bench(with("naive", {{"binds", "4"}}));
    Driver& d = bench.d;
    d.decide(at(1));
    if (!queued_first) early(bench);
    d.add(at(2), bench.b, Watch::kQueued);
    const PodFacts again = bench.world.pod("a", "second", bench.world.shape(100));
    d.add(at(2), again, Watch::kQueued);
    if (queued_first) late(bench);
    EXPECT_TRUE(d.assumed(bench.a.pod));
    EXPECT_EQ(d.decide(at(4)), bench.n1.node);
    EXPECT_FALSE(d.assumed(bench.a.pod));
    EXPECT_TRUE(d.queued(again.pod));
    EXPECT_EQ(bench.charged(), 0);
  }
}

TEST(CoreBind, APodThatIsBeingDecidedDoesNotPurgeItsNamesake) {
  for (const bool followed : {false, true}) {
    Bench bench("naive");
    Driver& d = bench.d;
    d.decide(at(1));
    d.answer(at(2), bench.a.pod, bench.n1.node);
    const PodFacts again = bench.world.pod("a", "second", bench.world.shape(950));
    d.add(at(3), again, Watch::kQueued);
    if (followed) {
      d.step(at(4), AttemptFailed{again.pod});
    } else {
      EXPECT_EQ(d.decide(at(4)), NodeId::none());
    }
    EXPECT_TRUE(d.assumed(bench.a.pod)) << "it was taken from the queue before the stores were looked at";
    EXPECT_TRUE(d.parked(again.pod));
  }
}

// --- Backoff

TEST(CoreBind, ARefusedPodWaitsTwiceAsLongEachTimeUpToAMinute) {
  Bench bench("naive");
  Driver& d = bench.d;
  Time now = at(1000);
  for (const int64_t seconds : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    SCOPED_TRACE(seconds);
    ASSERT_EQ(d.decide(now), bench.n1.node);
    d.answer(now, bench.a.pod, bench.n1.node, Outcome::kRefused);
    EXPECT_TRUE(d.parked(bench.a.pod));
    EXPECT_FALSE(d.core.can_decide());
    const Time end = now + Duration::seconds(seconds);
    EXPECT_EQ(d.core.next_wake(), end);
    d.step(end, TimeReached{});
    ASSERT_NE(d.effect<RereadPod>(), nullptr);
    EXPECT_EQ(d.effect<RereadPod>()->pod, bench.a.pod);
    EXPECT_TRUE(d.parked(bench.a.pod)) << "until the answer comes";
    EXPECT_EQ(d.core.next_wake(), Time::never());
    d.step(end, RereadAnswered{bench.a.pod, Found::kPending});
    EXPECT_TRUE(d.queued(bench.a.pod));
    now = end;
  }
}

TEST(CoreBind, ARereadThatFindsItGoneOrBoundDropsIt) {
  for (const Found found : {Found::kGone, Found::kBound}) {
    Bench bench("combined");
    Driver& d = bench.d;
    d.decide(at(1));
    d.answer(at(2), bench.a.pod, bench.n1.node, Outcome::kUnknown);
    d.run_to(at(1002));
    d.step(at(1003), RereadAnswered{bench.a.pod, found});
    EXPECT_TRUE(d.core.queued().pods().empty());
  }
}

TEST(CoreBind, ARereadThatComesTooLateChangesNothing) {
  Bench bench("combined");
  Driver& d = bench.d;
  d.decide(at(1));
  d.answer(at(2), bench.a.pod, bench.n1.node, Outcome::kRefused);
  d.run_to(at(1002));
  d.remove(at(1003), bench.a, Watch::kQueued);
  d.step(at(1004), RereadAnswered{bench.a.pod, Found::kPending});
  EXPECT_TRUE(d.core.queued().pods().empty());
}

TEST(CoreBind, APodThatIsGoneOrBoundIsNotParkedWhenItsBindIsRefused) {
  Bench gone("combined");
  gone.d.decide(at(1));
  gone.d.remove(at(2), gone.a, Watch::kQueued);
  gone.d.answer(at(3), gone.a.pod, gone.n1.node, Outcome::kRefused);
  EXPECT_TRUE(gone.d.core.queued().pods().empty());

  Bench bound("combined");
  bound.d.decide(at(1));
  bound.d.remove(at(2), bound.a, Watch::kQueued);
  bound.d.add(at(2), bound.bound(bound.a), Watch::kScheduled);
  bound.d.answer(at(3), bound.a.pod, bound.n1.node, Outcome::kRefused);
  EXPECT_TRUE(bound.d.core.queued().pods().empty());
}

TEST(CoreBind, ARefusedBindDoesNotPushItsNamesakeOutOfTheQueue) {
  Bench bench("naive");
  Driver& d = bench.d;
  d.decide(at(1));
  const PodFacts again = bench.world.pod("a", "second", bench.world.shape(100));
  d.add(at(2), again, Watch::kQueued);  // the DELETED of the first was lost
  d.answer(at(3), bench.a.pod, bench.n1.node, Outcome::kRefused);
  EXPECT_TRUE(d.queued(again.pod));
  EXPECT_FALSE(d.parked(bench.a.pod));
}

TEST(CoreBind, ANodeIsSoughtAgainAfterTheBackoff) {
  Bench bench("combined");
  Driver& d = bench.d;
  d.step(at(1), NodeChanged{Verb::kDeleted, bench.n1});
  EXPECT_EQ(d.decide(at(2)), NodeId::none());
  ASSERT_NE(d.effect<Unschedulable>(), nullptr);
  EXPECT_EQ(d.effect<Unschedulable>()->pod, bench.a.pod);
  EXPECT_EQ(d.effect<BindPod>(), nullptr);
  EXPECT_EQ(d.core.next_wake(), at(1002));
}

TEST(CoreBind, APodThatIsBeingDeletedIsNotDecided) {
  Bench bench("combined");
  PodFacts deleting = bench.a;
  deleting.deletion = at(1);
  bench.d.modify(at(1), deleting, Watch::kQueued);
  bench.d.step(at(2), Decide{});
  EXPECT_EQ(bench.d.effect<BindPod>(), nullptr);
  ASSERT_NE(bench.d.effect<ReportEvent>(), nullptr);
  EXPECT_EQ(bench.d.effect<ReportEvent>()->text, ReportEvent::Text::kBeingDeleted);
  EXPECT_EQ(bench.d.effect<PatchStatus>(), nullptr);
  EXPECT_TRUE(bench.d.core.queued().pods().empty());
}

// --- Follow

TEST(CoreBind, AFollowedDecisionThatTheBooksWouldRefuseIsTakenAllTheSame) {
  Bench bench("combined");
  Driver& d = bench.d;
  const ShapeId wants = bench.world.shape(100, 0, {port(80)});
  const PodFacts holder = bench.world.pod("holder", "1", wants, "n1"), asks = bench.world.pod("asks", "2", wants);
  d.add(at(1), holder, Watch::kScheduled);
  d.add(at(1), asks, Watch::kQueued);
  d.step(at(2), DecideAs{asks.pod, bench.n1.node});
  ASSERT_NE(d.effect<WouldRefuse>(), nullptr);
  EXPECT_EQ(d.effect<WouldRefuse>()->misfit.kind, Misfit::Kind::kPort);
  EXPECT_EQ(d.effect<WouldRefuse>()->misfit.holder, holder.pod);
  EXPECT_TRUE(d.core.in_flight(asks.pod));
  EXPECT_FALSE(d.queued(asks.pod));
  d.answer(at(3), asks.pod, bench.n1.node);
  EXPECT_TRUE(d.assumed(asks.pod));
}

TEST(CoreBind, AFollowedDecisionIsNotRefusedBecauseOfThePodItself) {
  Bench bench("combined");
  Driver& d = bench.d;
  const PodFacts large = bench.world.pod("large", "1", bench.world.shape(800, 0, {port(80)}));
  d.add(at(1), large, Watch::kQueued);
  d.step(at(2), DecideAs{large.pod, bench.n1.node});
  d.answer(at(3), large.pod, bench.n1.node);
  d.step(at(4), DecideAs{large.pod, bench.n1.node});  // again, assumed
  EXPECT_EQ(d.effect<WouldRefuse>(), nullptr);
  d.add(at(5), bench.bound(large), Watch::kScheduled);
  d.step(at(6), DecideAs{large.pod, bench.n1.node});  // and again, confirmed
  EXPECT_EQ(d.effect<WouldRefuse>(), nullptr);
  EXPECT_EQ(bench.charged(), 800);
}

TEST(CoreBind, BindsOfOnePodMayOverlap) {
  Bench bench("combined");
  Driver& d = bench.d;
  d.step(at(1), DecideAs{bench.a.pod, bench.n1.node});
  d.step(at(2), DecideAs{bench.a.pod, bench.n1.node});
  d.answer(at(3), bench.a.pod, bench.n1.node, Outcome::kRefused);
  EXPECT_TRUE(d.core.in_flight(bench.a.pod));
  EXPECT_FALSE(d.parked(bench.a.pod)) << "the other is still open";
  d.answer(at(4), bench.a.pod, bench.n1.node);
  EXPECT_TRUE(d.assumed(bench.a.pod));
  d.answer(at(5), bench.a.pod, bench.n1.node);  // none is open
  EXPECT_EQ(bench.charged(), 100);
}

TEST(CoreBind, ABindToNoNodeAtAllChargesNothing) {
  for (const char* assume : {"before", "after"}) {
    Bench bench(with("combined", {{"assume", assume}}));
    bench.d.step(at(1), DecideAs{bench.a.pod, NodeId::none()});
    bench.d.answer(at(2), bench.a.pod, NodeId::none());
    EXPECT_FALSE(bench.d.assumed(bench.a.pod));
    EXPECT_EQ(bench.charged(), 0);
  }
}

TEST(CoreBind, AFailedAttemptParksWhatWaits) {
  Bench bench("combined");
  Driver& d = bench.d;
  d.step(at(1), AttemptFailed{bench.a.pod});
  EXPECT_TRUE(d.parked(bench.a.pod));
  EXPECT_EQ(d.core.next_wake(), at(1001));
  d.step(at(2), AttemptFailed{bench.a.pod});  // it waits already
  EXPECT_EQ(d.core.next_wake(), at(1001));
  d.step(at(3), AttemptFailed{bench.world.id("stranger", "x")});
  EXPECT_EQ(d.core.queued().pods().size(), 1U);
}

TEST(CoreBind, AFailedAttemptIsADecisionAndPurges) {
  Bench bench("naive");
  Driver& d = bench.d;
  d.decide(at(1));
  d.answer(at(2), bench.a.pod, bench.n1.node);
  d.add(at(3), bench.bound(bench.a), Watch::kScheduled);
  d.add(at(3), bench.b, Watch::kQueued);
  d.step(at(4), AttemptFailed{bench.b.pod});
  EXPECT_FALSE(d.assumed(bench.a.pod));
}

TEST(CoreBind, AFollowedPodThatWasNeverSeenIsABug) {
  Bench bench("combined");
  const PodId stranger = bench.world.id("stranger", "x");
  EXPECT_DEATH(bench.d.step(at(1), DecideAs{stranger, bench.n1.node}), "never in the view");
}

TEST(CoreBind, TimeNeverFalls) {
  Bench bench("combined");
  bench.d.step(at(5), TimeReached{});
  EXPECT_DEATH(bench.d.step(at(4), TimeReached{}), "core.cpp");
}

}  // namespace
}  // namespace inquest::scheduler
