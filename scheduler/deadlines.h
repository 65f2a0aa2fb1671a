// Deadlines: instants at which something about a slot is due, the earliest first; of one instant, by slot: what
// came and went before has no say.
//
// A deadline is not taken back when its entry goes or changes: it is stale then, which the entry's ticket tells, and is
// dropped when it comes to the front.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace inquest::scheduler {

struct Deadline {
  Time at;
  uint32_t ticket = 0;
  uint32_t slot = 0;
};

class Deadlines {
 public:
  // Never: nothing is due.
  void add(const Deadline& deadline) {
    if (deadline.at == Time::never()) return;
    heap_.push_back(deadline);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  // The earliest one that is not stale; nullptr if there is none. Valid until the next call.
  template <typename Stale>
  const Deadline* first(const Stale& stale) {
    while (!heap_.empty() && stale(heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
    return heap_.empty() ? nullptr : &heap_.front();
  }

 private:
  // std::push_heap keeps the greatest in front: later is "less".
  static bool later(const Deadline& a, const Deadline& b) { return a.at != b.at ? a.at > b.at : a.slot > b.slot; }

  std::vector<Deadline> heap_;
};

}  // namespace inquest::scheduler
