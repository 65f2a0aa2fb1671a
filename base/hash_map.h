// HashMap: values by 64-bit hashes, for millions of them in little memory: some 1.4 times the bytes of key and value.
//
// The hashes are the keys: two things of one hash are one to it (among a million things that happens once in 10^7
// maps; where things come from strangers, their hashes must be keyed). Open addressing, in shards that grow one by one.
// References are valid until the next insertion or erasure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace inquest {

template <typename Value>
class HashMap {
 public:
  size_t size() const { return size_; }

  Value* find(uint64_t key) {
    key += key == kEmpty;
    Shard& shard = shard_of(key);
    const size_t at = place(shard, key);
    return at < shard.slots.size() && shard.slots[at].key == key ? &shard.slots[at].value : nullptr;
  }
  bool contains(uint64_t key) { return find(key) != nullptr; }

  // The value of a key, made if it is not there.
  Value& operator[](uint64_t key) {
    if (Value* value = find(key); value != nullptr) return *value;
    key += key == kEmpty;
    Shard& shard = shard_of(key);
    if (shard.used + shard.used / 4 >= shard.slots.size()) grow(shard);
    Slot& slot = shard.slots[place(shard, key)];
    slot.key = key;
    ++shard.used;
    ++size_;
    return slot.value;
  }

  bool erase(uint64_t key) {
    key += key == kEmpty;
    Shard& shard = shard_of(key);
    size_t hole = place(shard, key);
    if (hole >= shard.slots.size() || shard.slots[hole].key != key) return false;
    close(shard, hole);
    return true;
  }

  // Erases what `gone(value)` says.
  template <typename Gone>
  void erase_if(Gone&& gone) {
    for (Shard& shard : shards_) {
      std::vector<Slot> old = std::exchange(shard.slots, {});
      size_ -= std::exchange(shard.used, 0);
      for (Slot& slot : old) {
        if (slot.key != kEmpty && !gone(slot.value)) (*this)[slot.key] = std::move(slot.value);
      }
    }
  }

  // In no order that means anything: sort what comes of it.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Shard& shard : shards_) {
      for (const Slot& slot : shard.slots) {
        if (slot.key != kEmpty) visit(slot.key, slot.value);
      }
    }
  }

  void clear() { *this = HashMap(); }

 private:
  static constexpr uint64_t kEmpty = 0;
  static constexpr size_t kShards = 64;
  struct Slot {
    uint64_t key = kEmpty;
    [[no_unique_address]] Value value{};
  };
  struct Shard {
    std::vector<Slot> slots;
    size_t used = 0;
  };

  Shard& shard_of(uint64_t key) { return shards_[mix(key) % kShards]; }
  static size_t home(const Shard& shard, uint64_t key) { return (mix(key) / kShards) % shard.slots.size(); }
  // Where the key is, or would be.
  static size_t place(const Shard& shard, uint64_t key) {
    if (shard.slots.empty()) return 0;
    size_t at = home(shard, key);
    while (shard.slots[at].key != kEmpty && shard.slots[at].key != key) at = at + 1 == shard.slots.size() ? 0 : at + 1;
    return at;
  }
  static void grow(Shard& shard) {
    std::vector<Slot> old(shard.slots.size() + shard.slots.size() / 4 + 8);
    old.swap(shard.slots);
    for (Slot& slot : old) {
      if (slot.key != kEmpty) shard.slots[place(shard, slot.key)] = std::move(slot);
    }
  }
  // Moves back what stands behind a hole, so that a search never ends too early.
  void close(Shard& shard, size_t hole) {
    const size_t size = shard.slots.size();
    for (size_t at = hole;;) {
      at = at + 1 == size ? 0 : at + 1;
      if (shard.slots[at].key == kEmpty) break;
      const size_t from_home = (at + size - home(shard, shard.slots[at].key)) % size;
      if (from_home < (at + size - hole) % size) continue;
      shard.slots[hole] = std::move(shard.slots[at]);
      hole = at;
    }
    shard.slots[hole] = Slot();
    --shard.used;
    --size_;
  }

  std::array<Shard, kShards> shards_;
  size_t size_ = 0;
};

}  // namespace inquest
