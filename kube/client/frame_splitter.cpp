#include "kube/client/frame_splitter.h"

#include <algorithm>
#include <cstring>

namespace inquest::kube {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void FrameSplitter::add(std::string_view piece) {
  buffer_.erase(0, begin_);
  at_ -= begin_;
  string_ -= std::min(string_, begin_);
  begin_ = 0;
  buffer_.append(piece);
}

// True at the end of the object.
bool FrameSplitter::scan() {
  const char* const text = buffer_.data();
  const size_t size = buffer_.size();
  while (at_ < size) {
    if (in_string_) {
      const void* quote = std::memchr(text + at_, '"', size - at_);
      if (quote == nullptr) {
        at_ = size;
        return false;
      }
      const auto end = static_cast<size_t>(static_cast<const char*>(quote) - text);
      size_t slash = end;
      while (slash > string_ && text[slash - 1] == '\\') --slash;
      in_string_ = (end - slash) % 2 == 1;
      at_ = end + 1;
      continue;
    }
    const char c = text[at_++];
    if (c == '"') {
      in_string_ = true;
      string_ = at_;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      return true;
    }
  }
  return false;
}

SplitFrame FrameSplitter::take(SplitFrame::Kind kind, size_t size) {
  const std::string_view text(buffer_.data() + begin_, size);
  begin_ += size;
  at_ = std::max(at_, begin_);
  return {kind, text};
}

// Up to a line that begins with '{', or to the end of what is there.
SplitFrame FrameSplitter::garbage() {
  size_t end = begin_;
  do {
    const size_t line = buffer_.find('\n', end);
    end = line == std::string::npos ? buffer_.size() : line + 1;
  } while (end < buffer_.size() && buffer_[end] != '{');
  const SplitFrame out = take(SplitFrame::Kind::kGarbage, end - begin_);
  in_garbage_ = !out.text.ends_with('\n');
  return out;
}

SplitFrame FrameSplitter::next() {
  if (depth_ == 0) {
    if (in_garbage_ && begin_ < buffer_.size()) return garbage();
    while (begin_ < buffer_.size() && blank(buffer_[begin_])) ++begin_;
    at_ = begin_;
    if (begin_ == buffer_.size()) return {};
    if (buffer_[begin_] != '{') return garbage();
  }
  const bool whole = scan();
  const size_t size = at_ - begin_;
  if (passing_over_) {
    begin_ = at_;
    if (!whole) return {};
    passing_over_ = false;
    return next();
  }
  if (size > limit_) {
    passing_over_ = !whole;
    const SplitFrame first = take(SplitFrame::Kind::kTooLong, limit_);
    begin_ = at_;
    return first;
  }
  return whole ? take(SplitFrame::Kind::kObject, size) : SplitFrame{};
}

SplitFrame FrameSplitter::finish() {
  if (depth_ == 0 || passing_over_ || begin_ == buffer_.size()) return {};
  return take(SplitFrame::Kind::kCut, buffer_.size() - begin_);
}

}  // namespace inquest::kube
