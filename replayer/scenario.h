// Scenario: a story in a file (`inquest: steps/1`, docs/steps.md): what happened, step by step, and, where it says so,
// what the scheduler heard of it and how a run of it is meant. It makes a trace like any other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replayer/plan.h"
#include "replayer/recording.h"
#include "replayer/run.h"
#include "replayer/steps.h"
#include "schema/writer.h"

namespace inquest::replayer {

// How a run of the scenario is meant; what is not said is left to the run's own defaults.
struct RunSettings {
  Mode mode = Mode::kFollow;
  std::string as;
  std::vector<std::string> scheduler_names;
  PaceWanted pace;
  std::optional<Duration> lag, drain;
  uint64_t seed = 0;
};

struct Scenario {
  std::string name;   // of the file, without folder and ending; of all that is made of it
  std::string path;   // of the file, for messages
  std::string about;  // in one sentence
  std::string claim;  // what it stands for: "6023: …", "A08"
  Time start;
  std::vector<Step> present;  // nodes and pods that are there at the start
  std::vector<Step> steps;    // in the order of their time
  Plan plan;
  RunSettings run;
  uint64_t digest = 0;  // of the file's bytes: the same file makes the same trace
};

// Whether the text begins as a steps file does: its first key is `inquest`, and the value of it `steps/…`.
bool looks_like_steps(std::string_view head);

// `path` gives the name, and stands in messages with the line.
Result<Scenario> parse_scenario(const std::string& text, const std::string& path);
Result<Scenario> load_scenario(const std::string& path);
// All *.yaml of a folder, by name. Errors: no such folder, none in it, more than 1000.
Result<std::vector<Scenario>> load_scenarios(const std::string& folder);

// Writes the trace; the writer is new and was given trace_header() and `catalog`. Errors: a step that cannot be, such
// as a pod deleted that was never created, with file and line.
trace::TraceHeader trace_header(const Scenario& scenario);
Result<void> write_trace(const Scenario& scenario, trace::TraceWriter& writer, Catalog& catalog);

// The trace read back as a run needs it; no file of it remains.
Result<std::unique_ptr<Recording>> record(const Scenario& scenario);

// A run of it as it is meant, under this policy.
RunConfig run_config(const Scenario& scenario, const scheduler::Policy& policy);

}  // namespace inquest::replayer
