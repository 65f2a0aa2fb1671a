// Strings of JSON text, byte by byte: where one ends, what it says, how it is written. For those places that need the
// very bytes, which a parser does not keep. Nothing here fails: what is no escape is taken as it stands.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace inquest {

// `p` stands behind the opening quote; the closing quote, or nullptr if there is none before `end`. Most strings are
// short: eight bytes at once, and no call. `escaped`: whether a backslash stands in it.
inline const char* end_of_string(const char* p, const char* end, bool& escaped) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = kOnes * 0x80;
  const auto is = [](uint64_t bytes, char c) {  // the high bit of each that is c; above the first, of others too
    const uint64_t x = bytes ^ (kOnes * static_cast<unsigned char>(c));
    return (x - kOnes) & ~x & kHighs;
  };
  escaped = false;
  while (p < end) {
    if (std::endian::native == std::endian::little && end - p >= 8) {
      uint64_t bytes;
      std::memcpy(&bytes, p, sizeof bytes);
      const uint64_t found = is(bytes, '"') | is(bytes, '\\');
      p += found == 0 ? 8 : std::countr_zero(found) / 8;
      if (found == 0) continue;
    }
    if (*p == '"') return p;
    const bool escape = *p == '\\';
    escaped = escaped || escape;
    p += escape && end - p > 1 ? 2 : 1;
  }
  return nullptr;
}
inline const char* end_of_string(const char* p, const char* end) {
  bool escaped = false;
  return end_of_string(p, end, escaped);
}

// Appends what the text between two quotes says, as UTF-8. A lone surrogate becomes U+FFFD.
void unescape(std::string_view text, std::string& out);

// Ways to write a string, all of them met in practice.
enum class Escapes : uint8_t {
  kShort,  // the shortest: \" \\ \b \f \n \r \t, \u001b for other control characters
  kHtml,   // as Go's json.Marshal: besides, \u003c \u003e \u0026 \u2028 \u2029, and \u0008 \u000c
  kAscii,  // as Python's json.dumps: besides, \u00e9 for everything beyond ASCII; \u007f stays
  kSlash,  // as PHP's: kAscii, and \/ for /
};
inline constexpr int kEscapeStyles = 4;

// Appends the string's text, without the quotes.
void escape(std::string_view value, Escapes style, std::string& out);

// Whether the text is a number, true or false as JSON writes them. null is not asked for.
bool is_json_scalar(std::string_view text);

// Whether `written`, which says `value`, is what escape(value, kShort) gives. Quick: decided by lengths.
bool is_short(std::string_view written, std::string_view value);

}  // namespace inquest
