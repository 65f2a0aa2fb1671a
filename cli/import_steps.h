// What `import` does with a story told in steps (docs/steps.md): it is a whole trace of its own.
#pragma once

#include <string>

#include "base/result.h"
#include "recorder/import.h"

namespace inquest::cli {

// Whether the file can be read and begins as a steps file does.
bool is_steps_file(const std::string& path);

// The one input of `options` is such a file; it is made into the output. Errors: further inputs, or options that only
// recordings know.
Result<recorder::ImportReport> import_steps(const recorder::ImportOptions& options);

}  // namespace inquest::cli
