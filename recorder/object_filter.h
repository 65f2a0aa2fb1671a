// ObjectFilter: which objects of a trace are wanted, by namespace, name and uid.
//
// It asks only for what has a namespace: nodes and other cluster-wide objects are always kept, because nothing can be
// replayed without them. An Event is kept with the object that it is about.
#pragma once

#include <fnmatch.h>

#include <string>
#include <string_view>

#include "schema/facts.h"

namespace inquest::recorder {

struct ObjectFilter {
  std::string name, ns;  // patterns with * and ?; "" matches all
  std::string uid;       // how it begins; "" matches all

  bool active() const { return !name.empty() || !ns.empty() || !uid.empty(); }

  bool keeps(std::string_view object_ns, std::string_view object_name, std::string_view object_uid) const {
    return matches(ns, object_ns) && matches(name, object_name) && object_uid.substr(0, uid.size()) == uid;
  }
  bool keeps(const Catalog& catalog, PodId pod) const { return keeps(catalog, catalog.key_of(pod), catalog.uid(pod)); }
  bool keeps(const Catalog& catalog, const ObjectFacts& object) const {
    if (!active()) return true;
    if (const auto* pod = std::get_if<PodFacts>(&object)) return keeps(catalog, pod->pod);
    if (const auto* event = std::get_if<EventFacts>(&object)) {
      return event->regarding.known() && (catalog.ns(event->regarding).empty() ||
                                          keeps(catalog, event->regarding, catalog.text(event->regarding_uid)));
    }
    const auto* other = std::get_if<OtherFacts>(&object);
    return other == nullptr || !other->key.known() || catalog.ns(other->key).empty() ||
           keeps(catalog, other->key, catalog.text(other->uid));
  }

 private:
  bool keeps(const Catalog& catalog, KeyId key, std::string_view object_uid) const {
    return key.known() && keeps(catalog.ns(key), catalog.name(key), object_uid);
  }
  static bool matches(const std::string& pattern, std::string_view text) {
    return pattern.empty() || ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
  }
};

}  // namespace inquest::recorder
