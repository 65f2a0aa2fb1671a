// For those who write a trace anew (compact, cut, merge, redact): the copy has checksums of its own, so damage of the
// input would be hidden by it.
#pragma once

#include "schema/reader.h"

namespace inquest::trace {

// An error of code kCorrupt, with what check_integrity() found. Reads the whole file, as verify does.
Result<void> check_whole(TraceReader& reader, const std::string& path);

}  // namespace inquest::trace
