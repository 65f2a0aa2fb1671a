// What changed between two versions of an object, field by field, as a person would say it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace inquest::kube {

struct JsonChange {
  std::string path;                   // "status.conditions[Ready].status", "spec.containers[web].image"
  std::optional<std::string> before;  // compact JSON; none: the field was not there
  std::optional<std::string> after;
};

// Both are whole JSON documents; a watch frame is compared by its object. Entries of a list are matched by their
// `type`, `name`, `uid` or `key` where all of them have one and no two the same, otherwise by position.
// metadata.managedFields is passed over: it changes with every write and says nothing else. Order: that of the fields
// of `before`, then what only `after` has. Errors: not JSON, more than 256 levels deep.
Result<std::vector<JsonChange>> diff_json(std::string_view before, std::string_view after);

}  // namespace inquest::kube
