// Where two traces part: the first record in which they differ. Identity, writer and batches do not count: two imports
// of one recording are the same.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "schema/reader.h"

namespace inquest::replayer {

struct RecordSeen {
  trace::Record record;
  std::string stream, body;
};

struct TraceDifference {
  uint64_t same = 0;               // records before it
  std::optional<RecordSeen> a, b;  // none: that trace has ended. Both none: the traces are the same
  bool none() const { return !a && !b; }
};

// Walks both from their start. Of a bind it compares everything but who else saw it.
Result<TraceDifference> first_difference(trace::TraceReader& a, trace::TraceReader& b);

}  // namespace inquest::replayer
