#include "base/duration.h"

#include <array>
#include <cstdlib>

namespace inquest {
namespace {

struct Unit {
  std::string_view name;
  int64_t ns;
};
// "ms" stands before "m" and "ns", "us" before "s": the first match is the longest.
constexpr std::array<Unit, 6> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

Error bad_duration(std::string_view text, const char* why) {
  return {ErrorCode::kUsage, "'" + std::string(text) + "' is not a duration: " + why, "",
          "write it as 30s, 1m30s or 250ms"};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits as a number; false if they exceed 63 bits.
bool read_digits(std::string_view digits, int64_t& value) {
  value = 0;
  for (char c : digits) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value)) return false;
  }
  return true;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration{0};
  if (text.empty()) return bad_duration(text, "it is empty");
  if (text.front() == '-') return bad_duration(text, "it is negative");
  int64_t total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    size_t whole = 0;
    while (whole < rest.size() && is_digit(rest[whole])) ++whole;
    std::string_view fraction;
    size_t end = whole;
    if (end < rest.size() && rest[end] == '.') {
      const size_t start = ++end;
      while (end < rest.size() && is_digit(rest[end])) ++end;
      fraction = rest.substr(start, end - start);
    }
    if (whole == 0 && fraction.empty()) return bad_duration(text, "a number is missing");
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (rest.substr(end).starts_with(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) return bad_duration(text, "a unit is missing (ns, us, ms, s, m, h)");
    int64_t value = 0;
    if (!read_digits(rest.substr(0, whole), value) || __builtin_mul_overflow(value, unit->ns, &value) ||
        __builtin_add_overflow(total, value, &total)) {
      return bad_duration(text, "it is too long");
    }
    int64_t scale = unit->ns;
    for (char digit : fraction) {
      if (digit == '0' && scale % 10 != 0) continue;  // trailing zeros beyond the nanosecond say nothing
      if (scale % 10 != 0) return bad_duration(text, "it is finer than a nanosecond");
      scale /= 10;
      if (__builtin_add_overflow(total, scale * (digit - '0'), &total)) return bad_duration(text, "it is too long");
    }
    rest.remove_prefix(end + unit->name.size());
  }
  return Duration{total};
}

namespace {

// value/scale with its fraction, without trailing zeros: 4449, 1000 -> "4.449".
std::string decimal(int64_t value, int64_t scale) {
  std::string out = std::to_string(value / scale);
  int64_t rest = value % scale;
  if (rest == 0) return out;
  out += '.';
  for (scale /= 10; rest != 0; scale /= 10) {
    out += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
  return out;
}

}  // namespace

std::string format_duration(Duration duration) {
  int64_t ns = duration.ns;
  if (ns < 0) return "-" + format_duration({saturating_sub(0, ns)});
  if (ns == 0) return "0s";
  if (ns < 1'000) return std::to_string(ns) + "ns";
  if (ns < 1'000'000) return decimal(ns, 1'000) + "us";
  if (ns < 1'000'000'000) return decimal(ns, 1'000'000) + "ms";
  std::string out;
  if (const int64_t hours = ns / kUnits[5].ns; hours > 0) out += std::to_string(hours) + "h";
  ns %= kUnits[5].ns;
  if (const int64_t minutes = ns / kUnits[4].ns; minutes > 0) out += std::to_string(minutes) + "m";
  ns %= kUnits[4].ns;
  if (ns > 0) out += decimal(ns, kUnits[3].ns) + "s";
  return out;
}

std::string format_seconds(Duration duration) {
  const bool negative = duration.ns < 0;
  const int64_t magnitude = negative ? saturating_sub(0, duration.ns) : duration.ns;
  const int64_t ms = magnitude / 1'000'000 + (magnitude % 1'000'000 >= 500'000 ? 1 : 0);
  std::string fraction = std::to_string(ms % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return (negative ? "-" : "") + std::to_string(ms / 1000) + "." + fraction + " s";
}

std::string format_offset(Time instant, Time origin) {
  const Duration offset = instant - origin;
  return (offset.ns < 0 ? "" : "+") + format_seconds(offset);
}

}  // namespace inquest
