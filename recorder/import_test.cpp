#include "recorder/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "recorder/test_files.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;

constexpr const char* kKinds[] = {"list",  "frame", "bookmark", "error", "open",
                                  "close", "bind?", "bind!",    "gap",   "undecodable"};

// A line of a capture, its body written as plain JSON.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string line(int64_t t, const std::string& kind, const std::string& body, const std::string& path = "",
                 int status = 200) {
  std::string out = "{\"t\":" + std::to_string(t) + R"(,"stream":"pods","kind":")" + kind + "\"";
  if (!path.empty()) out += R"(,"path":")" + path + R"(","status":)" + std::to_string(status);
  if (!body.empty()) out += ",\"body\":" + quoted(body);
  return out + "}\n";
}
std::string pod(const std::string& name, int rv, const std::string& node = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":"lab","uid":"uid-)" +
         name + R"(","resourceVersion":")" + std::to_string(rv) + R"("},"spec":{)" +
         (node.empty() ? "" : R"("nodeName":")" + node + "\"") + "}}";
}
std::string frame(int64_t t, const std::string& type, const std::string& object) {
  return line(t, "frame", R"({"type":")" + type + R"(","object":)" + object + "}");
}
std::string list(int64_t t, int rv, const std::string& items = "") {
  return line(t, "list",
              R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(rv) +
                  R"("},"items":[)" + items + "]}",
              "/api/v1/pods");
}
std::string open(int64_t t, int rv) {
  return line(t, "open", "", "/api/v1/pods?watch=1&resourceVersion=" + std::to_string(rv));
}
std::string bind(int64_t sent, int64_t answered, const std::string& name, const std::string& node, int code) {
  return "{\"t\":" + std::to_string(sent) + ",\"t_answer\":" + std::to_string(answered) +
         R"(,"scheduler":"toy","request":{"metadata":{"name":")" + name + R"(","namespace":"lab","uid":"uid-)" + name +
         R"("},"target":{"name":")" + node + R"("}},"code":)" + std::to_string(code) + R"(,"response":{"code":)" +
         std::to_string(code) + "}}\n";
}

ImportOptions options(std::vector<std::string> inputs, const std::string& output) {
  ImportOptions out;
  out.inputs = std::move(inputs);
  out.output = output;
  return out;
}

// All records, a word each: "list(5)", "check(7)", "ADDED(6)", "gap(7,9]", "bind?", …
std::string outline(const std::string& path) {
  auto reader = trace::TraceReader::open(path);
  if (!reader.ok()) return reader.error().message();
  std::string out;
  for (;;) {
    const auto next = reader->next();
    if (!next.ok()) return next.error().message();
    const Record* record = next.value();
    if (record == nullptr) return out;
    if (record->kind == RecordKind::kSource) continue;
    if (!out.empty()) out += " ";
    std::string rv = std::to_string(record->rv);
    rv = std::string("(").append(rv).append(")");
    if (record->kind == RecordKind::kFrame) {
      constexpr const char* kVerbs[] = {"ADDED", "MODIFIED", "DELETED"};
      out += kVerbs[static_cast<int>(record->verb)] + rv;
    } else if (record->kind == RecordKind::kGap) {
      out += "gap(" + std::to_string(record->gap_from) + "," + std::to_string(record->rv) + "]";
    } else if (record->kind == RecordKind::kList) {
      out += (record->checkpoint ? "check" : "list") + rv;
    } else if (record->kind == RecordKind::kError) {
      out += "error(" + std::to_string(record->status) + ")";
    } else {
      out += kKinds[static_cast<int>(record->kind)];
    }
  }
}

class ImportTest : public testing::Test {
 protected:
  // Imports files that stand in the test's folder as they are given; the outline of the trace, or the error.
  std::string import(const std::vector<std::string>& contents) {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < contents.size(); ++i) {
      inputs.push_back(folder_.write("in" + std::to_string(i) + ".jsonl", contents[i]));
    }
    ImportOptions wanted = options(inputs, folder_.path("out.trace"));
    wanted.replace = true;
    auto report = import_files(wanted);
    if (!report.ok()) return report.error().message();
    report_ = report.value();
    return outline(folder_.path("out.trace"));
  }

  void withstand_damage(int rounds);

  TestFolder folder_;
  ImportReport report_;
};

TEST_F(ImportTest, KeepsTheOrderOfAFileAndMarksListsAndGaps) {
  EXPECT_EQ(import({list(1, 5) + open(2, 5) + frame(3, "ADDED", pod("a", 6)) + list(2, 6, pod("a", 6)) +
                    frame(4, "MODIFIED", pod("a", 7, "n")) +
                    frame(5, "BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"8"}})") +
                    line(6, "close", "") + list(7, 12) + open(8, 13)}),
            "list(5) open ADDED(6) check(6) MODIFIED(7) bookmark close gap(8,12] list(12) gap(12,13] open");
  EXPECT_EQ(report_.loss_count, 0u);
}

TEST_F(ImportTest, MergesFilesByTimeTiesByPlace) {
  const std::string one = list(1, 1) + frame(10, "ADDED", pod("a", 2)) + frame(30, "ADDED", pod("b", 4));
  const std::string two = frame(10, "MODIFIED", pod("c", 3)) + frame(20, "MODIFIED", pod("d", 3));
  EXPECT_EQ(import({one, two}), "list(1) ADDED(2) MODIFIED(3) MODIFIED(3) ADDED(4)");
  EXPECT_EQ(import({two, one}), "list(1) MODIFIED(3) ADDED(2) MODIFIED(3) ADDED(4)");
  EXPECT_EQ(import({list(1, 1) + frame(20, "ADDED", pod("a", 2)) + frame(5, "DELETED", pod("a", 3)),
                    bind(4, 5, "a", "n", 404) + bind(20, 21, "a", "n", 404)}),
            "list(1) bind? bind! ADDED(2) DELETED(3) bind? bind!");
}

TEST_F(ImportTest, ErrorsEndTheWatch) {
  EXPECT_EQ(
      import({list(1, 5) + open(2, 5) +
              frame(3, "ERROR", R"({"kind":"Status","reason":"Expired","message":"too old","code":410})") +
              line(4, "list", R"({"kind":"Status","code":500,"message":"no"})", "/api/v1/pods", 500) + list(5, 9)}),
      "list(5) open error(410) error(500) gap(5,9] list(9)");
}

TEST_F(ImportTest, CountsWhatCannotBeKeptAndKeepsWhatDoesNotDecode) {
  const std::string broken = R"({"type":"ADDED","object":{"metadata":)";
  EXPECT_EQ(import({list(1, 5) + "nonsense\n" + line(2, "frame", broken) + "{\"t\":3}\n\n" +
                    line(4, "list", R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]})") +
                    frame(5, "ADDED", pod("a", 6)) + "{\"t\":6,\"stream\":\"po"}),
            "list(5) undecodable undecodable ADDED(6)");
  const std::string file = folder_.path("in0.jsonl");
  ASSERT_EQ(report_.loss_count, 5u);
  const std::vector<std::string> places = {":2", ":3", ":4", ":6", ":8"};
  for (const std::string& place : places) {
    EXPECT_TRUE(std::any_of(report_.losses.begin(), report_.losses.end(), [&](const ImportLoss& loss) {
      return loss.place == file + place;
    })) << place;
  }
  auto reader = trace::TraceReader::open(folder_.path("out.trace"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->body(2).value(), broken);
  EXPECT_FALSE(reader->info().complete());
  uint64_t told = 0;
  for (const auto& loss : reader->info().losses) told += loss.count;
  EXPECT_EQ(told, 3u);
}

TEST_F(ImportTest, APageOfAListIsNotTakenForTheList) {
  const std::string page =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"abc"},"items":[]})";
  EXPECT_EQ(import({line(1, "list", page, "/api/v1/pods?limit=500") + list(2, 5)}), "undecodable list(5)");
}

TEST_F(ImportTest, BodiesAreKeptByteForByte) {
  const std::string body = "{ \"type\":\"ADDED\" ,\"object\":" + pod("a\\u00e9", 6) + "}  ";
  ASSERT_EQ(import({list(1, 5) + line(2, "frame", body), bind(3, 4, "a", "n", 201)}), "list(5) ADDED(6) bind? bind!");
  auto reader = trace::TraceReader::open(folder_.path("out.trace"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->body(2).value(), body);
  EXPECT_EQ(reader->body(3).value(),
            R"({"metadata":{"name":"a","namespace":"lab","uid":"uid-a"},"target":{"name":"n"}})");
  EXPECT_EQ(reader->body(4).value(), R"({"code":201})");
}

TEST_F(ImportTest, AppliesAClockOffsetThatIsSure) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::string capture = list(99 * kSecond, 5) + open(99 * kSecond, 5) +
                              frame(100 * kSecond, "ADDED", pod("a", 6)) +
                              frame(101 * kSecond, "MODIFIED", pod("a", 7, "n"));
  // Its clock is 50 s ahead: sent 151 s - 4 ms, answered 151 s + 4 ms.
  const std::string log = bind(151 * kSecond - 4'000'000, 151 * kSecond + 4'000'000, "a", "n", 201);
  EXPECT_EQ(import({capture, log}), "list(5) open ADDED(6) bind? MODIFIED(7) bind!");
  ASSERT_EQ(report_.offsets.size(), 1u);
  EXPECT_TRUE(report_.offsets[0].applied);
  EXPECT_EQ(report_.offsets[0].offset_ns, -50 * kSecond);
  EXPECT_EQ(report_.offsets[0].source, "in1.jsonl");
}

TEST_F(ImportTest, FailuresLeaveNoFileBehind) {
  const std::string good = folder_.write("good.jsonl", list(1, 5));
  const std::string html = folder_.write("page.html", "<html><title>login</title>");
  const std::string useless = folder_.write("useless.jsonl", "{\"t\":1,\"stream\":\"pods\",\"kind\":\"ping\"}\n");
  const std::string before = folder_.listing();
  const std::string out = folder_.path("out.trace");
  const struct {
    const char* name;
    std::vector<std::string> inputs;
    std::string output;
    ErrorCode code;
  } cases[] = {
      {"nothing to import", {}, out, ErrorCode::kUsage},
      {"no output", {good}, "", ErrorCode::kUsage},
      {"output is an input", {good}, good, ErrorCode::kUsage},
      {"output is an input by another name", {good}, folder_.path("./good.jsonl"), ErrorCode::kUsage},
      {"a file twice", {good, folder_.path("./good.jsonl")}, out, ErrorCode::kUsage},
      {"output exists", {good}, html, ErrorCode::kUsage},
      {"HTML beside a capture", {good, html}, out, ErrorCode::kInput},
      {"missing beside a capture", {good, folder_.path("none")}, out, ErrorCode::kInput},
      {"nothing in it can be used", {good, useless}, out, ErrorCode::kInput},
      {"no folder", {good}, folder_.path("none/out.trace"), ErrorCode::kIo},
  };
  for (const auto& c : cases) {
    const auto report = import_files(options(c.inputs, c.output));
    ASSERT_FALSE(report.ok()) << c.name;
    EXPECT_EQ(report.error().code, c.code) << c.name << ": " << report.error().message();
    EXPECT_EQ(folder_.listing(), before) << c.name;
  }
}

TEST_F(ImportTest, ATruncatedCaptureIsImportedAsFarAsItGoes) {
  const std::string whole = read_file("traces/hostport/hostport.jsonl.zst");
  ASSERT_FALSE(whole.empty());
  const std::string cut = folder_.write("cut.zst", whole.substr(0, whole.size() - 10));
  const auto report = import_files(options({cut}, folder_.path("out.trace")));
  ASSERT_TRUE(report.ok()) << report.error().message();
  ASSERT_EQ(report.value().losses.size(), 1u);
  EXPECT_EQ(report.value().losses[0].text.find("the zstd data ends early"), 0u);
  EXPECT_FALSE(trace::TraceReader::open(folder_.path("out.trace")).value().info().complete());
}

// Whatever is done to the bytes of an input, an import ends with a trace that can be read or with an error and no file.
void ImportTest::withstand_damage(int rounds) {
  std::string capture = list(1, 5, pod("a", 4)) + open(2, 5);
  for (int i = 0; i < 20; ++i) capture += frame(3 + i, "MODIFIED", pod("a", 6 + i, "pair-1"));
  const std::string log = read_file("traces/race/race.binds.jsonl").substr(0, 3000);
  const std::string inputs[] = {capture, log, gzip(capture), zstd(capture)};
  const std::string out = folder_.path("out.trace");
  uint32_t noise = 1;
  for (const std::string& input : inputs) {
    for (int round = 0; round < rounds; ++round) {
      std::string damaged = input;
      for (int change = 0; change <= round % 4; ++change) {
        noise = noise * 1664525u + 1013904223u;
        damaged[(noise >> 8) % damaged.size()] = static_cast<char>(noise >> 24);
      }
      if (round % 5 == 0) damaged.resize(damaged.size() * static_cast<size_t>(round % 40) / 40);
      ImportOptions wanted = options({folder_.write("in", damaged)}, out);
      const auto report = import_files(wanted);
      if (report.ok()) {
        EXPECT_TRUE(trace::TraceReader::open(out).ok());
        EXPECT_EQ(folder_.listing(), "in out.trace");
        std::filesystem::remove(out);
      } else {
        EXPECT_EQ(report.error().code, ErrorCode::kInput) << report.error().message();
        EXPECT_EQ(folder_.listing(), "in");
      }
    }
  }
}
TEST_F(ImportTest, WithstandsDamagedBytes) { withstand_damage(7); }
using ImportTestSlow = ImportTest;
TEST_F(ImportTestSlow, WithstandsDamagedBytes) { withstand_damage(200); }

struct Facts {
  uint64_t lists = 0, checkpoints = 0, added = 0, modified = 0, deleted = 0, bookmarks = 0, gaps = 0, observations = 0;
};

Facts facts_of(const trace::TraceInfo& info, const std::string& resource) {
  Facts sum;
  for (const trace::StreamSummary& stream : info.streams) {
    if (!resource.empty() && stream.stream.resource != resource) continue;
    sum.lists += stream.lists;
    sum.checkpoints += stream.checkpoints;
    sum.added += stream.added;
    sum.modified += stream.modified;
    sum.deleted += stream.deleted;
    sum.bookmarks += stream.bookmarks;
    sum.gaps += stream.gaps;
    sum.observations += stream.observations;
  }
  return sum;
}

std::string binds_of(const trace::TraceInfo& info) {
  std::string out;
  for (const trace::BindCount& count : info.binds) {
    out += count.scheduler + " " + std::to_string(count.code) + " x" + std::to_string(count.count) + "; ";
  }
  return out;
}

TEST_F(ImportTest, TheRecordedTracesGiveTheirFacts) {
  const std::string t = "traces/";
  const struct {
    const char* name;
    std::vector<std::string> inputs;
    uint64_t added, modified, deleted, lists, checkpoints, observations;
    const char* binds;
  } cases[] = {
      {"hostport", {t + "hostport/hostport.jsonl.zst"}, 4, 16, 4, 3, 18, 0, ""},
      {"race",
       {t + "race/race.jsonl.zst", t + "race/race.binds.jsonl", t + "race/race.audit.jsonl.zst"},
       20,
       81,
       20,
       3,
       15,
       60,
       "kube-scheduler 201 x19; kube-scheduler 409 x1; toy 201 x1; toy 409 x19; "},
      {"burst", {t + "burst/burst.jsonl.zst", t + "burst/burst.binds.jsonl"}, 30, 120, 30, 2, 12, 30, "toy 201 x30; "},
      {"churn",
       {t + "churn/churn.jsonl.zst", t + "churn/churn.audit.jsonl.zst"},
       870,
       2294,
       277,
       2,
       2,
       870,
       "kube-scheduler 201 x870; "},
  };
  for (const auto& c : cases) {
    const std::string out = folder_.path(std::string(c.name) + ".trace");
    const auto report = import_files(options(c.inputs, out));
    ASSERT_TRUE(report.ok()) << c.name << ": " << report.error().message();
    EXPECT_EQ(report.value().loss_count, 0u) << c.name;
    EXPECT_EQ(report.value().warning_count, 0u) << c.name;
    for (const ClockOffset& offset : report.value().offsets) EXPECT_FALSE(offset.applied) << c.name;
    const auto reader = trace::TraceReader::open(out);
    ASSERT_TRUE(reader.ok()) << c.name;
    const trace::TraceInfo& info = reader.value().info();
    EXPECT_TRUE(info.complete()) << c.name;
    const Facts pods = facts_of(info, "pods"), all = facts_of(info, "");
    EXPECT_EQ(pods.added, c.added) << c.name;
    EXPECT_EQ(pods.modified, c.modified) << c.name;
    EXPECT_EQ(pods.deleted, c.deleted) << c.name;
    EXPECT_EQ(all.lists, c.lists) << c.name;
    EXPECT_EQ(all.checkpoints, c.checkpoints) << c.name;
    EXPECT_EQ(all.gaps, 0u) << c.name;
    EXPECT_EQ(all.observations, c.observations) << c.name;
    EXPECT_EQ(binds_of(info), c.binds) << c.name;
  }
}

TEST_F(ImportTest, AnotherOrderOfInputsIsTheSameRaceAndTheSameOrderTheSameRecords) {
  const std::vector<std::string> forth = {"traces/race/race.jsonl.zst", "traces/race/race.binds.jsonl",
                                          "traces/race/race.audit.jsonl.zst"};
  const std::vector<std::string> back(forth.rbegin(), forth.rend());
  ASSERT_TRUE(import_files(options(forth, folder_.path("1.trace"))).ok());
  ASSERT_TRUE(import_files(options(forth, folder_.path("2.trace"))).ok());
  ASSERT_TRUE(import_files(options(back, folder_.path("3.trace"))).ok());
  const std::string outlined = outline(folder_.path("1.trace"));
  EXPECT_EQ(outline(folder_.path("2.trace")), outlined);
  EXPECT_EQ(outline(folder_.path("3.trace")), outlined);
}

TEST_F(ImportTest, AliasesJoinNames) {
  ImportOptions wanted =
      options({"traces/race/race.jsonl.zst", "traces/race/race.audit.jsonl.zst"}, folder_.path("out.trace"));
  ASSERT_TRUE(import_files(wanted).ok());
  EXPECT_EQ(binds_of(trace::TraceReader::open(wanted.output).value().info()),
            "kube-scheduler 201 x19; kube-scheduler 409 x1; toy-scheduler 201 x1; toy-scheduler 409 x19; ");
  wanted.replace = true;
  wanted.aliases = {{"toy", "toy-scheduler"}};
  ASSERT_TRUE(import_files(wanted).ok());
  EXPECT_EQ(binds_of(trace::TraceReader::open(wanted.output).value().info()),
            "kube-scheduler 201 x19; kube-scheduler 409 x1; toy 201 x1; toy 409 x19; ");
}

TEST_F(ImportTest, AJoinedBindHasTheClientsTimesAndTheServersNames) {
  ASSERT_TRUE(import_files(options({"traces/race/race.jsonl.zst", "traces/race/race.audit.jsonl.zst",
                                    "traces/race/race.binds.jsonl"},
                                   folder_.path("out.trace")))
                  .ok());
  auto reader = trace::TraceReader::open(folder_.path("out.trace"));
  ASSERT_TRUE(reader.ok());
  uint64_t toys = 0;
  std::map<trace::Seq, std::string> requests;
  for (;;) {
    const Record* record = reader->next().value();
    if (record == nullptr) break;
    const Catalog& catalog = reader->catalog();
    const std::string who(catalog.text(record->bind.scheduler));
    if (record->kind == RecordKind::kBindRequest) {
      requests[record->seq] = std::string(catalog.uid(record->bind.pod)) + who;
      ASSERT_FALSE(record->bind.observations.empty());
      EXPECT_EQ(record->wall, record->bind.observations[0].sent);
      if (who != "toy") continue;
      ++toys;
      ASSERT_EQ(record->bind.observations.size(), 2u);
      EXPECT_LE(record->bind.observations[0].sent, record->bind.observations[1].sent);
      EXPECT_GE(record->bind.observations[0].answered, record->bind.observations[1].answered);
      EXPECT_EQ(catalog.text(record->bind.user), "toy-scheduler");
    } else if (record->kind == RecordKind::kBindAnswer) {
      EXPECT_EQ(requests[record->bind.request], std::string(catalog.uid(record->bind.pod)) + who);
      requests.erase(record->bind.request);
    }
  }
  EXPECT_EQ(toys, 20u);
  EXPECT_TRUE(requests.empty());
}

}  // namespace
}  // namespace inquest::recorder
