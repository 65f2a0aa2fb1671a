#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace inquest {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kInput, "it is odd", "record @" + std::to_string(n), "halve an even number"};
  return n / 2;
}

Result<int> quarter(int n) {
  INQUEST_TRY(const int once, half(n));
  INQUEST_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_quarter(int n) {
  INQUEST_TRY_VOID(quarter(n));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(*half(4), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error().code, ErrorCode::kInput);
}

TEST(Result, TryHandsTheFirstErrorUp) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().place, "record @3");
  EXPECT_TRUE(check_quarter(4).ok());
  EXPECT_EQ(check_quarter(5).error().place, "record @5");
}

TEST(Result, AMessageIsOneLineWithPlaceAndNextStep) {
  EXPECT_EQ(half(3).error().message(), "record @3: it is odd (halve an even number)");
  EXPECT_EQ((Error{ErrorCode::kIo, "no space", "", ""}).message(), "no space");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> owned = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(owned);
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, ReadingTheWrongOneEndsTheProcessAndSaysWhy) {
  EXPECT_DEATH(static_cast<void>(half(3).value()), "bug at base/result.h:.*record @3: it is odd");
  EXPECT_DEATH(static_cast<void>(half(4).error()), "holds a value");
  EXPECT_DEATH(static_cast<void>(Result<void>().error()), "holds no error");
}

TEST(CheckDeathTest, PrintsItsValues) {
  const int pods = 3;
  EXPECT_DEATH(INQUEST_CHECK(pods == 4, "pods", pods), "bug at .*result_test.cpp:.*pods == 4.*pods, 3");
  INQUEST_CHECK(pods == 3, "values of a check that holds are not evaluated", [] {
    ADD_FAILURE();
    return 0;
  }());
}

}  // namespace
}  // namespace inquest
