// recover: a damaged or unclosed trace → a trace in state `recovered` that holds what can still be verified.
//
// Kept is every batch whose CRC, place and link in the chain hold and that decodes; where only its bodies are damaged,
// its records without them. What is missing becomes losses, and on every watch stream that goes on after a hole a gap
// record (from its last resourceVersion before the hole to its first one after). Those gaps and the holes shift the
// sequence numbers of what follows; binds are led to their requests' new numbers, or to none if the request is lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/output_file.h"
#include "schema/reader.h"

namespace inquest::trace {

struct RecoverReport {
  uint64_t batches_kept = 0, records_kept = 0;
  uint64_t batches_lost = 0, records_lost = 0;  // as far as it can be known how many there were
  uint64_t bodies_lost = 0;                     // of records that were kept
  uint64_t gaps = 0;                            // records of kind gap that were added
  bool was_open = false;                        // what followed the last batch is not known
  bool summary_was_intact = true;
  std::vector<BatchDamage> damage;  // the first 20
};

// Written under a temporary name beside `output`. Errors: a trace that is whole and closed (kUsage); a file whose
// SQLite header or schema cannot be believed; one that somebody is writing.
Result<RecoverReport> recover(const std::string& input, const std::string& output, OutputFile::Existing existing);

}  // namespace inquest::trace
