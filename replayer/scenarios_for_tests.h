// For tests only: the scenarios of traces/scenarios with their recordings, and findings as words to the nanosecond.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replayer/scenario.h"

namespace inquest::replayer {

inline const std::string kScenarioFolder = "traces/scenarios";

struct Told {
  Scenario scenario;
  std::unique_ptr<Recording> recording;
};
const std::map<std::string, Told>& told_scenarios();  // by name

// "zombie-assumed pod1 on n1 from 300000000 to never by never"; what follows from another finding ends with "under 1".
std::string in_nanoseconds(const Recording& recording, const Finding& finding);

// "combined", or with parameters of its own: "combined assume=before".
scheduler::Policy policy_of(const std::string& text);

}  // namespace inquest::replayer
