#include "base/json_text.h"

#include <gtest/gtest.h>

namespace inquest {
namespace {

std::string unescaped(std::string_view text) {
  std::string out;
  unescape(text, out);
  return out;
}

std::string escaped(std::string_view text, Escapes style) {
  std::string out;
  escape(text, style, out);
  return out;
}

TEST(JsonText, FindsTheQuoteThatEndsAString) {
  const std::string text = R"(a \" b \\" rest)";
  EXPECT_EQ(end_of_string(text.data(), text.data() + text.size()) - text.data(), 9);
  EXPECT_EQ(end_of_string(text.data(), text.data() + 8), nullptr);
}

// At every distance from the beginning, with every text around it that ends or does not.
TEST(JsonText, FindsTheQuoteWhereverItStands) {
  for (size_t before = 0; before < 20; ++before) {
    for (const std::string_view middle : {"", "\\\"", "\\\\", "\\\\\\\"x", "\xa2\xdc", "!#[]"}) {
      for (const std::string_view rest : {"", "\"", "tail of text"}) {
        std::string text(before, 'a');
        const size_t quote = text.append(middle).size();
        text.append("\"").append(rest);
        EXPECT_EQ(end_of_string(text.data(), text.data() + text.size()), text.data() + quote) << text;
        EXPECT_EQ(end_of_string(text.data(), text.data() + quote), nullptr) << text;
      }
    }
  }
  const std::string open = "0123456\\";  // the last byte would escape one behind the end
  EXPECT_EQ(end_of_string(open.data(), open.data() + open.size()), nullptr);
}

TEST(JsonText, ShortnessIsDecidedAtAnyLength) {
  for (const std::string_view unit : {"a", "\"", "\\", "\n", "\x01", "é"}) {
    for (const size_t count : std::initializer_list<size_t>{1, 15, 16, 17, 4080, 4081, 9000}) {
      std::string value;
      for (size_t i = 0; i < count; ++i) value.append(unit);
      EXPECT_TRUE(is_short(escaped(value, Escapes::kShort), value)) << unit << count;
      EXPECT_FALSE(is_short(escaped(value, Escapes::kShort).append("x"), value)) << unit << count;
    }
  }
}

TEST(JsonText, SaysWhatEscapesSay) {
  EXPECT_EQ(unescaped(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"(\u00e9\ud83d\ude00)"), "é😀");
  EXPECT_EQ(unescaped(R"(\ud83d!)"), "\xef\xbf\xbd!");
  EXPECT_EQ(unescaped(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(unescaped("a\\"), "a\\");
}

TEST(JsonText, EveryStyleSaysTheSame) {
  const std::string text = "\x01\x08\"\\/<é😀\n\xe2\x80\xa8";
  for (int style = 0; style < kEscapeStyles; ++style) {
    EXPECT_EQ(unescaped(escaped(text, static_cast<Escapes>(style))), text) << style;
  }
  EXPECT_EQ(escaped("\x01<é/", Escapes::kShort), "\\u0001<é/");
  EXPECT_EQ(escaped("\x01<é/", Escapes::kHtml), "\\u0001\\u003cé/");
  EXPECT_EQ(escaped("\x01<é/", Escapes::kAscii), "\\u0001<\\u00e9/");
  EXPECT_EQ(escaped("\x01<é/", Escapes::kSlash), "\\u0001<\\u00e9\\/");
}

TEST(JsonText, NumbersAndTruthsAreScalars) {
  for (const char* text : {"0", "-1", "1.5", "1e9", "1E-3", "true", "false"}) EXPECT_TRUE(is_json_scalar(text)) << text;
  for (const char* text : {"", "-", "01", "1.", ".5", "1e", "+1", "0x1", "yes", "True", "null", "1 "}) {
    EXPECT_FALSE(is_json_scalar(text)) << text;
  }
}

}  // namespace
}  // namespace inquest
