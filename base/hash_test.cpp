#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace inquest {
namespace {

// Digests are compared across compilers, machines and years: these values may never change.
TEST(Hash, IsTheSameForEver) {
  EXPECT_EQ(mix(0), 0U);
  // The first two outputs of SplitMix64 seeded with 0.
  EXPECT_EQ(mix(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix(2 * 0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
  // FNV-1a of these, before the mixing, as published.
  EXPECT_EQ(hash_bytes(""), mix(0xcbf29ce484222325ULL));
  EXPECT_EQ(hash_bytes("a"), mix(0xaf63dc4c8601ec8cULL));
  EXPECT_EQ(hash_bytes("foobar"), mix(0x85944171f73967e8ULL));
}

TEST(Hash, SeesBytesAboveAsciiAsUnsigned) {
  EXPECT_EQ(hash_bytes("\xff"), mix((0xcbf29ce484222325ULL ^ 0xff) * 0x100000001b3ULL));
}

TEST(Hash, CombiningKeepsOrder) {
  EXPECT_NE(combine(combine(0, 1), 2), combine(combine(0, 2), 1));
  EXPECT_NE(combine(0, 0), 0U);
  EXPECT_NE(combine(combine(0, 0), 0), combine(0, 0));
}

TEST(Hash, SmallNumbersDoNotCollide) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (uint64_t value = 0; value < 100; ++value) seen.insert(combine(seed, value));
  }
  EXPECT_EQ(seen.size(), 10'000U);
}

TEST(Hash, HexHasSixteenDigits) {
  EXPECT_EQ(hex(0), "0000000000000000");
  EXPECT_EQ(hex(0x5be1c04dULL), "000000005be1c04d");
  EXPECT_EQ(hex(~0ULL), "ffffffffffffffff");
}

}  // namespace
}  // namespace inquest
