// recover: a damaged or unclosed trace → a trace that holds what can still be verified.
//
// Kept is every batch whose CRC, place and link in the chain hold and that decodes; where only its bodies are damaged,
// its records without them. Rows of a damaged file are looked for page by page, so that a damaged
// beginning or a missing end costs no more than what stood there. What is missing becomes losses, and on every watch
// stream that goes on after a hole a gap record (from its last resourceVersion before the hole to its first one after).
// A gap record stands where its stream goes on and takes a number, and an order without holes is what every reader
// relies on: so numbers after a hole are new, and notes in the trace say what they were. Binds are led to their
// requests' new numbers, or to none if the request is lost.
//
// The trace is in state `recovered`; if nothing was lost (only the index was damaged, or what SQLite needs to walk the
// file), it is the same trace in the state that it had.
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
  uint64_t batches_without_dictionary = 0;      // of the lost ones: what they were compressed with is lost, too
  uint64_t streams_lost = 0;                    // their names; what is known of them is what their records show
  uint64_t gaps = 0;                            // records of kind gap that were added
  bool was_open = false;                        // what followed the last batch is not known
  bool summary_was_intact = true;
  bool by_pages = false;            // the file was damaged, so its rows were looked for page by page
  std::vector<BatchDamage> damage;  // the first 20

  struct Renumbered {
    Seq first = 0, last = 0;  // in the new trace
    Seq was_first = 0;        // in the damaged one
  };
  std::vector<Renumbered> renumbered;  // the first 20

  bool nothing_lost() const {
    return records_lost == 0 && batches_lost == 0 && bodies_lost == 0 && !was_open && summary_was_intact;
  }
};

// Written under a temporary name beside `output`; reading by pages takes a second temporary file there, as large as the
// trace. Errors: a trace that is whole and closed (kUsage); a file in which nothing of a trace is found, with what the
// file is instead; one that somebody is writing.
Result<RecoverReport> recover(const std::string& input, const std::string& output, OutputFile::Existing existing);

}  // namespace inquest::trace
