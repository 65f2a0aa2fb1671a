#include "replayer/yaml_fields.h"

#include <yaml-cpp/depthguard.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace inquest::replayer {
namespace {

constexpr size_t kMaxFields = 100;  // of a mapping: far more than there are, few enough to compare each with each

std::string place_of(const std::string& name, const YAML::Mark& mark) {
  return mark.is_null() ? name : name + ":" + std::to_string(mark.line + 1);
}

}  // namespace

Result<std::string> read_yaml_file(const YamlForm& form, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return Error{ErrorCode::kIo, "no such file", path, "check the name"};
    return Error{ErrorCode::kIo, std::string(form.file) + " cannot be opened: " + std::strerror(errno), path, ""};
  }
  std::string text(kMaxYamlBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error{ErrorCode::kIo, std::string(form.file) + " cannot be read", path, ""};
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

Result<YAML::Node> load_yaml(const YamlForm& form, const std::string& text, const std::string& name) {
  const std::string what(form.what);
  if (text.size() > kMaxYamlBytes) return Error{ErrorCode::kOutOfLimit, what + " is at most 1 MiB", name, ""};
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() == 1) return documents.front();
    return Error{ErrorCode::kInput, documents.empty() ? "it is empty" : "it holds several documents", name,
                 what + " is one YAML document that starts with 'inquest: " + std::string(form.version) + "'"};
  } catch (const YAML::DeepRecursion& error) {  // yaml-cpp's own limit keeps its recursion from eating the stack
    return Error{ErrorCode::kOutOfLimit, "it is nested too deeply for " + what, place_of(name, error.mark), ""};
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::kInput, "not YAML: " + error.msg, place_of(name, error.mark), ""};
  }
}

Result<void> check_version(const YamlForm& form, const std::string& name, const YAML::Node& value) {
  if (value.IsScalar() && value.Scalar() == form.version) return {};
  return error_at(name, value, "this reads " + std::string(form.version), "a newer file needs a newer inquest");
}

Error version_missing(const YamlForm& form, const std::string& name, const YAML::Node& root) {
  return error_at(name, root, "the line 'inquest: " + std::string(form.version) + "' is missing");
}

Result<YamlEntries> entries_of(const std::string& name, const YAML::Node& node, const std::string& what) {
  if (!node.IsMap()) return error_at(name, node, what + " must be a mapping");
  if (node.size() > kMaxFields) return error_at(name, node, what + " has at most 100 fields");
  YamlEntries out;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return error_at(name, entry.first, "a key must be a word");
    for (const auto& before : out) {
      if (before.first.Scalar() == entry.first.Scalar()) {
        return error_at(name, entry.first, "'" + entry.first.Scalar() + "' stands here twice");
      }
    }
    out.emplace_back(entry.first, entry.second);
  }
  return out;
}

Error error_at(const std::string& name, const YAML::Node& node, std::string text, std::string next) {
  return {ErrorCode::kInput, std::move(text), place_of(name, node.Mark()), std::move(next)};
}

Error located(Error error, const std::string& name, const YAML::Node& node) {
  error.place = place_of(name, node.Mark());
  error.code = ErrorCode::kInput;
  return error;
}

}  // namespace inquest::replayer
