#include "cli/outputs.h"

#include <algorithm>

#include "schema/output_file.h"

namespace inquest::cli {

Result<void> check_other_output(const std::vector<std::string>& inputs, const std::string& output) {
  const auto same = [&](const std::string& input) { return trace::same_file(input, output); };
  if (std::none_of(inputs.begin(), inputs.end(), same)) return {};
  return Error{ErrorCode::kUsage, "is an input and the output", output, "name another output"};
}

void tell_leftovers(const std::string& output, Terminal& terminal) {
  for (const std::string& name : trace::leftovers(output)) {
    std::string text = "warning: ";
    text.append(name).append(": is what was made of ").append(output);
    terminal.warn(text.append(" when the process was killed; remove it, or save what it holds with inquest recover"));
  }
}

}  // namespace inquest::cli
