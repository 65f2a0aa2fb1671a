// FileLock: a file held open and locked (flock, which SQLite's own locks do not touch) against a second writer.
// Private to schema/.
#pragma once

#include <string>

#include "base/result.h"

namespace inquest::trace {

class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Makes the file, which must not exist.
  static Result<FileLock> create(const std::string& path);
  // Of an existing file. Errors: it cannot be written, or another process writes it (kUsage).
  static Result<FileLock> take(const std::string& path);

  // An Error if somebody is writing the file. To be called while this process has no database open on it: closing any
  // descriptor of a file drops the locks that SQLite has there.
  static Result<void> check_unlocked(const std::string& path);

 private:
  static Result<FileLock> open(const std::string& path, int flags);
  int file_ = -1;
};

// A database and what SQLite keeps beside it.
void remove_with_companions(const std::string& path);
// An old file goes as a whole, so that nothing of it can shine through; not if somebody is writing it.
Result<void> remove_existing(const std::string& path);

}  // namespace inquest::trace
