// By upstream's tables (kubernetes-facts 10.11). Not here: Z15, weights that may not be (a policy names none).
#include "scheduler/scores.h"

#include <gtest/gtest.h>

#include <vector>

#include "scheduler/test_random.h"

namespace inquest::scheduler {
namespace {

struct Row {
  const char* what;
  std::vector<Share> shares;  // with the pod
  int64_t score;
};

TEST(Scores, Least) {
  const Row rows[] = {
      {"Z1, first", {{3000, 4000}, {5000, 10000}}, 37},
      {"Z1, second", {{3000, 6000}, {5000, 10000}}, 50},
      {"Z2, first", {{6000, 10000}, {0, 20000}}, 70},
      {"Z2, second", {{6000, 10000}, {5000, 20000}}, 57},
      {"Z3, first", {{6000, 10000}, {5000, 20000}}, 57},
      {"Z3, second", {{6000, 10000}, {10000, 50000}}, 60},
      {"Z5, first", {{3000, 4000}, {5000, 10000, 2}}, 41},
      {"Z5, second", {{3000, 6000}, {5000, 10000, 2}}, 50},
      {"Z5, nothing to offer", {{3000, 0}, {5000, 0}}, 0},
      {"Z9, an extended one, first", {{50, 100}, {50, 100}, {2, 4}}, 50},
      {"Z9, second", {{50, 100}, {50, 100}, {2, 10}}, 60},
      {"over in one resource: that one scores 0", {{1100, 1000}, {5000, 10000}}, 25},
      {"one resource alone", {{4000, 10000}, {7, 0}}, 60},
  };
  for (const Row& row : rows) EXPECT_EQ(least_allocated(row.shares), row.score) << row.what;
}

TEST(Scores, Most) {
  const Row rows[] = {
      {"Z1, first", {{3000, 4000}, {5000, 10000}}, 62},
      {"Z1, second", {{3000, 6000}, {5000, 10000}}, 50},
      {"Z6, first", {{3000, 4000}, {5000, 10000, 2}}, 58},
      {"Z6, second", {{3000, 6000}, {5000, 10000, 2}}, 50},
      {"Z7, first", {{5000, 5000}, {9000, 10000}}, 95},
      {"Z7, second", {{5000, 10000}, {9000, 9000}}, 75},
      {"Z9, an extended one, first", {{50, 100}, {50, 100}, {2, 4}}, 50},
      {"Z9, second", {{50, 100}, {50, 100}, {2, 10}}, 40},
      {"over is full", {{1100, 1000}, {5000, 10000}}, 75},
      {"nothing to offer", {{1, 0}}, 0},
  };
  for (const Row& row : rows) EXPECT_EQ(most_allocated(row.shares), row.score) << row.what;
}

TEST(Scores, Balanced) {
  const Row rows[] = {
      {"Z10, first", {{3000, 4000}, {5000, 10000}}, 87},
      {"Z10, second", {{3000, 6000}, {5000, 10000}}, 100},
      {"Z11, first", {{6000, 10000}, {5000, 20000}}, 82},
      {"Z11, second", {{6000, 10000}, {10000, 20000}}, 95},
      {"Z11, more memory", {{6000, 10000}, {10000, 50000}}, 80},
      {"Z13, first", {{3000, 3500}, {5000, 40000}, {4, 8}}, 70},
      {"Z13, second", {{3000, 3500}, {5000, 40000}, {1, 8}}, 65},
      {"one resource is always in balance", {{3000, 4000}, {5000, 0}}, 100},
      {"over is full", {{9000, 4000}, {10000, 10000}}, 100},
      {"as far apart as can be", {{0, 4000}, {10000, 10000}}, 50},
      {"an exact boundary", {{5, 10}, {3, 10}}, 90},
      {"nothing to offer", {{1, 0}}, 0},
  };
  for (const Row& row : rows) EXPECT_EQ(balanced_allocation(row.shares), row.score) << row.what;
}

// The short way, the long way and the general one say the same, up to the rounding of the general one.
TEST(Scores, OfAnySizeTheyStayWithinBoundsAndAgree) {
  SplitMix random(3);
  const auto amount = [&] { return static_cast<int64_t>(random.next() >> (1 + random.below(62))); };
  for (int i = 0; i < 20'000; ++i) {
    const Share a{amount(), amount()}, b{Int128{amount()} * (random.one_in(9) ? 5 : 1), amount()};
    const std::vector<Share> shares{a, b};
    for (const int64_t score : {least_allocated(shares), most_allocated(shares), balanced_allocation(shares)}) {
      ASSERT_GE(score, 0);
      ASSERT_LE(score, 100);
    }
    if (a.capacity == 0 || b.capacity == 0) continue;
    // Each twice over: the deviation of four is that of two.
    const int64_t general = balanced_allocation(std::vector<Share>{a, b, a, b});
    ASSERT_LE(std::abs(general - balanced_allocation(shares)), 1);
  }
}

}  // namespace
}  // namespace inquest::scheduler
