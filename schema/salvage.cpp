#include "schema/salvage.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "schema/formats.h"
#include "schema/integrity.h"
#include "schema/limits.h"
#include "schema/page_scan.h"
#include "schema/reader.h"
#include "schema/sqlite.h"

namespace inquest::trace {
namespace {

using Type = PageScan::Value::Type;

// A table is known by what its columns hold: i integer, t text, b blob, v any of them, 0 the row id.
struct Table {
  const char* columns;
  bool has_id;
  const char* put;
  int64_t first_id = 0, last_id = INT64_MAX;
};
constexpr Table kTables[] = {
    {"0iiiiiiibb", true, "INSERT OR IGNORE INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", 1},
    {"0b", true, "INSERT OR IGNORE INTO body VALUES (?, ?)", static_cast<int64_t>(kMaxParts)},
    {"0b", true, "INSERT OR IGNORE INTO dictionary VALUES (?, ?)", 1, static_cast<int64_t>(kMaxParts) - 1},
    {"tv", false, "INSERT OR IGNORE INTO meta VALUES (?, ?)"},
    {"0ittt", true, "INSERT OR IGNORE INTO stream VALUES (?, ?, ?, ?, ?)", 1},
    {"0iiiiiiiiiiiiiiiii", true,
     "INSERT OR IGNORE INTO counts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", 1},
    {"tii", false, "INSERT OR IGNORE INTO bind_count VALUES (?, ?, ?)"},
    {"tti", false, "INSERT OR IGNORE INTO loss VALUES (?, ?, ?)"},
};

bool holds(char column, Type type) {
  switch (column) {
    case 'i':
      return type == Type::kInteger;
    case 't':
      return type == Type::kText;
    case 'b':
      return type == Type::kBlob;
    case 'v':
      return type == Type::kInteger || type == Type::kText;
    default:
      return type == Type::kNull;
  }
}

bool belongs(const PageScan::Row& row, const Table& table) {
  return row.has_id == table.has_id && row.values.size() == std::string_view(table.columns).size() &&
         row.id >= table.first_id && row.id <= table.last_id &&
         std::equal(row.values.begin(), row.values.end(), table.columns,
                    [](const PageScan::Value& value, char column) { return holds(column, value.type); });
}

bool crc_matches(const PageScan::Row& row) {
  const auto natural = [&](size_t column) { return static_cast<uint64_t>(row.values[column].integer); };
  BatchRow batch;
  batch.id = static_cast<uint64_t>(row.id);
  batch.first_seq = natural(1);
  batch.last_seq = natural(2);
  batch.first_wall = row.values[3].integer;
  batch.last_wall = row.values[4].integer;
  batch.body_bytes = natural(5);
  batch.body_crc = static_cast<uint32_t>(natural(6));
  return batch_crc(batch, row.values[9].bytes) == natural(7);
}

// As the first page says; where that is lost, as table meta does.
int format_of(PageScan& scan) {
  uint64_t format = scan.format();
  while (format == 0) {
    const PageScan::Row* row = scan.next();
    if (row == nullptr) break;
    const Table& meta = kTables[3];
    if (belongs(*row, meta) && row->values[0].bytes == "format") format = static_cast<uint64_t>(row->values[1].integer);
  }
  scan.rewind();
  return format >= 1 && format <= kFormatVersion ? static_cast<int>(format) : kFormatVersion;
}

Result<Database> make(const std::string& path, int format) {
  INQUEST_TRY(Database database, Database::open(path, Database::Mode::kMake));
  // Nothing is lost when it is: it can be made again.
  INQUEST_TRY_VOID(database.exec("PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
  INQUEST_TRY_VOID(database.exec("BEGIN"));
  INQUEST_TRY_VOID(database.exec(declarations_of(format)));
  return database;
}

Result<void> put(Statement& into, const PageScan::Row& row) {
  for (size_t i = 0; i < row.values.size(); ++i) {
    const PageScan::Value& value = row.values[i];
    const int parameter = static_cast<int>(i) + 1;
    if (value.type == Type::kNull) into.bind(parameter, row.id);
    if (value.type == Type::kInteger) into.bind(parameter, value.integer);
    if (value.type == Type::kText) into.bind_text(parameter, value.bytes);
    if (value.type == Type::kBlob) into.bind_blob(parameter, value.bytes);
  }
  return into.run();
}

}  // namespace

Result<uint64_t> salvage(const std::string& input, const std::string& path) {
  INQUEST_TRY(PageScan scan, PageScan::open(input));
  INQUEST_TRY(Database database, make(path, format_of(scan)));
  Statement put_into[std::size(kTables)];
  for (size_t i = 0; i < std::size(kTables); ++i) {
    INQUEST_TRY(put_into[i], database.prepare(kTables[i].put));
  }
  INQUEST_TRY(Statement put_whole_batch,
              database.prepare("INSERT OR REPLACE INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  uint64_t batches = 0;
  while (const PageScan::Row* row = scan.next()) {
    for (size_t i = 0; i < std::size(kTables); ++i) {
      if (!belongs(*row, kTables[i])) continue;
      const bool whole_batch = i == 0 && crc_matches(*row);
      batches += whole_batch ? 1 : 0;
      INQUEST_TRY_VOID(put(whole_batch ? put_whole_batch : put_into[i], *row));
    }
  }
  INQUEST_TRY_VOID(database.exec("COMMIT"));
  return batches;
}

}  // namespace inquest::trace
