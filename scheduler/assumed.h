// AssumedStore: pods that the core has bound itself and not yet seen confirmed, each with the instant it expires.
#pragma once

#include <vector>

#include "base/time.h"
#include "scheduler/deadlines.h"
#include "scheduler/slots.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

struct AssumedPod {
  PodId pod;  // none: the slot is empty
  NodeId node;
  ShapeId shape;
  Time deadline = Time::never();
  uint32_t ticket = 0;   // of this assumption among all, so that an old deadline cannot expire a new one
  bool charged = false;  // its room counts; not while the scheduled store holds the same slot
  bool won = false;      // its bind was accepted: another bind of the pod that is refused does not touch it
};

class AssumedStore {
 public:
  explicit AssumedStore(Slots slots) : slots_(slots), members_(slots) {}

  AssumedPod* at(PodId pod) {
    const uint32_t slot = slots_.of(pod);
    return slot < entries_.size() && entries_[slot].pod ? &entries_[slot] : nullptr;
  }
  const AssumedPod* at(PodId pod) const { return const_cast<AssumedStore*>(this)->at(pod); }
  const AssumedPod* find(PodId pod) const {
    const AssumedPod* entry = at(pod);
    return entry != nullptr && entry->pod == pod ? entry : nullptr;
  }

  // Returns what it replaced. `deadline` never: it does not expire, until set_deadline.
  AssumedPod put(PodId pod, NodeId node, ShapeId shape, Time deadline);
  AssumedPod take(PodId pod);
  void set_deadline(PodId pod, Time deadline);
  void set_won(PodId pod);

  // The earliest deadline; never if there is none.
  Time next_deadline();
  // A pod whose deadline is `now` or earlier, in the order of deadline and then of slot; none if there is none. It
  // stays in the store until it is taken.
  PodId due(Time now);

  const std::vector<PodId>& pods() const { return members_.pods(); }
  uint64_t hash() const { return hash_.value(); }

 private:
  const Deadline* next_expiry();

  Slots slots_;
  StateHash hash_;
  std::vector<AssumedPod> entries_;
  Members members_;
  Deadlines expiries_;
  uint32_t tickets_ = 0;
};

}  // namespace inquest::scheduler
