// Selectors, affinity, tolerations, labels and taints as they stand in a document. Internal to the decoder.
//
// Views live as long as the document's walk. What could not be read, or goes beyond the limit, makes the whole not
// readable: half of a pod's constraints would be a lie about where it may go.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schema/catalog.h"

namespace inquest::kube {

// Labels, taints, tolerations, terms, requirements and their values, of one object, all together. An object that the
// API server takes has less than 1.5 MiB.
inline constexpr size_t kMaxSelectorParts = 16'384;

struct RawLabel {
  std::string_view key, value;
};

struct RawRequirement {
  std::string_view key;
  SelectorOperator op = SelectorOperator::kUnknown;
  std::vector<std::string_view> values;
};

struct RawTerm {
  std::vector<RawRequirement> expressions, fields;
};

struct RawToleration {
  std::string_view key, value;
  TolerationOperator op = TolerationOperator::kEqual;
  TaintEffect effect = TaintEffect::kAny;
};

struct RawTaint {
  std::string_view key, value;
  TaintEffect effect = TaintEffect::kUnknown;
};

struct RawPlacement {
  std::vector<RawLabel> node_selector;
  std::optional<std::vector<RawTerm>> terms;  // of the required node affinity
  std::vector<RawToleration> tolerations;
  bool readable = true;

  void clear();
};

struct RawLabels {
  std::vector<RawLabel> labels;
  bool readable = true;
};

struct RawTaints {
  std::vector<RawTaint> taints;
  bool readable = true;
};

// None if it was not readable.
PlacementId intern(const RawPlacement& raw, Catalog& catalog);
LabelsId intern(const RawLabels& raw, Catalog& catalog);
TaintsId intern(const RawTaints& raw, Catalog& catalog);

}  // namespace inquest::kube
