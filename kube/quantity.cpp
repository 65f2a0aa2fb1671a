#include "kube/quantity.h"

#include <array>
#include <limits>
#include <string>

namespace inquest::kube {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): __extension__ needs a declaration

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr Wide kNano = 1'000'000'000;
constexpr Wide kNanoLimit = kMax * kNano;  // beyond it both units are clamped, whatever the exact value

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// A suffix is a power of two or of ten.
struct Scale {
  int twos = 0;
  int64_t tens = 0;
};

// "e-3", "E+6": the exponent, clamped to what can still matter for a text of sane length.
std::optional<Scale> parse_exponent(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    // Upstream reads 64 bits and refuses more.
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value)) {
      return std::nullopt;
    }
  }
  constexpr int64_t kClamp = int64_t{1} << 60;
  if (value > kClamp) value = kClamp;
  return Scale{0, negative ? -value : value};
}

std::optional<Scale> parse_suffix(std::string_view suffix) {
  struct Named {
    std::string_view name;
    Scale scale;
  };
  constexpr std::array<Named, 16> kNamed = {{{"", {0, 0}},
                                             {"m", {0, -3}},
                                             {"Mi", {20, 0}},
                                             {"Gi", {30, 0}},
                                             {"Ki", {10, 0}},
                                             {"k", {0, 3}},
                                             {"M", {0, 6}},
                                             {"G", {0, 9}},
                                             {"T", {0, 12}},
                                             {"P", {0, 15}},
                                             {"E", {0, 18}},
                                             {"Ti", {40, 0}},
                                             {"Pi", {50, 0}},
                                             {"Ei", {60, 0}},
                                             {"n", {0, -9}},
                                             {"u", {0, -6}}}};
  for (const Named& named : kNamed) {
    if (named.name == suffix) return named.scale;
  }
  // "1E" is exa, "1E3" an exponent.
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) return parse_exponent(suffix.substr(1));
  return std::nullopt;
}

// whole.fraction × 10^tens in nano-units, rounded up; kNanoLimit if it is more.
Wide decimal_nano(std::string_view whole, std::string_view fraction, int64_t tens) {
  const size_t count = whole.size() + fraction.size();
  const auto digit = [&](size_t i) { return i < whole.size() ? whole[i] : fraction[i - whole.size()]; };
  size_t first = 0;
  while (first < count && digit(first) == '0') ++first;
  if (first == count) return 0;
  // So many digits, from `first` on, stand before the nano-unit's point.
  const int64_t keep = static_cast<int64_t>(whole.size()) - static_cast<int64_t>(first) + tens + 9;
  if (keep > 28) return kNanoLimit;  // at least 10^19 units
  Wide nano = 0;
  size_t i = first;
  for (int64_t k = 0; k < keep; ++k, ++i) nano = nano * 10 + (i < count ? digit(i) - '0' : 0);
  for (; i < count; ++i) {
    if (digit(i) != '0') return nano + 1;
  }
  return nano;
}

// whole.fraction × 2^twos, likewise. The fraction is doubled digit by digit, so that nothing is lost.
Wide binary_nano(std::string_view whole, std::string_view fraction, int twos) {
  Wide units = 0;
  for (const char c : whole) {
    units = units * 10 + (c - '0');
    if (units > kMax) return kNanoLimit;
  }
  std::string rest(fraction);
  for (int i = 0; i < twos; ++i) {
    int carry = 0;
    for (size_t k = rest.size(); k-- > 0;) {
      const int doubled = (rest[k] - '0') * 2 + carry;
      carry = doubled >= 10 ? 1 : 0;
      rest[k] = static_cast<char>('0' + doubled % 10);
    }
    units = units * 2 + carry;
  }
  if (units > kMax) return kNanoLimit;
  return units * kNano + decimal_nano("", rest, 0);
}

int64_t round_up(Wide nano, Wide unit) {
  const Wide rounded = nano / unit + (nano % unit != 0 ? 1 : 0);
  return rounded > kMax ? kMax : static_cast<int64_t>(rounded);
}

}  // namespace

std::optional<Quantity> parse_quantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  const std::optional<Scale> scale = parse_suffix(text);
  if (!scale) return std::nullopt;
  const Wide nano =
      scale->twos > 0 ? binary_nano(whole, fraction, scale->twos) : decimal_nano(whole, fraction, scale->tens);
  const int64_t value = round_up(nano, kNano);
  const int64_t milli = round_up(nano, 1'000'000);
  return negative ? Quantity{-value, -milli} : Quantity{value, milli};
}

}  // namespace inquest::kube
