// What `policies` shows, and how a run names its policy.
#pragma once

#include <string>

#include "scheduler/policy.h"

namespace inquest::report {

// All presets × all parameters, and what each preset is meant to show.
std::string policies_text();
std::string policies_markdown();  // the tables of docs/policies.md
std::string policies_json();

// "combined", "combined relist=never": the preset and what was changed of it.
std::string policy_name(const scheduler::Policy& policy);

}  // namespace inquest::report
