// What `matrix` shows: policies beside each other on the same scenarios.
#pragma once

#include <string>

#include "replayer/matrix.h"

namespace inquest::report {

// A row a scenario, a column a policy; below it what each policy came to in all. Policies stand as numbers above the
// columns, and are named first.
std::string matrix_text(const replayer::Matrix& matrix);
std::string matrix_markdown(const replayer::Matrix& matrix);
std::string matrix_csv(const replayer::Matrix& matrix);  // a row a policy and scenario, durations in nanoseconds
std::string matrix_json(const replayer::Matrix& matrix);

}  // namespace inquest::report
