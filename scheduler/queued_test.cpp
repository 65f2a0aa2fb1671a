#include "scheduler/queued.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using State = QueuedStore::State;
using Failure = QueuedStore::Failure;

struct Queue {
  explicit Queue(PodKey key, QueueOrder order = QueueOrder::kFifo) : store(Slots(world.catalog, key), order, kStart) {}
  World world;
  QueuedStore store;

  PodId a = world.id("a", "1"), b = world.id("b", "2"), c = world.id("c", "3");
  PodId a2 = world.id("a", "4");  // another life of a

  void put(PodId pod, Time now = kStart, int32_t priority = 0) { store.put(pod, priority, now); }
  void reject(PodId pod, uint32_t attempts, Time now, int32_t priority = 0) {
    store.failed(pod, priority, attempts, Failure::kRejected, now);
  }
  void err(PodId pod, uint32_t attempts, Time now, int32_t priority = 0) {
    store.failed(pod, priority, attempts, Failure::kError, now);
  }
  std::vector<PodId> wake(Time now) {
    std::vector<PodId> out;
    store.wake(now, out);
    return out;
  }
  std::vector<PodId> move_all(Time now) {
    std::vector<PodId> out;
    store.move(
        now, [](PodId) { return true; }, out);
    return out;
  }
  std::vector<PodId> drain() {
    std::vector<PodId> out;
    while (const PodId pod = store.pop()) out.push_back(pod);
    return out;
  }
};

TEST(Queued, FirstInFirstOut) {
  Queue q(PodKey::kName);
  EXPECT_TRUE(q.store.empty());
  EXPECT_EQ(q.store.pop(), PodId::none());
  for (const PodId pod : {q.b, q.a, q.c}) q.put(pod);
  EXPECT_EQ(q.store.pods().size(), 3U);
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a, q.c}));
  EXPECT_TRUE(q.store.empty());
  EXPECT_TRUE(q.store.pods().empty());
}

// F2: an update keeps the place; the item comes once.
TEST(Queued, AnUpdateKeepsItsPlaceAndComesOnce) {
  Queue q(PodKey::kUid);
  q.put(q.a);
  q.put(q.b);
  q.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b}));
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
}

// F4: a key that was deleted and added again may not jump the line.
TEST(Queued, RemovedAndPutAgainDoesNotJumpTheLine) {
  Queue q(PodKey::kName);
  q.put(q.a);
  q.put(q.b);
  q.store.remove(q.a);
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
  q.put(q.c);
  q.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.c, q.a}));
}

TEST(Queued, RemovingWhatIsNotThereDoesNothing) {
  Queue q(PodKey::kName);
  const uint64_t empty = q.store.hash();
  q.store.remove(q.a);
  q.put(q.b);
  q.store.remove(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.b}));
  EXPECT_EQ(q.store.hash(), empty);
}

TEST(Queued, ByNameAnotherLifeTakesThePlaceOver) {
  Queue q(PodKey::kName);
  q.put(q.a);
  q.put(q.b);
  q.put(q.a2);
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
  EXPECT_EQ(q.store.state(q.a2), State::kQueued);
  EXPECT_EQ(q.store.at(q.a), q.a2);
  EXPECT_EQ(q.store.pods().size(), 2U);
  EXPECT_EQ(q.drain(), (std::vector{q.a2, q.b}));
}

TEST(Queued, ByUidBothLivesWait) {
  Queue q(PodKey::kUid);
  for (const PodId pod : {q.a, q.b, q.a2}) q.put(pod);
  EXPECT_EQ(q.store.at(q.a), q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b, q.a2}));
}

TEST(Queued, ByNameRemovingOneLifeRemovesTheOther) {
  Queue q(PodKey::kName);
  q.put(q.a2);
  q.store.remove(q.a);
  EXPECT_TRUE(q.store.empty());
}

TEST(Queued, WhatIsParkedIsNotPoppedUntilItIsQueuedAgain) {
  Queue q(PodKey::kName);
  q.put(q.a);
  q.reject(q.a, 1, at(0));
  q.put(q.b);
  q.put(q.a);  // an update of a parked pod does not wake it
  EXPECT_EQ(q.store.state(q.a), State::kParked);
  EXPECT_EQ(q.store.next_end(), at(1000));
  EXPECT_EQ(q.wake(at(999)), std::vector<PodId>{});
  EXPECT_EQ(q.wake(at(1000)), std::vector{q.a});
  EXPECT_EQ(q.store.state(q.a), State::kParked) << "until it was read again";
  EXPECT_EQ(q.store.next_end(), Time::never());
  q.store.requeue(q.a, 0, at(1001));
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a}));
}

TEST(Queued, ANewLifeOfAParkedNameIsQueued) {
  Queue q(PodKey::kName);
  q.reject(q.a, 1, at(0));
  q.put(q.a2);
  EXPECT_EQ(q.store.state(q.a2), State::kQueued);
  EXPECT_EQ(q.store.next_end(), Time::never());
  EXPECT_EQ(q.wake(at(5000)), std::vector<PodId>{});
  EXPECT_EQ(q.drain(), (std::vector{q.a2}));
}

TEST(Queued, ParkingsEndInOrderOfTimeThenOfThePods) {
  Queue q(PodKey::kName);
  q.err(q.a, 2, at(0));
  q.err(q.c, 1, at(0));
  q.err(q.b, 1, at(0));
  EXPECT_EQ(q.wake(at(2000)), (std::vector{q.b, q.c, q.a}));
  EXPECT_EQ(q.store.next_end(), Time::never());
  EXPECT_EQ(q.store.pods().size(), 3U);
}

TEST(Queued, AnEarlierParkingDoesNotEndALaterOne) {
  Queue q(PodKey::kName);
  q.reject(q.a, 1, at(0));
  q.store.remove(q.a);
  q.reject(q.a, 2, at(1000));
  EXPECT_EQ(q.wake(at(2999)), std::vector<PodId>{});
  EXPECT_EQ(q.store.next_end(), at(3000));
}

struct Backoff {
  uint32_t attempts;
  int64_t fifo_s, priority_s;
};
constexpr Backoff kBackoffs[] = {{1, 1, 1},   {2, 2, 2},   {3, 4, 4},
                                 {4, 8, 8},   {5, 16, 10}, {6, 32, 10},
                                 {7, 60, 10}, {8, 60, 10}, {4'000'000'000, 60, 10}};

TEST(Queued, TheBackoffDoublesUpToItsLongest) {
  for (const Backoff& row : kBackoffs) {
    for (const QueueOrder order : {QueueOrder::kFifo, QueueOrder::kPriority}) {
      SCOPED_TRACE(row.attempts);
      Queue q(PodKey::kUid, order);
      const int64_t seconds = order == QueueOrder::kFifo ? row.fifo_s : row.priority_s;
      q.err(q.a, row.attempts, kStart);
      EXPECT_EQ(q.store.next_end(), kStart + Duration::seconds(seconds));
      EXPECT_EQ(q.wake(kStart + Duration::seconds(seconds) - Duration{1}), std::vector<PodId>{});
      EXPECT_EQ(q.wake(kStart + Duration::seconds(seconds)), std::vector{q.a}) << "equality: the wait is over";
    }
  }
}

TEST(Queued, ManyPlacesOfGonePodsAreSkipped) {
  Queue q(PodKey::kName);
  for (int i = 0; i < 5000; ++i) {
    q.put(q.a);
    q.put(q.b);
    q.store.remove(q.a);
    q.store.remove(q.b);
  }
  q.put(q.c);
  q.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.c, q.a}));
}

TEST(Queued, TheHashTellsTheLineApart) {
  Queue one(PodKey::kName), other(PodKey::kName);
  for (const PodId pod : {one.a, one.b, one.c}) one.put(pod);
  for (const PodId pod : {one.a, one.c, one.b}) other.put(pod);
  EXPECT_NE(one.store.hash(), other.store.hash());
  one.drain();
  other.drain();
  EXPECT_EQ(one.store.hash(), 0U);
  EXPECT_EQ(other.store.hash(), 0U);
}

TEST(Queued, WhatLeftTheLineLeavesNoMarkInTheHash) {
  Queue one(PodKey::kName), other(PodKey::kName);
  for (const PodId pod : {one.b, one.a, one.c}) one.put(pod);
  one.store.remove(one.a);
  for (const PodId pod : {one.b, one.c}) other.put(pod);
  EXPECT_EQ(one.store.hash(), other.store.hash()) << "b before c, however they came to stand so";
}

// --- queue=priority, by upstream's tests (kubernetes-facts 10.5). Not here: Q3, Q16, Q20 (no such knob), Q14 (no such
// flag). Q18 and Q19 are decided by the core: core_queue_test.cpp.

struct Prioritised : Queue {
  explicit Prioritised(PodKey key = PodKey::kUid) : Queue(key, QueueOrder::kPriority) {}
};

TEST(QueuedByPriority, Q1HigherFirstThenEarlier) {
  struct Row {
    int32_t priority_a;
    int64_t came_a;
    int32_t priority_b;
    int64_t came_b;
    bool a_first;
  };
  constexpr Row kRows[] = {{10, 1, 100, 2, false}, {100, 2, 10, 1, true}, {10, 1, 10, 2, true},
                           {10, 2, 10, 1, false},  {-1, 1, 0, 2, false},  {10, 1, 10, 1, true /* the lower ordinal */}};
  for (const Row& row : kRows) {
    Prioritised q;
    q.put(q.a, at(row.came_a), row.priority_a);
    q.put(q.b, at(row.came_b), row.priority_b);
    EXPECT_EQ(q.drain(), row.a_first ? (std::vector{q.a, q.b}) : (std::vector{q.b, q.a}));
  }
}

TEST(QueuedByPriority, Q2HighMediumLow) {
  Prioritised q;
  q.put(q.b, at(0), 50);
  q.put(q.c, at(0), 1);
  q.put(q.a, at(0), 100);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b, q.c}));
  EXPECT_TRUE(q.store.empty());
}

TEST(QueuedByPriority, AnUpdateMayRaiseItsPriorityButKeepsItsAge) {
  Prioritised q;
  q.put(q.a, at(0), 1);
  q.put(q.b, at(1), 5);
  q.put(q.c, at(2), 5);
  q.put(q.a, at(3), 5);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b, q.c}));
}

TEST(QueuedByPriority, Q6OnlyBackoffsThatAreOverEnd) {
  Prioritised q;
  q.err(q.a, 1, at(-2000));
  q.err(q.b, 1, at(1000));
  EXPECT_EQ(q.wake(at(0)), std::vector{q.a});
  EXPECT_EQ(q.store.state(q.a), State::kQueued) << "nobody reads it again";
  EXPECT_EQ(q.store.state(q.b), State::kParked);
}

// By the boundary chosen here (upstream to 1.32): p1, which ends exactly now, is released too; no windows of a second.
TEST(QueuedByPriority, Q7BackoffsEndInOrderOfTheirEnds) {
  struct Row {
    int32_t priority;
    int64_t since_ms;
  };
  constexpr Row kRows[] = {{1, 0}, {1, -1000}, {2, -1999}, {1, -2000}, {2, -2000}, {1, -3000}};
  Prioritised q;
  std::vector<PodId> pods;
  for (const Row& row : kRows) {
    pods.push_back(q.world.id(numbered("q7-", pods.size()), "u"));
    q.err(pods.back(), 1, at(row.since_ms), row.priority);
  }
  // Of one instant, p3 and p4, the lower ordinal first; in line priority decides.
  EXPECT_EQ(q.wake(at(0)), (std::vector{pods[5], pods[3], pods[4], pods[2], pods[1]}));
  EXPECT_EQ(q.store.state(pods[0]), State::kParked);
  EXPECT_EQ(q.drain(), (std::vector{pods[4], pods[2], pods[5], pods[3], pods[1]}));
}

// Plain mode. "A move happened during the attempt" cannot be: an attempt is one step.
TEST(QueuedByPriority, Q9AnErrorIsRetriedARejectionWaitsForAMove) {
  Prioritised q;
  q.err(q.a, 1, at(0));
  q.reject(q.b, 1, at(0));
  EXPECT_EQ(q.store.state(q.a), State::kParked);
  EXPECT_EQ(q.store.state(q.b), State::kUnschedulable);
  EXPECT_EQ(q.move_all(at(500)), std::vector{q.b});
  EXPECT_EQ(q.store.state(q.b), State::kParked) << "moved within its backoff";
  EXPECT_EQ(q.wake(at(1000)), (std::vector{q.a, q.b}));
  q.reject(q.b, 1, at(2000));
  EXPECT_EQ(q.move_all(at(3000)), std::vector{q.b});
  EXPECT_EQ(q.store.state(q.b), State::kQueued) << "moved after its backoff";
}

TEST(QueuedByPriority, AMoveTakesOnlyWhomItHelps) {
  Prioritised q;
  q.reject(q.a, 1, at(0));
  q.reject(q.b, 1, at(0));
  q.put(q.c, at(0));
  std::vector<PodId> moved;
  q.store.move(
      at(2000), [&](PodId pod) { return pod == q.b; }, moved);
  EXPECT_EQ(moved, std::vector{q.b});
  EXPECT_EQ(q.store.state(q.a), State::kUnschedulable);
  EXPECT_FALSE(q.store.move(q.c, at(2000))) << "it is in line already";
  EXPECT_TRUE(q.store.move(q.a, at(2000)));
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b, q.c})) << "by age; a and b failed at the instant c came";
}

TEST(QueuedByPriority, Q11APodThatFailsAgainAndAgainDoesNotBlockANewerOne) {
  Prioritised q;
  q.put(q.a, at(0));
  EXPECT_EQ(q.store.pop(), q.a);
  q.reject(q.a, 1, at(1));
  q.put(q.b, at(100));
  q.move_all(at(5000));
  EXPECT_EQ(q.store.pop(), q.a);
  q.reject(q.a, 2, at(5001));
  q.move_all(at(60'000));
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a}));
}

TEST(QueuedByPriority, Q13WhoeverWaitsForMoreThanFiveMinutesIsFlushedOnAGridOf30Seconds) {
  Prioritised q;
  q.reject(q.a, 1, at(1000), 50);
  q.reject(q.b, 1, at(1000), 100);
  q.reject(q.c, 1, at(0));
  EXPECT_EQ(q.wake(at(329'999)), std::vector<PodId>{});
  EXPECT_EQ(q.store.next_end(), at(330'000)) << "5 min exactly are not more than 5 min";
  EXPECT_EQ(q.wake(at(330'000)), (std::vector{q.a, q.b, q.c}));
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a, q.c}));
}

TEST(QueuedByPriority, Q15WhateverWayTheyWentTheOldestIsFirst) {
  for (int way = 0; way < 3; ++way) {
    SCOPED_TRACE(way);
    Prioritised q;
    const auto enter = [&](PodId pod, Time since) {
      if (way == 0) q.put(pod, since);
      if (way == 1) q.reject(pod, 1, since);
      if (way == 2) q.err(pod, 1, since);
    };
    enter(q.b, at(1000));
    enter(q.a, at(0));
    q.move_all(at(10'000));
    q.wake(at(10'000));
    EXPECT_EQ(q.drain(), (std::vector{q.a, q.b}));
  }
}

TEST(QueuedByPriority, Q17EachIsInOnePlace) {
  Prioritised q;
  const auto counts = [&] {
    std::vector<int> out(4);
    for (const PodId pod : q.store.pods()) ++out[static_cast<size_t>(q.store.state(pod))];
    return std::vector{out[1], out[2], out[3]};  // in line, parked, unschedulable
  };
  q.put(q.a, at(0));
  q.reject(q.b, 1, at(0));
  q.reject(q.c, 1, at(0));
  EXPECT_EQ(counts(), (std::vector{1, 0, 2}));
  q.move_all(at(1));
  EXPECT_EQ(counts(), (std::vector{1, 2, 0}));
}

TEST(QueuedByPriority, ByNameANewLifeTakesTheSlotOver) {
  Prioritised q(PodKey::kName);
  q.reject(q.a, 3, at(0), 9);
  q.put(q.a2, at(1), 1);
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
  EXPECT_EQ(q.store.state(q.a2), State::kQueued) << "it has not failed";
  q.put(q.b, at(0), 1);
  q.put(q.a, at(2), 1);
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a})) << "in line it keeps the age of the slot";
  EXPECT_EQ(q.store.hash(), 0U);
  EXPECT_EQ(q.store.next_end(), Time::never());
}

// Against a list that is searched from end to end each time.
struct Slow {
  struct Item {
    PodId pod;
    int32_t priority;
    Time since, ready;
    State state;
  };
  std::vector<Item> items;

  Item* find(PodId pod) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.pod == pod; });
    return found == items.end() ? nullptr : &*found;
  }
  void set(const Item& item) {
    remove(item.pod);
    items.push_back(item);
  }
  void remove(PodId pod) {
    std::erase_if(items, [&](const Item& item) { return item.pod == pod; });
  }
  void move(Item& item, Time now) { item.state = item.ready > now ? State::kParked : State::kQueued; }
  void wake(Time now) {
    for (Item& item : items) {
      if (item.state == State::kParked && item.ready <= now) item.state = State::kQueued;
      const int64_t ticks = (now - kStart).ns / 30'000'000'000;
      const Time tick = kStart + Duration::seconds(ticks * 30);
      if (item.state == State::kUnschedulable && tick - item.since > Duration::seconds(300)) move(item, tick);
    }
  }
  PodId pop() {
    const Item* best = nullptr;
    for (const Item& item : items) {
      if (item.state != State::kQueued) continue;
      const auto rank = [](const Item& i) { return std::tuple(-int64_t{i.priority}, i.since, i.pod); };
      if (best == nullptr || rank(item) < rank(*best)) best = &item;
    }
    if (best == nullptr) return PodId::none();
    const PodId pod = best->pod;
    remove(pod);
    return pod;
  }
};

TEST(QueuedByPriority, AgreesWithASlowListOverRandomSteps) {
  SplitMix random(42);
  Prioritised q;
  Slow slow;
  std::vector<PodId> pods;
  for (size_t i = 0; i < 20; ++i) pods.push_back(q.world.id(numbered("r", i), "u"));
  Time now = kStart;
  for (int step = 0; step < 20'000; ++step) {
    now = now + Duration::milliseconds(random.below(6) * 500);
    q.wake(now);
    slow.wake(now);
    const PodId pod = pods[random.below(20)];
    const auto priority = static_cast<int32_t>(random.below(3)) - 1;
    switch (random.below(8)) {
      case 0:
      case 1:
        q.put(pod, now, priority);
        if (auto* held = slow.find(pod)) {
          held->priority = priority;
        } else {
          slow.set({pod, priority, now, {}, State::kQueued});
        }
        break;
      case 2:
      case 3:
      case 4: {
        const uint32_t attempts = 1 + random.below(5);
        const Failure why = random.one_in(3) ? Failure::kError : Failure::kRejected;
        q.store.failed(pod, priority, attempts, why, now);
        slow.set({pod, priority, now, now + Duration::seconds(std::min(10, 1 << (attempts - 1))),
                  why == Failure::kError ? State::kParked : State::kUnschedulable});
        break;
      }
      case 5:
        q.store.remove(pod);
        slow.remove(pod);
        break;
      case 6:
        if (random.one_in(20)) {
          q.move_all(now);
          for (auto& item : slow.items) {
            if (item.state == State::kUnschedulable) slow.move(item, now);
          }
        }
        break;
      default:
        ASSERT_EQ(q.store.pop(), slow.pop()) << step;
    }
    for (const PodId one : pods) {
      const auto* held = slow.find(one);
      ASSERT_EQ(q.store.state(one), held == nullptr ? State::kAbsent : held->state) << step;
    }
  }
  q.drain();
  for (const PodId pod : pods) q.store.remove(pod);
  EXPECT_EQ(q.store.hash(), 0U);
}

}  // namespace
}  // namespace inquest::scheduler
