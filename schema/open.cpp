#include "schema/open.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "schema/formats.h"
#include "schema/limits.h"
#include "schema/reader.h"

namespace inquest::trace {

namespace {

constexpr const char* kTables[] = {"meta", "stream",     "counts", "bind_count", "loss", "batch",
                                   "body", "dictionary", "label",  "pod",        "bind", "gap"};
constexpr const char* kImport = "import it first: inquest import FILE -o NAME.trace";

Result<void> check_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Error{ErrorCode::kIo, "no such file", path, "check the name"};
    return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), path, ""};
  }
  if (S_ISDIR(status.st_mode)) return Error{ErrorCode::kInput, "is a folder, not a trace", path, ""};
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kInput, "is not a regular file", path, ""};
  if (access(path.c_str(), R_OK) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), path,
                 "check the permissions of the file"};
  }
  if (status.st_size == 0) return Error{ErrorCode::kInput, "is empty", path, ""};
  return {};
}

// Only for files that are no SQLite databases: to open and close one behind SQLite's back would drop its locks.
std::string first_bytes(const std::string& path) {
  char bytes[64];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t size = read(file, bytes, sizeof bytes);
  close(file);
  return size <= 0 ? std::string() : std::string(bytes, static_cast<size_t>(size));
}

Error not_sqlite(const std::string& path) {
  std::string head = first_bytes(path);
  if (head.starts_with("SQLite format 3")) {
    return {ErrorCode::kCorrupt, "is a SQLite database with a damaged header", path, ""};
  }
  if (head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd")) {
    return {ErrorCode::kInput, "is a compressed file and not a trace", path,
            std::string("if it is a capture, ") + kImport};
  }
  if (head.starts_with("\xef\xbb\xbf")) head.erase(0, 3);
  const size_t start = head.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : head[start];
  if (first == '{' || first == '[') {
    return {ErrorCode::kInput, "looks like a capture (JSON) and not like a trace", path, kImport};
  }
  if (first == '<') return {ErrorCode::kInput, "looks like HTML or XML and not like a trace", path, ""};
  return {ErrorCode::kInput, "is no trace: not a SQLite database", path, ""};
}

Result<int64_t> pragma(Database& database, const char* sql) {
  INQUEST_TRY(Statement statement, database.prepare(sql));
  INQUEST_TRY(const bool row, statement.step());
  if (!row) return Error{ErrorCode::kCorrupt, std::string(sql) + " answers nothing", database.path(), ""};
  return statement.integer(0);
}

// A closed trace that is still in WAL mode (a reader was connected when it was closed) cannot be opened in a folder
// without write permission; if there is no WAL, nothing is missing and the file alone will do.
bool wants_immutable(int code, const std::string& path) {
  const int primary = code & 0xff;
  if (primary != SQLITE_CANTOPEN && primary != SQLITE_READONLY) return false;
  struct stat status {};
  return stat((path + "-wal").c_str(), &status) != 0 || status.st_size == 0;
}

Result<Database> open_ours(const std::string& path) {
  INQUEST_TRY(Database database, Database::open(path, Database::Mode::kRead));
  Result<int64_t> id = pragma(database, "PRAGMA application_id");
  if (!id.ok() && wants_immutable(database.last_extended_code(), path)) {
    INQUEST_TRY(database, Database::open(path, Database::Mode::kImmutable));
    id = pragma(database, "PRAGMA application_id");
  }
  if (!id.ok()) {
    if (database.last_extended_code() == SQLITE_NOTADB) return not_sqlite(path);
    return id.error();
  }
  // SQLite takes a file that is shorter than its smallest page for an empty database.
  if (stored_bytes(path) < 512) return not_sqlite(path);
  if (*id != kApplicationId) {
    return Error{ErrorCode::kInput, "is a SQLite database, but not a trace (its application_id is another)", path, ""};
  }
  return database;
}

// meta's keys minimum_reader and writer are part of every format.
Result<void> check_version(Database& database) {
  INQUEST_TRY(const int64_t format, pragma(database, "PRAGMA user_version"));
  if (format < 1) return Error{ErrorCode::kCorrupt, "names no format version", database.path(), ""};
  int64_t needs = format;
  std::string writer = "a newer inquest";
  if (format > kFormatVersion) {
    if (auto meta = database.prepare("SELECT value FROM meta WHERE key = ?"); meta.ok()) {
      if (auto row = meta->bind_text(1, "minimum_reader").step(); row.ok() && *row && meta->is_integer(0)) {
        INQUEST_TRY(needs, meta->integer(0));
      }
      meta->reset();
      if (auto row = meta->bind_text(1, "writer").step(); row.ok() && *row) {
        if (auto text = meta->text(0, 100); text.ok() && !text->empty()) writer = std::string(*text);
      }
    }
  }
  if (needs <= kFormatVersion) return {};
  return Error{ErrorCode::kNewer,
               "was made by " + writer + " in format " + std::to_string(format) + ", which needs a reader of format " +
                   std::to_string(needs) + "; this is inquest " INQUEST_VERSION ", which reads up to format " +
                   std::to_string(kFormatVersion),
               database.path(), "use a newer inquest"};
}

struct TableSql {
  std::string sql;
  bool is_table = false;
};

Result<TableSql> table_sql(Database& database, const char* table) {
  INQUEST_TRY(Statement find,
              database.prepare("SELECT type, rootpage, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE"));
  INQUEST_TRY(const bool found, find.bind_text(1, table).step());
  if (!found) return Error{ErrorCode::kCorrupt, std::string("has no table ") + table, database.path(), ""};
  TableSql out;
  INQUEST_TRY(const std::string_view type, find.text(0, 100));
  INQUEST_TRY(const int64_t root, find.integer(1));
  INQUEST_TRY(out.sql, find.text(2, 100'000));
  out.is_table = type == "table" && root > 1;  // neither a view nor a virtual table
  return out;
}

Result<Database> reference_schema(int format) {
  INQUEST_TRY(Database reference, Database::open(":memory:", Database::Mode::kWrite));
  INQUEST_TRY_VOID(reference.exec(declarations_of(format)));
  return reference;
}

// A stranger may have put a view, a virtual table, computed columns or CHECKs under our names. In our own format the
// declarations must therefore be ours to the letter; in a newer one the names must at least be tables.
Result<void> check_schema(Database& database) {
  INQUEST_TRY(const int64_t format, pragma(database, "PRAGMA user_version"));
  const bool known = format <= kFormatVersion;
  INQUEST_TRY(Database reference, reference_schema(known ? static_cast<int>(format) : kFormatVersion));
  for (const char* table : kTables) {
    INQUEST_TRY(const TableSql theirs, table_sql(database, table));
    INQUEST_TRY(const TableSql ours, table_sql(reference, table));
    if (!theirs.is_table || (known && theirs.sql != ours.sql)) {
      return Error{
          ErrorCode::kCorrupt,
          std::string("its table ") + table + " is not declared as format " + std::to_string(format) + " declares it",
          database.path(), "the file was altered; nothing in it can be trusted"};
    }
  }
  return {};
}

}  // namespace

Result<Database> open_trace(const std::string& path) {
  INQUEST_TRY_VOID(check_file(path));
  INQUEST_TRY(Database database, open_ours(path));
  INQUEST_TRY_VOID(database.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY"));
  INQUEST_TRY_VOID(check_version(database));
  INQUEST_TRY_VOID(check_schema(database));
  INQUEST_TRY(const int64_t format, pragma(database, "PRAGMA user_version"));
  if (format < kFormatVersion) {
    INQUEST_TRY_VOID(lift(database, static_cast<int>(format), lift_steps()));
  }
  INQUEST_TRY_VOID(database.exec("PRAGMA query_only = ON"));
  return database;
}

uint64_t stored_bytes(const std::string& path) {
  uint64_t bytes = 0;
  for (const std::string& file : {path, path + "-wal"}) {
    struct stat status {};
    if (stat(file.c_str(), &status) == 0) bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes;
}

}  // namespace inquest::trace
