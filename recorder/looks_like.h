// What a file is that is no input: words for a person who named the wrong one.
//
// Nothing of the file is quoted but an HTML page's title and kubectl's own error line, both cut to 80 characters and
// cleaned: a file named by mistake may hold secrets.
#pragma once

#include <string>
#include <string_view>

#include "recorder/json_shape.h"

namespace inquest::recorder {

struct Looks {
  std::string what;  // "an HTML page titled '502 Bad Gateway'"
  std::string next;  // what to do about it
};

// From the first bytes alone: encodings, formats and damage that no line-wise reading should be tried on. `what` is
// empty if it may be lines of text.
Looks looks_like_bytes(std::string_view head);

// From the head and the shape of the first line, when that line is none of the known ones.
Looks looks_like_text(std::string_view head, const JsonShape& first);

// At most 80 characters, control characters and everything beyond ASCII as '?'.
std::string printable(std::string_view text);

}  // namespace inquest::recorder
