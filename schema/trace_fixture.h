// For tests of schema/ only: records of every kind with every field set.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::trace {

// SQL against a trace, past the library.
void execute(const std::string& path, const std::string& sql);

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
  // One more list, in three records and the form of its line.
  void add_long_list();

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
