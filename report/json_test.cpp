#include "report/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace inquest::report {
namespace {

std::string only(std::string_view text) {
  JsonWriter json("v");
  json.field("x", text);
  const std::string all = json.finish();
  const size_t from = all.find("\"x\": ") + 5;
  return all.substr(from, all.size() - from - 3);  // without "\n}\n"
}

TEST(JsonWriter, WritesInTheOrderItIsTold) {
  JsonWriter json("info");
  json.field("b", 1).field("a", true).nothing("n");
  json.key("list").begin_array().value("x").value(2).begin_object().field("y", 3).end_object().end_array();
  json.key("none").begin_array().end_array();
  json.key("empty").begin_object().end_object();
  EXPECT_EQ(json.finish(), R"({
  "schema_version": 1,
  "verb": "info",
  "b": 1,
  "a": true,
  "n": null,
  "list": [
    "x",
    2,
    {
      "y": 3
    }
  ],
  "none": [],
  "empty": {}
}
)");
}

TEST(JsonWriter, IntegersAreExact) {
  JsonWriter json("v");
  json.field("u", std::numeric_limits<uint64_t>::max()).field("i", std::numeric_limits<int64_t>::min());
  const std::string text = json.finish();
  EXPECT_NE(text.find("\"u\": 18446744073709551615"), std::string::npos);
  EXPECT_NE(text.find("\"i\": -9223372036854775808"), std::string::npos);
}

TEST(JsonWriter, EscapesWhateverComes) {
  EXPECT_EQ(only("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(only("\x1b[31m\n"), R"("\u001b[31m\u000a")");
  EXPECT_EQ(only(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(only("zürich"), "\"zürich\"");
  EXPECT_EQ(only("\xff\xc3"), "\"\uFFFD\uFFFD\"");
  EXPECT_EQ(only("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");  // half of a surrogate pair
  EXPECT_EQ(only("\xc2\x9b"), R"("\u009b")");                 // a terminal takes this for an escape too
}

TEST(JsonWriter, ATextMayComeInPieces) {
  JsonWriter json("v");
  json.key("body").begin_text().more_text("a\"");
  std::string text = json.take();
  text += json.more_text("\n").end_text().field("next", 1).finish();
  EXPECT_NE(text.find(R"("body": "a\"\u000a",)"), std::string::npos) << text;
}

TEST(JsonWriter, AnInstantIsATextAndExactNumbers) {
  JsonWriter json("v");
  json.instant("at", {1'500'000'000}, {1'000'000'000});
  EXPECT_NE(json.finish().find("\"at\": {\n    \"time\": \"1970-01-01T00:00:01.5Z\",\n    \"ns\": 1500000000,\n"
                               "    \"offset_ns\": 500000000\n  }"),
            std::string::npos);
}

}  // namespace
}  // namespace inquest::report
