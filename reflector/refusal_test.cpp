#include "reflector/refusal.h"

#include <gtest/gtest.h>

namespace inquest::reflector {
namespace {

using Why = Refusal::Why;

TEST(RefusalTest, ReasonsFirstCodesNext) {
  const StatusCause too_large[] = {{"ResourceVersionTooLarge", ""}};
  const StatusCause too_large_text[] = {{"", "Too large resource version"}};
  const StatusCause decoding[] = {{"UnexpectedServerResponse", "unable to decode"}, {"ClientWatchDecoding", ""}};
  const struct {
    Status status;
    Why why;
  } cases[] = {
      {{410, "Expired", "too old resource version: 1 (5)", {}}, Why::kExpired},
      {{410, "Gone", "", {}}, Why::kGone},
      {{410, "", "", {}}, Why::kGone},
      {{410, "NotFound", "", {}}, Why::kOther},
      {{429, "TooManyRequests", "", {}}, Why::kTooManyRequests},
      {{429, "", "", {}}, Why::kTooManyRequests},
      {{0, "TooManyRequests", "", {}}, Why::kTooManyRequests},
      {{500, "InternalError", "", {}}, Why::kInternalError},
      {{500, "InternalError", "", decoding}, Why::kInternalError},
      {{500, "", "", {}}, Why::kInternalError},
      {{500, "ServerTimeout", "", {}}, Why::kOther},
      {{504, "Timeout", "Too large resource version: 9, current: 5", {}}, Why::kTooLarge},
      {{504, "Timeout", "", too_large}, Why::kTooLarge},
      {{504, "Timeout", "", too_large_text}, Why::kTooLarge},
      {{504, "Timeout", "the server was slow", {}}, Why::kOther},
      {{400, "BadRequest", "Too large resource version", {}}, Why::kOther},
      {{403, "Forbidden", "", {}}, Why::kOther},
      {{422, "Invalid", "", {}}, Why::kOther},
      {{}, Why::kOther},
  };
  for (const auto& [status, why] : cases) {
    EXPECT_EQ(refusal_of(status).why, why) << status.code << " " << status.reason << " " << status.message;
  }
}

TEST(RefusalTest, RetryAfterCountsWith429AndServerErrorsOnly) {
  EXPECT_EQ(refusal_of({429, "", "", {}}, 3).retry_after_s, 3U);
  EXPECT_EQ(refusal_of({500, "", "", {}}, 0).retry_after_s, 0U);
  EXPECT_EQ(refusal_of({503, "", "", {}}).retry_after_s, std::nullopt);
  EXPECT_EQ(refusal_of({410, "Expired", "", {}}, 3).retry_after_s, std::nullopt);
}

TEST(RefusalTest, TablesOfMetaAreNoObjects) {  // R21
  EXPECT_TRUE(is_unsupported_table("meta.k8s.io/v1", "Table"));
  EXPECT_TRUE(is_unsupported_table("meta.k8s.io/v1beta1", "Table"));
  EXPECT_FALSE(is_unsupported_table("example.com/v1", "Table"));
  EXPECT_FALSE(is_unsupported_table("meta.k8s.io/v1", "Status"));
  EXPECT_FALSE(is_unsupported_table("meta.k8s.io/v2", "Table"));
}

}  // namespace
}  // namespace inquest::reflector
