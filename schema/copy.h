// What compact and recover share: the parts of a trace that are not records. Private to schema/.
#pragma once

#include <cstddef>

#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::trace {

// A walk empties its catalog when it holds this much text.
inline constexpr size_t kNamesKept = size_t{48} << 20;

TraceHeader header_of(const TraceInfo& info);
Result<void> copy_summary(const TraceInfo& info, TraceWriter& writer);  // streams, losses, notes

}  // namespace inquest::trace
