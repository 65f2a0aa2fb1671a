// Formats are for ever: golden files of each, and a changed schema without a new version fails here.
#include "schema/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "schema/compact.h"
#include "schema/integrity.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

const std::string kTestdata = "schema/testdata/";

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += "\\x" + to_hex(std::string(1, c));
    }
  }
  return out;
}

std::string dump(const std::string& path) {
  const Content content = read_all(path);
  std::string out = "info " + printable(content.info) + "\n";
  for (const std::string& record : content.records) out += printable(record) + "\n";
  if (!content.error.empty()) out += "error " + content.error + "\n";
  return out;
}

// One file with every kind of record, and one as a recorder leaves it: small batches, a dictionary.
void write_golden(const std::string& prefix) {
  Sample sample;
  sample.add_long_list();
  write_sample(sample, prefix + ".trace");
  write_file(prefix + ".txt", dump(prefix + ".trace"));
  auto writer = TraceWriter::create(prefix + "-live.trace", {}, sample.catalog, TraceWriter::Existing::kReplace);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  uint64_t random = 1;
  for (uint64_t rv = 1; rv <= 320; ++rv) {
    const std::string name = "pod-" + std::to_string(rv % 5);
    std::ostringstream body;
    body << R"({"metadata":{"name":")" << name << R"("},"padding":")";
    body << std::string(rv < 300 ? 4000 : 200, static_cast<char>('a' + rv % 3)) << R"(","n":)";
    for (int i = 0; i < 5; ++i) body << ((random = random * 6364136223846793005U + 1) >> 33);
    body << '}';
    ASSERT_TRUE(writer->append(sample.frame(name, rv), body.str()).ok());
    if (rv % 10 == 0) {
      ASSERT_TRUE(writer->flush().ok());
    }
  }
  ASSERT_TRUE(writer->flush().ok());
  ASSERT_TRUE(writer->close().ok());
  write_file(prefix + "-live.txt", to_hex(Sha256().add(dump(prefix + "-live.trace")).finish()) + "\n");
}

// INQUEST_WRITE_GOLDEN=1 makes the files of the current format; those of older ones are never made again.
TEST(Formats, GoldenFilesMeanWhatTheyMeant) {
  if (std::getenv("INQUEST_WRITE_GOLDEN") != nullptr)
    write_golden(kTestdata + "format-" + std::to_string(kFormatVersion));
  for (int format = 1; format <= kFormatVersion; ++format) {
    const std::string prefix = kTestdata + "format-" + std::to_string(format);
    const std::string expected = read_file(prefix + ".txt");
    ASSERT_NE(expected, "") << prefix;
    EXPECT_EQ(dump(prefix + ".trace"), expected);
    EXPECT_EQ(to_hex(Sha256().add(dump(prefix + "-live.trace")).finish()) + "\n", read_file(prefix + "-live.txt"));
    for (const char* suffix : {".trace", "-live.trace"}) {
      auto reader = TraceReader::open(prefix + suffix);
      ASSERT_TRUE(reader.ok()) << reader.error().message();
      const auto damage = reader->check_integrity();
      ASSERT_TRUE(damage.ok());
      EXPECT_FALSE(damage->has_value()) << (*damage)->why;
    }
  }
}

// In every format; only who computes the digest anew is not seen.
TEST(Formats, EveryEditOfMetaIsSeen) {
  const TestFolder dir;
  const std::string path = dir.path("x.trace");
  for (int format = 1; format <= kFormatVersion; ++format) {
    std::string name = "format-";
    write_file(path, read_file(kTestdata + name.append(std::to_string(format)) + ".trace"));
    std::vector<std::pair<std::string, std::string>> edits = {
        {"INSERT INTO meta VALUES ('x', 1)", "DELETE FROM meta WHERE key = 'x'"},
        {"PRAGMA user_version = " + std::to_string(format == 1 ? 2 : format - 1),
         "PRAGMA user_version = " + std::to_string(format)}};
    {
      auto database = Database::open(path, Database::Mode::kWrite);
      ASSERT_TRUE(database.ok());
      auto rows = database->prepare("SELECT key, quote(value), typeof(value) = 'integer' FROM meta");
      ASSERT_TRUE(rows.ok());
      while (*rows->step()) {
        const std::string where = " WHERE key = '" + std::string(*rows->text(0, 100)) + "'";
        const std::string was = "UPDATE meta SET value = " + std::string(*rows->text(1, 1000)) + where;
        edits.emplace_back("UPDATE meta SET value = value || 'x'" + where, was);
        if (*rows->integer(2) == 1) edits.emplace_back("UPDATE meta SET value = value + 1" + where, was);
        if (*rows->integer(2) == 0) edits.emplace_back("UPDATE meta SET value = 'open'" + where, was);
        edits.emplace_back("DELETE FROM meta" + where, "INSERT INTO meta SELECT '" + std::string(*rows->text(0, 100)) +
                                                           "', " + std::string(*rows->text(1, 1000)));
      }
    }
    EXPECT_GE(edits.size(), 50U);
    for (const auto& [edit, undo] : edits) {
      for (const std::string& sql : {edit, undo}) {
        auto database = Database::open(path, Database::Mode::kWrite);
        ASSERT_TRUE(database.ok() && database->exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").ok());
        ASSERT_TRUE(database->exec(sql.c_str()).ok()) << sql;
        database = Error{ErrorCode::kIo, "", "", ""};  // closed
        auto reader = TraceReader::open(path);
        const auto damage =
            reader.ok() ? reader->check_integrity() : Result<std::optional<BatchDamage>>(reader.error());
        EXPECT_EQ(!damage.ok() || damage->has_value(), sql == edit) << "format " << format << ": " << sql;
      }
    }
  }
}

// Of all pods and nodes of a trace: whether their placement, labels and taints are known.
std::pair<int, int> known_and_not(TraceReader& reader) {
  std::pair<int, int> counts;
  for (const Record* record = *reader.next(); record != nullptr; record = *reader.next()) {
    for (const ObjectFacts& object : record->objects) {
      const auto count = [&](bool known) { ++(known ? counts.first : counts.second); };
      if (const auto* pod = std::get_if<PodFacts>(&object)) count(pod->placement.known());
      if (const auto* node = std::get_if<NodeFacts>(&object)) count(node->labels.known() || node->taints.known());
    }
  }
  return counts;
}

TEST(Formats, WhatAnOldFormatLacksIsNotKnownAndSaidAlsoInACopy) {
  TestFolder dir;
  auto old = TraceReader::open(kTestdata + "format-1.trace");
  ASSERT_TRUE(old.ok());
  const auto [known, unknown] = known_and_not(*old);
  EXPECT_EQ(known, 0);
  EXPECT_GT(unknown, 3);
  ASSERT_EQ(old->info().all_notes().size(), old->info().notes.size() + 1);
  const TraceLoss said = old->info().all_notes().back();
  EXPECT_EQ(said.source, "format 1");

  ASSERT_TRUE(compact(kTestdata + "format-1.trace", dir.path("copy.trace"), OutputFile::Existing::kRefuse).ok());
  auto copy = TraceReader::open(dir.path("copy.trace"));
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->info().format_version, kFormatVersion);
  EXPECT_EQ(known_and_not(*copy), std::pair(known, unknown));
  const std::vector<TraceLoss> notes = copy->info().all_notes();
  EXPECT_EQ(std::count_if(notes.begin(), notes.end(), [&](const TraceLoss& n) { return n.what == said.what; }), 1);
}

// testdata/formats.txt: a line for each format: its number, SHA-256 of trace.capnp, SHA-256 of trace.sql. It fails
// whenever one of them changes: then either the change is a new format, or, if no trace could tell, the hash is new.
TEST(Formats, AChangedSchemaIsANewFormat) {
  const auto hash = [](const char* path) { return to_hex(Sha256().add(read_file(path)).finish()); };
  std::istringstream lines(read_file(kTestdata + "formats.txt"));
  std::string line, last;
  int count = 0;
  while (std::getline(lines, line)) {
    last = line;
    ++count;
  }
  EXPECT_EQ(count, kFormatVersion) << "one line a format";
  EXPECT_EQ(last, std::to_string(kFormatVersion) + " " + hash("schema/trace.capnp") + " " + hash("schema/trace.sql"))
      << "raise kFormatVersion (schema/reader.h) and add a line; only for comments may the last line be replaced";
  EXPECT_NE(read_file("schema/trace.sql").find("PRAGMA user_version = " + std::to_string(kFormatVersion) + ";"),
            std::string::npos);
}

TEST(Formats, StepsNestAndOlderOnesApplyFirst) {
  auto database = Database::open(":memory:", Database::Mode::kRead);
  ASSERT_TRUE(database.ok());
  database = Database::open(":memory:", Database::Mode::kWrite);
  ASSERT_TRUE(database
                  ->exec("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (5); CREATE TABLE u (x INTEGER); "
                         "INSERT INTO u VALUES (1)")
                  .ok());
  const LiftStep steps[] = {{1, "t", "SELECT a + 1000 AS a FROM %"},
                            {2, "t", "SELECT a, a * 2 AS b FROM %"},
                            {3, "u", "SELECT x, 7 AS y FROM %"},
                            {3, "t", "SELECT a, b, a + b AS c FROM %"}};
  ASSERT_TRUE(lift(*database, 2, steps).ok());
  auto rows = database->prepare("SELECT c, y FROM t, u");
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  ASSERT_TRUE(*rows->step());
  EXPECT_EQ(*rows->integer(0), 15);
  EXPECT_EQ(*rows->integer(1), 7);
}

}  // namespace
}  // namespace inquest::trace
