#include "reflector/store.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "reflector/listing.h"

namespace inquest::reflector {
namespace {

Object object(uint32_t key, uint32_t uid, uint32_t version, uint64_t rv) { return {key, uid, version, Rv::number(rv)}; }

TEST(StoreTest, HoldsWhatAMapHoldsAndHashesWhatItHoldsAlone) {
  Store store;
  std::map<uint32_t, Object> map;
  for (uint64_t i = 1; i < 20'000; ++i) {
    const uint64_t random = mix(i);
    const auto key = static_cast<uint32_t>(random % 300);
    const auto before = map.find(key);
    const auto expected = before == map.end() ? std::nullopt : std::optional(before->second);
    if ((random >> 32) % 3 == 0) {
      ASSERT_EQ(store.erase(key), expected);
      map.erase(key);
    } else {
      const Object next = object(key, static_cast<uint32_t>(random >> 40), static_cast<uint32_t>(i), i);
      ASSERT_EQ(store.put(next), expected);
      map[key] = next;
    }
  }
  std::vector<Object> held, mapped;
  store.each([&](const Object& found) { held.push_back(found); });
  Store anew;
  for (auto entry = map.rbegin(); entry != map.rend(); ++entry) anew.put(entry->second);
  for (const auto& [key, kept] : map) mapped.push_back(kept);
  EXPECT_EQ(held, mapped);
  EXPECT_EQ(store.size(), map.size());
  EXPECT_EQ(store.hash(), anew.hash());
  EXPECT_EQ(store.find(1'000'000), std::nullopt);
  store.clear();
  EXPECT_EQ(store.hash(), Store().hash());
}

TEST(StoreTest, EveryFieldIsInTheHash) {
  std::set<uint64_t> hashes;
  for (const Object& one :
       {object(1, 2, 3, 4), object(2, 2, 3, 4), object(1, 1, 3, 4), object(1, 2, 4, 4), object(1, 2, 3, 5),
        object(1, 3, 2, 4), Object{1, 2, 3, Rv::any()}, Object{1, 2, 3, Rv()}}) {
    Store store;
    store.put(one);
    hashes.insert(store.hash());
  }
  EXPECT_EQ(hashes.size(), 8U);
}

TEST(RvTest, IsHandedBackAsItCame) {
  Catalog catalog;
  std::set<uint64_t> seen;
  for (const char* text : {"", "0", "1", "42", "9223372036854775807", "9223372036854775808", "18446744073709551615",
                           "18446744073709551616", "00", "007", "-1", "+1", "1 ", "abc", "1.5"}) {
    const Rv rv = Rv::parse(text, catalog);
    EXPECT_EQ(rv.to_string(catalog), text);
    EXPECT_EQ(rv, Rv::parse(text, catalog));
    seen.insert(rv.bits());
  }
  EXPECT_EQ(seen.size(), 15U) << "all differ";
  EXPECT_EQ(Rv::parse("42", catalog), Rv::number(42));
  EXPECT_FALSE(Rv::parse("", catalog).set());
  EXPECT_FALSE(Rv::number(0).set());
  EXPECT_FALSE(Rv::number(UINT64_MAX).is_any());
}

TEST(ListingTest, ListsWithoutEndAreNotBelieved) {
  Listing listing;
  listing.begin(Rv::any(), 500);
  const ListPage empty{{}, Rv::number(1), StringId{7}};
  for (uint32_t i = 0; i < Listing::kMaxPages; ++i) ASSERT_EQ(listing.page(empty), Listing::Next::kAsk);
  EXPECT_EQ(listing.page(empty), Listing::Next::kFail);

  const Object one;
  const std::span<const Object> many(&one, Listing::kMaxItems + 1);  // refused by its size, before it is read
  listing.begin(Rv::any(), 500);
  EXPECT_EQ(listing.page({many, Rv::number(1), {}}), Listing::Next::kFail);
}

}  // namespace
}  // namespace inquest::reflector
