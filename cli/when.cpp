#include "cli/when.h"

#include <charconv>
#include <string>

#include "base/duration.h"
#include "base/rfc3339.h"

namespace inquest::cli {

Result<When> parse_when(std::string_view option, std::string_view text) {
  When when;
  if (text.starts_with('@')) {
    trace::Seq seq = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), seq);
    if (error == std::errc() && end == text.data() + text.size()) when.seq = seq;
  } else if (text.starts_with('+')) {
    if (auto offset = parse_duration(text.substr(1)); offset.ok()) when.offset = *offset;
  } else {
    when.time = parse_rfc3339(text);
  }
  if (when.seq || when.offset || when.time) return when;
  return Error{ErrorCode::kUsage, "'" + std::string(text) + "' is no instant", std::string(option),
               "write it as +12.5s, @43 or 2026-11-29T20:04:11Z"};
}

}  // namespace inquest::cli
