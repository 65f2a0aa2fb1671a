#include "schema/catalog.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "schema/facts.h"

namespace inquest {
namespace {

TEST(Catalog, SameTextSameOrdinal) {
  Catalog catalog;
  const StringId a = catalog.string("a");
  const StringId b = catalog.string("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(catalog.string("a"), a);
  EXPECT_EQ(catalog.text(a), "a");
  EXPECT_EQ(catalog.text(b), "b");
  EXPECT_EQ(catalog.string(std::string("a\0b", 3)), catalog.string(std::string_view("a\0b", 3)));
  EXPECT_NE(catalog.string(std::string_view("a\0b", 3)), a);
}

TEST(Catalog, TheEmptyTextIsOrdinalZeroAndNoneReadsAsEmpty) {
  Catalog catalog;
  EXPECT_EQ(catalog.string("").value, 0U);
  EXPECT_EQ(catalog.text(StringId::none()), "");
  EXPECT_EQ(catalog.node_name(NodeId::none()), "");
  EXPECT_EQ(catalog.name(KeyId::none()), "");
  EXPECT_EQ(catalog.ns(KeyId::none()), "");
}

TEST(Catalog, KeysAreNamespaceAndName) {
  Catalog catalog;
  const StringId x = catalog.string("x");
  const StringId y = catalog.string("y");
  const KeyId xy = catalog.key(x, y);
  EXPECT_NE(xy, catalog.key(y, x));
  EXPECT_EQ(xy, catalog.key(x, y));
  EXPECT_EQ(catalog.ns(xy), "x");
  EXPECT_EQ(catalog.name(xy), "y");
  EXPECT_EQ(catalog.ns_id(xy), x);
  EXPECT_EQ(catalog.name_id(xy), y);
  EXPECT_EQ(catalog.keys(), 2U);
}

// Mirror pods of two nodes may share a uid, and a name lives many lives.
TEST(Catalog, APodIsNamespaceNameAndUid) {
  Catalog catalog;
  const KeyId pod1 = catalog.key(catalog.string("ns"), catalog.string("pod1"));
  const KeyId pod2 = catalog.key(catalog.string("ns"), catalog.string("pod2"));
  const StringId uid = catalog.string("c0ffee");
  const PodId first = catalog.pod(pod1, uid);
  EXPECT_NE(first, catalog.pod(pod2, uid));
  EXPECT_NE(first, catalog.pod(pod1, catalog.string("")));
  EXPECT_EQ(first, catalog.pod(pod1, uid));
  EXPECT_EQ(catalog.pods(), 3U);
  EXPECT_EQ(catalog.uid(first), "c0ffee");
  EXPECT_EQ(catalog.key_of(first), pod1);
}

TEST(Catalog, NodesAreNames) {
  Catalog catalog;
  catalog.string("not a node");
  const NodeId node = catalog.node("pair-1");
  EXPECT_EQ(node.value, 0U);
  EXPECT_EQ(catalog.node("pair-1"), node);
  EXPECT_EQ(catalog.node("pair-2").value, 1U);
  EXPECT_EQ(catalog.node_name(node), "pair-1");
  EXPECT_EQ(catalog.nodes(), 2U);
}

TEST(Catalog, ShapesDifferInEveryPart) {
  Catalog catalog;
  PodShape plain;
  plain.requests = {100, 1024, 0, {}};
  std::vector<PodShape> shapes(8, plain);
  shapes[1].requests.cpu_milli = 101;
  shapes[2].requests.memory = 1025;
  shapes[3].requests.ephemeral = 1;
  shapes[4].requests.extended = {{"example.com/gpu", 1}};
  shapes[5].nonzero_cpu_milli = 1;
  shapes[6].ports = {{"", Protocol::kTcp, 8080}};
  shapes[7].ports = {{"", Protocol::kUdp, 8080}};
  for (uint32_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(catalog.shape(shapes[i]).value, i);
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(catalog.shape(shapes[i]).value, i);
    EXPECT_EQ(catalog.shape(ShapeId{i}), shapes[i]);
  }
}

TEST(Catalog, TextsThatAShapeKeepsAreMemory) {
  Catalog catalog;
  const std::string text(1'000'000, 'x');
  PodShape shape;
  shape.requests.extended = {{text, 1}};
  shape.ports = {{text, Protocol::kTcp, 8080}};
  const size_t before = catalog.memory();
  catalog.shape(shape);
  EXPECT_GT(catalog.memory() - before, 2 * text.size());
}

TEST(Catalog, Allocatables) {
  Catalog catalog;
  Allocatable small;
  small.resources.cpu_milli = 2000;
  small.pods = 110;
  Allocatable large = small;
  large.pods = 250;
  const AllocatableId id = catalog.allocatable(small);
  EXPECT_NE(catalog.allocatable(large), id);
  EXPECT_EQ(catalog.allocatable(small), id);
  EXPECT_EQ(catalog.allocatable(id), small);
}

TEST(Catalog, PlacementsLabelsAndTaintsThatDifferAnywhereAreOthers) {
  Catalog catalog;
  const StringId a = catalog.string("a"), b = catalog.string("b");
  const Requirement in{a, SelectorOperator::kIn, {a, b}}, one{a, SelectorOperator::kIn, {a}};
  const Placement placements[] = {
      {},
      {{{a, b}}, false, {}, {}},
      {{{b, a}}, false, {}, {}},
      {{}, true, {}, {}},
      {{}, true, {{}}, {}},
      {{}, true, {{{in}, {}}}, {}},
      {{}, true, {{{}, {in}}}, {}},
      {{}, true, {{{one}, {}}}, {}},
      {{}, true, {{{one, one}, {}}}, {}},
      {{}, true, {{{one}, {}}, {{one}, {}}}, {}},
      {{}, true, {{{{a, SelectorOperator::kNotIn, {a}}}, {}}}, {}},
      {{}, false, {}, {{a, b, TolerationOperator::kEqual, TaintEffect::kAny}}},
      {{}, false, {}, {{a, b, TolerationOperator::kExists, TaintEffect::kAny}}},
      {{}, false, {}, {{a, b, TolerationOperator::kEqual, TaintEffect::kNoExecute}}},
  };
  for (int again = 0; again < 2; ++again) {
    for (uint32_t i = 0; i < std::size(placements); ++i) {
      EXPECT_EQ(catalog.placement(placements[i]).value, i);
      EXPECT_EQ(catalog.placement(PlacementId{i}), placements[i]);
    }
  }
  EXPECT_NE(catalog.labels(Labels{{a, b}}), catalog.labels(Labels{{b, a}}));
  EXPECT_EQ(catalog.labels(Labels{{a, b}}), catalog.labels(Labels{{a, b}}));
  const TaintsId taints = catalog.taints(Taints{{a, b, TaintEffect::kNoSchedule}});
  EXPECT_NE(catalog.taints(Taints{{a, b, TaintEffect::kNoExecute}}), taints);
  EXPECT_EQ(catalog.taints(Taints{{a, b, TaintEffect::kNoSchedule}}), taints);
  EXPECT_EQ(catalog.taints(taints).size(), 1U);
}

// They are copied a lot.
TEST(Facts, StaySmall) {
  EXPECT_LE(sizeof(PodFacts), 56U);
  EXPECT_LE(sizeof(NodeFacts), 40U);
}

TEST(Catalog, ViewsAndReferencesStayValidWhileItGrowsAndMoves) {
  Catalog catalog;
  const StringId first = catalog.string("the first of many");
  const std::string_view text = catalog.text(first);
  PodShape shape;
  shape.requests.cpu_milli = 7;
  const PodShape& kept = catalog.shape(catalog.shape(shape));
  const std::string large(200'000, 'x');  // larger than a block
  EXPECT_EQ(catalog.text(catalog.string(large)), large);
  for (int i = 0; i < 20'000; ++i) catalog.string("string number " + std::to_string(i));
  for (int i = 0; i < 1'000; ++i) {
    shape.requests.memory = i;
    catalog.shape(shape);
  }
  const Catalog moved = std::move(catalog);
  EXPECT_EQ(text, "the first of many");
  EXPECT_EQ(text.data(), moved.text(first).data());
  EXPECT_EQ(kept.requests.cpu_milli, 7);
}

TEST(HostPort, Conflicts) {
  const HostPort any{"", Protocol::kTcp, 80};
  const HostPort local{"127.0.0.1", Protocol::kTcp, 80};
  const HostPort other{"127.0.0.2", Protocol::kTcp, 80};
  const HostPort udp{"127.0.0.1", Protocol::kUdp, 80};
  const HostPort next{"", Protocol::kTcp, 81};
  EXPECT_TRUE(any.conflicts_with(any));
  EXPECT_TRUE(any.conflicts_with(local));
  EXPECT_TRUE(local.conflicts_with(any));
  EXPECT_TRUE(local.conflicts_with(local));
  EXPECT_FALSE(local.conflicts_with(other));
  EXPECT_FALSE(local.conflicts_with(udp));
  EXPECT_FALSE(any.conflicts_with(udp));
  EXPECT_FALSE(any.conflicts_with(next));
}

}  // namespace
}  // namespace inquest
