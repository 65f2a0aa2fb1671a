#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace inquest {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Rfc3339, ReadsEveryFormOfAnInstant) {
  struct Case {
    const char* text;
    int64_t ns;
  };
  for (const Case& c :
       {Case{"1970-01-01T00:00:00Z", 0}, Case{"2001-09-09T01:46:40Z", 1'000'000'000 * kSecond},
        Case{"2001-09-09T01:46:40.5Z", 1'000'000'000 * kSecond + 500'000'000},
        Case{"2001-09-09T01:46:40.123456789Z", 1'000'000'000 * kSecond + 123'456'789},
        Case{"2001-09-09T01:46:40.1234567899Z", 1'000'000'000 * kSecond + 123'456'789},
        Case{"2001-09-09T03:46:40+02:00", 1'000'000'000 * kSecond},
        Case{"2001-09-08t20:16:40-05:30", 1'000'000'000 * kSecond},
        Case{"2001-09-09 01:46:40z", 1'000'000'000 * kSecond}, Case{"1969-12-31T23:59:59.999999999Z", -1},
        Case{"2016-12-31T23:59:60Z", 1'483'228'800 * kSecond}, Case{"2024-02-29T00:00:00Z", 1'709'164'800 * kSecond}}) {
    const std::optional<Time> read = parse_rfc3339(c.text);
    ASSERT_TRUE(read.has_value()) << c.text;
    EXPECT_EQ(read->ns, c.ns) << c.text;
  }
}

TEST(Rfc3339, RefusesWhatIsNone) {
  for (const char* text :
       {"", "2001", "2001-09-09", "2001-09-09T01:46:40", "2001-09-09T01:46:40.Z", "2001-09-09T01:46:40+0200",
        "2001-09-09T01:46:40Zx", "2001-9-09T01:46:40Z", "2001-13-09T01:46:40Z", "2001-02-29T01:46:40Z",
        "2001-09-31T01:46:40Z", "2001-09-09T24:46:40Z", "2001-09-09T01:60:40Z", "2001-09-09T01:46:61Z",
        "2001-09-09T01:46:40+24:00", "1677-09-09T01:46:40Z", "2262-01-01T00:00:00Z", "+001-09-09T01:46:40Z",
        "0000-00-00T00:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
  }
}

TEST(Rfc3339, ReadsBackWhatItWrites) {
  EXPECT_EQ(format_rfc3339(Time{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(Time{1'000'000'000 * kSecond + 569'291'000}), "2001-09-09T01:46:40.569291Z");
  EXPECT_EQ(format_rfc3339(Time{-1}), "1969-12-31T23:59:59.999999999Z");
  for (const int64_t ns : {int64_t{0}, int64_t{-1}, int64_t{1}, 1'709'164'800 * kSecond + 100, -86'400 * kSecond}) {
    const std::optional<Time> read = parse_rfc3339(format_rfc3339(Time{ns}));
    ASSERT_TRUE(read.has_value()) << ns;
    EXPECT_EQ(read->ns, ns);
  }
}

}  // namespace
}  // namespace inquest
