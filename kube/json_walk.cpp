#include "kube/json_walk.h"

#include <algorithm>
#include <cstring>

namespace inquest::kube {
namespace {

constexpr size_t kKeepBuffer = size_t{16} << 20;  // what a larger document took is given back before the next

Error not_json(std::string text, std::string next = "") {
  return {ErrorCode::kInput, std::move(text), "", std::move(next)};
}

// What stands where JSON is expected, as far as its first bytes tell.
std::optional<Error> sniff(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return not_json("empty, not JSON");
  if (text.starts_with("\x1f\x8b")) return not_json("gzip, not JSON", "decompress it first");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return not_json("UTF-16, not JSON in UTF-8", "convert it with iconv -f UTF-16 -t UTF-8");
  }
  if (text[first] == '<') return not_json("HTML or XML, not JSON", "it is probably a proxy's error or login page");
  if (text[first] != '{') return not_json("not a JSON object");
  return std::nullopt;
}

// Deeper than the limit? Most documents have fewer brackets than that in all, which is quickly counted.
bool too_deep(std::string_view text) {
  size_t openers = 0;
  for (const char c : text) openers += (c | 0x20) == '{' ? 1 : 0;  // '[' differs from '{' in this bit alone
  if (openers <= kMaxDepth) return false;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string describe(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "invalid UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "cut off inside a string";
    case simdjson::UNESCAPED_CHARS:
      return "a raw control character inside a string";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "cut off, or brackets that do not match";
    case simdjson::TAPE_ERROR:
      return "damaged: a comma, colon, bracket or key is missing or misplaced";
    case simdjson::TRAILING_CONTENT:
      return "something follows the object";
    default:
      return simdjson::error_message(error);
  }
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

const char* name_of(json::json_type type) {
  switch (type) {
    case json::json_type::array:
      return "a list";
    case json::json_type::object:
      return "an object";
    case json::json_type::number:
      return "a number";
    case json::json_type::string:
      return "a string";
    case json::json_type::boolean:
      return "true or false";
    case json::json_type::null:
      return "null";
  }
  return "something else";
}

}  // namespace

std::string Path::text() const {
  std::string out = parent == nullptr ? "" : parent->text();
  if (index != kNoIndex) return out + "[" + std::to_string(index) + "]";
  if (!out.empty()) out += '.';
  const std::string safe = quoted(name);
  return out.append(safe, 1, safe.size() - 2);
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  size_t end = std::min(text.size(), kMost);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  std::string out = "'";
  for (const char c : text.substr(0, end)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (end < text.size() ? "…'" : "'");
}

Result<json::object> JsonWalk::open(std::string_view text) {
  broken_ = simdjson::SUCCESS;
  unescaped_.clear();
  open_mark_ = warnings_.size();
  open_count_ = warning_count_;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (std::optional<Error> error = sniff(text)) return *std::move(error);
  if (text.size() > kMaxDocument) {
    return Error{ErrorCode::kOutOfLimit, "a JSON document of more than 256 MiB", "", "list in pages (limit=500)"};
  }
  if (too_deep(text)) return Error{ErrorCode::kOutOfLimit, "JSON nested deeper than 200 levels", "", ""};
  const size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
  if (buffer_.size() > kKeepBuffer && needed <= kKeepBuffer) {
    buffer_ = {};
    parser_ = json::parser();
  }
  if (buffer_.size() < needed) {
    buffer_.resize(needed * 2);
    if (const auto error = parser_.allocate(buffer_.size()); error != simdjson::SUCCESS) {
      return Error{ErrorCode::kOutOfLimit, "not enough memory for a JSON document", "", ""};
    }
  }
  std::memcpy(buffer_.data(), text.data(), text.size());
  std::memset(buffer_.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
  size_ = text.size();
  auto error = parser_.iterate(simdjson::padded_string_view(buffer_.data(), size_, buffer_.size())).get(document_);
  json::object root;
  if (error == simdjson::SUCCESS) error = document_.get_object().get(root);
  if (error != simdjson::SUCCESS) return not_json("not JSON: " + describe(error));
  return root;
}

Result<void> JsonWalk::finish() {
  if (!broken() && document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    broken_ = simdjson::TRAILING_CONTENT;
  }
  if (!broken()) return {};
  // Nothing of the document is kept, so nothing is to be said of its fields.
  if (warnings_.size() > open_mark_) warnings_.resize(open_mark_);
  warning_count_ = open_count_;
  return not_json("not JSON: " + describe(broken_));
}

std::optional<std::string_view> JsonWalk::string_text(json::raw_json_string raw) {
  const char* start = raw.raw();
  const char* end = buffer_.data() + size_;
  // The parser has seen to it that every string is closed.
  const char* quote = static_cast<const char*>(std::memchr(start, '"', static_cast<size_t>(end - start)));
  if (quote == nullptr) return std::nullopt;
  if (std::memchr(start, '\\', static_cast<size_t>(quote - start)) == nullptr) {
    return std::string_view(start, static_cast<size_t>(quote - start));
  }
  for (quote = start; quote < end && *quote != '"'; ++quote) quote += *quote == '\\' ? 1 : 0;
  std::string& out = unescaped_.emplace_back(static_cast<size_t>(quote - start) + simdjson::SIMDJSON_PADDING, '\0');
  auto* at = reinterpret_cast<uint8_t*>(out.data());
  std::string_view text;
  if (parser_.unescape(raw, at).get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

bool JsonWalk::is(Item& item, json::json_type type, const Path& path) {
  if (item.type == type) return true;
  if (item.type != json::json_type::null) {
    warn(path, std::string(name_of(item.type)) + " where " + name_of(type) + " is expected");
  }
  return false;
}

std::optional<json::object> JsonWalk::object(Item& item, const Path& path) {
  if (!is(item, json::json_type::object, path)) return std::nullopt;
  json::object object;
  if (const auto error = item.value.get_object().get(object); error != simdjson::SUCCESS) {
    break_off(error);
    return std::nullopt;
  }
  return object;
}

std::optional<json::array> JsonWalk::array(Item& item, const Path& path) {
  if (!is(item, json::json_type::array, path)) return std::nullopt;
  json::array array;
  if (const auto error = item.value.get_array().get(array); error != simdjson::SUCCESS) {
    break_off(error);
    return std::nullopt;
  }
  return array;
}

std::optional<std::string_view> JsonWalk::text(Item& item, const Path& path) {
  if (!is(item, json::json_type::string, path)) return std::nullopt;
  json::raw_json_string raw;
  if (const auto error = item.value.get_raw_json_string().get(raw); error != simdjson::SUCCESS) {
    break_off(error);
    return std::nullopt;
  }
  std::optional<std::string_view> text = string_text(raw);
  if (!text) warn(path, "a string with a bad escape");
  return text;
}

std::optional<int64_t> JsonWalk::integer(Item& item, const Path& path) {
  if (!is(item, json::json_type::number, path)) return std::nullopt;
  int64_t value = 0;
  if (item.value.get_int64().get(value) == simdjson::SUCCESS) return value;
  warn(path, quoted(trim(item.value.raw_json_token())) + " is no integer of 64 bits");
  return std::nullopt;
}

std::optional<bool> JsonWalk::boolean(Item& item, const Path& path) {
  if (!is(item, json::json_type::boolean, path)) return std::nullopt;
  bool value = false;
  if (item.value.get_bool().get(value) == simdjson::SUCCESS) return value;
  warn(path, quoted(trim(item.value.raw_json_token())) + " is neither true nor false");
  return std::nullopt;
}

std::optional<std::string_view> JsonWalk::text_or_number(Item& item, const Path& path) {
  if (item.type == json::json_type::number) return trim(item.value.raw_json_token());
  return text(item, path);
}

std::optional<Quantity> JsonWalk::quantity(Item& item, const Path& path) {
  const std::optional<std::string_view> given = text_or_number(item, path);
  if (!given) return std::nullopt;
  const std::optional<Quantity> quantity = parse_quantity(trim(*given));
  if (!quantity) warn(path, quoted(*given) + " is no quantity");
  return quantity;
}

void JsonWalk::warn(const Path& path, std::string text) {
  ++warning_count_;
  if (warnings_.size() < kMaxWarnings) warnings_.push_back({"", path.text(), std::move(text)});
}

void JsonWalk::name_warnings(size_t mark, const std::string& object) {
  for (size_t i = mark; i < warnings_.size(); ++i) warnings_[i].object = object;
}

void JsonWalk::extend_warnings(size_t mark, const std::string& suffix) {
  for (size_t i = mark; i < warnings_.size(); ++i) warnings_[i].text += suffix;
}

std::vector<Warning> JsonWalk::take_warnings() {
  std::vector<Warning> taken;
  taken.swap(warnings_);
  return taken;
}

}  // namespace inquest::kube
