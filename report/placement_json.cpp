#include "report/placement_json.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace inquest::report {
namespace {

// By value of the enum; as the API writes them, "?" for what inquest does not know.
constexpr std::array<std::string_view, 7> kSelectorOperators = {"?",  "In", "NotIn", "Exists", "DoesNotExist",
                                                                "Gt", "Lt"};
constexpr std::array<std::string_view, 5> kTolerationOperators = {"Equal", "Exists", "Gt", "Lt", "?"};
constexpr std::array<std::string_view, 5> kEffects = {"", "NoSchedule", "PreferNoSchedule", "NoExecute", "?"};

struct Mark {
  Unmodelled bit;
  std::string_view name;
};
constexpr std::array kMarks = {
    Mark{kTopologySpread, "topology-spread"}, Mark{kPodAffinity, "pod-affinity"}, Mark{kVolumes, "volumes"},
    Mark{kResourceClaims, "resource-claims"}, Mark{kNominated, "nominated"},      Mark{kPreferences, "preferences"},
};

class Writer {
 public:
  Writer(JsonWriter& json, const Catalog& catalog) : json_(json), catalog_(catalog) {}

  // By name: the order of ordinals is the catalog's own.
  void labels(std::string_view name, const Labels& labels) {
    std::map<std::string_view, std::string_view> sorted;
    for (const Label& label : labels) sorted[text(label.key)] = text(label.value);
    json_.key(name).begin_object();
    for (const auto& [key, value] : sorted) json_.field(key, value);
    json_.end_object();
  }

  void terms(const std::vector<SelectorTerm>& terms) {
    json_.key("required_node_affinity").begin_array();
    for (const SelectorTerm& term : terms) {
      json_.begin_object();
      requirements("expressions", term.expressions);
      requirements("fields", term.fields);
      json_.end_object();
    }
    json_.end_array();
  }

  void tolerations(const std::vector<Toleration>& tolerations) {
    json_.key("tolerations").begin_array();
    for (const Toleration& toleration : tolerations) {
      json_.begin_object().field("key", text(toleration.key));
      json_.field("operator", kTolerationOperators[static_cast<size_t>(toleration.op)]);
      json_.field("value", text(toleration.value)).field("effect", kEffects[static_cast<size_t>(toleration.effect)]);
      json_.end_object();
    }
    json_.end_array();
  }

  void taints(const Taints& taints) {
    json_.key("taints").begin_array();
    for (const Taint& taint : taints) {
      json_.begin_object().field("key", text(taint.key)).field("value", text(taint.value));
      json_.field("effect", kEffects[static_cast<size_t>(taint.effect)]).end_object();
    }
    json_.end_array();
  }

 private:
  std::string_view text(StringId id) const { return catalog_.text(id); }

  void requirements(std::string_view name, const std::vector<Requirement>& requirements) {
    json_.key(name).begin_array();
    for (const Requirement& requirement : requirements) {
      json_.begin_object().field("key", text(requirement.key));
      json_.field("operator", kSelectorOperators[static_cast<size_t>(requirement.op)]).key("values").begin_array();
      for (const StringId value : requirement.values) json_.value(text(value));
      json_.end_array().end_object();
    }
    json_.end_array();
  }

  JsonWriter& json_;
  const Catalog& catalog_;
};

}  // namespace

void add_placement(JsonWriter& json, const Catalog& catalog, const PodFacts& pod) {
  if (!pod.placement) {
    json.nothing("placement").nothing("unmodelled");
    return;
  }
  const Placement& placement = catalog.placement(pod.placement);
  Writer writer(json, catalog);
  json.key("placement").begin_object();
  writer.labels("node_selector", placement.node_selector);
  if (placement.has_affinity) writer.terms(placement.terms);
  writer.tolerations(placement.tolerations);
  json.end_object().key("unmodelled").begin_array();
  for (const Mark& mark : kMarks) {
    if ((pod.unmodelled & mark.bit) != 0) json.value(mark.name);
  }
  json.end_array();
}

void add_labels_and_taints(JsonWriter& json, const Catalog& catalog, const NodeFacts& node) {
  Writer writer(json, catalog);
  node.labels ? writer.labels("labels", catalog.labels(node.labels)) : static_cast<void>(json.nothing("labels"));
  node.taints ? writer.taints(catalog.taints(node.taints)) : static_cast<void>(json.nothing("taints"));
}

}  // namespace inquest::report
