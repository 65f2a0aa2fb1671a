// Input: one file to import, told apart by what it holds, at its first line.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "recorder/line_parser.h"
#include "recorder/line_source.h"
#include "recorder/losses.h"
#include "recorder/value_source.h"
#include "recorder/yaml_json.h"

namespace inquest::recorder {

enum class InputKind : uint8_t {
  kCapture,
  kBindLog,
  kAudit,
  kFrames,   // watch frames without times
  kObjects,  // objects and lists, as kubectl prints them
  kYaml,     // the same as YAML documents
};
constexpr bool holds_binds(InputKind kind) { return kind == InputKind::kBindLog || kind == InputKind::kAudit; }

// A path without its folders; and that without the endings of lines and compression ("race.binds").
std::string file_name(const std::string& path);
std::string stem(const std::string& path);

class Input {
 public:
  // Errors name the file (and line 1) and what it looks like: missing, empty, HTML, UTF-16, binary, a Table, …
  static Result<Input> open(const std::string& path);

  InputKind kind() const { return kind_; }
  const std::string& path() const { return source_->path(); }
  // For people and for the trace: the file's name without folders; another name if that is taken.
  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  LineParser& parser() { return parser_; }

  // The next line, value or document; whatever could not be read on the way is told to `losses`. Nothing at the end.
  std::optional<Line> next(Losses& losses);
  // A line that turned out to be useless.
  void lose(const Line& line, const std::string& text, Losses& losses, Losses::Kept kept = Losses::Kept::kNo);
  // An error if the input had lines and none of them could be used.
  Result<void> check_useful() const;
  // Who reads LISTs that are longer than a line; next() then gives them as Line::Kind::kLong.
  void read_long(LongReader& reader) {
    source_->set_long_reader(&reader);
    if (values_ != nullptr) values_->set_long_reader(&reader);
  }
  std::string place(const Line& line) const { return source_->place(line.number); }
  void used() { ++used_; }
  uint64_t lost() const { return lost_; }

 private:
  explicit Input(LineSource source) : source_(std::make_unique<LineSource>(std::move(source))) {}
  Result<InputKind> recognise(const std::string& head);
  Line next_line();

  std::unique_ptr<LineSource> source_;     // at an address that moving does not change
  std::unique_ptr<ValueSource> values_;    // of kFrames, kObjects and batches of an audit log
  std::unique_ptr<YamlSource> documents_;  // of kYaml
  std::string name_;
  LineParser parser_;
  InputKind kind_ = InputKind::kCapture;
  uint64_t used_ = 0, lost_ = 0;
  std::string first_loss_;
};

}  // namespace inquest::recorder
