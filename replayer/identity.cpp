#include "replayer/identity.h"

namespace inquest::replayer {

std::pair<Identity, Version> identify(const Catalog& catalog, const ObjectFacts& object) {
  if (const auto* pod = std::get_if<PodFacts>(&object)) {
    return {{{}, catalog.key_of(pod->pod), catalog.uid_id(pod->pod)}, {pod->rv, pod->node}};
  }
  if (const auto* node = std::get_if<NodeFacts>(&object)) return {{node->node, {}, node->uid}, {node->rv, {}}};
  if (const auto* event = std::get_if<EventFacts>(&object)) return {{{}, event->key, event->uid}, {event->rv, {}}};
  const auto& other = std::get<OtherFacts>(object);
  return {{{}, other.key, other.uid}, {other.rv, {}}};
}

std::string name_in(const Catalog& catalog, const Identity& identity) {
  std::string object;
  if (identity.node) {
    object = catalog.node_name(identity.node);
  } else {
    object.append(catalog.ns(identity.key)).append("/").append(catalog.name(identity.key));
  }
  return object.append(" (uid ").append(catalog.text(identity.uid)).append(")");
}

}  // namespace inquest::replayer
