// QueuedStore: the pods without a node: a FIFO, and beside it the parked ones, which wait for the end of their backoff
// before they are read again and queued (kubernetes-facts 1.4, 1.7).
#pragma once

#include <vector>

#include "base/time.h"
#include "scheduler/deadlines.h"
#include "scheduler/slots.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

class QueuedStore {
 public:
  enum class State : uint8_t { kAbsent, kQueued, kParked };

  explicit QueuedStore(Slots slots) : slots_(slots), members_(slots) {}

  // Of this very pod; another life in its slot does not count.
  State state(PodId pod) const;
  // The pod in this pod's slot, queued or parked; none if the slot is empty.
  PodId at(PodId pod) const;

  // At the end of the FIFO. If the slot is queued already it keeps its place, whichever life it held (FIFO.Add of
  // 2015); if this very pod is parked it stays parked.
  void put(PodId pod);
  // At the end of the FIFO, even if it was parked.
  void requeue(PodId pod);
  void park(PodId pod, Time until);  // never: until somebody says otherwise
  void remove(PodId pod);

  // The head of the FIFO, taken; none if it is empty. A pod removed and put again does not keep its old place.
  PodId pop();
  bool empty();

  // Parked pods: the earliest end of a backoff, and one whose end is `now` or earlier (it stays parked).
  Time next_end();
  PodId due(Time now);

  const std::vector<PodId>& pods() const { return members_.pods(); }  // queued and parked
  uint64_t hash() const { return hash_.value(); }

 private:
  struct Entry {
    PodId pod;
    State state = State::kAbsent;
    uint32_t ticket = 0;  // of its place in the FIFO, or of its parking
    Time until;
  };
  struct Place {
    uint32_t slot = 0;
    uint32_t ticket = 0;
  };
  Entry& open(PodId pod);  // the pod's entry, taken out of the hash, its slot entered among the members
  void close(const Entry& entry);
  static uint64_t hash_of(const Entry& entry);
  void skip_stale();
  const Deadline* next_parking();

  Slots slots_;
  StateHash hash_;
  std::vector<Entry> entries_;
  Members members_;
  std::vector<Place> fifo_;  // from head_ on; places of gone pods are skipped
  size_t head_ = 0;
  Deadlines parkings_;
  uint32_t tickets_ = 0;
};

}  // namespace inquest::scheduler
