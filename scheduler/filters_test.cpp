// What a selector and a toleration mean is tested beside them (schema/selectors_test.cpp, V1 to V8), what room there is
// beside the books (G and P); here: their order, readiness, and the words (kubernetes-facts 4.4).
#include "scheduler/filters.h"

#include <gtest/gtest.h>

#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using Kind = Misfit::Kind;

struct FiltersTest : testing::Test {
  World world;
  NodeBooks books{world.catalog};
  Filters filters{world.catalog, Readiness::kCondition}, by_taints{world.catalog, Readiness::kTaints};
  PlacementId anywhere = world.catalog.placement({});

  void add(NodeFacts node, const Taints& taints = {}, Labels labels = {}) {
    canonicalise(labels);
    node.taints = world.catalog.taints(taints);
    node.labels = world.catalog.labels(labels);
    books.set_node(node);
  }
  Misfit all(std::string_view node, PodKind pod) { return filters.all(books, world.catalog.node(node), pod); }
  PodKind small(PlacementId placement) { return {world.shape(100), placement}; }
  PlacementId selecting(Label label) {
    Placement placement;
    placement.node_selector = {label};
    return world.catalog.placement(placement);
  }
  PlacementId tolerating(const Toleration& toleration) {
    Placement placement;
    placement.tolerations = {toleration};
    return world.catalog.placement(placement);
  }
};

// One obstacle after the other is taken away: the next is named.
TEST_F(FiltersTest, TheFirstObstacleInUpstreamsOrderIsNamed) {
  const PodKind pod{world.shape(2000, 0, {port(80)}), selecting(world.label("disk", "ssd"))};
  const Label disk = world.label("disk", "ssd");
  EXPECT_EQ(all("n1", pod).kind, Kind::kNoSuchNode);
  NodeFacts node = world.node("n1", 1000, 1000, 1);
  const ShapeId holds_port = world.shape(0, 0, {port(80)}), holds_place = world.nothing();
  books.charge(node.node, holds_port, world.id("holder", "1"));
  node.unschedulable = true;
  node.ready = Condition::kFalse;
  add(node, {world.taint("k", "v")});
  EXPECT_EQ(all("n1", pod).kind, Kind::kUnschedulable);
  node.unschedulable = false;
  add(node, {world.taint("k", "v")});
  EXPECT_EQ(all("n1", pod).kind, Kind::kNotReady);
  node.ready = Condition::kTrue;
  add(node, {world.taint("k", "v")});
  EXPECT_EQ(all("n1", pod).kind, Kind::kTaint);
  EXPECT_EQ(*all("n1", pod).taint, world.taint("k", "v"));
  add(node);
  EXPECT_EQ(all("n1", pod).kind, Kind::kAffinity);
  add(node, {}, {disk});
  EXPECT_EQ(all("n1", pod).kind, Kind::kPort);
  books.discharge(node.node, holds_port, world.id("holder", "1"));
  books.charge(node.node, holds_place, world.id("holder", "1"));
  EXPECT_EQ(all("n1", pod).kind, Kind::kPods);
  books.discharge(node.node, holds_place, world.id("holder", "1"));
  EXPECT_EQ(all("n1", pod).kind, Kind::kCpu);
  add(world.node("n1", 2000, 1000, 1), {}, {disk});
  EXPECT_TRUE(all("n1", pod).fits());
}

TEST_F(FiltersTest, ReadinessIsTheConditionOrTheTaintsByPolicy) {
  for (const Condition ready : {Condition::kAbsent, Condition::kTrue, Condition::kFalse, Condition::kUnknown}) {
    NodeFacts node = world.node("n1");
    node.ready = ready;
    add(node);
    EXPECT_EQ(all("n1", small(anywhere)).fits(), ready == Condition::kTrue);
    EXPECT_TRUE(by_taints.all(books, node.node, small(anywhere)).fits());
    add(node, {world.taint("node.kubernetes.io/not-ready", "", TaintEffect::kNoExecute)});
    EXPECT_EQ(by_taints.all(books, node.node, small(anywhere)).kind, Kind::kTaint);
  }
}

TEST_F(FiltersTest, WhoToleratesTheTaintMayGoThere) {
  const PodKind pod = small(tolerating(world.toleration("dedicated", "user1")));
  add(world.node("n1"), {world.taint("dedicated", "user1")});
  add(world.node("n2"), {world.taint("dedicated", "user2")});
  add(world.node("n3"), {world.taint("dedicated", "user2", TaintEffect::kPreferNoSchedule)});
  EXPECT_TRUE(all("n1", pod).fits());
  EXPECT_EQ(all("n2", pod).kind, Kind::kTaint);
  EXPECT_TRUE(all("n3", pod).fits());
  NodeFacts node = world.node("n4");
  node.unschedulable = true;
  add(node);
  EXPECT_EQ(all("n4", pod).kind, Kind::kUnschedulable);
  EXPECT_TRUE(all("n4", small(tolerating(world.toleration("node.kubernetes.io/unschedulable", "")))).fits());
}

TEST_F(FiltersTest, APodWhosePlacementIsNotRecordedSelectsAndToleratesNothing) {
  add(world.node("n1"), {}, {world.label("disk", "ssd")});
  add(world.node("n2"), {world.taint("k", "v")});
  EXPECT_TRUE(all("n1", small(PlacementId::none())).fits());
  EXPECT_EQ(all("n2", small(PlacementId::none())).kind, Kind::kTaint);
  books.set_node(world.node("n3"));  // nor are its labels and taints
  EXPECT_TRUE(all("n3", small(anywhere)).fits());
}

TEST_F(FiltersTest, FitErrorIsInUpstreamsWords) {
  EXPECT_EQ(filters.fit_error(books, small(anywhere)), "no nodes available to schedule pods");
  add(world.node("n1", 50));
  add(world.node("n2"), {world.taint("k", "v")});
  add(world.node("n3"), {world.taint("k", "v")});
  EXPECT_EQ(filters.fit_error(books, small(anywhere)),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {k: v}.");
}

TEST_F(FiltersTest, FitErrorCountsEveryResourceThatLacks) {
  add(world.node("n1", 10, 10, 0));
  PodShape shape;
  shape.requests = {20, 20, 5, {{"example.com/gpu", 1}}};
  EXPECT_EQ(filters.fit_error(books, {world.catalog.shape(shape), anywhere}),
            "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient "
            "example.com/gpu, 1 Insufficient memory, 1 Too many pods.");
}

// "10 …" before "2 …", as strings are sorted.
TEST_F(FiltersTest, FitErrorSortsItsCountsAsStrings) {
  for (size_t i = 0; i < 10; ++i) {
    NodeFacts node = world.node(numbered("a", i));
    node.unschedulable = true;
    add(node);
  }
  for (size_t i = 0; i < 2; ++i) add(world.node(numbered("b", i), 50));
  NodeFacts node = world.node("c");
  node.ready = Condition::kUnknown;
  add(node);
  add(world.node("d"), {}, {world.label("disk", "hdd")});
  add(world.node("e"), {}, {world.label("disk", "ssd")});
  books.charge(world.catalog.node("e"), world.shape(0, 0, {port(80)}), world.id("holder", "1"));
  EXPECT_EQ(
      filters.fit_error(books, {world.shape(100, 0, {port(80)}), selecting(world.label("disk", "ssd"))}),
      "0/15 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) were not "
      "ready, 10 node(s) were unschedulable, 3 node(s) didn't match Pod's node affinity/selector.");
}

}  // namespace
}  // namespace inquest::scheduler
