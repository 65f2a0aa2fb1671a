#include "report/facts_json.h"

namespace inquest::report {

void add_pod(JsonWriter& json, const Catalog& catalog, std::string_view name, PodId pod) {
  if (!pod) {
    json.nothing(name);
    return;
  }
  const KeyId key = catalog.key_of(pod);
  json.key(name).begin_object().field("namespace", catalog.ns(key)).field("name", catalog.name(key));
  json.field("uid", catalog.uid(pod)).end_object();
}

void add_node(JsonWriter& json, const Catalog& catalog, std::string_view name, NodeId node) {
  if (node) {
    json.field(name, catalog.node_name(node));
  } else {
    json.nothing(name);
  }
}

}  // namespace inquest::report
