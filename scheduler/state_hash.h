// StateHash: a hash of everything in a store, kept as entries come and go: the sum of its entries' hashes. Adding and
// removing are O(1) and commute, so two stores with the same entries have the same hash however they came to them, and
// the hash of a core is the sum of its stores'.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/hash.h"

namespace inquest::scheduler {

class StateHash {
 public:
  // What kind of entry it is; names never enter a hash, ordinals do.
  enum class Entry : uint64_t {
    kScheduled = 1,
    kAssumed,
    kQueued,
    kParked,
    kUnschedulable,
    kInFlight,
    kNode,
    kHeld,
    kDecision,
    kSeen
  };

  static uint64_t of(Entry entry, std::initializer_list<uint64_t> fields) {
    uint64_t out = static_cast<uint64_t>(entry);
    for (const uint64_t field : fields) out = combine(out, field);
    return out;
  }

  void add(uint64_t hash_of_entry) { sum_ += hash_of_entry; }
  void remove(uint64_t hash_of_entry) { sum_ -= hash_of_entry; }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace inquest::scheduler
