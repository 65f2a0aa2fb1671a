#include "recorder/value_source.h"

#include <algorithm>
#include <cstring>

namespace inquest::recorder {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

bool blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

bool ValueSource::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunk / 2 + kLinePadding) {
    buffer_.resize(std::max(buffer_.size() + buffer_.size() / 2, kChunk + kLinePadding));
  }
  const size_t got = lines_->read_raw(buffer_.data() + end_, buffer_.size() - kLinePadding - end_);
  end_ += got;
  ended_ = got == 0;
  return got > 0;
}

void ValueSource::consume(size_t size) {
  number_ += static_cast<uint64_t>(std::count(buffer_.data() + begin_, buffer_.data() + begin_ + size, '\n'));
  begin_ += size;
  scanned_ = 0;
  brackets_ = {};
  last_ = 0;
}

// Whether the bracket at scanned_, at the start of a line, opens a value where an unfinished one cannot go on with it.
bool ValueSource::starts_anew(const char* text) const {
  const bool at_start = scanned_ > 0 && text[scanned_ - 1] == '\n';
  return at_start && brackets_.depth() > 1 && last_ != ',' && last_ != '[' && last_ != ':';
}

// Looks for the end of the value at begin_ in what has been read.
ValueSource::Found ValueSource::scan(size_t& length) {
  const char* text = buffer_.data() + begin_;
  const size_t size = end_ - begin_;
  for (; scanned_ < size; ++scanned_) {
    const char c = text[scanned_];
    switch (brackets_.next(c)) {
      case JsonBrackets::Byte::kInString:
        if (c == '\n') return Found::kDamage;
        [[fallthrough]];
      case JsonBrackets::Byte::kEscaped:
      case JsonBrackets::Byte::kStringEnd:
        continue;
      case JsonBrackets::Byte::kOpen:
        if (c == '{' && starts_anew(text)) return Found::kDamage;
        break;
      case JsonBrackets::Byte::kClose:
        if (brackets_.depth() != 0) break;
        length = scanned_ + 1;
        return Found::kValue;
      case JsonBrackets::Byte::kStringBegin:
      case JsonBrackets::Byte::kOther:
        break;
    }
    if (!blank(c)) last_ = c;
  }
  return Found::kMore;
}

// From begin_ to the next line that begins with '{'.
Line ValueSource::damaged(std::string why) {
  Line line;
  line.kind = Line::Kind::kSkipped;
  line.number = number_;
  uint64_t skipped = 0;
  const auto skip = [&](size_t size) {
    consume(size);
    skipped += size;
  };
  if (begin_ == end_) fill();
  skip(std::min<size_t>(1, end_ - begin_));
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    if (const size_t at = rest.find("\n{"); at != std::string_view::npos) {
      skip(at + 1);
      break;
    }
    skip(rest.size() - (rest.empty() || rest.back() != '\n' ? 0 : 1));  // a line end may be followed by one
    if (!fill()) {
      skip(end_ - begin_);
      break;
    }
  }
  line.why = std::to_string(skipped) + " bytes passed over: " + std::move(why);
  return line;
}

// The value at begin_ is read to its end and not kept.
Line ValueSource::too_long() {
  Line line;
  line.kind = Line::Kind::kTooLong;
  line.number = number_;
  uint64_t length = 0;
  const bool wanted = long_reader_ != nullptr && long_reader_->begin({buffer_.data() + begin_, end_ - begin_});
  const auto pass = [&](size_t size) {
    if (wanted) long_reader_->more({buffer_.data() + begin_, size});
    length += size;
  };
  for (;;) {
    size_t size = 0;
    const Found found = scan(size);
    if (found == Found::kValue) {
      pass(size);
      consume(size);
      break;
    }
    if (found == Found::kDamage) return damaged("a value that is no JSON");
    // Forget what was scanned, but not the state.
    pass(scanned_);
    number_ += static_cast<uint64_t>(std::count(buffer_.data() + begin_, buffer_.data() + begin_ + scanned_, '\n'));
    begin_ += scanned_;
    scanned_ = 0;
    if (!fill()) break;
  }
  if (wanted) {
    long_reader_->end();
    line.kind = Line::Kind::kLong;
    return line;
  }
  line.why = "a value of " + std::to_string(length) + " bytes; at most " + std::to_string(max_) + " are read";
  return line;
}

Line ValueSource::next() {
  for (;;) {
    while (begin_ < end_ && scanned_ == 0 && (blank(buffer_[begin_]) || buffer_[begin_] == ',')) consume(1);
    if (begin_ == end_) {
      if (fill()) continue;
      Line line;
      line.number = number_;
      if (lines_->damage().empty() || told_) return line;
      told_ = true;
      line.kind = Line::Kind::kDamaged;
      line.why = lines_->damage();
      return line;
    }
    if (buffer_[begin_] != '{') return damaged("not the start of a JSON object");
    size_t length = 0;
    const Found found = scan(length);
    if (found == Found::kDamage) return damaged("a JSON object that breaks off");
    if (found == Found::kValue && length <= max_) {
      Line line;
      line.kind = Line::Kind::kText;
      line.number = number_;
      line.text = {buffer_.data() + begin_, length};
      consume(length);
      return line;
    }
    if (end_ - begin_ > max_) return too_long();
    if (!fill()) return damaged("a JSON object that is cut off");
  }
}

}  // namespace inquest::recorder
