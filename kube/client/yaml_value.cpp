#include "kube/client/yaml_value.h"

#include <simdjson.h>
#include <yaml-cpp/depthguard.h>

#include <string_view>
#include <utility>

#include "base/json_text.h"

namespace inquest::kube {
namespace {

constexpr size_t kMaxJson = size_t{64} << 10;
constexpr int kMaxJsonDepth = 100;

// yaml-cpp reads these by their mark.
bool marked_utf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

// Where the first character that is no UTF-8 begins; the text's size if all are.
size_t first_bad_byte(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text.size();
  size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (at + length > text.size() || !simdjson::validate_utf8(text.data() + at, length)) break;
    at += length;
  }
  return at;
}

std::string hex_byte(char c) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

class JsonText {
 public:
  bool put(const YAML::Node& node, int depth) {
    if (depth > kMaxJsonDepth || out.size() > kMaxJson) return false;
    if (node.IsMap()) return put_map(node, depth);
    if (node.IsSequence()) return put_sequence(node, depth);
    if (!node.IsScalar()) {
      out += "null";
      return true;
    }
    const bool plain = node.Tag() == "?";
    if (const std::optional<bool> truth = plain ? yaml_bool(node) : std::nullopt) {
      out += *truth ? "true" : "false";
    } else if (plain && is_json_scalar(node.Scalar())) {
      out += node.Scalar();
    } else {
      quote(node.Scalar());
    }
    return true;
  }

  std::string out;

 private:
  bool put_map(const YAML::Node& node, int depth) {
    out += '{';
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return false;
      if (out.back() != '{') out += ',';
      quote(entry.first.Scalar());
      out += ':';
      if (!put(entry.second, depth + 1)) return false;
    }
    out += '}';
    return true;
  }
  bool put_sequence(const YAML::Node& node, int depth) {
    out += '[';
    bool first = true;
    for (const YAML::Node& item : node) {
      if (!first) out += ',';
      first = false;
      if (!put(item, depth + 1)) return false;
    }
    out += ']';
    return true;
  }
  void quote(const std::string& text) {
    out += '"';
    escape(text, Escapes::kShort, out);
    out += '"';
  }
};

}  // namespace

Result<std::vector<YAML::Node>> load_documents(const std::string& text, const std::string& path, size_t limit) {
  const auto place = [&](const YAML::Mark& mark) {
    return mark.is_null() ? path : path + ":" + std::to_string(mark.line + 1);
  };
  if (text.size() > limit) {
    return Error{ErrorCode::kOutOfLimit, "it is larger than " + std::to_string(limit >> 20) + " MiB", path, ""};
  }
  if (!marked_utf16(text)) {
    if (const size_t bad = first_bad_byte(text); bad < text.size()) {
      return Error{ErrorCode::kInput, "no UTF-8: byte " + std::to_string(bad + 1) + " is " + hex_byte(text[bad]), path,
                   ""};
    }
    if (const size_t zero = text.find('\0'); zero != std::string::npos) {
      return Error{ErrorCode::kInput, "no YAML: byte " + std::to_string(zero + 1) + " is 0x00", path, ""};
    }
  }
  try {
    return YAML::LoadAll(text);
  } catch (const YAML::DeepRecursion& error) {  // yaml-cpp's own limit keeps its recursion from eating the stack
    return Error{ErrorCode::kOutOfLimit, "it is nested too deeply", place(error.mark), ""};
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kInput, "no YAML: " + error.msg, place(error.mark), ""};
  }
}

std::optional<bool> yaml_bool(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  bool value = false;
  if (!YAML::convert<bool>::decode(node, value)) return std::nullopt;
  return value;
}

std::string yaml_to_json(const YAML::Node& node) {
  JsonText json;
  if (!json.put(node, 0) || json.out.size() > kMaxJson) return "";
  return std::move(json.out);
}

}  // namespace inquest::kube
