#include "scheduler/queued.h"

#include <gtest/gtest.h>

#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using State = QueuedStore::State;

struct Queue {
  explicit Queue(PodKey key) : store(Slots(world.catalog, key)) {}
  World world;
  QueuedStore store;

  PodId a = world.id("a", "1"), b = world.id("b", "2"), c = world.id("c", "3");
  PodId a2 = world.id("a", "4");  // another life of a

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
  for (const PodId pod : {q.b, q.a, q.c}) q.store.put(pod);
  EXPECT_EQ(q.store.pods().size(), 3U);
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a, q.c}));
  EXPECT_TRUE(q.store.empty());
  EXPECT_TRUE(q.store.pods().empty());
}

// F2: an update keeps the place; the item comes once.
TEST(Queued, AnUpdateKeepsItsPlaceAndComesOnce) {
  Queue q(PodKey::kUid);
  q.store.put(q.a);
  q.store.put(q.b);
  q.store.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b}));
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
}

// F4: a key that was deleted and added again may not jump the line.
TEST(Queued, RemovedAndPutAgainDoesNotJumpTheLine) {
  Queue q(PodKey::kName);
  q.store.put(q.a);
  q.store.put(q.b);
  q.store.remove(q.a);
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
  q.store.put(q.c);
  q.store.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.c, q.a}));
}

TEST(Queued, RemovingWhatIsNotThereDoesNothing) {
  Queue q(PodKey::kName);
  const uint64_t empty = q.store.hash();
  q.store.remove(q.a);
  q.store.put(q.b);
  q.store.remove(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.b}));
  EXPECT_EQ(q.store.hash(), empty);
}

TEST(Queued, ByNameAnotherLifeTakesThePlaceOver) {
  Queue q(PodKey::kName);
  q.store.put(q.a);
  q.store.put(q.b);
  q.store.put(q.a2);
  EXPECT_EQ(q.store.state(q.a), State::kAbsent);
  EXPECT_EQ(q.store.state(q.a2), State::kQueued);
  EXPECT_EQ(q.store.at(q.a), q.a2);
  EXPECT_EQ(q.store.pods().size(), 2U);
  EXPECT_EQ(q.drain(), (std::vector{q.a2, q.b}));
}

TEST(Queued, ByUidBothLivesWait) {
  Queue q(PodKey::kUid);
  for (const PodId pod : {q.a, q.b, q.a2}) q.store.put(pod);
  EXPECT_EQ(q.store.at(q.a), q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.a, q.b, q.a2}));
}

TEST(Queued, ByNameRemovingOneLifeRemovesTheOther) {
  Queue q(PodKey::kName);
  q.store.put(q.a2);
  q.store.remove(q.a);
  EXPECT_TRUE(q.store.empty());
}

TEST(Queued, WhatIsParkedIsNotPoppedUntilItIsQueuedAgain) {
  Queue q(PodKey::kName);
  q.store.put(q.a);
  q.store.park(q.a, at(1000));
  q.store.put(q.b);
  q.store.put(q.a);  // an update of a parked pod does not wake it
  EXPECT_EQ(q.store.state(q.a), State::kParked);
  EXPECT_EQ(q.store.next_end(), at(1000));
  EXPECT_EQ(q.store.due(at(999)), PodId::none());
  EXPECT_EQ(q.store.due(at(1000)), q.a);
  q.store.requeue(q.a);
  EXPECT_EQ(q.store.next_end(), Time::never());
  EXPECT_EQ(q.drain(), (std::vector{q.b, q.a}));
}

TEST(Queued, ANewLifeOfAParkedNameIsQueued) {
  Queue q(PodKey::kName);
  q.store.park(q.a, at(1000));
  q.store.put(q.a2);
  EXPECT_EQ(q.store.state(q.a2), State::kQueued);
  EXPECT_EQ(q.store.next_end(), Time::never());
  EXPECT_EQ(q.store.due(at(5000)), PodId::none());
  EXPECT_EQ(q.drain(), (std::vector{q.a2}));
}

TEST(Queued, ParkingsEndInOrderOfTimeThenOfParking) {
  Queue q(PodKey::kName);
  q.store.park(q.a, at(2000));
  q.store.park(q.b, at(1000));
  q.store.park(q.c, at(1000));
  std::vector<PodId> order;
  for (PodId pod = q.store.due(at(2000)); pod; pod = q.store.due(at(2000))) {
    order.push_back(pod);
    q.store.park(pod, Time::never());
  }
  EXPECT_EQ(order, (std::vector{q.b, q.c, q.a}));
  EXPECT_EQ(q.store.next_end(), Time::never());
  EXPECT_EQ(q.store.pods().size(), 3U);
}

TEST(Queued, AnEarlierParkingDoesNotEndALaterOne) {
  Queue q(PodKey::kName);
  q.store.park(q.a, at(1000));
  q.store.remove(q.a);
  q.store.park(q.a, at(3000));
  EXPECT_EQ(q.store.due(at(2999)), PodId::none());
  EXPECT_EQ(q.store.next_end(), at(3000));
}

TEST(Queued, ManyPlacesOfGonePodsAreSkipped) {
  Queue q(PodKey::kName);
  for (int i = 0; i < 5000; ++i) {
    q.store.put(q.a);
    q.store.put(q.b);
    q.store.remove(q.a);
    q.store.remove(q.b);
  }
  q.store.put(q.c);
  q.store.put(q.a);
  EXPECT_EQ(q.drain(), (std::vector{q.c, q.a}));
}

TEST(Queued, TheHashTellsTheLineApart) {
  Queue one(PodKey::kName), other(PodKey::kName);
  one.store.put(one.a);
  one.store.put(one.b);
  other.store.put(other.b);
  other.store.put(other.a);
  EXPECT_NE(one.store.hash(), other.store.hash());
  one.drain();
  other.drain();
  EXPECT_EQ(one.store.hash(), 0U);
  EXPECT_EQ(other.store.hash(), 0U);
}

}  // namespace
}  // namespace inquest::scheduler
