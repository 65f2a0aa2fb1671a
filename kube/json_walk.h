// JsonWalk: one JSON document being read by simdjson's on-demand parser, with warnings that name the field.
//
// Internal to the decoder: the only header that shows simdjson, included by nothing but json_walk.cpp and decode*.cpp
// (through decode_object.h). The on-demand parser checks only what is looked at, so damage may show late: after it,
// broken() holds, every loop has ended, and what was read must be thrown away. A field of the wrong type is no damage:
// it is warned of and counts as absent, as null does. Documents are limited in size and depth. One thread; views live
// until the next open().
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/decode.h"
#include "kube/quantity.h"

namespace inquest::kube {

namespace json = simdjson::ondemand;

inline constexpr size_t kMaxDocument = size_t{256} << 20;  // reading takes about six times as much memory
inline constexpr int kMaxDepth = 200;
inline constexpr size_t kMaxWarnings = 100;

// Where in a document: a chain of frames on the stack, spelt out only for a warning.
struct Path {
  static constexpr size_t kNoIndex = SIZE_MAX;
  const Path* parent = nullptr;
  std::string_view name;
  size_t index = kNoIndex;

  // Of a field of the object at `parent`; nullptr: of the document's own object.
  static Path field_of(const Path* parent, std::string_view key) { return {parent, key, kNoIndex}; }
  Path element(size_t i) const { return {this, "", i}; }

  std::string text() const;  // "spec.containers[0].resources.requests.cpu"
};

// A field or an element. Its type has been looked at, its value not yet.
struct Item {
  std::string_view key;  // empty for elements
  json::json_type type;
  json::value value;
};

// Text from a document, cut and made safe for one line of a terminal, in quotes.
std::string quoted(std::string_view text);

class JsonWalk {
 public:
  // The document's one object.
  Result<json::object> open(std::string_view text);
  // To be called when the object was walked: damage, or something behind the object.
  Result<void> finish();
  bool broken() const { return broken_ != simdjson::SUCCESS; }

  // f(Item&) for each field in the document's order; values not read are skipped.
  template <typename F>
  void each_field(json::object object, F&& f) {
    for (auto result : object) {
      json::field field;
      if (const auto error = std::move(result).get(field); error != simdjson::SUCCESS) return break_off(error);
      Item item{key_text(field.key()), {}, field.value()};
      if (const auto error = item.value.type().get(item.type); error != simdjson::SUCCESS) return break_off(error);
      f(item);
      if (broken()) return;
    }
  }

  // f(Item&, index) likewise.
  template <typename F>
  void each_element(json::array array, F&& f) {
    size_t index = 0;
    for (auto result : array) {
      Item item;
      if (const auto error = std::move(result).get(item.value); error != simdjson::SUCCESS) return break_off(error);
      if (const auto error = item.value.type().get(item.type); error != simdjson::SUCCESS) return break_off(error);
      f(item, index++);
      if (broken()) return;
    }
  }

  // The same for what must be an object or a list, with the path of each part: f(Item&, const Path&). False if it is
  // something else, of which object() or array() warned.
  template <typename F>
  bool each_field(Item& item, const Path& path, F&& f) {
    const std::optional<json::object> fields = object(item, path);
    if (fields) each_field(*fields, [&](Item& field) { f(field, Path::field_of(&path, field.key)); });
    return fields.has_value();
  }
  template <typename F>
  bool each_element(Item& item, const Path& path, F&& f) {
    const std::optional<json::array> elements = array(item, path);
    if (elements) each_element(*elements, [&](Item& element, size_t i) { f(element, path.element(i)); });
    return elements.has_value();
  }

  // The value if it is of this type. Nothing for null; nothing and a warning for any other type. Once per item.
  std::optional<json::object> object(Item& item, const Path& path);
  std::optional<json::array> array(Item& item, const Path& path);
  std::optional<std::string_view> text(Item& item, const Path& path);
  std::optional<int64_t> integer(Item& item, const Path& path);
  std::optional<bool> boolean(Item& item, const Path& path);
  // A string or a bare number; outer spaces do not count.
  std::optional<Quantity> quantity(Item& item, const Path& path);
  // The characters of a number or the text of a string.
  std::optional<std::string_view> text_or_number(Item& item, const Path& path);

  void warn(const Path& path, std::string text);
  // Warnings since `mark` concern this object: its name is often read after them.
  size_t mark() const { return warnings_.size(); }
  void name_warnings(size_t mark, const std::string& object);
  void extend_warnings(size_t mark, const std::string& suffix);
  std::vector<Warning> take_warnings();
  uint64_t warning_count() const { return warning_count_; }

 private:
  void break_off(simdjson::error_code error) { broken_ = error; }
  std::optional<std::string_view> string_text(json::raw_json_string raw);
  std::string_view key_text(json::raw_json_string raw) { return string_text(raw).value_or(std::string_view()); }
  // Whether the item is of the type; warns unless it is or is null.
  bool is(Item& item, json::json_type type, const Path& path);

  json::parser parser_;
  json::document document_;
  std::vector<char> buffer_;           // the document and the padding that simdjson reads beyond it
  size_t size_ = 0;                    // of the document
  std::deque<std::string> unescaped_;  // strings that hold escapes; the others are views into the buffer
  simdjson::error_code broken_ = simdjson::SUCCESS;
  std::vector<Warning> warnings_;
  uint64_t warning_count_ = 0;
  size_t open_mark_ = 0;  // warnings and their count before this document
  uint64_t open_count_ = 0;
};

}  // namespace inquest::kube
