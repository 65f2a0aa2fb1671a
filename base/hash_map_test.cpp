#include "base/hash_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace inquest {
namespace {

// Against std::map, with few keys, so that insertions, erasures and collisions of places abound.
TEST(HashMap, DoesWhatAMapDoes) {
  std::mt19937 random(7);  // the standard fixes its numbers
  HashMap<int> map;
  std::map<uint64_t, int> model;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t key = 1 + random() % 3000;
    if (random() % 3 == 0) {
      ASSERT_EQ(map.erase(key), model.erase(key) == 1);
    } else {
      map[key] = i;
      model[key] = i;
    }
    ASSERT_EQ(map.size(), model.size());
  }
  for (uint64_t key = 1; key <= 3000; ++key) {
    const auto wanted = model.find(key);
    const int* found = map.find(key);
    ASSERT_EQ(found != nullptr, wanted != model.end()) << key;
    if (found != nullptr) {
      EXPECT_EQ(*found, wanted->second);
    }
  }
  map.erase_if([](int value) { return value % 2 == 0; });
  std::erase_if(model, [](const auto& entry) { return entry.second % 2 == 0; });
  EXPECT_EQ(map.size(), model.size());
  for (const auto& [key, value] : model) EXPECT_TRUE(map.contains(key)) << key;
  map.clear();
  EXPECT_EQ(map.size(), 0U);
  EXPECT_FALSE(map.erase(1));
}

}  // namespace
}  // namespace inquest
