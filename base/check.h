// INQUEST_CHECK(condition, values...): a bug, not an expected failure. Stays on in release, prints the values, aborts.
#pragma once

#include <sstream>
#include <string>

namespace inquest {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& values);

namespace internal {
template <typename... Values>
std::string values_to_string(const Values&... values) {
  std::ostringstream out;
  const char* separator = "";
  ((out << separator << values, separator = ", "), ...);
  return out.str();
}
}  // namespace internal

// The values are evaluated only when the check fails.
#define INQUEST_CHECK(condition, ...) \
  ((condition)                        \
       ? static_cast<void>(0)         \
       : ::inquest::check_failed(__FILE__, __LINE__, #condition, ::inquest::internal::values_to_string(__VA_ARGS__)))

}  // namespace inquest
