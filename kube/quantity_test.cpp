#include "kube/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace inquest::kube {
namespace {

constexpr int64_t kMax = INT64_MAX;

struct Case {
  const char* text;
  int64_t value, milli;
};

void expect_all(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const std::optional<Quantity> quantity = parse_quantity(c.text);
    ASSERT_TRUE(quantity.has_value()) << c.text;
    EXPECT_EQ(quantity->value, c.value) << c.text;
    EXPECT_EQ(quantity->milli_value, c.milli) << c.text;
  }
}

// Conformance Y1: what upstream's grammar accepts.
TEST(Quantity, Grammar) {
  expect_all({
      {"0", 0, 0},
      {"0n", 0, 0},
      {"0u", 0, 0},
      {"0m", 0, 0},
      {"0Ki", 0, 0},
      {"0k", 0, 0},
      {"1", 1, 1000},
      {"1Ki", 1024, 1'024'000},
      {"5n", 1, 1},
      {"4u", 1, 1},
      {"3m", 1, 3},
      {"50k", 50'000, 50'000'000},
      {"1e3", 1000, 1'000'000},
      {"1E-3", 1, 1},
      {"1.3E+6", 1'300'000, 1'300'000'000},
      {"100.035k", 100'035, 100'035'000},
      {".001", 1, 1},
      {"1.", 1, 1000},
      {"1.G", 1'000'000'000, 1'000'000'000'000},
      {"+1", 1, 1000},
      {"-1", -1, -1000},
      {"40T", 40'000'000'000'000, 40'000'000'000'000'000},
      {"300T", 300'000'000'000'000, 300'000'000'000'000'000},
      {"3Ei", 3'458'764'513'820'540'928, kMax},
      {"1E", 1'000'000'000'000'000'000, kMax},
      {"1P", 1'000'000'000'000'000, 1'000'000'000'000'000'000},
  });
}

TEST(Quantity, Refuses) {
  for (const char* text : {"",
                           "+",
                           "-",
                           ".",
                           "+.",
                           "16g",
                           "1 Gi",
                           " 1",
                           "1 ",
                           "K",
                           "1K",
                           "1ki",
                           "Ki",
                           "1kI",
                           "1gi",
                           "1Gi ",
                           "1i",
                           ".5i",
                           "1e",
                           "1E+",
                           "1e-",
                           "1e1.5",
                           "1e+-1",
                           "0.1mi",
                           "1.1.M",
                           "1+1.0M",
                           "--1",
                           "+-1",
                           "1mm",
                           "1Gim",
                           "0x10",
                           "1,5",
                           "1_000",
                           "aoeu",
                           "NaN",
                           "Inf",
                           "1e99999999999999999999"}) {
    EXPECT_FALSE(parse_quantity(text).has_value()) << "'" << text << "'";
  }
}

// Conformance Y5.
TEST(Quantity, BinaryFractionsAreExact) {
  expect_all({
      {"0.5Mi", 524'288, 524'288'000},
      {"100.035Ki", 102'436, 102'435'840},
      {"0.05Gi", 53'687'092, 53'687'091'200},
      {"0.025Ti", 27'487'790'695, 27'487'790'694'400},
      {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {".001Ki", 2, 1024},
      {"0.0000000000000000001Ei", 1, 116},  // 0.11529…, not cut to nothing
  });
}

// Conformance Y9, and "finer than a nano-unit rounds away from zero".
TEST(Quantity, RoundsAwayFromZero) {
  expect_all({
      {"1n", 1, 1},
      {"1m", 1, 1},
      {"0.0001", 1, 1},
      {"1.0001", 2, 1001},
      {"-1.0001", -2, -1001},
      {"-1n", -1, -1},
      {"0.00000000000000000000001", 1, 1},
      {"1e-1000000000", 1, 1},
      {"0e1000000000", 0, 0},
      {"999.9999999995m", 1, 1000},
      {"1000.0000000001m", 2, 1001},
      {"0.999000000001", 1, 1000},
  });
}

// Incidents F20: seen in the wild.
TEST(Quantity, Incidents) {
  expect_all({
      {"2254857830400m", 2'254'857'831, 2'254'857'830'400},
      {"128974848000m", 128'974'848, 128'974'848'000},
      {"129e6", 129'000'000, 129'000'000'000},
      {"0.5", 1, 500},
      {"1E3", 1000, 1'000'000},
      {"100m", 1, 100},
  });
}

TEST(Quantity, ClampsInsteadOfOverflowing) {
  expect_all({
      {"9223372036854775807", kMax, kMax},
      {"9223372036854775808", kMax, kMax},
      {"-9223372036854775808", -kMax, -kMax},
      {"9223372036854775806.5", kMax, kMax},
      {"9223372036854775806", kMax - 1, kMax},
      {"9223372036854775.807", 9'223'372'036'854'776, kMax},
      {"9223372036854775.806", 9'223'372'036'854'776, kMax - 1},
      {"7Ei", 8'070'450'532'247'928'832, kMax},
      {"8Ei", kMax, kMax},
      {"7.99999999999999999999Ei", kMax, kMax},
      {"99999999999999999999999999999Ki", kMax, kMax},
      {"1e18", 1'000'000'000'000'000'000, kMax},
      {"1e19", kMax, kMax},
      {"1e9223372036854775807", kMax, kMax},
      {"-1e400", -kMax, -kMax},
  });
  const std::string long_text = std::string(100'000, '9') + "." + std::string(100'000, '9');
  ASSERT_TRUE(parse_quantity(long_text).has_value());
  EXPECT_EQ(parse_quantity(long_text)->value, kMax);
  EXPECT_EQ(parse_quantity(std::string(100'000, '0') + "1")->value, 1);
  EXPECT_EQ(parse_quantity("0." + std::string(100'000, '0') + "1Gi")->value, 1);
}

}  // namespace
}  // namespace inquest::kube
