// compact: a trace → the same trace in large batches, with an index.
//
// For what a recorder wrote in small batches, or any trace of another make. UUID, sequence numbers, records, bodies,
// losses and state stay; chain and digest are new, because the bytes are. Damage on the way is an error: recover.h.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "schema/output_file.h"

namespace inquest::trace {

struct CompactReport {
  uint64_t records = 0;
  uint64_t batches_before = 0, batches_after = 0;
  uint64_t bytes_before = 0, bytes_after = 0;
};

// Written under a temporary name beside `output`, which may be `input` itself if it is to be replaced. Refused while
// somebody writes the input.
Result<CompactReport> compact(const std::string& input, const std::string& output, OutputFile::Existing existing);

}  // namespace inquest::trace
