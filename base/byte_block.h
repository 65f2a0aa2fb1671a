// Sixteen bytes at once, with the vectors of GCC and Clang, which any machine has: for the few places that look at
// every byte of everything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace inquest {

using ByteBlock = uint8_t __attribute__((vector_size(16)));
inline constexpr size_t kByteBlock = sizeof(ByteBlock);

// The bytes at p, of which there must be as many.
inline ByteBlock load_block(const char* p) {
  ByteBlock out;
  std::memcpy(&out, p, sizeof out);
  return out;
}

// Whether any byte is not 0.
inline bool any_in(ByteBlock block) {
  std::array<uint64_t, 2> halves;
  static_assert(sizeof halves == sizeof block);
  std::memcpy(halves.data(), &block, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

}  // namespace inquest
