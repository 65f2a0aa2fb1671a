// LineSource: the lines of a file, one at a time, in bounded memory.
//
// Lines end at the byte '\n'; a '\r' before it and a UTF-8 byte order mark at the start are taken off, blank lines are
// passed over (and counted). A line longer than kMaxLine is not kept: it is reported and the next one is read; one
// longer than kMaxSkip ends the reading. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recorder/byte_source.h"
#include "recorder/long_reader.h"

namespace inquest::recorder {

inline constexpr size_t kMaxLine = size_t{8} << 20;  // a frame or an audit event; larger LISTs are read in pieces
inline constexpr uint64_t kMaxSkip = uint64_t{1} << 30;
inline constexpr size_t kLinePadding = 64;  // readable bytes behind every line, which the JSON parser wants

struct Line {
  enum class Kind : uint8_t {
    kText,     // a line
    kTooLong,  // one that was passed over; why says how long it is
    kLong,     // one that was too long and was read by the LongReader
    kSkipped,  // bytes that are no whole value were passed over (ValueSource)
    kDamaged,  // nothing more can be read; why says why; kEnd follows
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string_view text;   // valid until the next call
  uint64_t number = 0;     // from 1
  bool terminated = true;  // false: the file ends without a '\n' here
  std::string why;
};

class LineSource {
 public:
  static constexpr size_t kHead = size_t{64} << 10;

  static Result<LineSource> open(const std::string& path, size_t max_line = kMaxLine);

  Line next();

  // The first bytes (at most 64 KiB) of the text, before any line was taken.
  std::string_view head();  // kHead bytes, or all there are
  // The text as it is, from where the last line ended; 0 at the end. Not to be mixed with lines that follow.
  size_t read_raw(char* to, size_t size);
  // Why nothing more could be read, after the end; else empty.
  const std::string& damage() const { return source_->damage(); }
  // Who reads lines longer than max_line, if it wants to.
  void set_long_reader(LongReader* reader) { long_reader_ = reader; }
  const std::string& path() const { return path_; }
  // "path:number"
  std::string place(uint64_t number) const { return path_ + ":" + std::to_string(number); }
  uint64_t bytes() const { return bytes_; }

 private:
  LineSource(std::string path, std::unique_ptr<ByteSource> source, size_t max_line);
  void start();
  bool fill();
  Line take(size_t end, size_t next, bool terminated);
  Line skip_long();
  Line finish();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  size_t max_line_;
  LongReader* long_reader_ = nullptr;
  std::vector<char> buffer_;  // [begin_, end_) is text not yet given out
  size_t begin_ = 0, scanned_ = 0, end_ = 0;
  uint64_t number_ = 0, bytes_ = 0;
  bool started_ = false, ended_ = false, damage_told_ = false;
};

}  // namespace inquest::recorder
