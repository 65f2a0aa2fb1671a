// SourceLines: the lines of bind inputs, put aside while their binds are gathered, and written behind all other records
// (recorder/source.h), in the order they stood. On disk, whatever their number. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "recorder/body_spool.h"
#include "schema/writer.h"

namespace inquest::recorder {

class SourceLines {
 public:
  explicit SourceLines(std::string folder) : spool_(std::move(folder)) {}

  // Lines of one input follow each other.
  Result<void> put(uint32_t input, std::string_view line);
  // `streams`: by input.
  Result<void> write(const std::vector<trace::StreamId>& streams, trace::TraceWriter& writer, Catalog& catalog);

 private:
  struct Run {
    BodySpool::Ref first;  // of the size of its first line
    uint64_t lines = 0;
  };
  BodySpool spool_;
  std::map<uint32_t, Run> runs_;  // by input
};

}  // namespace inquest::recorder
