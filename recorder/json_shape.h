// The fields of a JSON object at its top, as far as they tell inputs apart; also of the beginning of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inquest::recorder {

struct JsonShape {
  bool object = false;  // begins as an object and is undamaged as far as it was looked at
  bool whole = false;   // and ends, too
  bool has_t = false, has_stream = false, has_request = false, has_scheduler = false;
  bool has_type = false, has_object = false, has_items = false;
  std::string type, kind, api_version;  // at most 64 bytes of each
};

// Of the first object in `text`, which may go on behind it or end inside it.
JsonShape shape_of(std::string_view text);

// `text` is the beginning of an object and ends within a string, the value of this key at the top, however that is
// written: where the string begins, behind its quote; npos if it is not so.
size_t open_string(std::string_view text, std::string_view key);

bool ends_with_list(std::string_view kind);

// The object of a watch frame; empty if it has none. A view into `frame`.
std::string_view object_of(std::string_view frame);

// The kind of the object of a watch frame; empty if it has none.
std::string_view kind_of_object(std::string_view frame);

// The elements of the list `items` at the top of a JSON object, in order; empty if it has none. Views into `text`.
std::vector<std::string_view> items_of(std::string_view text);

}  // namespace inquest::recorder
