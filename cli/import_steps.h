// What the verbs do with a story told in steps (docs/steps.md): it is a whole trace of its own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "recorder/import.h"

namespace inquest::cli {

// What a file is, by how it begins; of one that is not steps, by its name.
enum class StoryKind : uint8_t { kSteps, kOtherYaml, kNone };
StoryKind story_kind(const std::string& path);

// The one input of `options` is such a file; it is made into the output. Errors: further inputs, or options that only
// recordings know.
Result<recorder::ImportReport> import_steps(const recorder::ImportOptions& options);

}  // namespace inquest::cli
