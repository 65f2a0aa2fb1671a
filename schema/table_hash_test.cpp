#include "schema/table_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/intern_table.h"
#include "schema/resources.h"

namespace inquest {
namespace {

// The vectors that the authors published for SipHash-2-4: key and input are 00 01 02 …
TEST(TableHash, IsSipHash) {
  constexpr HashKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string input;
  const auto hash = [&](size_t size) {
    input.clear();
    for (size_t i = 0; i < size; ++i) input += static_cast<char>(i);
    return sip_hash<2, 4>(kKey, input);
  };
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(hash(1), 0x74f839c593dc67fdU);
  EXPECT_EQ(hash(8), 0x93f5f5799a932462U);
  EXPECT_EQ(hash(15), 0xa129ca6149be45e5U);
}

// Pairs that somebody looked for and published, because FNV-1a has no key.
TEST(TableHash, TellsNamesApartThatWereChosenToCollide) {
  const std::pair<const char*, const char*> pairs[] = {{"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"},
                                                       {"pFuM83THhM-Qw8FI5FKo", ".jPx7rOtTDteKAwvfOEo"},
                                                       {"7mohtcOFVz", "c1E51sSEyx"},
                                                       {"6a5x-VbtXk", "f_2k7GG-4v"}};
  for (const auto& [a, b] : pairs) {
    ASSERT_EQ(hash_bytes(a), hash_bytes(b));
    EXPECT_NE(table_hash(a), table_hash(b));
    PodShape with_a, with_b;
    with_a.requests.extended = {{a, 1}};
    with_b.requests.extended = {{b, 1}};
    EXPECT_NE(hash_of(with_a), hash_of(with_b));
  }
}

// Numbers chosen so that without a seed all their hashes end in the same 16 bits, which is where a table looks first.
TEST(TableHash, SpreadsNumbersThatWereChosenToCollide) {
  std::vector<uint64_t> chosen;
  for (uint64_t i = 0; chosen.size() < 50; ++i) {
    if ((combine(0, i) & 0xffff) == 0) chosen.push_back(i);
  }
  std::set<uint64_t> slots;
  for (const uint64_t value : chosen) slots.insert(combine(table_seed(), value) & 0xffff);
  EXPECT_GT(slots.size(), 40U);
}

}  // namespace
}  // namespace inquest
