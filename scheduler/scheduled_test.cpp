#include "scheduler/scheduled.h"

#include <gtest/gtest.h>

#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

struct Scheduled {
  explicit Scheduled(PodKey key) : store(Slots(world.catalog, key)) {}
  World world;
  ScheduledStore store;

  PodId a = world.id("a", "1"), b = world.id("b", "2"), a2 = world.id("a", "3");
  NodeId n1 = world.catalog.node("n1"), n2 = world.catalog.node("n2");
  ShapeId shape = world.shape(100);
};

TEST(Scheduled, HoldsWhatItWasTold) {
  Scheduled s(PodKey::kUid);
  EXPECT_EQ(s.store.find(s.a), nullptr);
  EXPECT_FALSE(s.store.put({s.a, s.n1, s.shape}).pod);
  ASSERT_NE(s.store.find(s.a), nullptr);
  EXPECT_EQ(s.store.find(s.a)->node, s.n1);
  const ScheduledPod before = s.store.put({s.a, s.n2, s.shape});
  EXPECT_EQ(before.pod, s.a);
  EXPECT_EQ(before.node, s.n1);
  EXPECT_EQ(s.store.pods(), (std::vector{s.a}));
  EXPECT_EQ(s.store.take(s.a).node, s.n2);
  EXPECT_EQ(s.store.find(s.a), nullptr);
  EXPECT_FALSE(s.store.take(s.a).pod);
  EXPECT_EQ(s.store.hash(), 0U);
}

TEST(Scheduled, ByNameTheLivesOfANameShareASlot) {
  Scheduled s(PodKey::kName);
  s.store.put({s.a, s.n1, s.shape});
  EXPECT_EQ(s.store.put({s.a2, s.n2, s.shape}).pod, s.a);
  EXPECT_EQ(s.store.find(s.a), nullptr);
  EXPECT_EQ(s.store.at(s.a)->pod, s.a2);
  EXPECT_EQ(s.store.take(s.a).pod, s.a2) << "a delete of the old life empties the slot, as in 2015";
  EXPECT_TRUE(s.store.pods().empty());
}

TEST(Scheduled, ByUidEachLifeHasItsOwn) {
  Scheduled s(PodKey::kUid);
  s.store.put({s.a, s.n1, s.shape});
  EXPECT_FALSE(s.store.put({s.a2, s.n2, s.shape}).pod);
  EXPECT_FALSE(s.store.take(s.b).pod);
  EXPECT_EQ(s.store.take(s.a).pod, s.a);
  EXPECT_EQ(s.store.pods(), (std::vector{s.a2}));
}

TEST(Scheduled, MembersAndHashSurviveRandomChanges) {
  Scheduled s(PodKey::kName);
  std::vector<PodId> ids;
  for (size_t i = 0; i < 12; ++i) ids.push_back(s.world.id(numbered("p", i % 7), numbered("u", i)));
  SplitMix random(42);
  for (int step = 0; step < 5000; ++step) {
    const PodId pod = ids[random.below(12)];
    if (random.one_in(2)) {
      s.store.put({pod, random.one_in(2) ? s.n1 : s.n2, s.shape});
    } else {
      s.store.take(pod);
    }
    size_t held = 0;
    for (const PodId id : ids) held += s.store.find(id) != nullptr ? 1 : 0;
    ASSERT_EQ(s.store.pods().size(), held);
    for (const PodId id : s.store.pods()) ASSERT_NE(s.store.find(id), nullptr);
  }
  for (const PodId pod : ids) s.store.take(pod);
  EXPECT_TRUE(s.store.pods().empty());
  EXPECT_EQ(s.store.hash(), 0U);
}

}  // namespace
}  // namespace inquest::scheduler
