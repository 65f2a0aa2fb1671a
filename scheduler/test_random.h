// For tests only: random numbers that are the same everywhere.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace inquest::scheduler {

// SplitMix64 (Steele et al. 2014): the same sequence everywhere.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(next() % bound); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace inquest::scheduler
