// Which nodes a pod may go to, and what a node says about itself: selectors, required node affinity, tolerations,
// labels and taints, as the API has them (kubernetes-facts 9.5, 9.6). What they mean is in selectors.h.
//
// Plain values: texts are ordinals of a Catalog, which interns the whole values too, so that "the same constraints" is
// one comparison of integers. Preferred node affinity is not here; pods that have any are marked (facts.h, Unmodelled).
#pragma once

#include <cstdint>
#include <vector>

#include "schema/ids.h"

namespace inquest {

struct Label {
  StringId key = kEmptyText;
  StringId value = kEmptyText;
  friend bool operator==(const Label&, const Label&) = default;
};
using Labels = std::vector<Label>;  // sorted by key's ordinal, no key twice

// Sorts; of a key given twice the last one stays.
void canonicalise(Labels& labels);

enum class SelectorOperator : uint8_t { kUnknown, kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// As it came, valid or not: matching finds out.
struct Requirement {
  StringId key = kEmptyText;
  SelectorOperator op = SelectorOperator::kUnknown;
  std::vector<StringId> values;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct SelectorTerm {
  std::vector<Requirement> expressions;  // of labels
  std::vector<Requirement> fields;       // of metadata.name
  friend bool operator==(const SelectorTerm&, const SelectorTerm&) = default;
};

enum class TaintEffect : uint8_t {
  kAny,  // of a toleration: none given
  kNoSchedule,
  kPreferNoSchedule,
  kNoExecute,
  kUnknown,
};

enum class TolerationOperator : uint8_t { kEqual, kExists, kGt, kLt, kUnknown };

struct Toleration {
  StringId key = kEmptyText;
  StringId value = kEmptyText;
  TolerationOperator op = TolerationOperator::kEqual;
  TaintEffect effect = TaintEffect::kAny;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  StringId key = kEmptyText;
  StringId value = kEmptyText;
  TaintEffect effect = TaintEffect::kUnknown;
  friend bool operator==(const Taint&, const Taint&) = default;
};
using Taints = std::vector<Taint>;  // in the node's order

// The default one goes anywhere where nothing is tainted. Thousands of pods share one.
struct Placement {
  Labels node_selector;
  bool has_affinity = false;        // requiredDuringScheduling… is given; without terms it matches no node
  std::vector<SelectorTerm> terms;  // its nodeSelectorTerms
  std::vector<Toleration> tolerations;
  friend bool operator==(const Placement&, const Placement&) = default;
};

uint64_t hash_of(const Labels& labels);
uint64_t hash_of(const Taints& taints);
uint64_t hash_of(const Placement& placement);

}  // namespace inquest
