// Hashes for the tables of a catalog. Names may come from a stranger, who must not be able to choose many that share a
// hash and so make a table crawl; hence a key that is drawn once a process. Nothing that is written, shown or compared
// may depend on such a hash: ordinals are given by first appearance, and tables are never iterated. Values that must be
// the same everywhere are made with base/hash.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace inquest {

struct HashKey {
  uint64_t first = 0, second = 0;
};

// Of bytes: SipHash-1-3 (Aumasson and Bernstein 2012), as hash tables of several languages use it.
uint64_t table_hash(std::string_view bytes);

// To begin a hash of numbers with, which then go in by combine() of base/hash.h.
uint64_t table_seed();

template <int kRounds, int kLastRounds>
uint64_t sip_hash(HashKey key, std::string_view bytes) {
  uint64_t a = key.first ^ 0x736f6d6570736575ULL, b = key.second ^ 0x646f72616e646f6dULL;
  uint64_t c = key.first ^ 0x6c7967656e657261ULL, d = key.second ^ 0x7465646279746573ULL;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      a += b, c += d;
      b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b, a += d;
      b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  };
  const auto word = [&](size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
    return value;
  };
  const auto take = [&](uint64_t value) {
    d ^= value;
    rounds(kRounds);
    a ^= value;
  };
  size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) take(word(at, 8));
  take(word(at, bytes.size() - at) | uint64_t{bytes.size()} << 56);
  c ^= 0xff;
  rounds(kLastRounds);
  return a ^ b ^ c ^ d;
}

}  // namespace inquest
