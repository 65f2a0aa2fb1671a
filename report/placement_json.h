// Where a pod may go, and what a node says of itself, as JSON: the facts of schema/placement.h by name.
#pragma once

#include "report/json.h"
#include "schema/catalog.h"
#include "schema/facts.h"

namespace inquest::report {

// Fields of the object that is open. What is not known is null.
void add_placement(JsonWriter& json, const Catalog& catalog, const PodFacts& pod);
void add_labels_and_taints(JsonWriter& json, const Catalog& catalog, const NodeFacts& node);

}  // namespace inquest::report
