#include "base/rfc3339.h"

#include <chrono>
#include <cstdio>

namespace inquest {
namespace {

// Reads exactly `width` digits at the front of `text`; -1 if they are not there.
int take_number(std::string_view& text, size_t width) {
  if (text.size() < width) return -1;
  int value = 0;
  for (size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(width);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// ".569291" -> 569291000; digits beyond the ninth are cut. False if a dot stands without a digit.
bool take_fraction(std::string_view& text, int64_t& ns) {
  ns = 0;
  if (!take(text, '.')) return true;
  int64_t scale = 100'000'000;
  size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    ns += scale * (text.front() - '0');
    scale /= 10;
  }
  return digits > 0;
}

// "Z" or "+hh:mm", in seconds east of UTC.
bool take_zone(std::string_view& text, int64_t& seconds) {
  seconds = 0;
  if (take(text, 'Z') || take(text, 'z')) return true;
  const bool west = !text.empty() && text.front() == '-';
  if (!west && (text.empty() || text.front() != '+')) return false;
  text.remove_prefix(1);
  const int hours = take_number(text, 2);
  if (hours < 0 || hours > 23 || !take(text, ':')) return false;
  const int minutes = take_number(text, 2);
  if (minutes < 0 || minutes > 59) return false;
  seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
  return true;
}

}  // namespace

std::optional<Time> parse_rfc3339(std::string_view text) {
  const int year = take_number(text, 4);
  if (year < 1678 || year > 2261 || !take(text, '-')) return std::nullopt;
  const int month = take_number(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return std::nullopt;
  const int day = take_number(text, 2);
  if (day < 1 || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const int hour = take_number(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return std::nullopt;
  const int minute = take_number(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ':')) return std::nullopt;
  const int second = take_number(text, 2);
  if (second < 0 || second > 60) return std::nullopt;
  int64_t ns = 0;
  int64_t zone = 0;
  if (!take_fraction(text, ns) || !take_zone(text, zone) || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Time{(days * 86'400 + hour * 3'600 + minute * 60 + second - zone) * 1'000'000'000 + ns};
}

std::string format_rfc3339(Time time) {
  int64_t seconds = time.ns / 1'000'000'000;
  int64_t ns = time.ns % 1'000'000'000;
  if (ns < 0) ns += 1'000'000'000, --seconds;
  int64_t days = seconds / 86'400;
  int64_t rest = seconds % 86'400;
  if (rest < 0) rest += 86'400, --days;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(rest / 3600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  std::string out = text;
  if (ns != 0) {
    std::snprintf(text, sizeof text, ".%09d", static_cast<int>(ns));
    out += text;
    out.erase(out.find_last_not_of('0') + 1);
  }
  return out + "Z";
}

}  // namespace inquest
