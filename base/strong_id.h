// StrongId<Tag>: a dense ordinal that cannot be mixed up with another kind's.
#pragma once

#include <compare>
#include <cstdint>

namespace inquest {

template <typename Tag>
struct StrongId {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  static constexpr StrongId none() { return {}; }
  constexpr bool known() const { return value != kNone; }
  constexpr explicit operator bool() const { return known(); }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace inquest
