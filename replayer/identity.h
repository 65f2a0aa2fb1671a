// Identity: what makes an object of any kind the same object within its stream, one life of it.
#pragma once

#include <compare>
#include <string>
#include <utility>

#include "schema/facts.h"

namespace inquest::replayer {

struct Identity {
  NodeId node;  // of a node; anything else has a key
  KeyId key;
  StringId uid;
  friend auto operator<=>(const Identity&, const Identity&) = default;
};

// What two sources of truth must agree on.
struct Version {
  ResourceVersion rv = 0;
  NodeId node;  // of a pod: where it is bound
  friend bool operator==(const Version&, const Version&) = default;
};

std::pair<Identity, Version> identify(const Catalog& catalog, const ObjectFacts& object);

// "sched-lab/pod1 (uid 6744d1bf-…)", whole; a node by its name.
std::string name_in(const Catalog& catalog, const Identity& identity);

}  // namespace inquest::replayer
