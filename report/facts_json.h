// What stands in several JSON documents about pods and nodes. Private to report/.
#pragma once

#include "report/json.h"
#include "schema/catalog.h"

namespace inquest::report {

// "pod": {"namespace", "name", "uid"}, or null for none.
void add_pod(JsonWriter& json, const Catalog& catalog, std::string_view name, PodId pod);
// "node": its name, or null for none.
void add_node(JsonWriter& json, const Catalog& catalog, std::string_view name, NodeId node);

}  // namespace inquest::report
