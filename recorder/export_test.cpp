#include "recorder/export.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/json_text.h"
#include "recorder/import.h"
#include "recorder/line_source.h"
#include "recorder/test_files.h"

namespace inquest::recorder {
namespace {

class Collect : public ExportSink {
 public:
  std::map<std::string, std::string> text;
  Result<void> write(std::string_view source, std::string_view part, LineEnd end) override {
    text[std::string(source)].append(part);
    if (end == LineEnd::kYes) text[std::string(source)] += '\n';
    return {};
  }
};

std::string lines_of(const std::string& path) {
  auto source = LineSource::open(path);
  if (!source.ok()) return source.error().message();
  std::string out;
  for (;;) {
    const Line line = source->next();
    if (line.kind == Line::Kind::kEnd) return out;
    out.append(line.text) += '\n';
  }
}

class ExportTest : public testing::Test {
 protected:
  std::map<std::string, std::string> round(const std::vector<std::string>& inputs, Redact redact) {
    ImportOptions options;
    options.inputs = inputs;
    options.output = folder_.path("x.trace");
    options.replace = true;
    options.redact.redact = redact;
    const auto report = import_files(options);
    EXPECT_TRUE(report.ok()) << report.error().message();
    auto reader = trace::TraceReader::open(options.output);
    EXPECT_TRUE(reader.ok()) << reader.error().message();
    Collect sink;
    const auto done = export_trace(*reader, sink);
    EXPECT_TRUE(done.ok()) << done.error().message();
    records_.clear();
    reader->rewind();
    for (;;) {
      const auto next = reader->next();
      if (!next.ok() || next.value() == nullptr) break;
      const trace::Record& r = *next.value();
      records_ += std::to_string(r.stream.value) + " " + std::to_string(static_cast<int>(r.kind)) + " " +
                  std::to_string(static_cast<int>(r.verb)) + " " + std::to_string(r.checkpoint) + " " +
                  std::to_string(r.wall.ns) + " " + std::to_string(r.rv) + " " + std::to_string(r.objects.size()) +
                  " " + std::to_string(r.bind.request) + " " + std::to_string(r.bind.code) + "\n";
    }
    return std::move(sink.text);
  }
  std::string line(const std::string& text) {
    return round({folder_.write("in.jsonl", text)}, Redact::kOff)["in.jsonl"];
  }

  TestFolder folder_;
  std::string records_;  // all of them, a line each
};

TEST_F(ExportTest, GivesBackTheLinesOfEveryIncident) {
  const std::vector<std::vector<std::string>> incidents = {
      {"traces/burst/burst.jsonl.zst", "traces/burst/burst.binds.jsonl"},
      {"traces/hostport/hostport.jsonl.zst"},
      {"traces/race/race.jsonl.zst", "traces/race/race.audit.jsonl.zst", "traces/race/race.binds.jsonl"},
      {"traces/churn/churn.jsonl.zst", "traces/churn/churn.audit.jsonl.zst"},
      {"traces/seeds/deleted-before-assumed.jsonl", "traces/seeds/deleted-before-assumed.binds.jsonl"},
  };
  for (const auto& inputs : incidents) {
    auto text = round(inputs, Redact::kOff);
    EXPECT_EQ(text.size(), inputs.size());
    for (const std::string& input : inputs) {
      const std::string name = input.substr(input.rfind('/') + 1);
      EXPECT_TRUE(text[name] == lines_of(input)) << input;
    }
    // What was exported gives the same records again.
    const std::string records = records_;
    std::vector<std::string> again;
    for (const std::string& input : inputs) {
      const std::string name = input.substr(input.rfind('/') + 1);
      again.push_back(folder_.write(name, text[name]));
    }
    round(again, Redact::kOff);
    EXPECT_TRUE(records == records_) << inputs.front();
  }
}

TEST_F(ExportTest, RedactedOnceItIsStable) {
  auto once = round({"traces/churn/churn.jsonl.zst", "traces/churn/churn.audit.jsonl.zst"}, Redact::kOn);
  EXPECT_FALSE(once["churn.jsonl.zst"] == lines_of("traces/churn/churn.jsonl.zst"));
  EXPECT_TRUE(once["churn.audit.jsonl.zst"] == lines_of("traces/churn/churn.audit.jsonl.zst"));
  const std::string records = records_;
  auto twice = round({folder_.write("churn.jsonl", once["churn.jsonl.zst"]),
                      folder_.write("churn.audit.jsonl", once["churn.audit.jsonl.zst"])},
                     Redact::kOn);
  EXPECT_TRUE(once["churn.jsonl.zst"] == twice["churn.jsonl"]);
  EXPECT_TRUE(records == records_);
}

TEST_F(ExportTest, KeepsUnusualForms) {
  const std::string lines[] = {
      R"({"t":1,"stream":"pods","kind":"close"})",
      R"({"t":1,"stream":"pods","kind":"close","reason":"EOF"})",
      R"({ "kind": "close", "t": 1, "stream": "pods", "more": [1, 2] })",
      R"({"t":1,"stream":"pods","kind":"open","path":"/api/v1/pods?watch=1","status":200})",
      R"({"t":1,"stream":"pods","kind":"list","path":"/api/v1/pods","status":500,"body":"{\"code\":500}"})",
      R"({"t":1,"stream":"pods","kind":"open","path":"/api/v1/pods?watch=1","status":403,"body":"{\"code\":403}"})",
      R"({"t":1,"stream":"pods","kind":"list","status":200,"body":"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}\n"})",
      R"({"t":1,"stream":"pods","kind":"list","body":{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}})",
      R"({"t":1,"stream":"pods","kind":"frame","body":"{\"type\":\"ERROR\",\"object\":{\"code\":410}}"})",
      R"({"t": 1, "stream": "pods", "kind": "frame", "body": "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"x\":\"\u00e9\ud83d\ude00\"}}}"})",
      R"({"t":1,"stream":"pods","kind":"frame","body":"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"x\":\"\u003ca\u003e\"}}}"})",
      R"({"t":1,"stream":"pods","kind":"frame","body":"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"x\":\"a\/b\"}}}"})",
      R"({"t":1,"stream":"pods","kind":"frame","body":"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"x\":\"a\u0041\/b/\"}}}"})",
      R"({"t":1,"stream":"pods","kind":"frame","body":"no\tJSON\u001b\u0000 é"})",
      R"({"t":1,"stream":"pods","kind":"frame","body":""})",
      R"({"t":1,"stream":"p\"q é","kind":"close"})",
  };
  std::string all;
  for (const std::string& text : lines) {
    EXPECT_EQ(line(text + "\n"), text + "\n");
    all += text + "\n";
  }
  EXPECT_EQ(line(all), all);
}

TEST(JsonText, EscapesAndUnescapes) {
  const std::string value("a\"\\/\b\f\n\r\t\x01\x7f<&> é \xe2\x80\xa8 \xf0\x9f\x98\x80");
  const std::pair<Escapes, const char*> cases[] = {
      {Escapes::kShort, R"(a\"\\/\b\f\n\r\t\u0001)"
                        "\x7f<&> é \xe2\x80\xa8 \xf0\x9f\x98\x80"},
      {Escapes::kHtml, R"(a\"\\/\u0008\u000c\n\r\t\u0001)"
                       "\x7f"
                       R"(\u003c\u0026\u003e é \u2028 )"
                       "\xf0\x9f\x98\x80"},
      {Escapes::kAscii, R"(a\"\\/\b\f\n\r\t\u0001)"
                        "\x7f"
                        R"(<&> \u00e9 \u2028 \ud83d\ude00)"},
      {Escapes::kSlash, R"(a\"\\\/\b\f\n\r\t\u0001)"
                        "\x7f"
                        R"(<&> \u00e9 \u2028 \ud83d\ude00)"},
  };
  for (const auto& [style, expected] : cases) {
    std::string out, back;
    escape(value, style, out);
    EXPECT_EQ(out, expected);
    EXPECT_EQ(is_short(out, value), style == Escapes::kShort);
    unescape(out, back);
    EXPECT_EQ(back, value);
  }
  std::string out;
  unescape("\\", out);
  unescape("\\u12", out);
  unescape("\\ud800x", out);
  EXPECT_EQ(out, "\\\\u12\xef\xbf\xbdx");
}

TEST_F(ExportTest, WritesAFolder) {
  round({"traces/race/race.jsonl.zst", "traces/race/race.binds.jsonl"}, Redact::kOff);
  auto reader = trace::TraceReader::open(folder_.path("x.trace"));
  ASSERT_TRUE(reader.ok());
  const std::string to = folder_.path("out");
  std::filesystem::create_directory(to);
  const auto done = export_to_folder(*reader, to);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(read_file(to + "/race.jsonl") == lines_of("traces/race/race.jsonl.zst"));
  EXPECT_TRUE(read_file(to + "/race.binds.jsonl") == lines_of("traces/race/race.binds.jsonl"));
  const auto again = export_to_folder(*reader, to);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().text, "exists already");
}

}  // namespace
}  // namespace inquest::recorder
