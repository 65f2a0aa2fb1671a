// RFC 3339 instants, as Kubernetes writes them: "2026-11-29T20:03:08Z", "…08.569291Z", any offset, any fraction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace inquest {

// Nothing if the text is no RFC 3339 instant between the years 1678 and 2262 (what 64 bits of nanoseconds hold).
// Digits beyond the nanosecond are cut. A leap second (":60") is read as the second after it.
std::optional<Time> parse_rfc3339(std::string_view text);

// In UTC, with as many fraction digits as are needed: "2026-11-29T20:03:08.569291Z".
std::string format_rfc3339(Time time);

}  // namespace inquest
