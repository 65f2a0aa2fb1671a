// Store: objects by key, in flat arrays: O(1) for each change, copied by copying memory. KeySet: which keys it holds.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "reflector/object.h"

namespace inquest::reflector {

class KeySet {
 public:
  bool has(uint32_t key) const { return key / 64 < words_.size() && (words_[key / 64] >> (key % 64) & 1) != 0; }
  void insert(uint32_t key) {
    if (key / 64 >= words_.size()) words_.resize(size_t{key} / 64 + 1);
    words_[key / 64] |= uint64_t{1} << (key % 64);
  }
  void erase(uint32_t key) { words_[key / 64] &= ~(uint64_t{1} << (key % 64)); }
  void clear() { words_.clear(); }

  // Every key that is in this set and not in `other`, ascending. The visitor may erase the key it is given.
  template <typename Visit>
  void each_not_in(const KeySet& other, Visit&& visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t left = words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0);
      for (; left != 0; left &= left - 1)
        visit(static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(left))));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

class Store {
 public:
  std::optional<Object> find(uint32_t key) const;
  // Returns what stood at its key before.
  std::optional<Object> put(const Object& object);
  std::optional<Object> erase(uint32_t key);
  void clear();

  size_t size() const { return size_; }
  const KeySet& keys() const { return keys_; }
  // Every object, by ascending key.
  template <typename Visit>
  void each(Visit&& visit) const {
    keys_.each_not_in({}, [&](uint32_t key) { visit(at(key)); });
  }

  // The sum over its objects' hashes: however it came to hold them.
  uint64_t hash() const { return hash_; }

 private:
  struct Slot {
    uint32_t uid = 0, version = 0;
    Rv rv;
    uint64_t hash = 0;
  };
  Object at(uint32_t key) const { return {key, slots_[key].uid, slots_[key].version, slots_[key].rv}; }

  std::vector<Slot> slots_;
  KeySet keys_;
  size_t size_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace inquest::reflector
