// SlotLine: slots one after the other, as they were appended. Any slot can be taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/grown.h"

namespace inquest::scheduler {

class SlotLine {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;

  uint32_t first() const { return first_; }  // kEnd: the line is empty
  // Of a slot that is in: its neighbours; kEnd where there is none.
  uint32_t before(uint32_t slot) const { return links_[slot].before; }
  uint32_t after(uint32_t slot) const { return links_[slot].after; }

  // The slot is not in.
  void append(uint32_t slot) {
    grown(links_, slot) = {last_, kEnd};
    (last_ == kEnd ? first_ : links_[last_].after) = slot;
    last_ = slot;
  }

  // The slot is in.
  void take(uint32_t slot) {
    const Link link = links_[slot];
    (link.before == kEnd ? first_ : links_[link.before].after) = link.after;
    (link.after == kEnd ? last_ : links_[link.after].before) = link.before;
  }

 private:
  struct Link {
    uint32_t before = kEnd, after = kEnd;
  };
  std::vector<Link> links_;  // by slot
  uint32_t first_ = kEnd, last_ = kEnd;
};

}  // namespace inquest::scheduler
