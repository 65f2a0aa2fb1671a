// Time and Duration: integer nanoseconds, never a float, never a clock.
//
// Arithmetic saturates, because times come from files of strangers. A Time of 0 means "not known".
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace inquest {

inline constexpr int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
inline constexpr int64_t saturating_sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
inline constexpr int64_t saturating_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

struct Duration {
  int64_t ns = 0;

  static constexpr Duration seconds(int64_t n) { return {saturating_mul(n, 1'000'000'000)}; }
  static constexpr Duration milliseconds(int64_t n) { return {saturating_mul(n, 1'000'000)}; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {saturating_add(a.ns, b.ns)}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {saturating_sub(a.ns, b.ns)}; }
  friend constexpr Duration operator*(Duration a, int64_t n) { return {saturating_mul(a.ns, n)}; }
};

// Nanoseconds since the Unix epoch.
struct Time {
  int64_t ns = 0;

  static constexpr Time never() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr bool known() const { return ns != 0; }
  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return {saturating_add(t.ns, d.ns)}; }
  friend constexpr Time operator-(Time t, Duration d) { return {saturating_sub(t.ns, d.ns)}; }
  friend constexpr Duration operator-(Time a, Time b) { return {saturating_sub(a.ns, b.ns)}; }
};

}  // namespace inquest
