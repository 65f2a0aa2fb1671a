#include "scheduler/slot_heap.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "scheduler/test_random.h"

namespace inquest::scheduler {
namespace {

// Against a sorted map, over random puts, new keys and takes.
TEST(SlotHeap, TheFirstIsAlwaysTheLeast) {
  using Key = std::pair<uint32_t, uint32_t>;  // by the slot itself where the number is the same
  SlotHeap<Key> heap;
  std::map<uint32_t, Key> held;
  SplitMix random(7);
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t slot = random.below(60);
    if (random.below(5) < 3) {
      held[slot] = {random.below(20), slot};
      heap.put(slot, held[slot]);
    } else {
      held.erase(slot);
      heap.take(slot);
    }
    ASSERT_EQ(heap.empty(), held.empty());
    if (held.empty()) continue;
    Key least{UINT32_MAX, 0};
    for (const auto& [of, key] : held) least = std::min(least, key);
    ASSERT_EQ(heap.first_key(), least) << step;
    ASSERT_EQ(heap.first(), least.second) << step;
  }
}

}  // namespace
}  // namespace inquest::scheduler
