#include "base/duration.h"

#include <gtest/gtest.h>

#include <limits>

namespace inquest {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Duration, IsReadAsPeopleWriteIt) {
  struct Case {
    const char* text;
    int64_t ns;
  };
  for (const Case& c :
       {Case{"0", 0}, Case{"0s", 0}, Case{"30s", 30 * kSecond}, Case{"1m30s", 90 * kSecond}, Case{"250ms", 250'000'000},
        Case{"1.5s", 1'500'000'000}, Case{".5s", 500'000'000}, Case{"1h2m3.5s", 3'723 * kSecond + 500'000'000},
        Case{"7us", 7'000}, Case{"9ns", 9}, Case{"1.000000001s", kSecond + 1}, Case{"1.0000000010s", kSecond + 1},
        Case{"1.50ns", -1}, Case{"9223372036854775807ns", std::numeric_limits<int64_t>::max()}}) {
    const Result<Duration> read = parse_duration(c.text);
    if (c.ns < 0) {
      EXPECT_FALSE(read.ok()) << c.text;
    } else {
      ASSERT_TRUE(read.ok()) << read.error().message();
      EXPECT_EQ(read->ns, c.ns) << c.text;
    }
  }
}

TEST(Duration, SaysWhatIsWrong) {
  struct Case {
    const char* text;
    const char* why;
  };
  for (const Case& c : {Case{"", "empty"}, Case{"-1s", "negative"}, Case{"30", "unit"}, Case{"30 s", "unit"},
                        Case{"s", "number"}, Case{"1m30", "unit"}, Case{"1.2.3s", "unit"}, Case{"0.5ns", "finer"},
                        Case{"9223372036854775808ns", "too long"}, Case{"9223372036s9223372036s", "too long"},
                        Case{"2562048h", "too long"}, Case{"99999999999999999999s", "too long"}}) {
    const Result<Duration> read = parse_duration(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_EQ(read.error().code, ErrorCode::kUsage);
    EXPECT_NE(read.error().message().find(c.why), std::string::npos) << read.error().message();
  }
}

TEST(Duration, IsWrittenInTheShortestFormThatReadsBack) {
  struct Case {
    int64_t ns;
    const char* text;
  };
  for (const Case& c :
       {Case{0, "0s"}, Case{1, "1ns"}, Case{1'500, "1.5us"}, Case{250'000'000, "250ms"}, Case{4'449'000'000, "4.449s"},
        Case{90 * kSecond, "1m30s"}, Case{3'600 * kSecond, "1h"}, Case{3'600 * kSecond + 1, "1h0.000000001s"},
        Case{std::numeric_limits<int64_t>::max(), "2562047h47m16.854775807s"}}) {
    EXPECT_EQ(format_duration({c.ns}), c.text);
    const Result<Duration> read = parse_duration(c.text);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(read->ns, c.ns);
  }
  EXPECT_EQ(format_duration({-90 * kSecond}), "-1m30s");
}

TEST(Duration, IsRoundedForTables) {
  EXPECT_EQ(format_seconds({4'448'500'000}), "4.449 s");
  EXPECT_EQ(format_seconds({4'448'499'999}), "4.448 s");
  EXPECT_EQ(format_seconds({-500'000}), "-0.001 s");
  EXPECT_EQ(format_seconds({999'999'999}), "1.000 s");
  EXPECT_EQ(format_offset(Time{5 * kSecond}, Time{kSecond}), "+4.000 s");
  EXPECT_EQ(format_offset(Time{kSecond}, Time{5 * kSecond}), "-4.000 s");
}

TEST(Time, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(Time::never() + Duration::seconds(1), Time::never());
  EXPECT_EQ((Time{std::numeric_limits<int64_t>::min()} - Duration::seconds(1)).ns, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Duration::seconds(std::numeric_limits<int64_t>::max()).ns, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Duration::seconds(std::numeric_limits<int64_t>::min()).ns, std::numeric_limits<int64_t>::min());
  EXPECT_EQ((Duration{-2} * std::numeric_limits<int64_t>::max()).ns, std::numeric_limits<int64_t>::min());
  EXPECT_EQ((Time{7} - Time{3}).ns, 4);
  EXPECT_FALSE(Time{}.known());
}

}  // namespace
}  // namespace inquest
