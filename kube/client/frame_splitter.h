// FrameSplitter: the bytes of a watch → its frames, wherever the pieces are cut. A server writes one JSON object a
// line; objects back to back or over several lines are read as well (kubernetes-facts 7.1).
//
// Only the ends of objects are looked for, by their brackets and with strings respected; what is inside is the
// decoder's to check. What is no object is handed out up to the next line that begins with '{'. Memory is bounded by
// the limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inquest::kube {

inline constexpr size_t kMaxFrame = size_t{8} << 20;

struct SplitFrame {
  enum class Kind : uint8_t {
    kNone,  // more bytes are needed
    kObject,
    kGarbage,  // no object: an HTML page, text
    kTooLong,  // an object larger than the limit: its first bytes; the rest is passed over
    kCut,      // at the end of the stream: an object that is not whole
  };
  Kind kind = Kind::kNone;
  std::string_view text;  // until the next call
};

class FrameSplitter {
 public:
  explicit FrameSplitter(size_t limit = kMaxFrame) : limit_(limit) {}

  void add(std::string_view piece);
  SplitFrame next();
  SplitFrame finish();  // the stream has ended and next() has nothing more

 private:
  bool scan();  // on to the end of the object at begin_
  SplitFrame take(SplitFrame::Kind kind, size_t size);
  SplitFrame garbage();

  size_t limit_;
  std::string buffer_;
  size_t begin_ = 0;   // what is handed out ends here
  size_t at_ = 0;      // what is scanned ends here
  size_t string_ = 0;  // where the open string began
  int depth_ = 0;
  bool in_string_ = false, passing_over_ = false, in_garbage_ = false;
};

}  // namespace inquest::kube
