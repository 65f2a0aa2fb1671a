// The limit of names: of namespaces, objects, uids, nodes, schedulers. Kubernetes allows 253 bytes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "recorder/line_parser.h"
#include "schema/facts.h"

namespace inquest::recorder {

inline constexpr size_t kMaxName = 1024;
inline constexpr const char* kNameTooLong = "a name of more than 1 KiB";

inline bool too_long(std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [](std::string_view name) { return name.size() > kMaxName; });
}

inline bool name_too_long(const Catalog& catalog, const ObjectFacts& object) {
  const auto of = [&](KeyId key, StringId a, StringId b = {}, StringId c = {}) {
    return too_long({catalog.ns(key), catalog.name(key), catalog.text(a), catalog.text(b), catalog.text(c)});
  };
  if (const auto* pod = std::get_if<PodFacts>(&object)) {
    return of(catalog.key_of(pod->pod), catalog.uid_id(pod->pod), pod->scheduler) ||
           too_long({catalog.node_name(pod->node)});
  }
  if (const auto* node = std::get_if<NodeFacts>(&object)) {
    return too_long({catalog.node_name(node->node), catalog.text(node->uid)});
  }
  if (const auto* event = std::get_if<EventFacts>(&object)) {
    return of(event->key, event->uid, event->reason, event->controller) ||
           of(event->regarding, event->regarding_uid, event->regarding_kind);
  }
  const auto& other = std::get<OtherFacts>(object);
  return of(other.key, other.uid, other.kind);
}

inline bool name_too_long(const BindLine& bind) {
  return too_long({bind.ns, bind.name, bind.uid, bind.node, bind.scheduler, bind.user, bind.agent, bind.reason});
}

}  // namespace inquest::recorder
