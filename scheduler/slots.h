// Slots: where a store keeps a pod. Under key=name all lives of one name share a slot, as in the stores of 2015; under
// key=uid each life has its own.
#pragma once

#include "scheduler/policy.h"
#include "schema/catalog.h"

namespace inquest::scheduler {

class Slots {
 public:
  Slots(const Catalog& catalog, PodKey key) : catalog_(&catalog), key_(key) {}
  uint32_t of(PodId pod) const { return key_ == PodKey::kUid ? pod.value : catalog_->key_of(pod).value; }

 private:
  const Catalog* catalog_;
  PodKey key_;
};

// A vector by slot that grows as slots are used.
template <typename Entry>
Entry& slot_at(std::vector<Entry>& entries, uint32_t slot) {
  if (slot >= entries.size()) entries.resize(size_t{slot} + slot / 2 + 16);
  return entries[slot];
}

}  // namespace inquest::scheduler
