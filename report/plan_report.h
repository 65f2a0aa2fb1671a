// What `plan` shows: a plan in plain words, what is wrong with it, and what its faults hit in a trace.
#pragma once

#include <string>
#include <vector>

#include "replayer/forecast.h"
#include "replayer/plan.h"
#include "replayer/recording.h"
#include "report/style.h"

namespace inquest::report {

struct PlanShown {
  std::string path;
  const replayer::PlanRead& read;
  // With a trace; nullptr and empty without.
  std::string trace;
  const replayer::Recording* recording = nullptr;
  std::vector<replayer::Forecast> forecasts;  // by index of the plan's faults
};

// What is wrong with a plan that can be read: faults that say the same, and those that never fire in the trace.
struct PlanProblem {
  size_t fault = 0;  // index
  std::string text;
};
std::vector<PlanProblem> problems_of(const PlanShown& shown);

std::string plan_lint_text(const PlanShown& shown, Style style);
std::string plan_lint_json(const PlanShown& shown);
std::string plan_explain_text(const PlanShown& shown, Style style);
std::string plan_explain_json(const PlanShown& shown);

// The kinds and their fields, as `plan kinds` prints them and docs/faults.md shows them.
std::string plan_kinds_text();
std::string plan_kinds_markdown();
std::string plan_kinds_json();

// A fault as one English sentence.
std::string sentence_of(const replayer::Fault& fault);

}  // namespace inquest::report
