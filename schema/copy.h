// What compact and recover share: the parts of a trace that are not records. Private to schema/.
#pragma once

#include <cstddef>

#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::trace {

// A walk empties its catalog when it holds this much text; less where one record takes much memory itself.
inline constexpr size_t kNamesKept = size_t{10} << 20, kNamesKeptBesideLarge = size_t{3} << 20;
inline constexpr size_t kLargeObjects = 50'000;
inline size_t names_kept(size_t objects) { return objects > kLargeObjects ? kNamesKeptBesideLarge : kNamesKept; }

TraceHeader header_of(const TraceInfo& info);
Result<void> copy_summary(const TraceInfo& info, TraceWriter& writer);  // streams, losses, notes

}  // namespace inquest::trace
