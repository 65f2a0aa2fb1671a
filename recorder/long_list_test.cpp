#include "recorder/long_list.h"

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "recorder/export.h"
#include "recorder/import.h"
#include "recorder/test_files.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

class Collect : public ExportSink {
 public:
  std::string text;
  Result<void> write(std::string_view, std::string_view part, LineEnd end) override {
    text.append(part);
    if (end == LineEnd::kYes) text += '\n';
    return {};
  }
};

std::string item(int i, size_t size, const std::string& kind) {
  const std::string n = std::to_string(i);
  return "{" + kind + R"("metadata":{"name":"p)" + n + R"(","namespace":"ns","uid":"u)" + n +
         R"(","resourceVersion":")" + n + R"(","labels":{"x":"[{]}\",\\\u00e9\ud83d\ude00)" + std::string(size, 'x') +
         R"("}},"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"hunter2"}]}]}})";
}
std::string list_of(int count, size_t size, const std::string& kind = "") {
  std::string out = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"77"},"items":[)";
  for (int i = 1; i <= count; ++i) out += (i > 1 ? ", " : "") + item(i, size, kind);
  return out + "]}\n";
}
std::string line_of(const std::string& list) {
  std::string out = R"({"t":5,"stream":"pods","kind":"list","path":"/api/v1/pods","status":200,"body":")";
  escape(list, Escapes::kShort, out);
  return out + "\"}\n";
}

class LongListTest : public testing::Test {
 protected:
  Result<ImportReport> import(const std::string& input, Redact redact = Redact::kOff) {
    ImportOptions options;
    options.inputs = {folder_.write("in", input)};
    options.output = folder_.path("x.trace");
    options.replace = true;
    options.redact.redact = redact;
    return import_files(options);
  }
  std::string exported() {
    auto reader = trace::TraceReader::open(folder_.path("x.trace"));
    EXPECT_TRUE(reader.ok());
    Collect sink;
    EXPECT_TRUE(export_trace(*reader, sink).ok());
    return std::move(sink.text);
  }
  // Of the one list in the trace.
  size_t objects() {
    auto reader = trace::TraceReader::open(folder_.path("x.trace"));
    for (;;) {
      const auto record = reader->next();
      if (!record.ok() || record.value() == nullptr) return 0;
      if (record.value()->kind != trace::RecordKind::kList) continue;
      EXPECT_EQ(record.value()->rv, 77u);
      size_t count = 0;
      const auto whole = reader->list(record.value()->seq, [&](const trace::Record& part) {
        for (const ObjectFacts& object : part.objects) EXPECT_TRUE(std::holds_alternative<PodFacts>(object));
        count += part.objects.size();
        return Result<trace::TraceReader::Go>(trace::TraceReader::Go::kOn);
      });
      EXPECT_TRUE(whole.ok() && *whole);
      return count;
    }
  }
  TestFolder folder_;
};

TEST_F(LongListTest, ALineOfAnyLengthComesBack) {
  for (const size_t size : {200u, 4001u, 1'000'003u}) {
    const int count = static_cast<int>(12'000'000 / (size + 300));
    const std::string close = "{\"t\":6,\"stream\":\"pods\",\"kind\":\"close\"}\n";
    const std::string text = line_of(list_of(count, size)) + close;
    ASSERT_TRUE(import(text).ok());
    EXPECT_EQ(objects(), static_cast<size_t>(count));
    EXPECT_TRUE(exported() == text) << size;
    ASSERT_TRUE(import(text, Redact::kOn).ok());
    EXPECT_EQ(objects(), static_cast<size_t>(count));
    EXPECT_EQ(exported().find("hunter"), std::string::npos);
  }
}

// Any JSON that says the same.
TEST_F(LongListTest, ALineInAnySpellingComesBack) {
  std::string body;
  escape(list_of(3000, 4000), Escapes::kShort, body);
  const std::string close = "{\"t\":6,\"stream\":\"pods\",\"kind\":\"close\"}\n";
  const std::pair<const char*, const char*> spellings[] = {
      {R"({"t": 5, "stream": "pods", "kind": "list", "path": "/api/v1/pods", "status": 200, "body": ")", "\"}"},
      {"{ \"t\":5,\t\"stream\":\"pods\",\"kind\" :\"list\",\"body\"\t: \t\"", "\" } "},
      {R"({"body":")", R"(","t":5,"stream":"pods","kind":"list","status":200})"},
      {R"({"x":{"body":"a"},"body":"b","kind":"list","b\u006fdy":")", R"(","stream":"pods","t":5,"note":"body"})"},
      {R"({"k\u0069nd":"l\u0069st","t":5,"stream":"pods","body":")", R"("})"},
  };
  for (const auto& [before, behind] : spellings) {
    std::string text = before;
    text.append(body).append(behind).append("\n").append(close);
    const auto report = import(text);
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_EQ(report->loss_count, 0u) << before;
    EXPECT_EQ(objects(), 3000u) << before;
    EXPECT_TRUE(exported() == text) << before;
  }
}

TEST_F(LongListTest, KubectlsListComesBack) {
  std::string text = list_of(3000, 4000, R"("kind":"Pod","apiVersion":"v1",)");
  ASSERT_TRUE(import(text).ok());
  EXPECT_EQ(objects(), 3000u);
  EXPECT_TRUE(exported() == text);
}

// Memory is bounded by the limit of an item, wherever in it the input goes on for ever.
TEST(LongList, AStringWithoutAnEndIsNotGathered) {
  Redactor redactor{RedactRules{}};
  BodySpool spool(testing::TempDir());
  LongList list(LongList::Form::kValue, redactor, spool);
  const std::string begin = R"({"kind":"PodList","items":[{"metadata":{"name":")";
  ASSERT_TRUE(list.begin(begin));
  list.more(begin);
  for (int mebibytes = 0; mebibytes < 11; ++mebibytes) list.more(std::string(size_t{1} << 20, 'x'));
  const auto read = list.list();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().text, "an item of a list with more than 8 MiB");
}

TEST_F(LongListTest, WhatIsNoListOrBreaksOffIsALocatedLoss) {
  const std::string close = "{\"t\":6,\"stream\":\"pods\",\"kind\":\"close\"}\n";
  const std::string whole = line_of(list_of(3000, 4000));
  std::string long_text;
  long_text.resize(9'000'000, 'x');
  const struct {
    std::string text, why;
  } cases[] = {
      {whole.substr(0, whole.size() / 4 * 3) + "\n" + close, "a list that breaks off"},
      {line_of(list_of(1, 12'000'000)) + close, "an item of a list with more than 8 MiB"},
      {R"({"t":5,"stream":"pods","kind":"frame","body":")" + long_text + "\"}\n" + close, "at most 8388608 are read"},
      {long_text + "\n" + close, "at most 8388608 are read"},
      {R"({"body":")" + long_text + "\",\"t\":5,\"stream\":\"pods\",\"kind\":\"frame\"}\n" + close,
       "a line of another kind with more than 8 MiB"},
      {whole.substr(0, whole.size() - 2) + ",\"status\":500}\n" + close, "a refusal with more than 8 MiB"},
      {whole.substr(0, whole.size() - 2) + ",\"body\":\"x\"}\n" + close, "a line with two bodies"},
  };
  for (const auto& c : cases) {
    const auto report = import(close + c.text);
    ASSERT_TRUE(report.ok()) << report.error().message();
    ASSERT_EQ(report->loss_count, 1u) << c.why;
    EXPECT_NE(report->losses[0].text.find(c.why), std::string::npos) << report->losses[0].text;
    EXPECT_NE(report->losses[0].place.find(":2"), std::string::npos) << report->losses[0].place;
  }
}

}  // namespace
}  // namespace inquest::recorder
