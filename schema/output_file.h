// OutputFile: a file that stands under its name only when it is whole.
//
// Written under a temporary name in the same folder, then synced and renamed; given up on destruction unless finish()
// was called. Files that SQLite keeps beside a database (-wal, -shm, -journal) are cleared away with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace inquest::trace {

class OutputFile {
 public:
  enum class Existing { kRefuse, kReplace };

  // Errors: there is one already (kUsage), it is a folder, its folder does not exist or cannot be written.
  static Result<OutputFile> prepare(const std::string& path, Existing existing);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::string& temporary() const { return temporary_; }
  const std::string& folder() const { return folder_; }
  Result<void> finish();

 private:
  OutputFile(std::string path, Existing existing);

  std::string path_, folder_, temporary_;
  Existing existing_;
  bool pending_ = true;
};

// Whether both names are one file's.
bool same_file(const std::string& a, const std::string& b);

// What makers of a trace of this name left under their temporary names when they were killed; not those that are at
// work. Sorted.
std::vector<std::string> leftovers(const std::string& path);

}  // namespace inquest::trace
