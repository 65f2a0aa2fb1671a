// What the YAML files of this folder (plans, steps) have in common: they come from strangers, are small, and an error
// names file and line. Private to the folder, since it shows yaml-cpp's types.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace inquest::replayer {

inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;

// A kind of file, in the words of messages.
struct YamlForm {
  std::string_view what;     // "a plan"
  std::string_view file;     // "the plan"
  std::string_view version;  // "plan/1"
};

// The whole file, at most one byte more than the limit, which load_yaml then refuses.
Result<std::string> read_yaml_file(const YamlForm& form, const std::string& path);

// The text's one document; `name` stands in messages. Errors: larger than the limit, not YAML, nested too deeply, none
// or several documents. What yaml-cpp throws ends here: the functions below throw nothing.
Result<YAML::Node> load_yaml(const YamlForm& form, const std::string& text, const std::string& name);

// That the value of the key `inquest` is this form's version.
Result<void> check_version(const YamlForm& form, const std::string& name, const YAML::Node& value);
// That there was such a key at all: the error if there was not.
Error version_missing(const YamlForm& form, const std::string& name, const YAML::Node& root);

// The entries of a mapping; an Error for anything else, for more than 100 of them and for a key that stands there
// twice. `what` is the subject of messages: "a fault".
using YamlEntries = std::vector<std::pair<YAML::Node, YAML::Node>>;
Result<YamlEntries> entries_of(const std::string& name, const YAML::Node& node, const std::string& what);

// An Error about this place of the file; or one from elsewhere, moved to it.
Error error_at(const std::string& name, const YAML::Node& node, std::string text, std::string next = "");
Error located(Error error, const std::string& name, const YAML::Node& node);

}  // namespace inquest::replayer
