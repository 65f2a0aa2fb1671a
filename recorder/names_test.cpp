#include "recorder/names.h"

#include <gtest/gtest.h>

#include <variant>

namespace inquest::recorder {
namespace {

// The second catalog gives other ordinals, and so another order of labels, to the same names.
TEST(Names, PlacementsLabelsAndTaintsKeepTheirMeaning) {
  Catalog from, to;
  for (const char* text : {"d", "c", "b", "a"}) to.string(text);
  const StringId a = from.string("a"), b = from.string("b"), c = from.string("c"), d = from.string("d");
  const Requirement in{a, SelectorOperator::kIn, {c, kEmptyText}};
  PodFacts pod;
  pod.shape = from.shape({});
  pod.placement = from.placement(
      {{{a, b}, {c, d}}, true, {{{in}, {}}, {{}, {in}}}, {{a, b, TolerationOperator::kExists, TaintEffect::kAny}}});
  pod.unmodelled = kVolumes;
  NodeFacts node;
  node.allocatable = from.allocatable({});
  node.labels = from.labels(Labels{{a, b}, {c, d}});
  node.taints = from.taints(Taints{{c, d, TaintEffect::kNoExecute}, {a, b, TaintEffect::kNoSchedule}});
  Names names(from, to);
  for (int again = 0; again < 2; ++again) {
    const auto moved = std::get<PodFacts>(names.object(pod));
    const StringId ta = to.string("a"), tb = to.string("b"), tc = to.string("c"), td = to.string("d");
    const Requirement moved_in{ta, SelectorOperator::kIn, {tc, kEmptyText}};
    const Placement expected{{{tc, td}, {ta, tb}},
                             true,
                             {{{moved_in}, {}}, {{}, {moved_in}}},
                             {{ta, tb, TolerationOperator::kExists, TaintEffect::kAny}}};
    EXPECT_EQ(to.placement(moved.placement), expected);
    EXPECT_EQ(moved.unmodelled, kVolumes);
    const auto moved_node = std::get<NodeFacts>(names.object(node));
    EXPECT_EQ(to.labels(moved_node.labels), (Labels{{tc, td}, {ta, tb}}));
    EXPECT_EQ(to.taints(moved_node.taints),
              (Taints{{tc, td, TaintEffect::kNoExecute}, {ta, tb, TaintEffect::kNoSchedule}}));
  }
  EXPECT_EQ(to.placements(), 1U);
  PodFacts old = pod;
  old.placement = {};
  EXPECT_FALSE(std::get<PodFacts>(names.object(old)).placement.known());
}

}  // namespace
}  // namespace inquest::recorder
