#include "kube/client/status.h"

#include <gtest/gtest.h>

namespace inquest::kube {
namespace {

using Why = reflector::Refusal::Why;

std::string status(const std::string& fields) { return R"({"kind":"Status","apiVersion":"v1",)" + fields + "}"; }

TEST(ReadRefusal, Statuses) {
  const auto why = [](int code, const std::string& body) { return read_refusal(code, "", 0, body).refusal.why; };
  EXPECT_EQ(why(410, status(R"("reason":"Expired","code":410)")), Why::kExpired);
  EXPECT_EQ(why(410, status(R"("reason":"Gone","code":410)")), Why::kGone);
  EXPECT_EQ(why(429, status(R"("reason":"TooManyRequests","code":429)")), Why::kTooManyRequests);
  EXPECT_EQ(
      why(504, status(R"("reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})")),
      Why::kTooLarge);
  EXPECT_EQ(why(403, status(R"("reason":"Forbidden","code":403)")), Why::kOther);
}

TEST(ReadRefusal, RetryAfterCountsWhereItMaySayAgain) {
  const auto after = [](int code, uint32_t seconds) {
    return read_refusal(code, "", seconds, "").refusal.retry_after_s;
  };
  EXPECT_EQ(after(429, 3), 3u);
  EXPECT_EQ(after(503, 3), 3u);
  EXPECT_EQ(after(403, 3), std::nullopt);
  EXPECT_EQ(after(429, 0), std::nullopt);
}

TEST(ReadRefusal, ForPeople) {
  const auto text = [](int code, const char* type, const std::string& body) {
    return read_refusal(code, type, 0, body).text;
  };
  EXPECT_EQ(text(403, "", status(R"("reason":"Forbidden","message":"pods is\nforbidden","code":403)")),
            "403 Forbidden: pods is forbidden");
  EXPECT_EQ(text(502, "text/html; charset=utf-8", "<html>hidden</html>"),
            "502, text/html; charset=utf-8: a proxy's page, it seems");
  EXPECT_EQ(text(500, "", "hidden"), "500, no Status");
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "é";
  EXPECT_EQ(text(500, "", status(R"("message":")" + wide + "\"")), "500: " + wide.substr(0, 300));
}

}  // namespace
}  // namespace inquest::kube
