// Hashes that are the same on every compiler, build and machine: for digests, ties and tables. Not for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inquest {

// A bijection of 64 bits that spreads every input bit (the finaliser of SplitMix64, Steele et al. 2014).
constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// Order matters: combine(combine(s, a), b) differs from combine(combine(s, b), a).
constexpr uint64_t combine(uint64_t seed, uint64_t value) { return mix(seed + 0x9e3779b97f4a7c15ULL + mix(value)); }

// Of bytes (FNV-1a, then mixed).
uint64_t hash_bytes(std::string_view bytes);

// Sixteen lower-case hex digits.
std::string hex(uint64_t value);

}  // namespace inquest
