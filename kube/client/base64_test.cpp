#include "kube/client/base64.h"

#include <gtest/gtest.h>

namespace inquest::kube {
namespace {

TEST(Base64, BothWays) {
  for (const char* text : {"", "a", "ab", "abc", "abcd"}) EXPECT_EQ(decode_base64(encode_base64(text)), text);
  EXPECT_EQ(encode_base64(std::string_view("\0\xff\n", 3)), "AP8K");
}

TEST(Base64, WhiteSpaceIsNoMatter) { EXPECT_EQ(decode_base64(" QU\r\nJD\tRA ==\n"), "ABCD"); }

TEST(Base64, AnythingElseIsRefused) {
  for (const char* text : {"QUJ", "QUJD!", "QU=D", "====", "=QUJ", "QQ==QUJD", "QUJD-_==", "&#61;"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace inquest::kube
