// For tests: a folder of their own that goes away with this object, and whole files, read and written.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace inquest {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class TestFolder {
 public:
  TestFolder() {
    path_ = (std::filesystem::temp_directory_path() / "inquest-test-XXXXXX").string();
    INQUEST_CHECK(::mkdtemp(path_.data()) != nullptr, path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);  // a test may have locked it
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  // The path of the file written.
  std::string write(std::string_view name, std::string_view content) const {
    write_file(path(name), content);
    return path(name);
  }
  std::string read(std::string_view name) const { return read_file(path(name)); }
  // Names of what is in it, sorted, with a blank between; without those that begin with a dot.
  std::string listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename());
    std::string out;
    for (const std::string& name : names) {
      if (name.front() != '.') out += (out.empty() ? "" : " ") + name;
    }
    return out;
  }

 private:
  std::string path_;
};

}  // namespace inquest
