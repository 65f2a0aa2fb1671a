#include "recorder/cut.h"

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "recorder/import.h"
#include "recorder/json_shape.h"
#include "recorder/list_body.h"
#include "recorder/merge.h"
#include "recorder/source.h"
#include "recorder/test_files.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

using trace::RecordKind;

constexpr int64_t kSecond = 1'000'000'000;

std::string cat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out.append(part);
  return out;
}

std::string pod(const std::string& name, int rv, const std::string& more = "") {
  return cat({R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")", name, R"(","namespace":"n","uid":"u-)", name,
              R"(","resourceVersion":")", std::to_string(rv), R"("},"spec":{)", more, R"("containers":[]}})"});
}
std::string frame(const std::string& type, const std::string& object) {
  std::string out = R"({"type":")";
  out.append(type).append(R"(","object":)").append(object).append("}");
  return out;
}
std::string list(int rv, const std::string& items) {
  std::string out = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")";
  out.append(std::to_string(rv)).append(R"("},"items":[)").append(items).append("]}");
  return out;
}
std::string line(int64_t seconds, const std::string& kind, const std::string& body, int rv = 0) {
  std::string out = cat({R"({"t":)", std::to_string(seconds * kSecond), R"(,"stream":"pods","kind":")", kind,
                         R"(","path":"/api/v1/pods)"});
  if (kind == "open") out += "?watch=1&resourceVersion=" + std::to_string(rv);
  out += R"(","status":200)";
  if (!body.empty()) {
    out += R"(,"body":")";
    escape(body, Escapes::kShort, out);
    out += '"';
  }
  return out + "}\n";
}

class CutTest : public testing::Test {
 protected:
  std::string imported(const std::string& text, const std::string& name = "a.trace") {
    ImportOptions options;
    options.inputs = {folder_.write(name + ".jsonl", text)};
    options.output = folder_.path(name);
    const auto report = import_files(options);
    EXPECT_TRUE(report.ok()) << report.error().message();
    return folder_.path(name);
  }
  CutReport cut(CutOptions options) {
    options.output = folder_.path("cut.trace");
    options.existing = OutputFile::Existing::kReplace;
    const auto report = cut_trace(options);
    EXPECT_TRUE(report.ok()) << report.error().message();
    return report.ok() ? *report : CutReport{};
  }
  // Its records but for the forms of lines, one a line: kind rv [names], then the body.
  std::string shown(const std::string& name = "cut.trace") {
    auto reader = trace::TraceReader::open(folder_.path(name));
    EXPECT_TRUE(reader.ok());
    std::string out;
    for (;;) {
      const auto next = reader->next();
      EXPECT_TRUE(next.ok());
      if (!next.ok() || *next == nullptr) return out;
      const trace::Record record = **next;
      if (record.text && reader->catalog().text(record.text) == kSourceEnvelope) continue;
      constexpr const char* kNames[] = {"list", "frame",  "bookmark", "error",       "open",  "close",
                                        "bind", "answer", "gap",      "undecodable", "source"};
      out += kNames[static_cast<size_t>(record.kind)];
      out.append(" ").append(std::to_string(record.rv));
      for (const ObjectFacts& object : record.objects) {
        const Catalog& catalog = reader->catalog();
        out.append(" ").append(catalog.name(catalog.key_of(std::get<PodFacts>(object).pod)));
      }
      const std::string body = *reader->body(record.seq);
      out.append(body.empty() ? "" : " | ").append(body).append("\n");
    }
  }
  TestFolder folder_;
};

CutEdge at(int64_t seconds) { return {{}, Time{seconds * kSecond}}; }

TEST_F(CutTest, TheStateAtTheStartIsAListOfTheLatestBodies) {
  CutOptions options;
  options.input =
      imported(line(1, "list", list(5, pod("a", 3) + "," + pod("b", 4))) + line(1, "open", "", 5) +
               line(2, "frame", frame("ADDED", pod("c", 6))) +
               line(3, "frame", frame("MODIFIED", pod("a", 7, R"("nodeName":"x",)"))) +
               line(4, "frame", frame("DELETED", pod("b", 8))) + line(6, "frame", frame("MODIFIED", pod("c", 9))) +
               line(9, "frame", frame("DELETED", pod("c", 10))));
  options.from = at(5);
  options.to = at(9);
  const CutReport report = cut(options);
  EXPECT_EQ(report.records, 2U);  // a frame, and the form of its line
  EXPECT_EQ(report.objects_listed, 2U);
  EXPECT_EQ(shown(), cat({"source 0\nlist 8 c a | ", list(8, pod("c", 6) + "," + pod("a", 7, R"("nodeName":"x",)")),
                          "\nopen 8\nframe 9 c | ", frame("MODIFIED", pod("c", 9)), "\n"}));
  const auto reader = trace::TraceReader::open(folder_.path("cut.trace"));
  EXPECT_EQ(reader->info().start, Time{kSecond});
  EXPECT_TRUE(reader->info().complete());
  ASSERT_FALSE(reader->info().notes.empty());
}

TEST_F(CutTest, AGapAndAClosedWatchStayTrue) {
  CutOptions options;
  options.input = imported(line(1, "list", list(5, pod("a", 3))) + line(1, "open", "", 5) + line(2, "close", "") +
                           line(3, "open", "", 9) + line(4, "close", "") + line(6, "open", "", 9));
  options.from = at(5);
  cut(options);
  const std::string text = shown();
  EXPECT_NE(text.find("\ngap 9\nclose 0\nopen 9\n"), std::string::npos) << text;
  EXPECT_FALSE(trace::TraceReader::open(folder_.path("cut.trace"))->info().complete());
}

TEST_F(CutTest, ByNameListsShrinkAndAWatchGoesOnFromABookmark) {
  CutOptions options;
  options.input = imported(line(1, "list", list(5, pod("a", 3) + " , " + pod("b", 4))) + line(1, "open", "", 5) +
                           line(2, "frame", frame("ADDED", pod("b2", 6))) + line(3, "close", "") +
                           line(4, "open", "", 6) + line(5, "list", list(6, pod("a", 3) + "," + pod("b2", 6))));
  options.objects.name = "a*";
  cut(options);
  EXPECT_EQ(shown(), cat({"list 5 a | ", list(5, pod("a", 3)), "\nopen 5\nclose 0\nbookmark 6\nopen 6\nlist 6 a | ",
                          list(6, pod("a", 3)), "\n"}));
}

// A list of more than 8 MiB stands in several records.
TEST_F(CutTest, ListsInPieces) {
  std::string items;
  const std::string padding = cat({R"("padding":")", std::string(30'000, 'x'), "\","});
  for (int i = 0; i < 400; ++i) {
    items += items.empty() ? "" : ",";
    items += pod(cat({i % 2 == 0 ? "even-" : "odd-", std::to_string(i)}), i + 1, padding);
  }
  const std::string trace = imported(line(1, "list", list(500, items)) + line(2, "open", "", 500) +
                                     line(6, "frame", frame("ADDED", pod("z", 501))));
  for (const bool made : {false, true}) {
    CutOptions options;
    options.input = trace;
    options.objects.name = "even-*";
    if (made) options.from = at(5);
    const CutReport report = cut(options);
    EXPECT_EQ(report.lists_bodiless, 0U);
    auto reader = trace::TraceReader::open(folder_.path("cut.trace"));
    std::string body;
    size_t objects = 0, parts = 0;
    for (;;) {
      const auto next = reader->next();
      if (*next == nullptr) break;
      const trace::Record record = **next;
      const bool part = record.text && reader->catalog().text(record.text) == kSourcePart;
      if (record.kind == RecordKind::kList) objects = record.more_objects;
      objects += part ? 0 : record.kind == RecordKind::kList ? record.objects.size() : 0;
      if (record.kind == RecordKind::kList || part) body += *reader->body(record.seq);
      parts += part;
    }
    EXPECT_EQ(objects, 200U);
    EXPECT_GE(parts, 2U);
    const auto found = items_of(body);
    ASSERT_EQ(found.size(), 200U);
    EXPECT_EQ(found.front(), pod("even-0", 1, padding));
    EXPECT_EQ(found.back(), pod("even-398", 399, padding));
    EXPECT_TRUE(shape_of(body).whole);
  }
}

// Their objects' bodies stand in the frames before them.
TEST_F(CutTest, StreamingLists) {
  CutOptions options;
  std::string open = line(1, "open", "");
  const std::string_view plain = "resourceVersion=0";
  open.replace(open.find(plain), plain.size(), "sendInitialEvents=true");
  options.input =
      imported(open + line(1, "frame", frame("ADDED", pod("a", 3))) + line(1, "frame", frame("ADDED", pod("b", 4))) +
               line(2, "frame",
                    R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"5",)"
                    R"("annotations":{"k8s.io/initial-events-end":"true"}}}})") +
               line(3, "frame", frame("DELETED", pod("b", 6))) + line(9, "frame", frame("ADDED", pod("c", 7))));
  options.from = at(5);
  const CutReport report = cut(options);
  EXPECT_EQ(report.lists_bodiless, 0U);
  EXPECT_NE(shown().find(cat({"list 6 a | ", list(6, pod("a", 3))})), std::string::npos) << shown();
}

TEST_F(CutTest, NothingInTheSpanIsAnError) {
  CutOptions options;
  options.input = imported(line(1, "list", list(5, "")));
  options.output = folder_.path("cut.trace");
  options.from = at(5);
  const auto report = cut_trace(options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kUsage);
  EXPECT_EQ(folder_.listing(), "a.trace a.trace.jsonl");
}

// Each stream's own order is kept, whatever its clock did; what stands behind a record stays behind it.
TEST_F(CutTest, MergeKeepsTheOrderOfEach) {
  imported(line(1, "list", list(5, "")) + line(4, "frame", frame("ADDED", pod("a", 6))) +
               line(3, "frame", frame("ADDED", pod("b", 7))),
           "a.trace");
  imported(line(2, "list", list(5, "")) + line(5, "frame", frame("ADDED", pod("c", 6))), "b.trace");
  MergeOptions options{{folder_.path("a.trace"), folder_.path("b.trace")}, folder_.path("m.trace")};
  const auto report = merge_traces(options);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->warnings.size(), 1U);
  const std::string text = shown("m.trace");
  size_t last = 0;
  for (const char* part : {"list 5", "list 5", "frame 6 a", "frame 7 b", "frame 6 c"}) {
    last = text.find(part, last);
    ASSERT_NE(last, std::string::npos) << text;
    ++last;
  }
}

TEST(ItemFilter, TakesOutItemsWhereverTheyStand) {
  for (uint32_t mask = 0; mask < 8; ++mask) {
    std::string wanted;
    for (uint32_t i = 0; i < 3; ++i) {
      if ((mask >> i & 1) != 0) wanted += cat({wanted.empty() ? "" : ",", "{\"i\":", std::to_string(i), "}"});
    }
    ItemFilter filter;
    for (const uint32_t bit : {1U, 2U, 4U}) filter.expect((mask & bit) != 0);
    std::string out = filter.next(R"({"kind":"PodList","items":[ {"i":0})", ItemFilter::Piece::kFirst);
    out += filter.next(R"( , {"i":1} ,)", ItemFilter::Piece::kPart);
    out += filter.next(R"({"i":2}],"metadata":{}})", ItemFilter::Piece::kPart);
    EXPECT_TRUE(filter.fits());
    EXPECT_TRUE(shape_of(out).whole) << out;
    std::string items;
    for (const std::string_view item : items_of(out)) items += cat({items.empty() ? "" : ",", item});
    EXPECT_EQ(items, wanted) << out;
  }
  ItemFilter filter;
  filter.expect(true);
  EXPECT_EQ(filter.next(R"({"items":[1,2]})", ItemFilter::Piece::kFirst), "");
  EXPECT_FALSE(filter.fits());
}

}  // namespace
}  // namespace inquest::recorder
