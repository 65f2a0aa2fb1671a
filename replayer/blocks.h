// Blocks: for how long pods that wait had a place in truth and none in the view: what the scheduler's wrong books cost.
//
// Kept from instant to instant; a value. Only room is looked at (resources, ports, number of pods).
#pragma once

#include <vector>

#include "replayer/truth.h"
#include "scheduler/core.h"

namespace inquest::replayer {

class Blocks {
 public:
  // The instant `now` is over; these pods' truth has changed in it. `differ`: something holds room in the view that it
  // does not hold in truth; while nothing does, nobody is blocked.
  void settle(const Truth& truth, const scheduler::Core& core, std::span<const PodId> touched, bool differ, Time now);
  // What was blocked stays so until the end.
  void finish(Time end);

  // Pod-time: two pods blocked for a second are two seconds.
  Duration total() const { return total_; }

 private:
  void follow(const Truth& truth, const scheduler::Core& core, PodId pod);
  bool blocked(const Truth& truth, const scheduler::Core& core, PodId pod) const;

  std::vector<PodId> pending_;   // in truth, and this scheduler's
  std::vector<uint32_t> place_;  // by pod: in pending_, + 1; 0: it is not there
  uint64_t blocked_now_ = 0;
  Time since_;
  Duration total_;
};

}  // namespace inquest::replayer
