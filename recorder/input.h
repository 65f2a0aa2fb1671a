// Input: one file to import, told apart by what it holds, at its first line.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "recorder/line_parser.h"
#include "recorder/line_source.h"
#include "recorder/losses.h"

namespace inquest::recorder {

enum class InputKind : uint8_t { kCapture, kBindLog, kAudit };

// A path without its folders; and that without the endings of lines and compression ("race.binds").
std::string file_name(const std::string& path);
std::string stem(const std::string& path);

class Input {
 public:
  // Errors name the file (and line 1) and what it looks like: missing, empty, HTML, UTF-16, binary, a Table, …
  static Result<Input> open(const std::string& path);

  InputKind kind() const { return kind_; }
  const std::string& path() const { return source_.path(); }
  std::string name() const { return file_name(source_.path()); }
  LineParser& parser() { return parser_; }

  // The next line of text; whatever could not be read on the way is told to `losses`. Nothing at the end.
  std::optional<Line> next(Losses& losses);
  // A line that turned out to be useless.
  void lose(const Line& line, const std::string& text, Losses& losses, Losses::Kept kept = Losses::Kept::kNo);
  // An error if the input had lines and none of them could be used.
  Result<void> check_useful() const;
  void used() { ++used_; }

 private:
  explicit Input(LineSource source) : source_(std::move(source)) {}

  LineSource source_;
  LineParser parser_;
  InputKind kind_ = InputKind::kCapture;
  std::optional<Line> first_;
  uint64_t used_ = 0, lost_ = 0;
  std::string first_loss_;
};

}  // namespace inquest::recorder
