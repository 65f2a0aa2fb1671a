// What all verbs that make a trace check about its name, and say about what stands beside it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/terminal.h"

namespace inquest::cli {

// An error if the output is one of the inputs, which would be replaced by a part of itself.
Result<void> check_other_output(const std::vector<std::string>& inputs, const std::string& output);

// Files that makers of this output left when they were killed.
void tell_leftovers(const std::string& output, Terminal& terminal);

}  // namespace inquest::cli
