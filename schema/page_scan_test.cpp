#include "schema/page_scan.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <random>

#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using Type = PageScan::Value::Type;
constexpr size_t kPage = PageScan::kPageBytes;

class File {
 public:
  explicit File(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    execute("PRAGMA page_size = 4096");
  }
  ~File() { sqlite3_close(database_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void execute(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database_);
  }

 private:
  sqlite3* database_ = nullptr;
};

std::string text_of(const PageScan::Row& row) {
  std::string out = row.has_id ? std::to_string(row.id) : "-";
  for (const PageScan::Value& value : row.values) {
    out += '|';
    if (value.type == Type::kInteger) out += std::to_string(value.integer);
    if (value.type == Type::kText) out.append("'").append(value.bytes).append("'");
    if (value.type == Type::kBlob) out.append("x").append(std::to_string(value.bytes.size()));
    if (value.type == Type::kOther) out += "?";
  }
  return out;
}

std::vector<std::string> rows_of(const std::string& path) {
  auto scan = PageScan::open(path);
  EXPECT_TRUE(scan.ok());
  std::vector<std::string> rows;
  while (const PageScan::Row* row = scan->next()) rows.push_back(text_of(*row));
  return rows;
}

TEST(PageScan, ReadsValuesOfEveryTypeAndSize) {
  TestFolder dir;
  File(dir.path("x"))
      .execute(
          "CREATE TABLE t (id INTEGER PRIMARY KEY, v);"
          "INSERT INTO t VALUES (-5, 0), (1, 1), (2, -1), (3, 127), (4, -32768), (5, 8388607), (6, -2147483648),"
          "  (7, 140737488355327), (8, -9223372036854775808), (9, NULL), (10, 0.5), (11, 'text'), (12, x'0102'), (300, "
          "'');");
  EXPECT_EQ(rows_of(dir.path("x")),
            (std::vector<std::string>{"-5||0", "1||1", "2||-1", "3||127", "4||-32768", "5||8388607", "6||-2147483648",
                                      "7||140737488355327", "8||-9223372036854775808", "9||", "10||?", "11||'text'",
                                      "12||x2", "300||''"}));
}

// Sizes around those at which a payload begins to overflow its page, in both kinds of tables, and some much larger.
TEST(PageScan, ReadsOverflowingRowsOfBothKindsOfTables) {
  for (const bool with_ids : {true, false}) {
    TestFolder dir;
    std::map<int64_t, int64_t> expected;
    {
      File file(dir.path("x"));
      file.execute(with_ids ? "CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)"
                            : "CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB) WITHOUT ROWID");
      file.execute("BEGIN");
      for (int64_t size : {480, 990, 1000, 1010, 4040, 4050, 4060, 4070, 4090, 5000, 8180, 8190, 100'000}) {
        for (int64_t more = 0; more < 10; ++more) {
          expected[size + more] = size + more;
          file.execute("INSERT INTO t VALUES (" + std::to_string(size + more) + ", zeroblob(" +
                       std::to_string(size + more) + "))");
        }
      }
      file.execute("COMMIT");
    }
    auto scan = PageScan::open(dir.path("x"));
    ASSERT_TRUE(scan.ok());
    std::map<int64_t, int64_t> found;
    while (const PageScan::Row* row = scan->next()) {
      if (row->values.size() != 2 || row->values[1].type != Type::kBlob) continue;
      found[with_ids ? row->id : row->values[0].integer] = static_cast<int64_t>(row->values[1].bytes.size());
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(PageScan, SeesWhatALogHasCommittedAndNothingElse) {
  TestFolder dir;
  const std::string path = dir.path("x");
  File file(path);
  file.execute(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'old'); PRAGMA journal_mode = WAL;");
  file.execute("UPDATE t SET v = 'new' WHERE id = 1; INSERT INTO t VALUES (2, zeroblob(20000))");
  EXPECT_EQ(rows_of(path), (std::vector<std::string>{"1||'new'", "2||x20000"}));
  // A log that breaks off within the last transaction: what stood before it.
  const std::string log = read_file(path + "-wal");
  std::filesystem::copy_file(path, dir.path("y"));
  write_file(dir.path("y-wal"), log.substr(0, log.size() - 1));
  EXPECT_EQ(rows_of(dir.path("y")), (std::vector<std::string>{"1||'new'"}));
  // One that is damaged in its first frame, and one of another file's size of pages.
  for (const size_t at : {size_t{100}, size_t{10}}) {
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file(dir.path("y-wal"), damaged);
    EXPECT_EQ(rows_of(dir.path("y")), (std::vector<std::string>{"1||'old'"}));
  }
}

void put(std::string& bytes, size_t at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * (size - 1 - i)) & 0xff);
}

// A leaf on page 2 with one row, a blob that goes on in pages 3 to 11; `next_of` says where each leads.
std::string overflowing(uint64_t (*next_of)(uint64_t page)) {
  constexpr size_t kSize = 40'000, kCell = 100, kLocal = 489 + (kSize - 489) % (kPage - 4);
  std::string bytes(20 * kPage, '\0');
  put(bytes, kPage, 13, 1);
  put(bytes, kPage + 3, 1, 2);
  put(bytes, kPage + 8, kCell, 2);
  put(bytes, kPage + kCell, 0x82b84001, 4);      // size, id
  put(bytes, kPage + kCell + 4, 0x0484f104, 4);  // the record's header: a blob of 4 bytes less
  put(bytes, kPage + kCell + 4 + kLocal, 3, 4);
  for (uint64_t page = 3; page <= 11; ++page) put(bytes, (page - 1) * kPage, next_of(page), 4);
  return bytes;
}

TEST(PageScan, AChainOfOverflowPagesEndsWhereverItLeads) {
  TestFolder dir;
  const auto rows = [&](uint64_t (*next_of)(uint64_t)) {
    write_file(dir.path("x"), overflowing(next_of));
    return rows_of(dir.path("x"));
  };
  EXPECT_EQ(rows([](uint64_t page) { return page + 1; }), std::vector<std::string>{"1|x39996"});
  const std::vector<std::string> none;
  EXPECT_EQ(rows([](uint64_t page) { return page; }), none);
  EXPECT_EQ(rows([](uint64_t page) { return page == 3 ? uint64_t{4} : uint64_t{3}; }), none);
  EXPECT_EQ(rows([](uint64_t) { return uint64_t{0}; }), none);
  EXPECT_EQ(rows([](uint64_t) { return uint64_t{21}; }), none);
  EXPECT_EQ(rows([](uint64_t) { return uint64_t{0xffffffff}; }), none);
}

TEST(PageScan, BoundsTheWorkOfAHostileFile) {
  // Every page is a leaf of 1000 cells, all the same one, which claims 31 overflow pages: 64 million reads.
  TestFolder dir;
  std::string leaf(kPage, '\0');
  put(leaf, 0, 13, 1);
  put(leaf, 3, 0xffff, 2);
  for (size_t i = 0; i < 1000; ++i) put(leaf, 8 + 2 * i, 3000, 2);
  put(leaf, 3000, 0x87ff7f01, 4);
  put(leaf, 3004 + 489, 2, 4);
  std::string bytes;
  for (int i = 0; i < 2048; ++i) bytes += leaf;
  write_file(dir.path("x"), bytes);
  EXPECT_TRUE(rows_of(dir.path("x")).empty());
}

TEST(PageScan, NothingBreaksIt) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x"));
  const std::string bytes = read_file(dir.path("x"));
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 60; ++i) {
      // The beginnings of pages steer; what stands in front of a cell does, too.
      const size_t page = random() % (bytes.size() / kPage) * kPage;
      damaged[page + (i % 2 == 0 ? random() % 64 : random() % kPage)] = static_cast<char>(random());
    }
    damaged.resize(damaged.size() - random() % kPage);
    write_file(dir.path("y"), damaged);
    auto scan = PageScan::open(dir.path("y"));
    ASSERT_TRUE(scan.ok());
    size_t rows = 0;
    while (scan->next() != nullptr) ++rows;
    ASSERT_LT(rows, bytes.size() / 4);
  }
}

TEST(PageScan, WantsAFile) {
  TestFolder dir;
  EXPECT_EQ(PageScan::open(dir.path("none")).error().code, ErrorCode::kIo);
  EXPECT_EQ(PageScan::open(dir.path()).error().code, ErrorCode::kInput);
  write_file(dir.path("empty"), "");
  EXPECT_EQ(PageScan::open(dir.path("empty")).error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace inquest::trace
