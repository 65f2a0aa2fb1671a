// What tells an object of one stream from the others, as a number that does not depend on a catalog's ordinals: for
// walks that outlive the names they meet. Keyed as table_hash() is: not to be written, shown or ordered by.
#pragma once

#include <cstdint>
#include <string_view>

#include "schema/facts.h"

namespace inquest {

// Of a namespace and a name.
uint64_t name_hash(std::string_view ns, std::string_view name);
// Of one life of a pod or another object with a namespace.
uint64_t identity_hash(uint64_t name_hash, std::string_view uid);
uint64_t identity_hash(const Catalog& catalog, PodId pod);
uint64_t identity_hash(const Catalog& catalog, const ObjectFacts& object);

}  // namespace inquest
