// What `info`, `import` and `verify` show of a trace. Pure functions from facts to text; `file` is the trace's name as
// the user gave it.
#pragma once

#include <optional>
#include <string>

#include "replayer/checkpoints.h"
#include "replayer/promises.h"
#include "report/json.h"
#include "report/style.h"
#include "schema/reader.h"

namespace inquest::report {

// Lives of pods and the names they stand behind; known only to whoever has read all records.
struct PodCounts {
  uint64_t pods = 0, names = 0;
  bool at_least = false;  // there may be more: too many to be told apart
};

std::string info_text(const std::string& file, const trace::TraceInfo& info, const std::optional<PodCounts>& pods,
                      Style style);
std::string info_json(const std::string& file, const trace::TraceInfo& info, const std::optional<PodCounts>& pods);

// "hostport.trace  24.031 s · 24 pod frames, … · 18 checkpoints, all agree with the watch · no gaps · 96 KiB", wrapped.
std::string import_line(const std::string& file, const trace::TraceInfo& info,
                        const replayer::CheckpointReport& checkpoints, Style style);

// What `verify` found. Of a damaged trace nothing more is said: the rest is none.
struct Verification {
  std::optional<trace::BatchDamage> damage;
  std::optional<replayer::CheckpointReport> checkpoints;
  std::optional<replayer::PromiseReport> promises;

  bool failed() const {
    return damage || (checkpoints && checkpoints->differences > 0) || (promises && promises->total() > 0);
  }
  // There were more objects than a check in bounded memory keeps.
  bool partial() const {
    return (checkpoints && checkpoints->not_kept > 0) || (promises && promises->not_kept + promises->forgotten > 0);
  }
};
std::string verify_text(const std::string& file, const trace::TraceInfo& info, const Verification& found, Style style);
std::string verify_json(const std::string& file, const trace::TraceInfo& info, const Verification& found);

// Why the trace is not whole: "still open", "2 gaps", "3 lines lost"; empty if it is.
std::string incomplete_because(const trace::TraceInfo& info);

// Parts that several documents share: "trace": {…}, "checkpoints": {…}.
void add_trace(JsonWriter& json, const std::string& file, const trace::TraceInfo& info);
void add_checkpoints(JsonWriter& json, const replayer::CheckpointReport& checkpoints);

// "18 checkpoints, all agree with the watch".
std::string checkpoints_text(const replayer::CheckpointReport& checkpoints, Style style);

}  // namespace inquest::report
