// Cut: a span of a trace, or some of its objects, as a trace of its own.
//
// What each stream had shown by the start of the span stands there as a LIST, whose text says that cut made it. The
// origin of the original stays the origin: offsets and the grid of re-lists mean the same instants in both. Binds whose
// request lies before the span are kept if their answer, or the frame that shows what they did, lies inside; binds
// without their answer are counted in a note. Lists, checkpoints too, lose the objects that are not wanted.
// Limits: lines of audit and bind logs that are no bind in the span are left out; 1.5 Mi objects alive at once before
// the span, 1 Mi of one stream at its start; of more than 200,000 binds that may be carried the oldest are not. Memory
// does not grow with the trace. An export carries the origin if its source is a capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "recorder/object_filter.h"
#include "recorder/output_file.h"
#include "schema/record.h"

namespace inquest::recorder {

// An instant: a record, or a time. Neither: no edge.
struct CutEdge {
  std::optional<trace::Seq> seq;
  std::optional<Time> time;
  bool given() const { return seq || time; }
};

struct CutOptions {
  std::string input, output;
  OutputFile::Existing existing = OutputFile::Existing::kRefuse;
  CutEdge from, to;  // the first record inside; the first behind
  ObjectFilter objects;
};

struct CutReport {
  uint64_t records = 0;           // of the span that were kept
  uint64_t lists_made = 0;        // one for each stream that had begun before the span
  uint64_t objects_listed = 0;    // in them
  uint64_t lists_bodiless = 0;    // of them, because bodies are missing
  uint64_t binds_carried = 0;     // from before the span
  uint64_t binds_forgotten = 0;   // from before it, without an answer, because they were too many
  uint64_t binds_unanswered = 0;  // whose answer comes after it
  uint64_t lines_left_out = 0;    // of audit and bind logs
};

// Errors: as of reading and writing; nothing in that span.
Result<CutReport> cut_trace(const CutOptions& options);

}  // namespace inquest::recorder
