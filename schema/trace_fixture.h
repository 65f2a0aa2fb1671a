// For tests of schema/ only: a folder that goes away, and records of every kind with every field set.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::trace {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trace-test-XXXXXX").string();
    INQUEST_CHECK(mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A record with names in place of ordinals, so that those of different catalogs can be compared.
std::string describe(const Record& record, const Catalog& catalog);

// Two streams and at least one record of every kind; together they set every field there is.
struct Sample {
  Catalog catalog;
  std::vector<Stream> streams;
  std::vector<std::pair<Record, std::string>> records;  // with their bodies

  Sample();
  PodFacts pod(const std::string& name, const std::string& uid);
  Record frame(const std::string& name, ResourceVersion rv);

 private:
  Placement placement();
  void add_list();
};

TraceHeader sample_header();

// Writes and closes; the descriptions of what was written, one a record.
std::vector<std::string> write_sample(Sample& sample, const std::string& path);

// What a reader makes of a trace: descriptions and bodies of all records, or the first error's message.
struct Content {
  std::vector<std::string> records;
  std::string info;
  std::string error;
  friend bool operator==(const Content&, const Content&) = default;
};
Content read_all(const std::string& path);

}  // namespace inquest::trace
