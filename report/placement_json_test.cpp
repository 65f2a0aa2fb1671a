#include "report/placement_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace inquest::report {
namespace {

// Without spaces and line feeds.
template <typename Facts>
std::string shown(const Catalog& catalog, const Facts& facts) {
  JsonWriter json("test");
  if constexpr (std::is_same_v<Facts, PodFacts>) {
    add_placement(json, catalog, facts);
  } else {
    add_labels_and_taints(json, catalog, facts);
  }
  std::string out = json.finish();
  std::erase_if(out, [](char c) { return c == ' ' || c == '\n'; });
  return out.substr(out.find("test") + 6);
}

TEST(PlacementJson, APod) {
  Catalog catalog;
  const StringId b = catalog.string("b"), a = catalog.string("a");
  PodFacts pod;
  EXPECT_EQ(shown(catalog, pod), R"("placement":null,"unmodelled":null})");
  pod.placement = catalog.placement({});
  EXPECT_EQ(shown(catalog, pod), R"("placement":{"node_selector":{},"tolerations":[]},"unmodelled":[]})");
  pod.placement = catalog.placement(
      {{{b, a}, {a, b}},
       true,
       {{{{a, SelectorOperator::kNotIn, {b, kEmptyText}}}, {}}, {{}, {{b, SelectorOperator::kUnknown, {}}}}},
       {{a, b, TolerationOperator::kEqual, TaintEffect::kNoSchedule},
        {kEmptyText, kEmptyText, TolerationOperator::kExists, TaintEffect::kAny}}});
  pod.unmodelled = kVolumes | kPreferences;
  EXPECT_EQ(shown(catalog, pod),
            R"("placement":{"node_selector":{"a":"b","b":"a"},"required_node_affinity":[)"
            R"({"expressions":[{"key":"a","operator":"NotIn","values":["b",""]}],"fields":[]},)"
            R"({"expressions":[],"fields":[{"key":"b","operator":"?","values":[]}]}],)"
            R"("tolerations":[{"key":"a","operator":"Equal","value":"b","effect":"NoSchedule"},)"
            R"({"key":"","operator":"Exists","value":"","effect":""}]},"unmodelled":["volumes","preferences"]})");
}

TEST(PlacementJson, ANode) {
  Catalog catalog;
  const StringId b = catalog.string("b"), a = catalog.string("a");
  NodeFacts node;
  EXPECT_EQ(shown(catalog, node), R"("labels":null,"taints":null})");
  node.labels = catalog.labels(Labels{{b, a}, {a, kEmptyText}});
  node.taints = catalog.taints(Taints{{b, a, TaintEffect::kNoExecute}});
  EXPECT_EQ(shown(catalog, node),
            R"("labels":{"a":"","b":"a"},"taints":[{"key":"b","value":"a","effect":"NoExecute"}]})");
}

}  // namespace
}  // namespace inquest::report
