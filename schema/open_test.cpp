// Opening what is not a trace of ours: one clear line each, and nothing in the file gets to act.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using testing::HasSubstr;

Error error_of(const std::string& path) {
  const auto reader = TraceReader::open(path);
  return reader.ok() ? Error{ErrorCode::kUsage, "no error", "", ""} : reader.error();
}

TEST(Open, SaysWhatAFileIsInstead) {
  struct Case {
    const char* name;
    std::string bytes;
    ErrorCode code;
    const char* text;
  };
  const Case cases[] = {
      {"empty", "", ErrorCode::kInput, "is empty"},
      {"one byte", "x", ErrorCode::kInput, "not a SQLite database"},
      {"text", "hello\n", ErrorCode::kInput, "not a SQLite database"},
      {"capture", "{\"t\":1,\"stream\":\"pods\"}\n", ErrorCode::kInput, "import it first"},
      {"capture with space and BOM", "\xef\xbb\xbf\n  [{}]", ErrorCode::kInput, "import it first"},
      {"gzip", std::string("\x1f\x8b\x08\x00\x00\x00", 6), ErrorCode::kInput, "import it first"},
      {"zstd", std::string("\x28\xb5\x2f\xfd\x04", 5), ErrorCode::kInput, "import it first"},
      {"html", "<!DOCTYPE html><html>", ErrorCode::kInput, "HTML"},
      {"long garbage", std::string(100'000, '\x7f'), ErrorCode::kInput, "not a SQLite database"},
      {"SQLite magic only", std::string("SQLite format 3\0", 16), ErrorCode::kCorrupt, "damaged header"},
      {"zeros", std::string(8192, '\0'), ErrorCode::kInput, "not a SQLite database"},
  };
  TestFolder dir;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    write_file(dir.path("x.trace"), c.bytes);
    const Error error = error_of(dir.path("x.trace"));
    EXPECT_EQ(error.code, c.code) << error.message();
    EXPECT_THAT(error.message(), HasSubstr(c.text));
    EXPECT_THAT(error.message(), HasSubstr(dir.path("x.trace")));
  }
}

TEST(Open, MissingFileFolderAndPipe) {
  TestFolder dir;
  EXPECT_EQ(error_of(dir.path("none")).code, ErrorCode::kIo);
  EXPECT_THAT(error_of(dir.path("none")).message(), HasSubstr("no such file"));
  EXPECT_THAT(error_of(dir.path()).message(), HasSubstr("folder"));
  ASSERT_EQ(mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(dir.path("pipe")).message(), HasSubstr("not a regular file"));
}

TEST(Open, ForeignDatabase) {
  TestFolder dir;
  execute(dir.path("x.db"), "CREATE TABLE batch (id INTEGER PRIMARY KEY)");
  const Error error = error_of(dir.path("x.db"));
  EXPECT_EQ(error.code, ErrorCode::kInput);
  EXPECT_THAT(error.message(), HasSubstr("not a trace"));
}

TEST(Open, NewerFormat) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("x.trace");
  write_sample(sample, path);
  // A newer writer whose traces we can still read …
  const std::string newer = std::to_string(kFormatVersion + 1);
  execute(path, "PRAGMA user_version = " + newer + "; ALTER TABLE batch ADD COLUMN colour TEXT");
  EXPECT_EQ(error_of(path).text, "no error");
  // … and one whose traces we cannot.
  execute(path, "UPDATE meta SET value = " + newer +
                    " WHERE key = 'minimum_reader'; "
                    "UPDATE meta SET value = 'inquest 9.9.9' WHERE key = 'writer'");
  Error error = error_of(path);
  EXPECT_EQ(error.code, ErrorCode::kNewer);
  EXPECT_THAT(error.message(), HasSubstr("inquest 9.9.9 in format " + newer));
  EXPECT_THAT(error.message(), HasSubstr("use a newer inquest"));
  execute(path, "DROP TABLE meta");
  EXPECT_EQ(error_of(path).code, ErrorCode::kNewer);
}

TEST(Open, ASchemaThatIsNotOursIsRefused) {
  const char* endless_view =
      "DROP TABLE counts; CREATE VIEW counts AS "
      "WITH RECURSIVE r AS (VALUES (1) UNION ALL SELECT * FROM r) SELECT * FROM r";
  const char* changes[] = {
      "DROP TABLE stream",
      "DROP TABLE stream; CREATE VIEW stream AS SELECT 1 AS id",
      "DROP TABLE loss; CREATE TABLE loss (source TEXT, what TEXT AS (hex(zeroblob(100000000))), count INTEGER)",
      "ALTER TABLE body ADD COLUMN extra TEXT",
      endless_view,
  };
  for (const char* change : changes) {
    SCOPED_TRACE(change);
    TestFolder dir;
    Sample sample;
    const std::string path = dir.path("x.trace");
    write_sample(sample, path);
    execute(
        path,
        std::string(
            "DROP VIEW streams; DROP VIEW batches; DROP VIEW life; DROP VIEW binds; DROP VIEW pods; DROP VIEW gaps; ") +
            change);
    EXPECT_EQ(error_of(path).code, ErrorCode::kCorrupt) << error_of(path).message();
  }
}

TEST(Open, AdditionsOfAUserDoNotHurt) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("x.trace");
  const auto written = write_sample(sample, path);
  execute(path, "CREATE VIEW mine AS SELECT * FROM batch; CREATE TABLE notes (t TEXT); ANALYZE; VACUUM");
  EXPECT_EQ(read_all(path).records, written);
}

TEST(Open, ValuesOfAnotherTypeAreRefused) {
  const char* changes[] = {
      "UPDATE meta SET value = 'many' WHERE key = 'records'",
      "UPDATE meta SET value = -1 WHERE key = 'batches'",
      "UPDATE meta SET value = 5 WHERE key = 'state'",
      "UPDATE meta SET value = 'ajar' WHERE key = 'state'",
      "DELETE FROM meta WHERE key = 'uuid'",
      "DELETE FROM counts WHERE stream = 2",
      "UPDATE stream SET id = 7 WHERE id = 2",
      "UPDATE stream SET kind = 99",
      "UPDATE stream SET name = zeroblob(10)",
      "UPDATE stream SET name = printf('%.*c', 100000, 'x')",
      "UPDATE bind_count SET code = 70000",
  };
  for (const char* change : changes) {
    SCOPED_TRACE(change);
    TestFolder dir;
    Sample sample;
    const std::string path = dir.path("x.trace");
    write_sample(sample, path);
    execute(path, change);
    EXPECT_EQ(error_of(path).code, ErrorCode::kCorrupt) << error_of(path).message();
  }
}

TEST(Open, AChangedSummaryIsReadableButNotIntact) {
  const char* changes[] = {
      "UPDATE meta SET value = 'closed ' || value WHERE key = 'scope'",
      "UPDATE counts SET added = added + 1",
      "DELETE FROM loss",
      "UPDATE bind_count SET count = 7",
  };
  for (const char* change : changes) {
    SCOPED_TRACE(change);
    TestFolder dir;
    Sample sample;
    const std::string path = dir.path("x.trace");
    const auto written = write_sample(sample, path);
    execute(path, change);
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    EXPECT_FALSE(reader->info().summary_intact);
    const auto damage = reader->check_integrity();
    ASSERT_TRUE(damage.ok() && damage->has_value());
    EXPECT_EQ((*damage)->batch, 0U);
    EXPECT_EQ(read_all(path).records, written);
  }
}

TEST(Open, BatchesThatDoNotFitTogetherAreRefused) {
  const char* changes[] = {
      "DELETE FROM batch WHERE id = 2",
      "UPDATE batch SET id = 9 WHERE id = 2",
      "UPDATE batch SET last_seq = 9000000000000000000 WHERE id = 2",
      "UPDATE batch SET facts = zeroblob(270000000) WHERE id = 2",
      "UPDATE batch SET facts = (SELECT facts FROM batch WHERE id = 1) WHERE id = 2",
      "UPDATE batch SET facts = 'text' WHERE id = 2",
      "UPDATE batch SET crc = 5000000000 WHERE id = 2",
      "DELETE FROM body WHERE id >> 10 = 2",
      "UPDATE body SET data = x'28b52ffd' WHERE id >> 10 = 2",
  };
  for (const char* change : changes) {
    SCOPED_TRACE(change);
    TestFolder dir;
    Sample sample;
    const std::string path = dir.path("x.trace");
    auto writer = TraceWriter::create(path, {}, sample.catalog);
    ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
    for (uint64_t i = 1; i <= 4; ++i) {
      ASSERT_TRUE(writer->append(sample.frame("pod", i), "body").ok() && writer->flush().ok());
    }
    ASSERT_TRUE(writer->close().ok());
    execute(path, change);
    const Content content = read_all(path);
    EXPECT_EQ(content.records.size(), 1U) << content.error;
    EXPECT_THAT(content.error, HasSubstr(path));
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader.ok());
    const auto damage = reader->check_integrity();
    ASSERT_TRUE(damage.ok() && damage->has_value());
    EXPECT_EQ((*damage)->batch, 2U);
    EXPECT_EQ((*damage)->first, 2U);
  }
}

// As a user who may not write: root may write anywhere, so the check is made in a child without root's rights.
TEST(Open, AClosedTraceOpensInAReadOnlyFolder) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x.trace"));
  {
    Sample other;  // closed while a reader was connected: still in WAL mode
    auto writer = TraceWriter::create(dir.path("wal.trace"), {}, other.catalog);
    ASSERT_TRUE(writer.ok());
    const auto reader = TraceReader::open(dir.path("wal.trace"));
    ASSERT_TRUE(reader.ok() && writer->close().ok());
  }
  for (const char* name : {"x.trace", "wal.trace"}) {
    ASSERT_EQ(chmod(dir.path(name).c_str(), 0444), 0);
  }
  ASSERT_EQ(chmod(dir.path().c_str(), 0555), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(9);
    for (const char* name : {"x.trace", "wal.trace"}) {
      const Content content = read_all(dir.path(name));
      if (!content.error.empty()) {
        fprintf(stderr, "%s\n", content.error.c_str());
        _exit(1);
      }
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Open, NamesThatLookLikeUrisAreNames) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("a?mode=memory#b%20.trace");
  write_sample(sample, path);
  EXPECT_EQ(read_all(path).error, "");
}

}  // namespace
}  // namespace inquest::trace
