// Durations as people write and read them: "30s", "1m30s", "250ms", "1.5s"; "+12.5s" after the start of a trace.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace inquest {

// Units ns, us, ms, s, m, h; several may follow each other, as in Go ("1h2m3.5s"); "0" needs none. Fractions are exact
// to the nanosecond; finer ones and values beyond 292 years are errors. Negative durations are refused.
Result<Duration> parse_duration(std::string_view text);

// The shortest form that parse_duration reads back to the same value: "30s", "1m30s", "4.449s", "250ms", "0s".
std::string format_duration(Duration duration);

// For tables: seconds with three decimals, rounded half away from zero: "4.449 s".
std::string format_seconds(Duration duration);

// An instant as an offset from the start of a trace, for tables: "+4.449 s".
std::string format_offset(Time instant, Time origin);

}  // namespace inquest
