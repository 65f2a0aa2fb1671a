// The faults of a plan as they stand in YAML, for whoever has them within a file of its own (steps). Private to the
// folder, as yaml_fields.h is.
#pragma once

#include "replayer/plan.h"
#include "replayer/yaml_fields.h"

namespace inquest::replayer {

// The value of `faults:`, a list (or nothing at all); `name` stands in messages.
Result<std::vector<Fault>> read_faults(const std::string& name, const YAML::Node& node);

}  // namespace inquest::replayer
