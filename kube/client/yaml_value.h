// YAML as clients of Kubernetes meet it. Private to this folder, since it shows yaml-cpp's types.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace inquest::kube {

// The documents of a text in UTF-8, or in UTF-16 with a mark. What yaml-cpp throws ends here. Errors: larger than
// `limit`, a byte that is no UTF-8, no YAML, nested too deeply; they quote nothing.
Result<std::vector<YAML::Node>> load_documents(const std::string& text, const std::string& path, size_t limit);

// As YAML 1.1 says it, which is what kubectl reads: true, yes, on …
std::optional<bool> yaml_bool(const YAML::Node& node);

// Compact JSON: plain scalars that JSON has, too, stay what they are. Empty if it would be larger than 64 KiB or deeper
// than 100 levels (an alias may repeat itself without end).
std::string yaml_to_json(const YAML::Node& node);

}  // namespace inquest::kube
