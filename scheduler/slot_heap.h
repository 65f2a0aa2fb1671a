// SlotHeap: slots in the order of their keys, the first at hand. Any slot can be taken out or given another key, so
// nothing stale stays behind. Keys must differ: then the order is total and does not depend on how the heap came about.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/grown.h"

namespace inquest::scheduler {

template <typename Key>  // what is less comes first
class SlotHeap {
 public:
  bool empty() const { return items_.empty(); }
  // Of a heap that is not empty.
  uint32_t first() const { return items_.front().slot; }
  const Key& first_key() const { return items_.front().key; }

  // The slot with this key, whether or not it was in.
  void put(uint32_t slot, const Key& key) {
    uint32_t& place = grown(places_, slot);
    if (place == kOut) {
      place = static_cast<uint32_t>(items_.size() + 1);
      items_.push_back({key, slot});
    } else {
      items_[place - 1].key = key;
    }
    settle(place - 1);
  }

  // Nothing if it is not in.
  void take(uint32_t slot) {
    if (slot >= places_.size() || places_[slot] == kOut) return;
    const size_t hole = std::exchange(places_[slot], kOut) - 1;
    const Item last = items_.back();
    items_.pop_back();
    if (hole == items_.size()) return;
    set(hole, last);
    settle(hole);
  }

 private:
  struct Item {
    Key key;
    uint32_t slot = 0;
  };
  static constexpr uint32_t kOut = 0;

  void set(size_t at, const Item& item) {
    items_[at] = item;
    places_[item.slot] = static_cast<uint32_t>(at + 1);
  }

  void settle(size_t at) {
    const Item item = items_[at];
    for (; at > 0 && item.key < items_[(at - 1) / 2].key; at = (at - 1) / 2) set(at, items_[(at - 1) / 2]);
    for (size_t child = 2 * at + 1; child < items_.size(); child = 2 * at + 1) {
      if (child + 1 < items_.size() && items_[child + 1].key < items_[child].key) ++child;
      if (!(items_[child].key < item.key)) break;
      set(at, items_[child]);
      at = child;
    }
    set(at, item);
  }

  std::vector<Item> items_;
  std::vector<uint32_t> places_;  // by slot: its index in items_, plus one
};

}  // namespace inquest::scheduler
