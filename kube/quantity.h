// Kubernetes quantities ("100m", "1.5Gi", "129e6"), exactly: no float anywhere (kubernetes-facts 9.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace inquest::kube {

// A parsed quantity in the two units that scheduling uses. Both are rounded away from zero and clamped to int64, as
// upstream's Value() and MilliValue(); anything finer than 10^-9 was rounded away from zero to it first.
struct Quantity {
  int64_t value = 0;        // in units
  int64_t milli_value = 0;  // in thousandths
};

// Nothing if the text is no quantity by upstream's grammar ("16g", "1 Gi", "K", "").
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace inquest::kube
