// QueuedStore: the pods without a node: those in line for a decision, and those that wait because one failed.
//
// `fifo`, as in 2015 (kubernetes-facts 1.4, 1.7): the line is in order of arrival, an update keeps the place. A pod
// that failed is parked for 1 s, twice as long each time, at most 60 s; then it is read again, and queued if it still
// waits.
//
// `priority`, as today (4.1, 4.2, plain mode): the highest priority first, of those the one that waits the longest; a
// failed attempt starts the wait anew. A pod that failed with an error is parked, for at most 10 s. One that no node
// has room for is unschedulable: it waits for a move, that is, for something to change that may help it, and then for
// the rest of its backoff; a flush every 30 s moves those that wait for more than 5 min. An attempt is one step of the
// core, so nothing can move while it runs (moveRequestCycle of upstream).
//
// A wait that ends at t is over at t (upstream to 1.32; 12.18), not at the next tick of a clock. Pods that would be
// equal stand in the order of their ordinals: nothing depends on what came and went before.
#pragma once

#include <compare>
#include <vector>

#include "base/time.h"
#include "scheduler/slot_heap.h"
#include "scheduler/slot_line.h"
#include "scheduler/slots.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

class QueuedStore {
 public:
  enum class State : uint8_t { kAbsent, kQueued, kParked, kUnschedulable };
  // Why an attempt failed: no node took the pod, or something went wrong on the way.
  enum class Failure : uint8_t { kRejected, kError };

  // The flushes stand on a grid anchored at `origin`.
  QueuedStore(Slots slots, QueueOrder order, Time origin)
      : slots_(slots), order_(order), origin_(origin), members_(slots) {}

  // Of this very pod; another life in its slot does not count.
  State state(PodId pod) const;
  // The pod in this pod's slot, queued or waiting; none if the slot is empty.
  PodId at(PodId pod) const;

  // The pod as a watch tells it: enters the line, or, if its slot is in line already, takes over the place, whichever
  // life held it. If this very pod waits, it goes on waiting.
  void put(PodId pod, int32_t priority, Time now);
  // Enters the line, even if it waits.
  void requeue(PodId pod, int32_t priority, Time now);
  // Its attempt failed, the n-th (1 or more): it waits.
  void failed(PodId pod, int32_t priority, uint32_t attempts, Failure why, Time now);
  void remove(PodId pod);

  // The first in line, taken; none if nobody is. A pod removed and put again does not keep its old place.
  PodId pop();
  bool empty() const { return fifo_.first() == SlotLine::kEnd && line_.empty(); }

  // The next instant at which a wait ends; never if there is none.
  Time next_end() const { return waits_.empty() ? Time::never() : waits_.first_key().at; }
  // Ends the waits that are over and appends their pods to `ended`. Under `priority` these are in line now; under
  // `fifo` each is to be read again, and waits until it is requeued or removed.
  void wake(Time now, std::vector<PodId>& ended);
  // Something has changed that may help: moves this pod if it is unschedulable, and says whether it was; or each
  // unschedulable pod of which `helped(pod)` is true, and appends it to `moved`.
  bool move(PodId pod, Time now);
  template <typename Helped>
  void move(Time now, const Helped& helped, std::vector<PodId>& moved);

  const std::vector<PodId>& pods() const { return members_.pods(); }  // in line and waiting
  uint64_t hash() const { return hash_.value(); }

 private:
  struct Entry {
    PodId pod;
    State state = State::kAbsent;
    int32_t priority = 0;
    Time since;  // under `priority`: when it came, or when its last attempt failed
    Time ready;  // of a waiting pod: the end of its backoff; never: until it was read again
  };
  struct Rank {  // in line under `priority`
    int32_t priority = 0;
    Time since;
    PodId pod;
    friend bool operator<(const Rank& a, const Rank& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      return a.since != b.since ? a.since < b.since : a.pod < b.pod;
    }
  };
  struct Wait {
    Time at;
    PodId pod;
    friend bool operator<(const Wait& a, const Wait& b) { return a.at != b.at ? a.at < b.at : a.pod < b.pod; }
  };

  void enter(const Entry& entry);  // into the pod's slot, which nobody holds
  Entry leave(uint32_t slot);      // whoever holds it
  uint64_t hash_of(uint32_t slot) const;
  void end_wait(uint32_t slot, Time now);
  Time flush_of(Time since) const;

  Slots slots_;
  QueueOrder order_;
  Time origin_;
  StateHash hash_;
  std::vector<Entry> entries_;  // by slot
  Members members_;
  SlotLine fifo_;           // kQueued under `fifo`
  SlotHeap<Rank> line_;     // kQueued under `priority`
  SlotLine unschedulable_;  // kUnschedulable
  SlotHeap<Wait> waits_;    // kParked and kUnschedulable, unless they wait for an answer
};

template <typename Helped>
void QueuedStore::move(Time now, const Helped& helped, std::vector<PodId>& moved) {
  for (uint32_t slot = unschedulable_.first(); slot != SlotLine::kEnd;) {
    const uint32_t next = unschedulable_.after(slot);
    if (const PodId pod = entries_[slot].pod; helped(pod)) {
      end_wait(slot, now);
      moved.push_back(pod);
    }
    slot = next;
  }
}

}  // namespace inquest::scheduler
