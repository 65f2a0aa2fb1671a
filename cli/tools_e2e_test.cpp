// Traces made of traces: what was cut, merged, exported, redacted, compacted or recovered says what the original said.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "cli/process_for_tests.h"
#include "schema/writer.h"

namespace inquest::cli {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

simdjson::dom::element parsed(simdjson::dom::parser& parser, const std::string& text) {
  simdjson::dom::element document;
  EXPECT_EQ(parser.parse(text).get(document), simdjson::SUCCESS) << text;
  return document;
}

std::string chain_of(const Workplace& place, const std::string& trace) {
  const Ran ran = place.run({"replay", trace, "--json", "--drop", "pods DELETED nth=2"});
  EXPECT_LE(ran.exit, 1) << ran.err;
  const size_t at = ran.out.find("\"chain\": \"");
  return at == std::string::npos ? ran.err : ran.out.substr(at + 10, 16);
}

void expect_sound(const Workplace& place, const std::string& trace) {
  const Ran ran = place.run({"verify", trace});
  EXPECT_EQ(ran.exit, 0) << trace << "\n" << ran.out << ran.err;
}

constexpr int64_t kSecond = 1'000'000'000;

// A finding without what a slice numbers in its own way.
std::string finding_text(const simdjson::dom::element& finding) {
  const auto text = [](simdjson::simdjson_result<simdjson::dom::element> value) {
    return value.error() != simdjson::SUCCESS ? std::string("-") : simdjson::minify(value.value());
  };
  std::string out;
  for (const char* field : {"verdict", "pod", "node", "holds", "cure", "lasted_ns"}) out += text(finding[field]) + " ";
  return out + text(finding["birth"]["offset_ns"]) + " " + text(finding["end"]["offset_ns"]) + " " +
         text(finding["because"]["rv"]);
}

// The findings of one dropped DELETED under `combined` that are born within [from, to).
std::string findings(const Workplace& place, const std::string& trace, const std::string& pod, int64_t from,
                     int64_t to) {
  const Ran ran =
      place.run({"replay", trace, "--ttl", "3s", "--relist", "10s", "--drop", "pods DELETED name=" + pod, "--json"});
  simdjson::dom::parser parser;
  std::string out;
  for (const simdjson::dom::element finding : parsed(parser, ran.out)["findings"]) {
    const int64_t birth = finding["birth"]["offset_ns"];
    if (birth >= from && birth < to) out += finding_text(finding) + "\n";
  }
  return out;
}

struct Deletion {
  std::string pod;
  int64_t at = 0;
};

std::vector<Deletion> deletions(const Workplace& place, const std::string& trace) {
  const Ran ran = place.run({"records", trace, "--verb", "DELETED", "--stream", "pods", "--json"});
  simdjson::dom::parser parser;
  std::vector<Deletion> out;
  for (const simdjson::dom::element record : parsed(parser, ran.out)["records"]) {
    out.push_back({std::string(record["objects"].at(0)["name"].get_string().value()), record["at"]["offset_ns"]});
  }
  return out;
}

std::string offset(int64_t ns) {
  std::string out = std::to_string(ns);
  out.insert(out.begin(), '+');
  return out.append("ns");
}

// Slices at random around a deletion, which is lost: inside, at least TTL and lag away from both edges, the slice has
// the findings of the whole.
TEST(Cut, SlicesReplayToTheSameFindings) {
  constexpr int64_t kEdge = 4 * kSecond;
  const Workplace place;
  const std::string whole = place.imported("churn");
  const std::vector<Deletion> all = deletions(place, whole);
  ASSERT_GT(all.size(), 200U);
  int with_findings = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const Deletion& lost = all[random() % all.size()];
    const int64_t from = std::max<int64_t>(0, lost.at - kEdge - static_cast<int64_t>(random() % 12'000) * 1'000'000);
    const int64_t to = lost.at + kEdge + 1 + static_cast<int64_t>(random() % 8'000) * 1'000'000;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + offset(from) + " to " + offset(to) +
                 ", without the DELETED of " + lost.pod);
    const Ran cut =
        place.run({"cut", whole, "-o", "slice.trace", "--from", offset(from), "--to", offset(to), "--force"});
    ASSERT_EQ(cut.exit, 0) << cut.err;
    expect_sound(place, "slice.trace");
    const std::string wanted = findings(place, whole, lost.pod, from + kEdge, to - kEdge);
    EXPECT_EQ(findings(place, "slice.trace", lost.pod, from + kEdge, to - kEdge), wanted);
    with_findings += !wanted.empty();
  }
  EXPECT_GE(with_findings, 15);
}

TEST(Cut, KeepsTheOriginAndSaysWhatItMade) {
  const Workplace place;
  const std::string whole = place.imported("churn");
  ASSERT_EQ(place.run({"cut", whole, "-o", "a.trace", "--from", "+20s"}).exit, 0);
  ASSERT_EQ(place.run({"cut", "a.trace", "-o", "b.trace", "--from", "+30s", "--to", "+40s"}).exit, 0);
  const Ran records = place.run({"records", "b.trace", "--kind", "list"});
  EXPECT_TRUE(holds(records.out, "+30.000 s")) << records.out;
  EXPECT_TRUE(holds(place.run({"info", "b.trace"}).out, "cut of ")) << records.out;
  EXPECT_TRUE(holds(place.run({"records", "b.trace", "--kind", "list", "--json", "--body"}).out, "made by cut"));
  const Ran relisted = place.run({"replay", "b.trace", "--drop", "pods DELETED nth=3", "--relist", "7s"});
  EXPECT_TRUE(holds(relisted.out, "by the relist at +35.000 s")) << relisted.out;
}

// Lists lose the objects that go, checkpoints too; nodes stay; what a watch had reached stands where it goes on.
TEST(Cut, ByObject) {
  const Workplace place;
  for (const char* name : {"race", "hostport", "burst", "churn"}) {
    SCOPED_TRACE(name);
    const std::string whole = place.imported(name);
    const Ran first = place.run({"records", whole, "--verb", "DELETED", "--stream", "pods", "--limit", "1", "--json"});
    simdjson::dom::parser parser;
    const simdjson::dom::element record = parsed(parser, first.out)["records"].at(0);
    const std::string uid(record["objects"].at(0)["uid"].get_string().value());
    ASSERT_EQ(place.run({"cut", whole, "-o", "one.trace", "--uid", uid, "--force"}).exit, 0);
    expect_sound(place, "one.trace");
    EXPECT_TRUE(holds(place.run({"info", "one.trace"}).out, "pods     1 (1 name)"));
    const Ran checkpoints = place.run({"verify", "one.trace"});
    EXPECT_TRUE(holds(checkpoints.out, "all agree with the watch")) << checkpoints.out;
    const Ran lost = place.run({"replay", "one.trace", "--policy", "delete-both", "--drop", "pods DELETED"});
    EXPECT_EQ(lost.exit, 1) << lost.out << lost.err;
    EXPECT_TRUE(holds(lost.out, "F1  zombie-scheduled")) << lost.out;
  }
}

TEST(Merge, TwoHalvesAreTheWhole) {
  const Workplace place;
  const std::string whole = place.imported("churn");
  ASSERT_EQ(place.run({"cut", whole, "-o", "a.trace", "--to", "+40s"}).exit, 0);
  ASSERT_EQ(place.run({"cut", whole, "-o", "b.trace", "--from", "+40s"}).exit, 0);
  const Ran merged = place.run({"merge", "b.trace", "a.trace", "-o", "m.trace"});
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_EQ(merged.err, "");
  expect_sound(place, "m.trace");
  const std::string pod = deletions(place, whole).back().pod;
  EXPECT_EQ(findings(place, "m.trace", pod, 0, INT64_MAX), findings(place, whole, pod, 0, INT64_MAX));
  EXPECT_NE(findings(place, whole, pod, 0, INT64_MAX), "");
}

TEST(Merge, BindsSeenByTwoAreOne) {
  const Workplace place;
  const auto file = [](const char* name) { return in_repository(std::string("traces/race/") + name); };
  place.run({"import", file("race.jsonl.zst"), file("race.binds.jsonl"), "-o", "a.trace"});
  place.run({"import", file("race.audit.jsonl.zst"), "-o", "b.trace"});
  const Ran merged = place.run({"merge", "a.trace", "b.trace", "-o", "m.trace"});
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_TRUE(holds(merged.out, "20 binds seen by several")) << merged.out;
  EXPECT_TRUE(holds(place.run({"info", "m.trace"}).out,
                    "40 requests, 60 observations · kube-scheduler 19 × 201, 1 × 409 · toy 1 × 201, 19 × 409"));
  EXPECT_EQ(place.run({"replay", "m.trace"}).exit, 0);
}

TEST(Merge, SourcesOfOneNameStayTwo) {
  const Workplace place;
  const std::string whole = place.imported("churn");
  ASSERT_EQ(place.run({"cut", whole, "-o", "a.trace", "--to", "+40s"}).exit, 0);
  ASSERT_EQ(place.run({"cut", whole, "-o", "b.trace", "--from", "+40s"}).exit, 0);
  ASSERT_EQ(place.run({"merge", "a.trace", "b.trace", "-o", "m.trace"}).exit, 0);
  const Ran exported = place.run({"export", "m.trace", "-o", "lines"});
  ASSERT_EQ(exported.exit, 0) << exported.err;
  ASSERT_EQ(place.run({"export", "a.trace", "-o", "first"}).exit, 0);
  ASSERT_EQ(place.run({"export", "b.trace", "-o", "second"}).exit, 0);
  for (const std::string name : {"churn.jsonl", "churn.audit.jsonl"}) {
    EXPECT_TRUE(place.read("lines/" + name) == place.read("first/" + name)) << name;
    std::string second = place.read("second/" + name);
    if (holds(second.substr(0, 200), R"("kind":"origin")"))
      second.erase(0, second.find('\n') + 1);  // the whole has its own
    EXPECT_TRUE(place.read("lines/" + name + " (2)") == second) << name;
  }
}

TEST(Merge, SaysWhatDoesNotFit) {
  const Workplace place;
  const std::string whole = place.imported("hostport");
  ASSERT_EQ(place.run({"compact", whole, "-o", "again.trace"}).exit, 0);
  const Ran twice = place.run({"merge", whole, "again.trace", "-o", "m.trace"});
  EXPECT_EQ(twice.exit, 2);
  EXPECT_TRUE(holds(twice.err, "is the same trace as")) << twice.err;
  ASSERT_EQ(place.run({"cut", whole, "-o", "part.trace", "--from", "+5s"}).exit, 0);
  const Ran overlap = place.run({"merge", whole, "part.trace", "-o", "m.trace"});
  EXPECT_EQ(overlap.exit, 0);
  EXPECT_TRUE(holds(overlap.err, "two streams named pods")) << overlap.err;
  // A hole between two traces is a gap.
  ASSERT_EQ(place.run({"cut", whole, "-o", "early.trace", "--to", "+5s"}).exit, 0);
  ASSERT_EQ(place.run({"cut", whole, "-o", "late.trace", "--from", "+10s"}).exit, 0);
  const Ran hole = place.run({"merge", "early.trace", "late.trace", "-o", "hole.trace"});
  EXPECT_EQ(hole.exit, 3) << hole.out;
  EXPECT_TRUE(holds(hole.out, "between them")) << hole.out;
}

// The lines of an export, by file.
std::string lines(const Workplace& place, const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(place.path(folder))) names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += std::filesystem::path(name).filename().string() + "\n" + read_file(name);
  return out;
}

// import → export → import → export: the same lines, and a replay that cannot be told apart.
void expect_round_trip(const Workplace& place, const std::string& trace) {
  SCOPED_TRACE(trace);
  const Ran exported = place.run({"export", trace, "-o", "first", "--force"});
  ASSERT_EQ(exported.exit, 0) << exported.err;
  std::vector<std::string> args{"import"};
  for (const auto& entry : std::filesystem::directory_iterator(place.path("first"))) args.push_back(entry.path());
  std::sort(args.begin() + 1, args.end());
  args.insert(args.end(), {"-o", "again.trace", "--force"});
  const Ran imported = place.run(args);
  ASSERT_EQ(imported.exit, 0) << imported.err;
  ASSERT_EQ(place.run({"export", "again.trace", "-o", "second", "--force"}).exit, 0);
  EXPECT_TRUE(lines(place, "first") == lines(place, "second"));
  EXPECT_EQ(chain_of(place, "again.trace"), chain_of(place, trace));
  std::filesystem::remove_all(place.path("first"));
  std::filesystem::remove_all(place.path("second"));
}

TEST(RoundTrip, LinesAndDigests) {
  const Workplace place;
  for (const char* name : {"hostport", "race", "burst"}) expect_round_trip(place, place.imported(name));
  ASSERT_EQ(place.run({"cut", place.imported("churn"), "-o", "slice.trace", "--to", "+38s"}).exit, 0);
  expect_round_trip(place, "slice.trace");
  ASSERT_EQ(place.run({"cut", "slice.trace", "-o", "later.trace", "--from", "+20s"}).exit, 0);
  expect_round_trip(place, "later.trace");
}

TEST(RoundTrip, TheOriginOfACutComesAlong) {
  const Workplace place;
  ASSERT_EQ(place.run({"cut", place.imported("churn"), "-o", "a.trace", "--from", "+30s", "--to", "+40s"}).exit, 0);
  ASSERT_EQ(place.run({"export", "a.trace", "-o", "lines"}).exit, 0);
  ASSERT_EQ(place.run({"import", "lines/churn.jsonl", "-o", "b.trace"}).exit, 0);
  for (const char* trace : {"a.trace", "b.trace"}) {
    const Ran ran = place.run({"replay", trace, "--drop", "pods DELETED nth=3", "--relist", "7s"});
    EXPECT_TRUE(holds(ran.out, "by the relist at +35.000 s")) << ran.out;
  }
}

TEST(RoundTrip, OneSourceComesOutOfAndGoesIntoAPipe) {
  const Workplace place;
  place.write("a.jsonl", capture_line(kSecond, "pods", "list",
                                      R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                             capture_line(2 * kSecond, "pods", "open", ""));
  ASSERT_EQ(place.run({"import", "a.jsonl"}).exit, 0);
  const Ran exported = place.run({"export", "a.trace"});
  EXPECT_EQ(exported.exit, 0) << exported.err;
  EXPECT_EQ(exported.out, place.read("a.jsonl"));
  EXPECT_EQ(place.run({"export", "a.trace"}, "/dev/full").exit, 2);
}

TEST(RoundTrip, WithoutRedactionEveryByteComesBack) {
  const Workplace place;
  const std::string secret =
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"2",)"
      R"("annotations":{"team/key":"hush"}},"spec":{"containers":[{"env":[{"name":"K","value":"s3cret"}]}]}}})";
  place.write("a.jsonl", capture_line(kSecond, "pods", "list",
                                      R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                             capture_line(2 * kSecond, "pods", "frame", secret));
  ASSERT_EQ(place.run({"import", "a.jsonl", "--no-redact"}).exit, 0);
  EXPECT_EQ(place.run({"export", "a.trace"}).out, place.read("a.jsonl"));
  const Ran redacted = place.run({"redact", "a.trace", "-o", "b.trace", "--annotation", "team/*"});
  EXPECT_EQ(redacted.exit, 0) << redacted.err;
  const std::string out = place.run({"export", "b.trace"}).out;
  EXPECT_FALSE(holds(out, "s3cret") || holds(out, "hush")) << out;
  ASSERT_EQ(place.run({"import", "a.jsonl", "-o", "c.trace", "--redact-annotation", "team/*"}).exit, 0);
  EXPECT_EQ(place.run({"export", "c.trace"}).out, out);
  EXPECT_FALSE(holds(place.read("c.trace"), "s3cret"));
}

TEST(Export, PutsAllFilesOrNone) {
  const Workplace place;
  const std::string trace = place.imported("race");
  EXPECT_EQ(place.run({"export", trace}).exit, 2);
  ASSERT_EQ(place.run({"export", trace, "-o", "out"}).exit, 0);
  std::filesystem::remove(place.path("out/race.jsonl"));
  const Ran again = place.run({"export", trace, "-o", "out"});
  EXPECT_EQ(again.exit, 2);
  EXPECT_TRUE(holds(again.err, "exists already")) << again.err;
  EXPECT_FALSE(std::filesystem::exists(place.path("out/race.jsonl")));
  EXPECT_EQ(place.run({"export", trace, "-o", "out", "--force"}).exit, 0);
  EXPECT_TRUE(std::filesystem::exists(place.path("out/race.jsonl")));
}

TEST(Compact, IsTheSameTrace) {
  const Workplace place;
  const std::string trace = place.imported("race");
  EXPECT_EQ(place.run({"compact", trace, "-o", "small.trace"}).exit, 0);
  expect_sound(place, "small.trace");
  EXPECT_EQ(chain_of(place, "small.trace"), chain_of(place, trace));
}

// The beginning of a file: what is there is saved, the rest is said to be lost. Behind the last batch stands the index,
// without which nothing is missing.
TEST(Tools, NoCopyHidesDamage) {
  const Workplace place;
  std::string bytes = place.read(place.imported("hostport"));
  const size_t at = bytes.find("hostport.jsonl");  // the source of a stream, in the summary
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'H';
  place.write("edited.trace", bytes);
  const std::string other = place.imported("race");
  const std::vector<std::vector<std::string>> copies = {
      {"compact"}, {"redact"}, {"cut", "--to", "+5s"}, {"merge", other}};
  for (std::vector<std::string> copy : copies) {
    copy.insert(copy.end(), {"edited.trace", "-o", "out.trace"});
    const Ran ran = place.run(copy);
    EXPECT_EQ(ran.exit, 2) << copy.front();
    EXPECT_TRUE(holds(ran.err, "edited.trace: is damaged, which a copy would hide")) << ran.err;
  }
}

TEST(Recover, SavesTheBeginningOfAFile) {
  const Workplace place;
  place.imported("churn");
  const std::string whole = place.read("churn.trace");
  bool saved = false;
  for (size_t parts = 1; parts < 8; ++parts) {
    place.write("cut.trace", whole.substr(0, whole.size() * parts / 8));
    const Ran ran = place.run({"recover", "cut.trace", "-o", "saved.trace", "--force", "--json"});
    // Where the rows of so few batches stand is SQLite's choice: until the first of them there is nothing to save.
    if (!saved && parts < 7 && ran.exit == 2) {
      EXPECT_TRUE(holds(ran.err, "malformed")) << ran.err;
      continue;
    }
    saved = true;
    ASSERT_EQ(ran.exit, parts < 7 ? 3 : 0) << parts << ran.out << ran.err;
    EXPECT_EQ(place.run({"verify", "saved.trace"}).exit, ran.exit);
    simdjson::dom::parser parser;
    const auto report = parsed(parser, ran.out);
    EXPECT_EQ(uint64_t{report["records_kept"]} + uint64_t{report["records_lost"]}, 6'059U) << ran.out;
  }
}

// kill -9 of an import: no trace under the name asked for unless it is whole; what is left under the temporary one says
// what it is; and nothing of it is in the way of the next import.
void kill_imports(int times) {
  const Workplace place;
  std::vector<std::string> args{"import", in_repository("traces/churn/churn.jsonl.zst"),
                                in_repository("traces/churn/churn.audit.jsonl.zst"), "-o", "k.trace"};
  const int64_t whole_us = place.time_us(args);
  std::filesystem::remove(place.path("k.trace"));
  std::mt19937 random(7);
  for (int i = 0; i < times; ++i) {
    const auto after = static_cast<int64_t>(random() % static_cast<uint64_t>(whole_us + whole_us / 10));
    SCOPED_TRACE("killed after " + std::to_string(after) + " us of " + std::to_string(whole_us));
    place.run_killed(args, after);
    for (const auto& entry : std::filesystem::directory_iterator(place.path("."))) {
      const std::string name = entry.path().filename();
      if (name == "k.trace") {
        EXPECT_EQ(place.run({"info", name}).exit, 0);
      } else if (holds(name, "k.trace") && !name.ends_with("-wal") && !name.ends_with("-shm") &&
                 !name.ends_with("-journal") && !name.ends_with("lock")) {
        // Killed between closing it and giving it its name: whole. Before anything was committed: no trace at all.
        const Ran info = place.run({"info", name});
        EXPECT_TRUE(info.exit == 0 || info.exit == 3 || info.exit == 2) << name << ": " << info.out << info.err;
        if (info.exit == 0) expect_sound(place, name);
        if (info.exit == 3) {
          EXPECT_TRUE(holds(info.out, "open")) << info.out;
          EXPECT_EQ(place.run({"recover", name, "-o", "saved.trace", "--force"}).exit, 3);
          EXPECT_EQ(place.run({"verify", "saved.trace"}).exit, 3);
        }
      }
    }
    std::vector<std::string> again = args;
    again.emplace_back("--force");
    const Ran next = place.run(again);
    EXPECT_EQ(next.exit, 0);
    for (const auto& entry : std::filesystem::directory_iterator(place.path("."))) {
      const std::string name = entry.path().filename();
      const bool left = holds(name, ".partial-") && name.find_first_not_of("0123456789", 16) == std::string::npos;
      EXPECT_TRUE(!left || holds(next.err, name + ": is what was made of k.trace")) << next.err;
    }
    for (const auto& entry : std::filesystem::directory_iterator(place.path("."))) std::filesystem::remove_all(entry);
  }
}

TEST(Kill, AnImportLeavesNothingThatLies) { kill_imports(10); }
// What is told of it, and what may be done with it.
TEST(Kill, WhatIsLeftIsToldAndCanBeRecovered) {
  const Workplace place;
  const std::string input = in_repository("traces/hostport/hostport.jsonl.zst");
  ASSERT_EQ(place.run({"import", input, "-o", "k.trace"}).exit, 0);
  {
    Catalog catalog;
    auto writer = trace::TraceWriter::create(place.path("k.trace.partial-4711"), {}, catalog);
    ASSERT_TRUE(writer.ok());
    trace::Stream stream;
    stream.name = stream.resource = "pods";
    trace::Record record;
    record.stream = *writer->add_stream(stream);
    record.kind = trace::RecordKind::kBookmark;
    record.rv = 5;
    record.wall = Time{kSecond};
    ASSERT_TRUE(writer->append(record, "{}").ok() && writer->flush().ok());
    // Somebody is at work there.
    EXPECT_EQ(place.run({"import", input, "-o", "k.trace", "--force"}).err, "");
  }
  const std::string told =
      "inquest: warning: k.trace.partial-4711: is what was made of k.trace when the process was killed; remove it, or "
      "save what it holds with inquest recover\n";
  EXPECT_EQ(place.run({"import", input, "-o", "k.trace", "--force"}).err, told);
  EXPECT_EQ(place.run({"compact", "k.trace", "-o", "k.trace", "--force"}).err, told);
  const Ran recovered = place.run({"recover", "k.trace.partial-4711", "-o", "saved.trace"});
  EXPECT_EQ(recovered.exit, 3) << recovered.err;
  EXPECT_TRUE(holds(recovered.out, "1 record")) << recovered.out;
  EXPECT_TRUE(std::filesystem::exists(place.path("k.trace.partial-4711")));
}

TEST(KillSlow, AnImportLeavesNothingThatLies) { kill_imports(100); }

TEST(Tools, JsonIsValid) {
  const Workplace place;
  const std::string trace = place.imported("race");
  ASSERT_EQ(place.run({"cut", trace, "-o", "a.trace", "--to", "+3s"}).exit, 0);
  ASSERT_EQ(place.run({"cut", trace, "-o", "b.trace", "--from", "+3s"}).exit, 0);
  for (const auto& args :
       std::vector<std::vector<std::string>>{{"export", trace, "-o", "out", "--json"},
                                             {"redact", trace, "-o", "1.trace", "--json"},
                                             {"cut", trace, "-o", "2.trace", "--json"},
                                             {"merge", "a.trace", "b.trace", "-o", "3.trace", "--json"},
                                             {"compact", trace, "-o", "4.trace", "--json"}}) {
    const Ran ran = place.run(args);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    simdjson::dom::parser parser;
    const int64_t version = parsed(parser, ran.out)["schema_version"];
    EXPECT_EQ(version, 1);
  }
}

}  // namespace
}  // namespace inquest::cli
