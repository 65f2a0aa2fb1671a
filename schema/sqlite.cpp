#include "schema/sqlite.h"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "schema/limits.h"

namespace inquest::trace {
namespace {

struct CodeName {
  int code;
  const char* name;
};
// Those that a person may meet; SQLite has the texts but not the names.
constexpr CodeName kCodeNames[] = {
    {SQLITE_BUSY, "SQLITE_BUSY"},
    {SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY"},
    {SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT"},
    {SQLITE_CANTOPEN, "SQLITE_CANTOPEN"},
    {SQLITE_CANTOPEN_ISDIR, "SQLITE_CANTOPEN_ISDIR"},
    {SQLITE_CORRUPT, "SQLITE_CORRUPT"},
    {SQLITE_CORRUPT_INDEX, "SQLITE_CORRUPT_INDEX"},
    {SQLITE_FULL, "SQLITE_FULL"},
    {SQLITE_IOERR, "SQLITE_IOERR"},
    {SQLITE_IOERR_CLOSE, "SQLITE_IOERR_CLOSE"},
    {SQLITE_IOERR_DELETE, "SQLITE_IOERR_DELETE"},
    {SQLITE_IOERR_FSTAT, "SQLITE_IOERR_FSTAT"},
    {SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"},
    {SQLITE_IOERR_LOCK, "SQLITE_IOERR_LOCK"},
    {SQLITE_IOERR_READ, "SQLITE_IOERR_READ"},
    {SQLITE_IOERR_SHMMAP, "SQLITE_IOERR_SHMMAP"},
    {SQLITE_IOERR_SHMOPEN, "SQLITE_IOERR_SHMOPEN"},
    {SQLITE_IOERR_SHMSIZE, "SQLITE_IOERR_SHMSIZE"},
    {SQLITE_IOERR_SHORT_READ, "SQLITE_IOERR_SHORT_READ"},
    {SQLITE_IOERR_TRUNCATE, "SQLITE_IOERR_TRUNCATE"},
    {SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE"},
    {SQLITE_LOCKED, "SQLITE_LOCKED"},
    {SQLITE_NOMEM, "SQLITE_NOMEM"},
    {SQLITE_NOTADB, "SQLITE_NOTADB"},
    {SQLITE_PERM, "SQLITE_PERM"},
    {SQLITE_READONLY, "SQLITE_READONLY"},
    {SQLITE_READONLY_CANTINIT, "SQLITE_READONLY_CANTINIT"},
    {SQLITE_READONLY_CANTLOCK, "SQLITE_READONLY_CANTLOCK"},
    {SQLITE_READONLY_DBMOVED, "SQLITE_READONLY_DBMOVED"},
    {SQLITE_READONLY_DIRECTORY, "SQLITE_READONLY_DIRECTORY"},
    {SQLITE_READONLY_RECOVERY, "SQLITE_READONLY_RECOVERY"},
    {SQLITE_READONLY_ROLLBACK, "SQLITE_READONLY_ROLLBACK"},
    {SQLITE_TOOBIG, "SQLITE_TOOBIG"},
};

std::string code_name(int code) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == code) return entry.name;
  }
  return "SQLite error " + std::to_string(code);
}

// Where a file is corrupt, what SQLite was asked to do does not matter; where the disk is full, everything else does.
std::string next_step(int primary) {
  switch (primary) {
    case SQLITE_FULL:
      return kFreeSpace;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds the file; try again";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "check the permissions of the file and its folder";
    case SQLITE_CORRUPT:
      return "inquest recover saves what can be saved";
    default:
      return "";
  }
}

// A file name as SQLite's URIs want it.
std::string uri_of(const std::string& path, const char* query) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    } else {
      uri += c;
    }
  }
  return uri + query;
}

}  // namespace

Error sqlite_error(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const int primary = code & 0xff;
  std::string text = sqlite3_errstr(code);
  if (const char* detail = sqlite3_errmsg(database); text != detail) text += std::string(": ") + detail;
  if (const int number = sqlite3_system_errno(database);
      number != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    text += std::string(": ") + std::strerror(number);
  }
  // SQLITE_ERROR comes from SQL that does not fit the schema, SQLITE_TOOBIG from a size beyond the limits: both are the
  // file's fault, because our statements are fixed.
  const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
                       primary == SQLITE_TOOBIG || primary == SQLITE_FORMAT;
  return {damaged ? ErrorCode::kCorrupt : ErrorCode::kIo, text + " [" + code_name(code) + "]", path,
          next_step(primary)};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement& Statement::bind(int parameter, int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), parameter, value);
  INQUEST_CHECK(code == SQLITE_OK, code, parameter);
  return *this;
}

// Too large or out of memory: the statement then lacks a value, and its NOT NULL makes it fail.
Statement& Statement::bind_text(int parameter, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), parameter, text.empty() ? "" : text.data(), text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  INQUEST_CHECK(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM, code, parameter);
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view blob) {
  const int code =
      sqlite3_bind_blob64(statement_.get(), parameter, blob.empty() ? "" : blob.data(), blob.size(), SQLITE_STATIC);
  INQUEST_CHECK(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM, code, parameter);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(sqlite3_db_handle(statement_.get()), *path_);
}

Result<void> Statement::run() {
  Result<bool> done = step();
  reset();
  if (!done.ok()) return done.error();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

Error Statement::damaged(int column, const char* expected) const {
  return {ErrorCode::kCorrupt,
          "column " + std::string(sqlite3_column_name(statement_.get(), column)) + " holds no " + expected, *path_, ""};
}

bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

Result<int64_t> Statement::integer(int column) const {
  if (!is_integer(column)) return damaged(column, "integer");
  return sqlite3_column_int64(statement_.get(), column);
}

Result<uint64_t> Statement::natural(int column) const {
  if (!is_integer(column)) return damaged(column, "integer");
  const int64_t value = sqlite3_column_int64(statement_.get(), column);
  if (value < 0) return damaged(column, "number from 0 up");
  return static_cast<uint64_t>(value);
}

Result<std::string_view> Statement::text(int column, size_t limit) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_TEXT) return damaged(column, "text");
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  if (bytes == nullptr || size > limit) return damaged(column, "text within the limit");
  return std::string_view(bytes, size);
}

Result<std::string_view> Statement::blob(int column, size_t limit) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_BLOB) return damaged(column, "blob");
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  if (size > limit) return damaged(column, "blob within the limit");
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, size);
}

Result<Database> Database::open(const std::string& path, Mode mode) {
  Database result;
  result.path_ = std::make_unique<std::string>(path);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX |
                    (mode == Mode::kMake    ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                     : mode == Mode::kWrite ? SQLITE_OPEN_READWRITE
                                            : SQLITE_OPEN_READONLY);
  const std::string uri = uri_of(path, mode == Mode::kImmutable ? "?immutable=1" : "");
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  result.database_.reset(handle);
  if (handle == nullptr) return Error{ErrorCode::kIo, "out of memory", path, ""};
  if (code != SQLITE_OK) return sqlite_error(handle, path);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, static_cast<int>(kMaxStoredBytes));
  result.harden();
  return result;
}

// Nothing that stands in the file may do more than hold data: no triggers, no views, no functions with effects. The
// writer needs none of them either.
void Database::harden() {
  sqlite3* handle = database_.get();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 8);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 25'000);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return sqlite_error(database_.get(), *path_);
  }
  return Statement(statement, path_.get());
}

Result<void> Database::exec(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(database_.get(), *path_);
  }
  return {};
}

int Database::last_extended_code() const { return sqlite3_extended_errcode(database_.get()); }

}  // namespace inquest::trace
