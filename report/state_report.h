// What the stores of a run hold at an instant, and where they differ from the truth there: `state`, `replay --until`
// and `diff --at`. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "replayer/stores.h"
#include "report/run_report.h"

namespace inquest::report {

// All must outlive the call. `shown` has a stop, at which `run` stands; `arrivals` has followed it from its start.
struct StateShown {
  const RunShown& shown;
  const replayer::Run& run;
  const replayer::Arrivals& arrivals;
  std::vector<replayer::Store> stores;  // those to show
};

std::string state_text(const StateShown& state, Style style);
std::string state_json(const StateShown& state);

// The same after the findings so far, and after what differs for no longer than the lag bound.
std::string until_text(const StateShown& state, Style style, const Limits& limits);
std::string until_json(const StateShown& state);

// Every difference between stores and truth at the instant, for however short a time.
std::string open_text(const StateShown& state, Style style);
std::string open_json(const StateShown& state);

}  // namespace inquest::report
