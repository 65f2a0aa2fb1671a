// Strings of JSON text, byte by byte: where one ends, what it says, how it is written. For those places that need the
// very bytes, which a parser does not keep. Nothing here fails: what is no escape is taken as it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inquest {

// `p` stands behind the opening quote; the closing quote, or nullptr if there is none before `end`.
const char* end_of_string(const char* p, const char* end);

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
