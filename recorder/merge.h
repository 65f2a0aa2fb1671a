// Merge: several traces of one cluster → one.
//
// K-way by wall time; within a trace the order stays as it is. Every stream stays a stream of its own, with its source.
// A stream that begins after one of the same name in another trace has ended goes on where that one stopped: a replay
// takes both for one, and what lies between is a gap record. Same-named streams that overlap in time are both kept, and
// a warning and a note say that a replay's view is made of the first. A bind that two traces saw is one bind (by the
// rules of bind_set.h). Sources of one name get names of their own ("x.jsonl (2)"). Memory does not grow with the
// traces. Limits: 16 traces; above 1 Mi observations binds are not joined, which a note says; of more than 100,000
// requests that wait for an answer the oldest stay without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "recorder/output_file.h"

namespace inquest::recorder {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  OutputFile::Existing existing = OutputFile::Existing::kRefuse;
};

struct MergeReport {
  uint64_t records = 0;
  uint64_t binds_joined = 0;  // seen by more than one trace
  uint64_t gaps = 0;          // that were added between streams
  std::vector<std::string> warnings;
};

// Errors: fewer than two traces; one twice (by its UUID, which a compacted one keeps); traces of different clusters, as
// far as they say; as of reading and writing.
Result<MergeReport> merge_traces(const MergeOptions& options);

}  // namespace inquest::recorder
