// InternTable: from a hash to a dense ordinal, by open addressing. The values themselves live with the owner, who says
// whether the one at an ordinal is the one looked for. Never iterated, so its layout can decide nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace inquest {

class InternTable {
 public:
  // The ordinal whose value has this hash and satisfies `equals(ordinal)`; otherwise `next` is entered and returned.
  // The caller then stores its value at `next`.
  template <typename Equals>
  uint32_t find_or_insert(uint64_t hash, uint32_t next, Equals&& equals) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.ordinal == kEmpty) {
        INQUEST_CHECK(next != kEmpty, "an intern table is full");
        slot = {static_cast<uint32_t>(hash >> 32), next};
        ++count_;
        hashes_.push_back(hash);
        return next;
      }
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && equals(slot.ordinal)) return slot.ordinal;
    }
  }

  // The same without entering anything; kEmpty if it is not there.
  template <typename Equals>
  uint32_t find(uint64_t hash, Equals&& equals) const {
    if (slots_.empty()) return kEmpty;
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.ordinal == kEmpty) return kEmpty;
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && equals(slot.ordinal)) return slot.ordinal;
    }
  }

  static constexpr uint32_t kEmpty = UINT32_MAX;

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t ordinal = kEmpty;
  };

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, Slot{});
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.ordinal == kEmpty) continue;
      size_t i = hashes_[slot.ordinal] & mask;
      while (slots_[i].ordinal != kEmpty) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> hashes_;  // of ordinal i: ordinals are entered in order, 0, 1, 2, …
  size_t count_ = 0;
};

}  // namespace inquest
