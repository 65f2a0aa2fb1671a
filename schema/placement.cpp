#include "schema/placement.h"

#include <algorithm>

#include "base/hash.h"
#include "schema/table_hash.h"

namespace inquest {
namespace {

uint64_t pair_of(StringId key, StringId value) { return uint64_t{key.value} << 32 | value.value; }

uint64_t hash_of(uint64_t seed, const std::vector<Requirement>& requirements) {
  seed = combine(seed, requirements.size());
  for (const Requirement& requirement : requirements) {
    seed = combine(seed, uint64_t{requirement.key.value} << 8 | static_cast<uint64_t>(requirement.op));
    seed = combine(seed, requirement.values.size());
    for (const StringId value : requirement.values) seed = combine(seed, value.value);
  }
  return seed;
}

}  // namespace

void canonicalise(Labels& labels) {
  std::stable_sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
  // From the back, where the last of equal keys comes first.
  const auto same = [](const Label& a, const Label& b) { return a.key == b.key; };
  labels.erase(labels.begin(), std::unique(labels.rbegin(), labels.rend(), same).base());
}

uint64_t hash_of(const Labels& labels) {
  uint64_t hash = combine(table_seed(), labels.size());
  for (const Label& label : labels) hash = combine(hash, pair_of(label.key, label.value));
  return hash;
}

uint64_t hash_of(const Taints& taints) {
  uint64_t hash = combine(table_seed(), taints.size());
  for (const Taint& taint : taints) {
    hash = combine(combine(hash, pair_of(taint.key, taint.value)), static_cast<uint64_t>(taint.effect));
  }
  return hash;
}

uint64_t hash_of(const Placement& placement) {
  uint64_t hash = combine(hash_of(placement.node_selector), placement.has_affinity);
  hash = combine(hash, placement.terms.size());
  for (const SelectorTerm& term : placement.terms) hash = hash_of(hash_of(hash, term.expressions), term.fields);
  for (const Toleration& toleration : placement.tolerations) {
    hash = combine(hash, pair_of(toleration.key, toleration.value));
    hash = combine(hash, static_cast<uint64_t>(toleration.op) << 8 | static_cast<uint64_t>(toleration.effect));
  }
  return hash;
}

}  // namespace inquest
