#include "scheduler/assumed.h"

#include <gtest/gtest.h>

#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

struct Assumed {
  explicit Assumed(PodKey key) : store(Slots(world.catalog, key)) {}
  World world;
  AssumedStore store;

  PodId a = world.id("a", "1"), b = world.id("b", "2"), c = world.id("c", "3"), a2 = world.id("a", "4");
  NodeId n1 = world.catalog.node("n1"), n2 = world.catalog.node("n2");
  ShapeId shape = world.shape(100);

  void put(PodId pod, Time deadline) { store.put(pod, n1, shape, deadline); }
  std::vector<PodId> expire(Time now) {
    std::vector<PodId> out;
    for (PodId pod = store.due(now); pod; pod = store.due(now)) {
      out.push_back(pod);
      store.take(pod);
    }
    return out;
  }
};

TEST(Assumed, AnAssumptionEndsAtItsDeadlineAndNotBefore) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.a, at(30'000));
  EXPECT_EQ(assumed.store.next_deadline(), at(30'000));
  EXPECT_EQ(assumed.store.due(at(30'000) - Duration{1}), PodId::none());
  EXPECT_EQ(assumed.store.due(at(30'000)), assumed.a);
  EXPECT_NE(assumed.store.find(assumed.a), nullptr) << "it stays until it is taken";
  EXPECT_EQ(assumed.expire(at(30'000)), (std::vector{assumed.a}));
  EXPECT_EQ(assumed.store.find(assumed.a), nullptr);
  EXPECT_EQ(assumed.store.next_deadline(), Time::never());
}

TEST(Assumed, NeverMeansNever) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.a, Time::never());
  EXPECT_EQ(assumed.store.next_deadline(), Time::never());
  EXPECT_EQ(assumed.store.due(Time::never()), PodId::none());
}

TEST(Assumed, DueInOrderOfDeadlineThenOfSlot) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.c, at(200));
  assumed.put(assumed.b, at(100));
  assumed.put(assumed.a, at(100));
  EXPECT_EQ(assumed.expire(at(99)), std::vector<PodId>{});
  EXPECT_EQ(assumed.expire(at(500)), (std::vector{assumed.a, assumed.b, assumed.c}));
}

TEST(Assumed, AnOldDeadlineCannotEndANewAssumption) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.a, at(100));
  EXPECT_EQ(assumed.store.take(assumed.a).pod, assumed.a);
  assumed.put(assumed.a, at(300));
  EXPECT_EQ(assumed.store.next_deadline(), at(300));
  EXPECT_EQ(assumed.expire(at(299)), std::vector<PodId>{});
  assumed.store.set_deadline(assumed.a, at(900));
  EXPECT_EQ(assumed.expire(at(899)), std::vector<PodId>{});
  assumed.store.set_deadline(assumed.a, at(400));  // earlier again
  EXPECT_EQ(assumed.store.next_deadline(), at(400));
  EXPECT_EQ(assumed.expire(at(400)), (std::vector{assumed.a}));
  EXPECT_EQ(assumed.store.next_deadline(), Time::never());
}

TEST(Assumed, ADeadlineSetTwiceToTheSameInstantEndsItOnce) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.a, Time::never());
  assumed.store.set_deadline(assumed.a, at(100));
  assumed.store.set_deadline(assumed.a, at(200));
  assumed.store.set_deadline(assumed.a, at(100));
  assumed.store.set_deadline(assumed.b, at(50));  // not there: nothing
  EXPECT_EQ(assumed.expire(at(1000)), (std::vector{assumed.a}));
}

TEST(Assumed, ByNameAnotherLifeReplaces) {
  Assumed assumed(PodKey::kName);
  assumed.put(assumed.a, at(100));
  const AssumedPod before = assumed.store.put(assumed.a2, assumed.n2, assumed.shape, at(200));
  EXPECT_EQ(before.pod, assumed.a);
  EXPECT_EQ(before.node, assumed.n1);
  EXPECT_EQ(assumed.store.find(assumed.a), nullptr);
  EXPECT_EQ(assumed.store.at(assumed.a)->pod, assumed.a2);
  EXPECT_EQ(assumed.store.pods(), (std::vector{assumed.a2}));
  EXPECT_EQ(assumed.expire(at(199)), std::vector<PodId>{});
  EXPECT_EQ(assumed.expire(at(200)), (std::vector{assumed.a2}));
}

TEST(Assumed, ByUidBothLivesAreHeld) {
  Assumed assumed(PodKey::kUid);
  assumed.put(assumed.a, at(100));
  EXPECT_FALSE(assumed.store.put(assumed.a2, assumed.n2, assumed.shape, at(200)).pod);
  EXPECT_EQ(assumed.store.pods().size(), 2U);
}

TEST(Assumed, TheHashKnowsNodeShapeAndDeadlineAndForgetsThem) {
  Assumed assumed(PodKey::kUid);
  std::vector<uint64_t> seen = {assumed.store.hash()};
  const auto note = [&] {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), assumed.store.hash()), 0);
    seen.push_back(assumed.store.hash());
  };
  assumed.put(assumed.a, at(100));
  note();
  assumed.store.set_deadline(assumed.a, at(200));
  note();
  assumed.store.put(assumed.a, assumed.n2, assumed.shape, at(200));
  note();
  assumed.store.put(assumed.a, assumed.n2, assumed.world.shape(7), at(200));
  note();
  assumed.store.take(assumed.a);
  EXPECT_EQ(assumed.store.hash(), seen.front());
  EXPECT_FALSE(assumed.store.take(assumed.a).pod);
  EXPECT_EQ(assumed.store.hash(), seen.front());
}

}  // namespace
}  // namespace inquest::scheduler
