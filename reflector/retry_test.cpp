#include "reflector/retry.h"

#include <gtest/gtest.h>

namespace inquest::reflector {
namespace {

constexpr Duration ms(int64_t n) { return Duration::milliseconds(n); }

struct Sum {
  Duration least, most;  // over many seeds
};

Sum sum_of(const Backoff::Config& config, int failures) {
  Sum out{Duration::seconds(1'000'000), {}};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Backoff backoff(config);
    Time now{1'000'000'000};
    for (int i = 0; i < failures; ++i)
      now = now + backoff.begin(now, seed * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(i) * 7919);
    out.least = std::min(out.least, now - Time{1'000'000'000});
    out.most = std::max(out.most, now - Time{1'000'000'000});
  }
  return out;
}

// client-go's InitConnBackoff. Its bounds, 32 to 64 ms and 3.5 to 4 s, are those of a clock that always steps as far as
// the jitter can reach; the true ones are once to twice the sum of the waits.
TEST(RetryTest, ConnectionRefusedBacksOffWithJitter) {  // R5
  const Backoff::Config config{ms(1), ms(50), 2, 100, ms(100)};
  const Sum few = sum_of(config, 5);
  EXPECT_GE(few.least, ms(1 + 2 + 4 + 8 + 16));
  EXPECT_LT(few.most, ms(62));
  const Sum many = sum_of(config, 40);
  EXPECT_GE(many.least, ms(63 + 34 * 50));
  EXPECT_LT(many.most, ms(2 * (63 + 34 * 50)));
}

TEST(RetryTest, WithoutJitterTheWaitsAreExact) {  // R6
  const Sum sum = sum_of({ms(10), ms(100), 2, 0, ms(1000)}, 5);
  EXPECT_EQ(sum.least, ms(250));
  EXPECT_EQ(sum.most, ms(250));
}

TEST(RetryTest, TheDefaultsAreClientGosAndStartAnewAfterTwoMinutes) {
  Backoff::Config config;
  config.jitter_percent = 0;
  Backoff backoff(config);
  Time now{1'000'000'000};
  for (const int64_t wait : {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
    EXPECT_EQ(backoff.begin(now, 0), ms(wait));
    now = now + ms(wait);
  }
  now = now - ms(30000);
  EXPECT_NE(backoff.hash(now + ms(120000)), 0U);
  EXPECT_EQ(backoff.hash(now + ms(120001)), Backoff(config).hash(now));
  EXPECT_EQ(Backoff(backoff).begin(now + ms(120000), 0), ms(30000)) << "longer than two minutes, not two minutes";
  EXPECT_EQ(backoff.begin(now + ms(120001), 0), ms(800));
}

TEST(RetryTest, JitterFillsItsRange) {
  Duration least = ms(10'000), most;
  for (uint64_t random = 0; random < 3'000'000'000; random += 1'234'567) {
    const Duration wait = Backoff({}).begin(Time{1}, random);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, ms(800));
  EXPECT_LT(least, ms(801));
  EXPECT_GT(most, ms(1599));
  EXPECT_LT(most, ms(1600));
}

TEST(RetryTest, PatienceCountsFromTheFirstErrorOfARow) {
  Patience patience(Duration::seconds(100));
  const auto at = [](int64_t s) { return Time{} + Duration::seconds(s); };
  EXPECT_TRUE(patience.bears(at(1000)));
  EXPECT_TRUE(patience.bears(at(1050)));
  EXPECT_TRUE(patience.bears(at(1100)));
  EXPECT_FALSE(patience.bears(at(1101)));
  EXPECT_TRUE(patience.bears(at(1102))) << "having given up once it begins anew";
  EXPECT_TRUE(patience.bears(at(1300))) << "a minute without one ends the row";
  EXPECT_TRUE(patience.bears(at(1350)));
  EXPECT_FALSE(Patience({}).bears(at(1)));
}

}  // namespace
}  // namespace inquest::reflector
