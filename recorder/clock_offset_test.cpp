#include "recorder/clock_offset.h"

#include <gtest/gtest.h>

namespace inquest::recorder {
namespace {

constexpr int64_t kMs = 1'000'000;

// Binds that take 10 ms, written after 5, their frames 1 ms later; the source's clock is behind by `behind`.
ClockOffset estimate(int64_t behind, int pairs) {
  ClockEstimate clocks;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t sent = 1'000'000 * kMs + i * 100 * kMs;
    clocks.pair(Time{sent}, Time{sent + 10 * kMs}, Time{sent + 5 * kMs + kMs + behind + i * kMs});
  }
  return clocks.result();
}

TEST(ClockOffset, FindsAClockThatIsOff) {
  for (const int64_t behind : {5000 * kMs, -5000 * kMs, 150 * kMs, -150 * kMs}) {
    const ClockOffset found = estimate(behind, 10);
    EXPECT_TRUE(found.applied) << behind;
    EXPECT_LE(std::abs(found.offset_ns - behind), found.error_ns) << behind;
    EXPECT_EQ(found.error_ns, 5 * kMs);
    EXPECT_EQ(found.pairs, 10u);
  }
}

TEST(ClockOffset, LeavesTimesAloneWithinItsErrorOrWhatSlowDeliveryExplains) {
  EXPECT_FALSE(estimate(0, 10).applied);
  EXPECT_FALSE(estimate(4 * kMs, 10).applied);
  EXPECT_FALSE(estimate(50 * kMs, 10).applied);
  EXPECT_FALSE(estimate(0, 0).applied);
  EXPECT_EQ(estimate(0, 0).pairs, 0u);
}

TEST(ClockOffset, AbsurdTimesDoNotOverflow) {
  ClockEstimate clocks;
  clocks.pair(Time{INT64_MAX}, Time{1}, Time{1});
  clocks.pair(Time{1}, Time{INT64_MAX}, Time{INT64_MAX});
  clocks.pair(Time{INT64_MIN}, Time{INT64_MIN}, Time{INT64_MAX});
  EXPECT_GE(clocks.result().error_ns, 0);
}

}  // namespace
}  // namespace inquest::recorder
