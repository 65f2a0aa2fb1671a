// JsonWriter: writes one JSON document, in the order it is told, two spaces a level.
//
// Integers stay exact (never a floating point number); text is escaped so that any bytes make valid JSON: what is no
// UTF-8 becomes U+FFFD, control characters \u001b. Calls that make no document (a value where a key is due) are bugs.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace inquest::report {

// Of every document that the command line writes; raised when a field changes its meaning or goes away.
inline constexpr int kSchemaVersion = 1;

class JsonWriter {
 public:
  // Starts the document's object: {"schema_version": 1, "verb": verb, …
  explicit JsonWriter(std::string_view verb);

  JsonWriter& key(std::string_view name);
  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::same_as<bool> auto truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
    return raw(std::to_string(number));
  }
  // A text that comes in pieces, each of whole characters.
  JsonWriter& begin_text();
  JsonWriter& more_text(std::string_view piece);
  JsonWriter& end_text();
  JsonWriter& null() { return raw("null"); }

  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }
  // An instant: {"time": RFC 3339, "ns": since the epoch, "offset_ns": since `origin`}.
  JsonWriter& instant(std::string_view name, Time time, Time origin) {
    key(name);
    return instant(time, origin);
  }
  JsonWriter& instant(Time time, Time origin);
  JsonWriter& nothing(std::string_view name) {
    key(name);
    return null();
  }

  // What has been written since the last call, so that a long document need not stand in memory.
  size_t size() const { return out_.size(); }
  std::string take() { return std::exchange(out_, {}); }

  // Ends the document and returns what was not taken; the writer is used up.
  std::string finish();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);
  void escape(std::string_view text);

  struct Level {
    char close;
    bool empty = true;
  };
  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace inquest::report
