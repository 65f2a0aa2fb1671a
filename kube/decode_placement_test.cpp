#include <gtest/gtest.h>

#include <array>
#include <string>
#include <variant>

#include "kube/decode.h"
#include "kube/decode_placement.h"
#include "schema/selectors.h"

namespace inquest::kube {
namespace {

class PlacementTest : public ::testing::Test {
 protected:
  Catalog catalog;
  Decoder decoder{catalog};

  template <typename Facts>
  Facts facts(const std::string& json) {
    const Result<ObjectFacts> object = decoder.object(json);
    EXPECT_TRUE(object.ok()) << object.error().message();
    return std::get<Facts>(*object);
  }
  PodFacts pod(const std::string& spec, const std::string& more = "") {
    return facts<PodFacts>(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n"},"spec":{)" +
                           spec + "}" + more + "}");
  }
  NodeFacts node(const std::string& meta, const std::string& spec) {
    return facts<NodeFacts>(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1")" + meta + R"(},"spec":{)" +
                            spec + "}}");
  }
  StringId text(std::string_view value) { return catalog.string(value); }
};

TEST_F(PlacementTest, EveryPart) {
  const PodFacts facts = pod(
      R"("nodeSelector":{"zone":"a","disk":"ssd"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"NotIn","values":["v","w"]},{"key":"l","operator":"Exists"}]},)"
      R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},)"
      R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
      R"({"operator":"Exists"},{"key":"k","value":"v","operator":"Equal","effect":"NoSchedule"},{"key":"k","effect":"PreferNoSchedule"},)"
      R"({"key":"k","operator":"Gt","value":"5","effect":"Never"},{"key":"k","operator":"Lt"},{"key":"k","operator":"Like"}])");
  using T = TolerationOperator;
  using E = TaintEffect;
  Placement expected;
  expected.node_selector = {{text("disk"), text("ssd")}, {text("zone"), text("a")}};
  canonicalise(expected.node_selector);
  expected.has_affinity = true;
  expected.terms = {
      {{{text("k"), SelectorOperator::kNotIn, {text("v"), text("w")}}, {text("l"), SelectorOperator::kExists, {}}}, {}},
      {{}, {{text("metadata.name"), SelectorOperator::kIn, {text("n1")}}}}};
  expected.tolerations = {{text("node.kubernetes.io/not-ready"), kEmptyText, T::kExists, E::kNoExecute},
                          {kEmptyText, kEmptyText, T::kExists, E::kAny},
                          {text("k"), text("v"), T::kEqual, E::kNoSchedule},
                          {text("k"), kEmptyText, T::kEqual, E::kPreferNoSchedule},
                          {text("k"), text("5"), T::kGt, E::kUnknown},
                          {text("k"), kEmptyText, T::kLt, E::kAny},
                          {text("k"), kEmptyText, T::kUnknown, E::kAny}};
  EXPECT_EQ(catalog.placement(facts.placement), expected);
  EXPECT_EQ(facts.unmodelled, 0);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

TEST_F(PlacementTest, TheSameConstraintsAreOneOrdinalWhateverTheOrderOfLabels) {
  const PodFacts none = pod(R"("nodeName":"x")");
  EXPECT_EQ(catalog.placement(none.placement), Placement{});
  EXPECT_EQ(pod(R"("nodeSelector":{},"tolerations":[],"affinity":{})").placement, none.placement);
  EXPECT_EQ(pod(R"("nodeSelector":null,"tolerations":null,"affinity":null)").placement, none.placement);
  const PodFacts one = pod(R"("nodeSelector":{"a":"1","b":"2"})");
  EXPECT_EQ(pod(R"("nodeSelector":{"b":"2","a":"1"})").placement, one.placement);
  EXPECT_NE(one.placement, none.placement);
}

TEST_F(PlacementTest, AnAffinityWithoutTermsIsNotTheSameAsNone) {
  const std::string required = R"("requiredDuringSchedulingIgnoredDuringExecution")";
  EXPECT_TRUE(catalog.placement(pod(R"("affinity":{"nodeAffinity":{)" + required + R"(:{}}})").placement).has_affinity);
  EXPECT_FALSE(
      catalog.placement(pod(R"("affinity":{"nodeAffinity":{)" + required + R"(:null}})").placement).has_affinity);
  EXPECT_FALSE(catalog.placement(pod(R"("affinity":{"nodeAffinity":null})").placement).has_affinity);
}

TEST_F(PlacementTest, LabelsAndTaintsOfANode) {
  const NodeFacts facts =
      node(R"(,"labels":{"b":"2","a":"1","c":null})",
           R"("taints":[{"key":"k","value":"v","effect":"NoSchedule","timeAdded":null},)"
           R"({"key":"l","effect":"NoExecute"},{"key":"m","effect":"PreferNoSchedule"},{"key":"o"}])");
  Labels labels = {{text("a"), text("1")}, {text("b"), text("2")}, {text("c"), kEmptyText}};
  canonicalise(labels);
  EXPECT_EQ(catalog.labels(facts.labels), labels);
  const Taints taints = {{text("k"), text("v"), TaintEffect::kNoSchedule},
                         {text("l"), kEmptyText, TaintEffect::kNoExecute},
                         {text("m"), kEmptyText, TaintEffect::kPreferNoSchedule},
                         {text("o"), kEmptyText, TaintEffect::kUnknown}};
  EXPECT_EQ(catalog.taints(facts.taints), taints);
  const NodeFacts bare = node("", "");
  EXPECT_TRUE(catalog.labels(bare.labels).empty());
  EXPECT_TRUE(catalog.taints(bare.taints).empty());
}

// Labels stand in the metadata, which may come before anything says that this is a node.
TEST_F(PlacementTest, FieldsInAnyOrder) {
  const std::string metadata = R"("metadata":{"name":"n1","labels":{"a":"1"}})", spec = R"("spec":{"taints":[{}]})";
  const std::string kind = R"("kind":"Node","apiVersion":"v1")";
  using Parts = std::array<std::string, 3>;
  for (const auto& [first, second, third] : {Parts{kind, metadata, spec}, Parts{metadata, spec, kind},
                                             Parts{spec, kind, metadata}, Parts{metadata, kind, spec}}) {
    std::string json("{");
    json.append(first).append(",").append(second).append(",").append(third).append("}");
    const auto facts = this->facts<NodeFacts>(json);
    EXPECT_EQ(catalog.labels(facts.labels).size(), 1U) << json;
    EXPECT_EQ(catalog.taints(facts.taints).size(), 1U) << json;
  }
  const auto list = decoder.list(R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{)" + metadata + "}]}");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(catalog.labels(std::get<NodeFacts>(list->objects.at(0)).labels).size(), 1U);
}

TEST_F(PlacementTest, WhatTheCoreDoesNotModelIsMarked) {
  const std::string required = R"("requiredDuringSchedulingIgnoredDuringExecution")";
  const std::string preferred = R"("preferredDuringSchedulingIgnoredDuringExecution")";
  const struct {
    std::string spec;
    int marks;
  } rows[] = {
      {R"("topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}])", kTopologySpread},
      {R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"}])", kPreferences},
      {R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"},{}])", kPreferences | kTopologySpread},
      {R"("topologySpreadConstraints":[])", 0},
      {R"("affinity":{"podAffinity":{)" + required + R"(:[{}]}})", kPodAffinity},
      {R"("affinity":{"podAntiAffinity":{)" + required + R"(:[{}],)" + preferred + R"(:[{}]}})",
       kPodAffinity | kPreferences},
      {R"("affinity":{"podAntiAffinity":{)" + required + R"(:[]}})", 0},
      {R"("affinity":{"nodeAffinity":{)" + preferred + R"(:[{"weight":1}]}})", kPreferences},
      {R"("volumes":[{"name":"x","emptyDir":{}},{"name":"y","persistentVolumeClaim":{"claimName":"c"}}])", kVolumes},
      {R"("volumes":[{"name":"x","ephemeral":{}}])", kVolumes},
      {R"("volumes":[{"name":"x","projected":{"sources":[]},"persistentVolumeClaim":null},null])", 0},
      {R"("resourceClaims":[{"name":"gpu"}])", kResourceClaims},
      {R"("resourceClaims":null,"volumes":null,"topologySpreadConstraints":null)", 0},
      {R"("volumes":[{"ephemeral":{}}],"volumes":[])", 0},
  };
  for (const auto& row : rows) EXPECT_EQ(pod(row.spec).unmodelled, row.marks) << row.spec;
  EXPECT_EQ(pod("", R"(,"status":{"nominatedNodeName":"n1"})").unmodelled, kNominated);
  EXPECT_EQ(pod("", R"(,"status":{"nominatedNodeName":""})").unmodelled, 0);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

// A null in a list is an entry without fields, as upstream decodes it (incidents F17).
TEST_F(PlacementTest, NullsInLists) {
  const PodFacts facts = pod(
      R"("tolerations":[null],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
      R"([null,{"matchExpressions":null,"matchFields":[null]},{"matchExpressions":[{"key":null,"operator":null,"values":null},)"
      R"({"values":[null]}]}]}}})");
  const Placement& placement = catalog.placement(facts.placement);
  EXPECT_EQ(placement.tolerations, std::vector<Toleration>(1));
  const Requirement empty;
  EXPECT_EQ(placement.terms,
            (std::vector<SelectorTerm>{
                {}, {{}, {empty}}, {{empty, {kEmptyText, SelectorOperator::kUnknown, {kEmptyText}}}, {}}}));
  EXPECT_EQ(decoder.warning_count(), 0U);
}

// Half of a pod's constraints would be a lie about where it may go.
TEST_F(PlacementTest, WhatCannotBeReadIsNotKnown) {
  const std::string terms =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)";
  const struct {
    std::string spec, field;
  } rows[] = {
      {R"("nodeSelector":7)", "spec.nodeSelector"},
      {R"("nodeSelector":{"a":1})", "spec.nodeSelector.a"},
      {R"("tolerations":{})", "spec.tolerations"},
      {R"("tolerations":["x"])", "spec.tolerations[0]"},
      {R"("tolerations":[{"key":[]}])", "spec.tolerations[0].key"},
      {R"("affinity":[])", "spec.affinity"},
      {terms + R"({}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
      {terms + R"([{"matchExpressions":[{"values":["a",1]}]}]}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
       ".matchExpressions[0].values[1]"},
  };
  for (const auto& row : rows) {
    EXPECT_FALSE(pod(row.spec + R"(,"nodeName":"x")").placement.known()) << row.spec;
    const std::vector<Warning> warnings = decoder.take_warnings();
    ASSERT_EQ(warnings.size(), 1U) << row.spec;
    EXPECT_EQ(warnings[0].field, row.field);
  }
  EXPECT_TRUE(pod("").placement.known()) << "the next object starts anew";
  const NodeFacts facts = node(R"(,"labels":[])", R"("taints":{})");
  EXPECT_FALSE(facts.labels.known());
  EXPECT_FALSE(facts.taints.known());
}

TEST_F(PlacementTest, HugeListsAreNotKnownAndSaidOnce) {
  const auto repeat = [](const std::string& text, size_t count) {
    std::string out = text;
    for (size_t i = 1; i < count; ++i) out += "," + text;
    return out;
  };
  const auto values = [&](size_t count) {
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
           R"({"matchExpressions":[{"key":"k","operator":"In","values":[)" +
           repeat("\"v\"", count) + "]}]}]}}}";
  };
  EXPECT_TRUE(pod(values(kMaxSelectorParts - 2)).placement.known());
  EXPECT_EQ(decoder.warning_count(), 0U);
  EXPECT_FALSE(pod(values(kMaxSelectorParts - 1)).placement.known());
  EXPECT_FALSE(pod(R"("tolerations":[)" + repeat("{}", kMaxSelectorParts * 4) + "]").placement.known());
  EXPECT_FALSE(node("", R"("taints":[)" + repeat("{}", kMaxSelectorParts + 1) + "]").taints.known());
  EXPECT_EQ(decoder.take_warnings().size(), 3U);
  EXPECT_EQ(catalog.placements(), 1U) << "what is not known is not kept";
}

}  // namespace
}  // namespace inquest::kube
