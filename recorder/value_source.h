// ValueSource: JSON values one behind the other, whatever stands between them (line ends, blanks, commas, nothing):
// raw watch frames, what `kubectl get -w -o json` prints, batches of audit events.
//
// Only the ends of values are looked for, by their brackets and with strings respected; what is inside is the
// decoder's to check. A value that cannot be whole (a line end inside a string, a new value at the start of a line
// inside an unfinished one, text between values) is passed over up to the next line that begins with '{': kDamaged
// says how many bytes. One larger than the limit is passed over as well: kTooLong. Memory is bounded by the limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recorder/json_brackets.h"
#include "recorder/line_source.h"

namespace inquest::recorder {

class ValueSource {
 public:
  // `lines` gives the bytes; nothing else may be read from it meanwhile.
  ValueSource(LineSource& lines, size_t max_value) : lines_(&lines), max_(max_value) {}

  // Who reads values larger than the limit, if it wants to.
  void set_long_reader(LongReader* reader) { long_reader_ = reader; }

  // Line::number is that of the value's first line; Line::text may hold line ends.
  Line next();

 private:
  enum class Found : uint8_t { kValue, kDamage, kMore };
  bool fill();
  bool starts_anew(const char* text) const;
  Found scan(size_t& length);
  Line damaged(std::string why);
  Line too_long();
  void consume(size_t size);

  LineSource* lines_;
  LongReader* long_reader_ = nullptr;
  size_t max_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t number_ = 1;  // of the line at begin_
  bool ended_ = false, told_ = false;
  // The state of the scan of the value at begin_, which goes on where it stopped.
  size_t scanned_ = 0;
  JsonBrackets brackets_;
  char last_ = 0;  // the last character that is no blank
};

}  // namespace inquest::recorder
