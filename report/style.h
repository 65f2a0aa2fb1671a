// Style: which words of a report stand out on a terminal. Without colour the text is the same, byte for byte.
#pragma once

#include <string>
#include <string_view>

namespace inquest::report {

enum class Colour { kOff, kOn };

class Style {
 public:
  explicit Style(Colour colour) : on_(colour == Colour::kOn) {}

  std::string strong(std::string_view text) const { return wrap("1", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string bad(std::string_view text) const { return wrap("1;31", text); }
  std::string unsure(std::string_view text) const { return wrap("33", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!on_) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool on_;
};

}  // namespace inquest::report
