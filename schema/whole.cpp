#include "schema/whole.h"

namespace inquest::trace {

Result<void> check_whole(TraceReader& reader, const std::string& path) {
  INQUEST_TRY(const auto damage, reader.check_integrity());
  if (!damage) return {};
  const std::string where = damage->batch == 0 ? "" : "batch " + std::to_string(damage->batch) + ": ";
  return Error{ErrorCode::kCorrupt, "is damaged, which a copy would hide: " + where + damage->why, path,
               "recover it first"};
}

}  // namespace inquest::trace
