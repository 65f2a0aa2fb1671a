#include "kube/json_diff.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

namespace inquest::kube {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr size_t kMaxDepth = 256;
// Looking fields and entries up by name is quadratic; beyond these no object of Kubernetes goes, only a hostile one.
constexpr size_t kMaxNamedEntries = 1000;
constexpr size_t kMaxFields = 4096;

std::string compact(const element& value) { return simdjson::minify(value); }

// The field that names the entries of a list, if every entry has it as a text and no two the same.
std::string_view naming_field(const simdjson::dom::array& list) {
  if (list.size() > kMaxNamedEntries) return {};
  for (const std::string_view field : std::array<std::string_view, 4>{"type", "name", "uid", "key"}) {
    std::vector<std::string_view> names;
    bool all = true;
    for (const element entry : list) {
      std::string_view name;
      all = all && entry[field].get(name) == simdjson::SUCCESS;
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    if (all && !names.empty() && std::adjacent_find(names.begin(), names.end()) == names.end()) return field;
  }
  return {};
}

class Differ {
 public:
  void compare(const std::string& path, const element& before, const element& after) {
    if (small_object(before) && small_object(after)) {
      compare_objects(path, before, after);
    } else if (before.type() == element_type::ARRAY && after.type() == element_type::ARRAY) {
      compare_lists(path, before, after);
    } else if (compact(before) != compact(after)) {
      changes.push_back({path, compact(before), compact(after)});
    }
  }

  std::vector<JsonChange> changes;

 private:
  static bool small_object(const element& value) {
    return value.type() == element_type::OBJECT && simdjson::dom::object(value).size() <= kMaxFields;
  }
  void gone(std::string path, const element& value) {
    changes.push_back({std::move(path), compact(value), std::nullopt});
  }
  void came(std::string path, const element& value) {
    changes.push_back({std::move(path), std::nullopt, compact(value)});
  }

  void compare_objects(const std::string& path, const element& before, const element& after) {
    const auto inside = [&](std::string_view key) { return (path.empty() ? "" : path + ".").append(key); };
    for (const auto field : simdjson::dom::object(before)) {
      if (field.key == "managedFields") continue;
      element other;
      if (after[field.key].get(other) == simdjson::SUCCESS) {
        compare(inside(field.key), field.value, other);
      } else {
        gone(inside(field.key), field.value);
      }
    }
    for (const auto field : simdjson::dom::object(after)) {
      element other;
      if (field.key == "managedFields" || before[field.key].get(other) == simdjson::SUCCESS) continue;
      came(inside(field.key), field.value);
    }
  }

  static bool find(const simdjson::dom::array& list, std::string_view field, std::string_view name, element& out) {
    for (const element entry : list) {
      std::string_view other;
      if (entry[field].get(other) != simdjson::SUCCESS || other != name) continue;
      out = entry;
      return true;
    }
    return false;
  }

  void compare_lists(const std::string& path, const simdjson::dom::array& before, const simdjson::dom::array& after) {
    const std::string_view field = naming_field(before.size() > 0 ? before : after);
    const bool named = !field.empty() && (after.size() == 0 || naming_field(after) == field);
    if (!named) return compare_positions(path, before, after);
    const auto inside = [&](std::string_view name) { return path + "[" + std::string(name) + "]"; };
    for (const element entry : before) {
      const std::string_view name = entry[field];
      element other;
      if (find(after, field, name, other)) {
        compare(inside(name), entry, other);
      } else {
        gone(inside(name), entry);
      }
    }
    for (const element entry : after) {
      const std::string_view name = entry[field];
      element other;
      if (!find(before, field, name, other)) came(inside(name), entry);
    }
  }

  void compare_positions(const std::string& path, const simdjson::dom::array& before,
                         const simdjson::dom::array& after) {
    const auto inside = [&](size_t i) { return path + "[" + std::to_string(i) + "]"; };
    size_t i = 0;
    auto theirs = after.begin();
    for (const element entry : before) {
      if (theirs != after.end()) {
        compare(inside(i), entry, *theirs);
        ++theirs;
      } else {
        gone(inside(i), entry);
      }
      ++i;
    }
    for (; theirs != after.end(); ++theirs, ++i) came(inside(i), *theirs);
  }
};

Result<element> parse(simdjson::dom::parser& parser, std::string_view json) {
  element document;
  auto error = parser.allocate(json.size(), kMaxDepth);
  if (error == simdjson::SUCCESS) error = parser.parse(json.data(), json.size()).get(document);
  if (error != simdjson::SUCCESS) {
    return Error{ErrorCode::kInput, std::string("not JSON: ") + simdjson::error_message(error), "", ""};
  }
  element object;
  return document["object"].get(object) == simdjson::SUCCESS ? object : document;
}

}  // namespace

Result<std::vector<JsonChange>> diff_json(std::string_view before, std::string_view after) {
  simdjson::dom::parser parser_before, parser_after;
  INQUEST_TRY(const element old_version, parse(parser_before, before));
  INQUEST_TRY(const element new_version, parse(parser_after, after));
  Differ differ;
  differ.compare("", old_version, new_version);
  return std::move(differ.changes);
}

}  // namespace inquest::kube
