#include "reflector/object.h"

#include <charconv>

namespace inquest::reflector {

Rv Rv::parse(std::string_view text, Catalog& catalog) {
  if (text.empty()) return {};
  if (text == "0") return any();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text.front() != '0' && value < kTag ? number(value) : Rv::text(catalog.string(text));
}

std::string Rv::to_string(const Catalog& catalog) const {
  if (!set()) return "";
  if (is_any()) return "0";
  if (bits_ < kTag) return std::to_string(bits_);
  return std::string(catalog.text(StringId{static_cast<uint32_t>(bits_ - kTag - 1)}));
}

}  // namespace inquest::reflector
