// ScheduledStore: the bound pods, as the watch told it.
#pragma once

#include <vector>

#include "scheduler/slots.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

struct ScheduledPod {
  PodId pod;  // none: the slot is empty
  NodeId node;
  ShapeId shape;
  friend bool operator==(const ScheduledPod&, const ScheduledPod&) = default;
};

class ScheduledStore {
 public:
  explicit ScheduledStore(Slots slots) : slots_(slots), members_(slots) {}

  // What the pod's slot holds, whichever life of the name it is; nullptr if nothing.
  const ScheduledPod* at(PodId pod) const {
    const uint32_t slot = slots_.of(pod);
    return slot < entries_.size() && entries_[slot].pod ? &entries_[slot] : nullptr;
  }
  // The same, if it is this very pod.
  const ScheduledPod* find(PodId pod) const {
    const ScheduledPod* entry = at(pod);
    return entry != nullptr && entry->pod == pod ? entry : nullptr;
  }

  // Returns what it replaced (pod none: nothing).
  ScheduledPod put(const ScheduledPod& entry);
  // Empties the pod's slot and returns what it held.
  ScheduledPod take(PodId pod);

  // Every pod held, in an order that depends on the inputs alone.
  const std::vector<PodId>& pods() const { return members_.pods(); }
  uint64_t hash() const { return hash_.value(); }

 private:
  Slots slots_;
  StateHash hash_;
  std::vector<ScheduledPod> entries_;
  Members members_;
};

}  // namespace inquest::scheduler
