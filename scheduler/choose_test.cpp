// Which node a decision takes: against a scan that asks every node anew, over random worlds; and what the core gives
// it.
#include "scheduler/choose.h"

#include <gtest/gtest.h>

#include "scheduler/naive_choice.h"
#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

// Nodes and pods with ports, taints, selectors, extended resources and amounts beyond all reason, and changes of all.
class RandomWorld {
 public:
  RandomWorld(uint64_t seed, size_t nodes, size_t kinds) : random_(seed), nodes_(nodes) {
    for (size_t i = 0; i < kinds; ++i) kinds_.push_back(any_kind());
    for (size_t i = 0; i < nodes; ++i) set_node(i);
  }

  const Catalog& catalog() const { return world_.catalog; }
  const NodeBooks& books() const { return books_; }
  SplitMix& random() { return random_; }
  PodKind kind() { return kinds_[random_.below(static_cast<uint32_t>(kinds_.size()))]; }

  void charge(NodeId node, PodKind kind) {
    const PodId pod = world_.id(numbered("p", charges_made_), "u");
    ++charges_made_;
    charges_.push_back({node, kind.shape, pod});
    books_.charge(node, kind.shape, pod);
    changed(&Chooser::charge_changed, node);
  }

  void change_something() {
    const uint32_t what = random_.below(12);
    const size_t node = random_.below(static_cast<uint32_t>(nodes_));
    if (what == 0) return set_node(node);
    if (what == 1) {
      const NodeId id = world_.catalog.node(numbered("n", node));
      books_.remove_node(id);
      return changed(&Chooser::node_changed, id);
    }
    if (what < 4) return charge(world_.catalog.node(numbered("n", node)), kind());
    if (what < 8 && !charges_.empty()) {
      std::swap(charges_[random_.below(static_cast<uint32_t>(charges_.size()))], charges_.back());
      const Charge charge = charges_.back();
      charges_.pop_back();
      books_.discharge(charge.node, charge.shape, charge.pod);
      changed(&Chooser::charge_changed, charge.node);
    }
  }

  std::vector<Chooser*> told;  // of each change

 private:
  struct Charge {
    NodeId node;
    ShapeId shape;
    PodId pod;
  };

  void changed(void (Chooser::*tell)(NodeId), NodeId node) {
    for (Chooser* chooser : told) (chooser->*tell)(node);
  }

  // Units of `unit` each; at times near the end of what fits.
  int64_t amount(uint32_t usual, int64_t unit = 1) {
    if (random_.one_in(40)) return static_cast<int64_t>(random_.next() >> 1);
    return random_.below(usual) * unit;
  }

  PodKind any_kind() {
    PodShape shape;
    if (!random_.one_in(5))
      shape.requests = {amount(8, 100), amount(8, 1 << 20), random_.one_in(5) ? amount(9) : 0, {}};
    shape.nonzero_cpu_milli = std::max<int64_t>(100, shape.requests.cpu_milli);
    shape.nonzero_memory = std::max<int64_t>(200 << 20, shape.requests.memory);
    if (random_.one_in(5)) shape.ports = {port(static_cast<uint16_t>(80 + random_.below(2)))};
    if (random_.one_in(6)) shape.requests.extended = {{"example.com/gpu", amount(3)}};
    Placement placement;
    if (random_.one_in(4)) placement.node_selector = {world_.label("disk", random_.one_in(2) ? "ssd" : "hdd")};
    if (random_.one_in(3)) placement.tolerations = {world_.toleration("k", random_.one_in(2) ? "v" : "w")};
    const PlacementId id = random_.one_in(9) ? PlacementId::none() : world_.catalog.placement(placement);
    return {world_.catalog.shape(shape), id};
  }

  void set_node(size_t index) {
    Allocatable room;
    room.resources = {amount(4, 1000), amount(4, 1 << 30), 9, {}};
    if (random_.one_in(3)) room.resources.extended = {{"example.com/gpu", amount(4)}};
    room.pods = random_.one_in(4) ? amount(4) : 110;
    NodeFacts node = world_.node(numbered("n", index), room);
    if (random_.one_in(10)) node.ready = Condition::kUnknown;
    node.unschedulable = random_.one_in(12);
    if (random_.one_in(2)) node.labels = world_.catalog.labels({world_.label("disk", random_.one_in(2) ? "ssd" : "x")});
    if (random_.one_in(4)) node.taints = world_.catalog.taints({world_.taint("k", random_.one_in(2) ? "v" : "w")});
    books_.set_node(node);
    changed(&Chooser::node_changed, node.node);
  }

  World world_;
  SplitMix random_;
  size_t nodes_;
  NodeBooks books_{world_.catalog};
  std::vector<PodKind> kinds_;
  std::vector<Charge> charges_;
  size_t charges_made_ = 0;
};

struct Sizes {
  size_t nodes, kinds;
  uint32_t changes;   // between two decisions, at most
  size_t most_kinds;  // remembered
};
constexpr Sizes kSizes[] = {{1, 3, 3, 4096}, {7, 4, 3, 4096}, {40, 30, 4, 4096}, {60, 12, 3, 5}, {30, 5, 400, 4096}};

TEST(Choose, EveryChoiceIsThatOfAScanOverAllNodes) {
  size_t placed = 0, tied = 0;
  for (const Sizes& sizes : kSizes) {
    for (const Scoring scoring : {Scoring::kLeast, Scoring::kLeastAndBalanced, Scoring::kMost}) {
      for (const Readiness readiness : {Readiness::kCondition, Readiness::kTaints}) {
        SCOPED_TRACE(sizes.nodes);
        RandomWorld world(sizes.nodes * 31 + sizes.kinds, sizes.nodes, sizes.kinds);
        Chooser chooser(world.catalog(), scoring, readiness, sizes.most_kinds);
        world.told = {&chooser};
        for (int step = 0; step < 600; ++step) {
          for (uint32_t i = world.random().below(sizes.changes); i > 0; --i) world.change_something();
          const PodKind kind = world.kind();
          const auto naive = [&](uint64_t tie) {
            return naive_choice(world.catalog(), world.books(), chooser.filters(), scoring, kind, tie);
          };
          const uint64_t tie = world.random().next();
          const NodeId node = chooser.choose(world.books(), kind, tie);
          ASSERT_EQ(node, naive(tie)) << step;
          if (!node) continue;
          ++placed;
          tied += node != naive(tie + 1);
          if (world.random().one_in(2)) world.charge(node, kind);
        }
      }
    }
  }
  EXPECT_GT(placed, 3000U);
  EXPECT_GT(tied, 1000U);
}

TEST(Choose, ACopyGoesItsOwnWay) {
  RandomWorld world(5, 20, 6);
  Chooser original(world.catalog(), Scoring::kLeast, Readiness::kTaints);
  world.told = {&original};
  original.choose(world.books(), world.kind(), 0);
  world.change_something();
  Chooser copy = original;
  Chooser assigned(world.catalog(), Scoring::kMost, Readiness::kCondition);
  assigned = original;
  for (int step = 0; step < 300; ++step) {
    if (step == 100) world.told = {&original, &copy, &assigned};
    world.change_something();
    if (step < 100) continue;
    const PodKind kind = world.kind();
    const auto tie = static_cast<uint64_t>(step);
    const NodeId node = original.choose(world.books(), kind, tie);
    ASSERT_EQ(copy.choose(world.books(), kind, tie), node);
    ASSERT_EQ(assigned.choose(world.books(), kind, tie), node);
  }
}

// Two nodes of which each policy likes another best.
TEST(Choose, ThePolicySaysWhatIsBest) {
  struct Row {
    const char* score;
    const char* chosen;
  };
  for (const Row& row : {Row{"least", "empty"}, Row{"least+balanced", "even"}, Row{"most", "full"}}) {
    SCOPED_TRACE(row.score);
    World world;
    Driver d(world.catalog, world.config(with("combined", {{"score", row.score}})));
    d.add(at(0), world.node("empty", 1000, 1000));  // with the pod 10 % and 70 %: 60 least, 70 balanced
    d.add(at(0), world.node("even", 1000, 1000));   // 50 % and 50 %: 50 least, 100 balanced
    d.add(at(0), world.node("full", 1000, 1000));   // 90 % and 90 %
    d.add(at(0), world.pod("a", "1", world.shape(0, 600), "empty"), Watch::kScheduled);
    d.add(at(0), world.pod("b", "2", world.shape(400, 400), "even"), Watch::kScheduled);
    d.add(at(0), world.pod("c", "3", world.shape(800, 800), "full"), Watch::kScheduled);
    d.add(at(0), world.pod("pod", "4", world.shape(100, 100)), Watch::kQueued);
    EXPECT_EQ(d.decide(at(1)), world.catalog.node(row.chosen));
  }
}

// Z14: BalancedAllocation skips a pod that asks for nothing; the emptiest wins, though the other one is in balance.
TEST(Choose, Z14APodThatAsksForNothingIsNotBalanced) {
  World world;
  Driver d(world.catalog, world.config(with("combined", {{"score", "least+balanced"}})));
  d.add(at(0), world.node("askew", 1000, 1000));
  d.add(at(0), world.node("even", 1000, 1000));
  d.add(at(0), world.pod("a", "1", world.shape(0, 600), "askew"), Watch::kScheduled);
  d.add(at(0), world.pod("b", "2", world.shape(400, 400), "even"), Watch::kScheduled);
  d.add(at(0), world.pod("pod", "3", world.nothing()), Watch::kQueued);
  EXPECT_EQ(d.decide(at(1)), world.catalog.node("askew"));
}

TEST(Choose, TheSeedDecidesBetweenEquals) {
  std::vector<int> chosen(3);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    World world;
    Driver d(world.catalog, world.config(*preset("combined"), seed));
    for (const char* name : {"n1", "n2", "n3"}) d.add(at(0), world.node(name));
    d.add(at(0), world.pod("pod"), Watch::kQueued);
    ++chosen[d.decide(at(1)).value];
  }
  for (const int count : chosen) EXPECT_GT(count, 8);
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
  EXPECT_EQ(d.core.fit_error({world.shape(600), PlacementId::none()}), "0/2 nodes are available: 2 Insufficient cpu.");
}

}  // namespace
}  // namespace inquest::scheduler
