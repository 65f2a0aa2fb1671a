// How many lives of pods a trace holds, and behind how many names. Reads every record.
#pragma once

#include "base/result.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {

// Rewinds the reader before and after.
Result<report::PodCounts> count_pods(trace::TraceReader& reader);

}  // namespace inquest::cli
