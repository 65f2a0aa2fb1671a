#include "recorder/line_source.h"

#include <algorithm>
#include <cstring>

namespace inquest::recorder {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

Result<LineSource> LineSource::open(const std::string& path, size_t max_line) {
  INQUEST_TRY(auto source, ByteSource::open(path));
  return LineSource(path, std::move(source), max_line);
}

LineSource::LineSource(std::string path, std::unique_ptr<ByteSource> source, size_t max_line)
    : path_(std::move(path)), source_(std::move(source)), max_line_(max_line) {}

// Reads more behind end_; false at the end of the file.
bool LineSource::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunk / 2 + kLinePadding) {
    buffer_.resize(std::max(buffer_.size() * 2, kChunk + kLinePadding));
  }
  const size_t got = source_->read(buffer_.data() + end_, buffer_.size() - kLinePadding - end_);
  end_ += got;
  bytes_ += got;
  ended_ = got == 0;
  return got > 0;
}

std::string_view LineSource::head() {
  while (end_ - begin_ < kHead && fill()) {
  }
  return {buffer_.data() + begin_, std::min(kHead, end_ - begin_)};
}

Line LineSource::take(size_t end, size_t next, bool terminated) {
  std::string_view text(buffer_.data() + begin_, end - begin_);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  begin_ = scanned_ = next;
  Line line;
  line.kind = Line::Kind::kText;
  line.text = text;
  line.number = ++number_;
  line.terminated = terminated;
  return line;
}

void LineSource::start() {
  if (started_) return;
  started_ = true;
  head();
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (std::string_view(buffer_.data(), end_).substr(0, kMark.size()) == kMark) begin_ = scanned_ = kMark.size();
}

size_t LineSource::read_raw(char* to, size_t size) {
  start();
  if (begin_ == end_ && !fill()) return 0;
  const size_t got = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, got);
  begin_ += got;
  scanned_ = std::max(scanned_, begin_);
  return got;
}

Line LineSource::next() {
  start();
  for (;;) {
    const void* found = end_ > scanned_ ? std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_) : nullptr;
    if (found != nullptr) {
      const auto at = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      if (at - begin_ > max_line_) return skip_long();
      Line line = take(at, at + 1, true);
      if (blank(line.text)) continue;
      return line;
    }
    scanned_ = end_;
    if (end_ - begin_ > max_line_) return skip_long();
    if (!fill()) return finish();
  }
}

// At a line that is too long: passes over it without keeping it.
Line LineSource::skip_long() {
  Line line;
  line.kind = Line::Kind::kTooLong;
  line.number = ++number_;
  uint64_t length = 0;
  const bool wanted = long_reader_ != nullptr && long_reader_->begin({buffer_.data() + begin_, end_ - begin_});
  const auto pass = [&](size_t end, size_t next) {
    if (wanted) long_reader_->more({buffer_.data() + begin_, end - begin_});
    length += end - begin_;
    begin_ = scanned_ = next;
  };
  for (;;) {
    const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      const auto at = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      pass(at, at + 1);
      break;
    }
    pass(end_, end_);
    if (length > kMaxSkip) {
      ended_ = true;
      line.why = "a line longer than 1 GiB; the rest of the file is not read";
      return line;
    }
    if (!fill()) break;
  }
  if (wanted) {
    long_reader_->end();
    line.kind = Line::Kind::kLong;
    return line;
  }
  line.why = "a line of " + std::to_string(length) + " bytes; at most " + std::to_string(max_line_) + " are read";
  return line;
}

Line LineSource::finish() {
  Line line;
  line.number = number_;
  const size_t rest = end_ - begin_;
  if (!source_->damage().empty()) {
    if (damage_told_) return line;
    damage_told_ = true;
    line.kind = Line::Kind::kDamaged;
    line.number = number_ + 1;
    line.why = source_->damage();
    if (rest > 0) line.why += "; an unfinished line of " + std::to_string(rest) + " bytes is lost";
    begin_ = scanned_ = end_;
    return line;
  }
  if (rest == 0) return line;
  Line last = take(end_, end_, false);
  if (!blank(last.text)) return last;
  return line;
}

}  // namespace inquest::recorder
