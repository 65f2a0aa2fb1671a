// ClockEstimate: how far the clock of a bind source stands from the capture's, from pairs of an accepted bind and the
// first watch frame that shows its pod on that node.
//
// The write happened at some instant between `sent` and `answered` on the source's clock, and its frame arrived later
// than the write. Hence for every pair
//     offset <= arrived - sent,
// and, if at least the quickest frame took no longer than its bind's answer did,
//     offset >= arrived - answered   for that pair.
// The estimate is the middle between the least of both, its error half the distance. The second bound is an assumption:
// a watch that delivers every frame late looks just like a source whose clock is behind. So an offset is applied only
// beyond its own error and beyond kLeastOffset, within which lateness explains it as well.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "recorder/import.h"

namespace inquest::recorder {

inline constexpr Duration kLeastOffset = Duration::milliseconds(100);

class ClockEstimate {
 public:
  void pair(Time sent, Time answered, Time arrived) {
    high_ = std::min(high_, arrived - sent);
    low_ = std::min(low_, arrived - std::max(sent, answered));
    ++pairs_;
  }
  uint64_t pairs() const { return pairs_; }

  // Without pairs: no offset, not applied.
  ClockOffset result() const {
    ClockOffset out;
    if (pairs_ == 0) return out;
    out.pairs = pairs_;
    out.offset_ns = low_.ns / 2 + high_.ns / 2;
    out.error_ns = (high_ - low_).ns / 2;
    const int64_t size = out.offset_ns < 0 ? saturating_sub(0, out.offset_ns) : out.offset_ns;
    out.applied = size > out.error_ns && size > kLeastOffset.ns;
    return out;
  }

 private:
  uint64_t pairs_ = 0;
  Duration low_{INT64_MAX}, high_{INT64_MAX};
};

}  // namespace inquest::recorder
