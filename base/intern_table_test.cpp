#include "base/intern_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"

namespace inquest {
namespace {

// The two bad ones are the worst cases of probing.
enum class Hashing { kGood, kAllEqual, kSameSlot };

// A table with its values, as an owner keeps them.
class Names {
  auto equals(const std::string& name) const {
    return [this, &name](uint32_t at) { return names_[at] == name; };
  }

 public:
  explicit Names(Hashing hashing) : hashing_(hashing) {}

  uint32_t enter(const std::string& name) {
    const auto next = static_cast<uint32_t>(names_.size());
    const uint32_t at = table_.find_or_insert(hash(name), next, equals(name));
    if (at == next) names_.push_back(name);
    return at;
  }
  uint32_t find(const std::string& name) const { return table_.find(hash(name), equals(name)); }

 private:
  uint64_t hash(const std::string& name) const {
    if (hashing_ == Hashing::kAllEqual) return 7;
    return hashing_ == Hashing::kSameSlot ? hash_bytes(name) << 32 : hash_bytes(name);
  }

  Hashing hashing_;
  InternTable table_;
  std::vector<std::string> names_;
};

class InternTableTest : public testing::TestWithParam<Hashing> {};

TEST_P(InternTableTest, GivesDenseOrdinalsInOrderOfFirstAppearance) {
  Names names(GetParam());
  EXPECT_EQ(names.find("pod-0"), InternTable::kEmpty);
  constexpr uint32_t kCount = 1000;  // grows several times
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(names.enter("pod-" + std::to_string(i)), i);
    EXPECT_EQ(names.enter("pod-" + std::to_string(i / 2)), i / 2);
  }
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(names.find("pod-" + std::to_string(i)), i);
  EXPECT_EQ(names.find("pod-1000"), InternTable::kEmpty);
}

TEST(InternTable, FindEntersNothing) {
  InternTable table;
  const auto never = [](uint32_t) { return false; };
  EXPECT_EQ(table.find(1, never), InternTable::kEmpty);
  EXPECT_EQ(table.find_or_insert(1, 0, never), 0U);
  EXPECT_EQ(table.find(2, never), InternTable::kEmpty);
  EXPECT_EQ(table.find_or_insert(2, 1, never), 1U);  // so the search for 2 had not entered it
}

TEST(InternTable, HashesThatShareAHalfAreToldApart) {
  InternTable table;
  const auto never = [](uint32_t) { return false; };
  const auto always = [](uint32_t) { return true; };
  EXPECT_EQ(table.find_or_insert(uint64_t{1} << 32 | 5, 0, never), 0U);
  EXPECT_EQ(table.find(uint64_t{2} << 32 | 5, always), InternTable::kEmpty);  // the same slot, another tag
  EXPECT_EQ(table.find(uint64_t{1} << 32 | 6, always), InternTable::kEmpty);  // the same tag, another slot
  EXPECT_EQ(table.find(uint64_t{1} << 32 | 5, always), 0U);
}

INSTANTIATE_TEST_SUITE_P(AllHashes, InternTableTest,
                         testing::Values(Hashing::kGood, Hashing::kAllEqual, Hashing::kSameSlot));

}  // namespace
}  // namespace inquest
