// Import: files that somebody recorded → one trace.
//
// Inputs are told apart by what they hold, not by their names: capture lines (lists, opens, frames, closes), watch
// frames without times, objects and lists as kubectl prints them (JSON or YAML), API server audit logs, schedulers'
// bind logs; each plain, gzip or zstd, from a file or, as "-", from the standard input. Several are merged k-way by
// wall time, each stream keeping its own order; nothing is ever sorted by time again. Secrets are taken out unless told
// otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recorder/redact.h"

namespace inquest::recorder {

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool replace = false;  // an existing output is an error otherwise
  // {"toy", "toy-scheduler"}: binds seen as toy-scheduler's are toy's.
  std::vector<std::pair<std::string, std::string>> aliases;
  RedactRules redact;
};

// Something of an input that could not be kept, with its place. Counted in the trace too.
struct ImportLoss {
  std::string place;  // "race.jsonl:17"
  std::string text;
};

// The clock offset of a bind source against the capture, from pairs of an accepted bind and the frame that shows it
// (clock_offset.h says how, and what it cannot tell).
struct ClockOffset {
  std::string source;
  int64_t offset_ns = 0;  // to be added to the source's times
  int64_t error_ns = 0;   // half the width of what the pairs allow
  uint64_t pairs = 0;     // it is drawn from
  bool applied = false;   // only if the offset exceeds its error, and what slow delivery explains as well
};

struct ImportReport {
  std::string output;
  std::vector<ImportLoss> losses;  // at most 20 with their text …
  uint64_t loss_count = 0;         // … of this many
  // With their places; nothing is lost by them: fields that could not be decoded, times decades away from those around.
  std::vector<std::string> warnings;
  uint64_t warning_count = 0;
  std::vector<ClockOffset> offsets;
  std::array<uint64_t, kSecretKinds.size()> redacted{};  // by SecretKind; in the trace's notes too
};

// Writes to a temporary name beside `output` and renames it when the trace is closed, so that no half-written trace
// ever stands under the name asked for. An input from which nothing can be read is an error and leaves no output; one
// that is damaged further on is imported as far as it goes and reported as losses.
Result<ImportReport> import_files(const ImportOptions& options);

}  // namespace inquest::recorder
