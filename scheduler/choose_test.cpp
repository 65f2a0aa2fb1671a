// Where a decision puts a pod. Scores show only in the choice, so each expected score is pinned by a second node whose
// score is known: one point less loses always, one point more wins always, an equal one ties.
#include <gtest/gtest.h>

#include "scheduler/core.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

struct Amounts {
  int64_t cpu = 0, memory = 0;
};

// A load or request that only the score sees.
ShapeId unreal(Catalog& catalog, Amounts amounts) {
  PodShape shape;
  shape.nonzero_cpu_milli = amounts.cpu;
  shape.nonzero_memory = amounts.memory;
  return catalog.shape(shape);
}

constexpr int64_t kScale = 1'000'000'000;

// How often of 40 seeds the node is chosen over one that scores `rival`.
int wins(Amounts capacity, Amounts used, Amounts asked, int64_t rival) {
  int out = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    World world;
    Driver d(world.catalog, world.config(*preset("combined"), seed));
    d.add(at(0), world.node("tested", capacity.cpu, capacity.memory));
    d.add(at(0), world.node("rival", 100 * kScale, 100 * kScale));
    const int64_t load = (100 - rival) * kScale;
    const ShapeId rivals = unreal(world.catalog, {load - asked.cpu, load - asked.memory});
    d.add(at(0), world.pod("x", "1", unreal(world.catalog, used), "tested"), Watch::kScheduled);
    d.add(at(0), world.pod("y", "2", rivals, "rival"), Watch::kScheduled);
    d.add(at(0), world.pod("pod", "3", unreal(world.catalog, asked)), Watch::kQueued);
    out += d.decide(at(1)) == world.catalog.node("tested") ? 1 : 0;
  }
  return out;
}

TEST(Choose, LeastAllocatedByUpstreamsTable) {
  struct Row {
    const char* what;
    Amounts capacity, used, asked;
    int64_t score;
  };
  const Row rows[] = {
      {"Z1, first", {4000, 10000}, {0, 0}, {3000, 5000}, 37},
      {"Z1, second", {6000, 10000}, {0, 0}, {3000, 5000}, 50},
      {"Z2, first", {10000, 20000}, {6000, 0}, {0, 0}, 70},
      {"Z2, second", {10000, 20000}, {6000, 5000}, {0, 0}, 57},
      {"Z3, first", {10000, 20000}, {3000, 0}, {3000, 5000}, 57},
      {"Z3, second", {10000, 50000}, {3000, 5000}, {3000, 5000}, 60},
      {"over in one resource: that one scores 0", {1000, 10000}, {900, 0}, {200, 5000}, 25},
      {"no memory to offer: cpu alone counts", {10000, 0}, {0, 0}, {4000, 0}, 60},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(wins(row.capacity, row.used, row.asked, row.score - 1), 40);
    EXPECT_EQ(wins(row.capacity, row.used, row.asked, row.score + 1), 0);
    const int tied = wins(row.capacity, row.used, row.asked, row.score);
    EXPECT_GT(tied, 0);
    EXPECT_LT(tied, 40);
  }
}

TEST(Choose, AFullNodeIsNotChosenHoweverItScores) {
  World world;
  Driver d(world.catalog, world.config("combined"));
  d.add(at(0), world.node("full", 100'000, 1 << 30));
  d.add(at(0), world.node("tight", 100, 1 << 20));
  d.add(at(0), world.pod("holder", "1", world.shape(0, 0, {port(80)}), "full"), Watch::kScheduled);
  d.add(at(0), world.pod("pod", "2", world.shape(100, 0, {port(80)})), Watch::kQueued);
  EXPECT_EQ(d.decide(at(1)), world.catalog.node("tight"));
}

TEST(Choose, WhatIsAssumedCounts) {
  World world;
  Driver d(world.catalog, world.config("combined"));
  d.add(at(0), world.node("n1", 1000));
  d.add(at(0), world.node("n2", 1000));
  std::vector<NodeId> chosen;
  for (const char* name : {"a", "b", "c"}) {
    const PodFacts pod = world.pod(name, name, world.shape(600));
    d.add(at(1), pod, Watch::kQueued);
    chosen.push_back(d.decide(at(1)));
    if (chosen.back()) d.answer(at(1), pod.pod, chosen.back());
  }
  EXPECT_NE(chosen[0], chosen[1]);
  EXPECT_TRUE(chosen[0] && chosen[1]);
  EXPECT_FALSE(chosen[2]) << "both nodes are taken by pods that no watch has shown yet";
}

}  // namespace
}  // namespace inquest::scheduler
