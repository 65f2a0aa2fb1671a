// YAML documents, as `kubectl get -o yaml` prints them: one from the next, and each as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recorder/line_source.h"

namespace inquest::recorder {

inline constexpr size_t kMaxYaml = size_t{32} << 20;  // of one document

// One document as compact JSON; empty if it holds nothing. Plain scalars that JSON has, too (numbers, true, false,
// null) stay what they are, all others are strings. Errors name the line (`first_line` is the document's): no YAML, a
// key given twice, anchors and aliases (small input, endless output), more than 200 levels. No text of it is quoted.
Result<std::string> yaml_to_json(std::string_view document, uint64_t first_line);

// The documents of a text, byte for byte as they stand between the lines of three dashes. A larger one than kMaxYaml is
// passed over (kTooLong).
class YamlSource {
 public:
  explicit YamlSource(LineSource& lines) : lines_(&lines) {}
  Line next();

 private:
  bool fill();

  LineSource* lines_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t number_ = 1;
  bool ended_ = false, told_ = false, skipping_ = false;
};

}  // namespace inquest::recorder
