// Slots: where a store keeps a pod. Under key=name all lives of one name share a slot, as in the stores of 2015; under
// key=uid each life has its own. Members: the pods that a store's slots hold.
#pragma once

#include <vector>

#include "base/grown.h"
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

class Members {
 public:
  explicit Members(Slots slots) : slots_(slots) {}

  // The slot, which held nothing, holds this pod.
  void enter(uint32_t slot, PodId pod) {
    grown(position_, slot) = static_cast<uint32_t>(pods_.size());
    pods_.push_back(pod);
  }
  // The slot holds another pod now.
  void replace(uint32_t slot, PodId pod) { pods_[position_[slot]] = pod; }
  // The slot holds nothing any more. The last pod takes the free place.
  void leave(uint32_t slot) {
    const PodId last = pods_.back();
    pods_[position_[slot]] = last;
    position_[slots_.of(last)] = position_[slot];
    pods_.pop_back();
  }

  // In an order that depends on the inputs alone.
  const std::vector<PodId>& pods() const { return pods_; }

 private:
  Slots slots_;
  std::vector<PodId> pods_;
  std::vector<uint32_t> position_;  // of a slot's pod in pods_
};

}  // namespace inquest::scheduler
