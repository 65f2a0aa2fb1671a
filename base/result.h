// Result<T>: a value, or an Error that a person can act on.
//
// Expected failures (bad input, a full disk, a newer trace) are values of this type; bugs are INQUEST_CHECKs (check.h).
// Exceptions of a library end at the adapter that calls the library and become an Error there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace inquest {

// What kind of failure it is; the command line turns it into an exit code (cli/exit_code.h).
enum class ErrorCode {
  kInput,       // what was given cannot be read or makes no sense
  kUsage,       // the command or an option is wrong
  kIo,          // the operating system said no
  kCorrupt,     // a trace fails its own checksums
  kNewer,       // the trace was made by a newer version
  kOutOfLimit,  // a limit of ours was met (size, depth, count)
};

struct Error {
  ErrorCode code = ErrorCode::kInput;
  std::string text;   // what is wrong, in one clause; never a secret
  std::string place;  // where: "file:line", "record @43", "field spec.nodeName"; may be empty
  std::string next;   // what to do about it; may be empty

  // "place: text (next)", on one line.
  std::string message() const {
    std::string out = place.empty() ? text : place + ": " + text;
    if (!next.empty()) out += " (" + next + ")";
    return out;
  }
};

// Holds a T or an Error. Reading the wrong one is a bug and ends the process.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    INQUEST_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    INQUEST_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  T&& value() && {
    INQUEST_CHECK(ok(), error_text());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    INQUEST_CHECK(!ok(), "error() of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  std::string error_text() const { return ok() ? "" : std::get<1>(state_).message(); }
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    INQUEST_CHECK(error_.has_value(), "error() of a Result that holds no error");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// INQUEST_TRY(auto x, f());  x is f()'s value, or the caller returns f()'s error.
#define INQUEST_TRY(declaration, ...) INQUEST_TRY_AT(INQUEST_JOIN(result_at_, __LINE__), declaration, __VA_ARGS__)
#define INQUEST_TRY_AT(name, declaration, ...) \
  auto name = (__VA_ARGS__);                   \
  if (!name.ok()) return name.error();         \
  declaration = *std::move(name)
// INQUEST_TRY_VOID(f());  the caller returns f()'s error, if it has one.
#define INQUEST_TRY_VOID(...)                                                \
  do {                                                                       \
    if (auto result_ = (__VA_ARGS__); !result_.ok()) return result_.error(); \
  } while (false)
#define INQUEST_JOIN(a, b) INQUEST_JOIN_(a, b)
#define INQUEST_JOIN_(a, b) a##b

}  // namespace inquest
