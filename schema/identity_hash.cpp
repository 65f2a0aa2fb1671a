#include "schema/identity_hash.h"

#include "base/hash.h"
#include "schema/table_hash.h"

namespace inquest {

uint64_t name_hash(std::string_view ns, std::string_view name) { return combine(table_hash(ns), table_hash(name)); }

uint64_t identity_hash(uint64_t name_hash, std::string_view uid) { return combine(name_hash, table_hash(uid)); }

uint64_t identity_hash(const Catalog& catalog, PodId pod) {
  const KeyId key = catalog.key_of(pod);
  return identity_hash(name_hash(catalog.ns(key), catalog.name(key)), catalog.uid(pod));
}

uint64_t identity_hash(const Catalog& catalog, const ObjectFacts& object) {
  const auto of = [&](KeyId key, StringId uid) {
    return identity_hash(name_hash(catalog.ns(key), catalog.name(key)), catalog.text(uid));
  };
  if (const auto* pod = std::get_if<PodFacts>(&object)) return identity_hash(catalog, pod->pod);
  if (const auto* node = std::get_if<NodeFacts>(&object)) {
    return identity_hash(name_hash("", catalog.node_name(node->node)), catalog.text(node->uid));
  }
  if (const auto* event = std::get_if<EventFacts>(&object)) return of(event->key, event->uid);
  const auto& other = std::get<OtherFacts>(object);
  return of(other.key, other.uid);
}

}  // namespace inquest
