// What `diff` shows of two traces: what each holds, and the first record in which they part. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "replayer/trace_diff.h"
#include "report/style.h"

namespace inquest::kube {
struct JsonChange;
}

namespace inquest::report {

struct TraceShown {
  std::string file;  // as the user gave it
  const trace::TraceReader& reader;
};

// `changes`: between the two bodies, where both are one object of JSON.
std::string trace_diff_text(const TraceShown& a, const TraceShown& b, const replayer::TraceDifference& difference,
                            const std::vector<kube::JsonChange>& changes, Style style);
std::string trace_diff_json(const TraceShown& a, const TraceShown& b, const replayer::TraceDifference& difference);

}  // namespace inquest::report
