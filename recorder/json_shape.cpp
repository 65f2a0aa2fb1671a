#include "recorder/json_shape.h"

#include <cstring>

#include "base/json_text.h"

namespace inquest::recorder {
namespace {

constexpr size_t kShown = 64;

class Top {
 public:
  explicit Top(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  enum class End : uint8_t { kWhole, kOpen, kDamaged };

  // field(key, value) for each field of the object at the start; a value that is cut off is given as far as it goes.
  template <typename Field>
  End walk(Field&& field) {
    blanks();
    if (p_ == end_ || *p_ != '{') return End::kDamaged;
    ++p_;
    for (bool first = true;; first = false) {
      blanks();
      if (p_ == end_) return End::kOpen;
      if (*p_ == '}') return End::kWhole;
      if (!first) {
        if (*p_ != ',') return End::kDamaged;
        ++p_;
        blanks();
        if (p_ == end_) return End::kOpen;
      }
      if (*p_ != '"') return End::kDamaged;
      const char* close = end_of_string(p_ + 1, end_);
      if (close == nullptr) return End::kOpen;
      const std::string_view key(p_ + 1, static_cast<size_t>(close - p_ - 1));
      p_ = close + 1;
      blanks();
      if (p_ == end_) return End::kOpen;
      if (*p_ != ':') return End::kDamaged;
      ++p_;
      blanks();
      const char* begin = p_;
      const End end = skip();
      if (begin < p_) field(key, std::string_view(begin, static_cast<size_t>(p_ - begin)));
      if (end != End::kWhole) return end;
    }
  }

  // The elements of the array at the start.
  std::vector<std::string_view> elements() {
    std::vector<std::string_view> out;
    if (p_ == end_ || *p_ != '[') return out;
    ++p_;
    for (;;) {
      while (p_ < end_ && (std::strchr(" \t\r\n,", *p_) != nullptr && *p_ != '\0')) ++p_;
      if (p_ == end_ || *p_ == ']') return out;
      const char* begin = p_;
      if (skip() != End::kWhole) return out;
      out.emplace_back(begin, static_cast<size_t>(p_ - begin));
    }
  }

 private:
  void blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }

  End skip() {
    int depth = 0;
    do {
      if (p_ == end_) return End::kOpen;
      const char c = *p_;
      if (c == '"') {
        const char* close = end_of_string(p_ + 1, end_);
        p_ = close == nullptr ? end_ : close + 1;
        if (close == nullptr) return End::kOpen;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth < 0) return End::kDamaged;
      if (depth == 0 && c != '}' && c != ']') return scalar();
      ++p_;
    } while (depth > 0);
    return End::kWhole;
  }

  End scalar() {
    const char* begin = p_;
    while (p_ < end_ && (*p_ == '\0' || std::strchr(",}] \t\r\n", *p_) == nullptr)) ++p_;
    if (p_ == end_) return End::kOpen;
    return p_ > begin && std::strchr("-0123456789tfn", *begin) != nullptr ? End::kWhole : End::kDamaged;
  }

  const char* p_;
  const char* end_;
};

std::string text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return "";
  std::string out;
  unescape(value.substr(1, value.size() - 2).substr(0, kShown), out);
  return out;
}

}  // namespace

JsonShape shape_of(std::string_view text) {
  JsonShape out;
  const Top::End end = Top(text).walk([&](std::string_view key, std::string_view value) {
    if (key == "t") out.has_t = true;
    if (key == "stream") out.has_stream = true;
    if (key == "request") out.has_request = true;
    if (key == "scheduler") out.has_scheduler = true;
    if (key == "object") out.has_object = true;
    if (key == "items") out.has_items = true;
    if (key == "type") {
      out.has_type = true;
      out.type = text_of(value);
    }
    if (key == "kind") out.kind = text_of(value);
    if (key == "apiVersion") out.api_version = text_of(value);
  });
  out.object = end != Top::End::kDamaged;
  out.whole = end == Top::End::kWhole;
  return out;
}

size_t open_string(std::string_view text, std::string_view key) {
  std::string_view last_key, last;
  const Top::End end = Top(text).walk([&](std::string_view name, std::string_view value) {
    last_key = name;
    last = value;
  });
  if (end != Top::End::kOpen || last.empty() || last.front() != '"') return std::string_view::npos;
  const char* begin = last.data() + 1;
  if (end_of_string(begin, text.data() + text.size()) != nullptr) return std::string_view::npos;
  std::string name;
  unescape(last_key.substr(0, kShown), name);
  return name == key ? static_cast<size_t>(begin - text.data()) : std::string_view::npos;
}

bool ends_with_list(std::string_view kind) { return kind.size() >= 4 && kind.substr(kind.size() - 4) == "List"; }

std::string_view object_of(std::string_view frame) {
  std::string_view object;
  Top(frame).walk([&](std::string_view key, std::string_view value) {
    if (key == "object" && value.front() == '{') object = value;
  });
  return object;
}

std::string_view kind_of_object(std::string_view frame) {
  std::string_view kind;
  Top(object_of(frame)).walk([&](std::string_view key, std::string_view value) {
    if (key == "kind" && value.size() >= 2 && value.front() == '"') kind = value.substr(1, value.size() - 2);
  });
  return kind;
}

std::vector<std::string_view> items_of(std::string_view text) {
  std::string_view items;
  Top(text).walk([&](std::string_view key, std::string_view value) {
    if (key == "items") items = value;
  });
  return Top(items).elements();
}

}  // namespace inquest::recorder
