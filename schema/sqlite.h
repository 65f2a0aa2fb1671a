// SQLite behind two owners, Database and Statement. Private to schema/: no header that others include shows it.
//
// Errors name the file and SQLite's own extended error. Statements are compiled from literals only; values are bound.
// Columns are read by exact type: a value of another type than asked for is a damaged trace, never converted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace inquest::trace {

inline constexpr const char* kFreeSpace = "free some space";  // what an error of a full disk says to do next

class Statement {
 public:
  Statement() = default;

  // Parameters count from 1. The bytes must stay where they are until the statement is run.
  Statement& bind(int parameter, int64_t value);
  Statement& bind(int parameter, uint64_t value) { return bind(parameter, static_cast<int64_t>(value)); }
  Statement& bind_text(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view blob);

  // True: a row stands ready. False: no more rows.
  Result<bool> step();
  // Runs a statement that gives no rows, and makes it ready for the next time.
  Result<void> run();
  void reset();

  // Columns count from 0. Views are valid until the next step or reset.
  Result<int64_t> integer(int column) const;
  Result<uint64_t> natural(int column) const;  // an integer ≥ 0
  Result<std::string_view> text(int column, size_t limit) const;
  Result<std::string_view> blob(int column, size_t limit) const;
  bool is_integer(int column) const;
  int columns() const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const std::string* path) : statement_(statement), path_(path) {}
  Error damaged(int column, const char* expected) const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_ = nullptr;  // the database's
};

// Statements must not outlive their database.
class Database {
 public:
  enum class Mode : uint8_t {
    kMake,       // a new file, or an empty one
    kWrite,      // of a file that exists
    kRead,       // hardened against what a stranger may have put into the file
    kImmutable,  // as kRead, and neither locks nor a WAL are looked for
  };
  static Result<Database> open(const std::string& path, Mode mode);

  Result<Statement> prepare(const char* sql);
  // One or several statements whose rows do not matter.
  Result<void> exec(const char* sql);

  const std::string& path() const { return *path_; }
  int last_extended_code() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database() = default;
  void harden();

  std::unique_ptr<std::string> path_;  // at an address that moving does not change
  std::unique_ptr<sqlite3, Close> database_;
};

// The Error for SQLite's last failure on this connection: kCorrupt for a damaged file, otherwise kIo.
Error sqlite_error(sqlite3* database, const std::string& path);

}  // namespace inquest::trace
