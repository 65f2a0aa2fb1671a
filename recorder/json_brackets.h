// JsonBrackets: how deep one stands in a JSON text that comes byte by byte, with strings respected. What is between the
// brackets, and whether they match, is the decoder's to check; the depth of garbage may be below zero.
#pragma once

#include <cstdint>

namespace inquest::recorder {

class JsonBrackets {
 public:
  enum class Byte : uint8_t {
    kOpen,   // a bracket; depth() counts it
    kClose,  // a bracket; depth() counts it no more
    kStringBegin,
    kInString,
    kEscaped,  // in a string, behind a backslash
    kStringEnd,
    kOther,
  };
  Byte next(char c) {
    if (in_string_) return next_in_string(c);
    if (c == '"') {
      in_string_ = true;
      return Byte::kStringBegin;
    }
    if (c == '{' || c == '[') {
      ++depth_;
      return Byte::kOpen;
    }
    if (c == '}' || c == ']') {
      --depth_;
      return Byte::kClose;
    }
    return Byte::kOther;
  }
  int depth() const { return depth_; }

 private:
  Byte next_in_string(char c) {
    if (escaped_) {
      escaped_ = false;
      return Byte::kEscaped;
    }
    escaped_ = c == '\\';
    in_string_ = c != '"';
    return in_string_ ? Byte::kInString : Byte::kStringEnd;
  }

  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace inquest::recorder
