// What of a pod's spec says where it may go, and the labels and taints of nodes.
#include "kube/decode_placement.h"

#include <string>

#include "kube/decode_object.h"

namespace inquest::kube {
namespace {

SelectorOperator selector_operator(std::string_view text) {
  if (text == "In") return SelectorOperator::kIn;
  if (text == "NotIn") return SelectorOperator::kNotIn;
  if (text == "Exists") return SelectorOperator::kExists;
  if (text == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (text == "Gt") return SelectorOperator::kGt;
  if (text == "Lt") return SelectorOperator::kLt;
  return SelectorOperator::kUnknown;
}

TolerationOperator toleration_operator(std::string_view text) {
  if (text.empty() || text == "Equal") return TolerationOperator::kEqual;
  if (text == "Exists") return TolerationOperator::kExists;
  if (text == "Gt") return TolerationOperator::kGt;
  if (text == "Lt") return TolerationOperator::kLt;
  return TolerationOperator::kUnknown;
}

// Only a toleration may name none.
TaintEffect taint_effect(std::string_view text, TaintEffect none) {
  if (text.empty()) return none;
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

// Most values are empty.
StringId text_of(std::string_view text, Catalog& catalog) { return text.empty() ? kEmptyText : catalog.string(text); }

Labels labels_of(const std::vector<RawLabel>& raw, Catalog& catalog) {
  Labels out;
  out.reserve(raw.size());
  for (const RawLabel& label : raw) out.push_back({catalog.string(label.key), catalog.string(label.value)});
  canonicalise(out);
  return out;
}

std::vector<Requirement> requirements_of(const std::vector<RawRequirement>& raw, Catalog& catalog) {
  std::vector<Requirement> out;
  for (const RawRequirement& from : raw) {
    Requirement& to = out.emplace_back(Requirement{catalog.string(from.key), from.op, {}});
    for (const std::string_view value : from.values) to.values.push_back(catalog.string(value));
  }
  return out;
}

}  // namespace

void RawPlacement::clear() {
  node_selector.clear();
  terms.reset();
  tolerations.clear();
  readable = true;
}

PlacementId intern(const RawPlacement& raw, Catalog& catalog) {
  if (!raw.readable) return {};
  Placement out;
  out.node_selector = labels_of(raw.node_selector, catalog);
  out.has_affinity = raw.terms.has_value();
  if (raw.terms) {
    for (const RawTerm& term : *raw.terms) {
      out.terms.push_back({requirements_of(term.expressions, catalog), requirements_of(term.fields, catalog)});
    }
  }
  out.tolerations.reserve(raw.tolerations.size());
  for (const RawToleration& from : raw.tolerations) {
    out.tolerations.push_back({catalog.string(from.key), text_of(from.value, catalog), from.op, from.effect});
  }
  return catalog.placement(out);
}

LabelsId intern(const RawLabels& raw, Catalog& catalog) {
  return raw.readable ? catalog.labels(labels_of(raw.labels, catalog)) : LabelsId{};
}

TaintsId intern(const RawTaints& raw, Catalog& catalog) {
  if (!raw.readable) return {};
  Taints out;
  for (const RawTaint& from : raw.taints) {
    out.push_back({catalog.string(from.key), text_of(from.value, catalog), from.effect});
  }
  return catalog.taints(out);
}

// Counts one more part; beyond the limit it warns once and says no.
bool ObjectReader::another_part(const Path& path) {
  if (++selector_parts_ <= kMaxSelectorParts) return true;
  if (selector_parts_ == kMaxSelectorParts + 1) {
    walk_.warn(path, "more than 16384 labels, taints, selectors and tolerations; where it may go is not known");
  }
  return false;
}

// nodeSelector, affinity and tolerations.
void ObjectReader::read_placement(Item& item, const Path& path) {
  RawPlacement& out = raw_.pod.placement;
  const uint64_t before = walk_.warning_count();
  if (item.key == "nodeSelector") {
    read_labels(item, path, out.node_selector);
  } else if (item.key == "tolerations") {
    read_tolerations(item, path, out.tolerations);
  } else {
    read_affinity(item, path);
  }
  if (walk_.warning_count() != before) out.readable = false;
}

void ObjectReader::read_node_labels(Item& item, const Path& path) {
  const uint64_t before = walk_.warning_count();
  read_labels(item, path, raw_.labels.labels);
  raw_.labels.readable = walk_.warning_count() == before;
}

void ObjectReader::read_labels(Item& item, const Path& path, std::vector<RawLabel>& out) {
  out.clear();
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (another_part(at)) out.push_back({field.key, walk_.text(field, at).value_or(std::string_view())});
  });
}

// A null in a list is an entry without fields, as upstream decodes it.
void ObjectReader::read_tolerations(Item& item, const Path& path, std::vector<RawToleration>& out) {
  out.clear();
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    if (!another_part(at)) return;
    std::string_view op, effect;
    RawToleration& toleration = out.emplace_back();
    walk_.each_field(element, at, [&](Item& field, const Path& part) {
      if (field.key == "key") set_text(toleration.key, field, part);
      if (field.key == "value") set_text(toleration.value, field, part);
      if (field.key == "operator") set_text(op, field, part);
      if (field.key == "effect") set_text(effect, field, part);
    });
    toleration.op = toleration_operator(op);
    toleration.effect = taint_effect(effect, TaintEffect::kAny);
  });
}

void ObjectReader::read_taints(Item& item, const Path& path) {
  const uint64_t before = walk_.warning_count();
  std::vector<RawTaint>& out = raw_.node.taints.taints;
  out.clear();
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    if (!another_part(at)) return;
    std::string_view effect;
    RawTaint& taint = out.emplace_back();
    walk_.each_field(element, at, [&](Item& field, const Path& part) {
      if (field.key == "key") set_text(taint.key, field, part);
      if (field.key == "value") set_text(taint.value, field, part);
      if (field.key == "effect") set_text(effect, field, part);
    });
    taint.effect = taint_effect(effect, TaintEffect::kUnknown);
  });
  raw_.node.taints.readable = walk_.warning_count() == before;
}

void ObjectReader::read_affinity(Item& item, const Path& path) {
  raw_.pod.placement.terms.reset();
  raw_.pod.affinity = 0;
  walk_.each_field(item, path, [&](Item& kind, const Path& at) {
    const bool node = kind.key == "nodeAffinity";
    if (!node && kind.key != "podAffinity" && kind.key != "podAntiAffinity") return;
    walk_.each_field(kind, at, [&](Item& field, const Path& part) {
      if (field.key == "preferredDuringSchedulingIgnoredDuringExecution") {
        if (not_empty(field, part)) raw_.pod.affinity |= kPreferences;
      } else if (field.key == "requiredDuringSchedulingIgnoredDuringExecution") {
        if (node) {
          read_terms(field, part);
        } else if (not_empty(field, part)) {
          raw_.pod.affinity |= kPodAffinity;
        }
      }
    });
  });
}

void ObjectReader::read_terms(Item& item, const Path& path) {
  std::vector<RawTerm> terms;
  const bool present = walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key != "nodeSelectorTerms") return;
    terms.clear();
    walk_.each_element(field, at, [&](Item& element, const Path& part) {
      if (!another_part(part)) return;
      RawTerm& term = terms.emplace_back();
      walk_.each_field(element, part, [&](Item& list, const Path& in) {
        if (list.key == "matchExpressions") read_requirements(list, in, term.expressions);
        if (list.key == "matchFields") read_requirements(list, in, term.fields);
      });
    });
  });
  if (present) raw_.pod.placement.terms = std::move(terms);
}

void ObjectReader::read_requirements(Item& item, const Path& path, std::vector<RawRequirement>& out) {
  out.clear();
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    if (!another_part(at)) return;
    RawRequirement& requirement = out.emplace_back();
    walk_.each_field(element, at, [&](Item& field, const Path& part) {
      if (field.key == "key") {
        set_text(requirement.key, field, part);
      } else if (field.key == "operator") {
        requirement.op = selector_operator(walk_.text(field, part).value_or(std::string_view()));
      } else if (field.key == "values") {
        requirement.values.clear();
        walk_.each_element(field, part, [&](Item& value, const Path& in) {
          if (another_part(in)) requirement.values.push_back(walk_.text(value, in).value_or(std::string_view()));
        });
      }
    });
  });
}

bool ObjectReader::not_empty(Item& item, const Path& path) {
  bool any = false;
  walk_.each_element(item, path, [&](Item&, const Path&) { any = true; });
  return any;
}

// The constraints that the core does not model.
void ObjectReader::read_topology_spread(Item& item, const Path& path) {
  raw_.pod.spread = 0;
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    std::string_view otherwise;
    walk_.each_field(element, at, [&](Item& field, const Path& part) {
      if (field.key == "whenUnsatisfiable") set_text(otherwise, field, part);
    });
    raw_.pod.spread |= otherwise == "ScheduleAnyway" ? kPreferences : kTopologySpread;
  });
}

void ObjectReader::read_volumes(Item& item, const Path& path) {
  raw_.pod.volumes = 0;
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    walk_.each_field(element, at, [&](Item& field, const Path&) {
      const bool claims = field.key == "persistentVolumeClaim" || field.key == "ephemeral";
      if (claims && field.type != json::json_type::null) raw_.pod.volumes = kVolumes;
    });
  });
}

}  // namespace inquest::kube
