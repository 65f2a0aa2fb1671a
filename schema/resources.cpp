#include "schema/resources.h"

#include "base/hash.h"
#include "schema/table_hash.h"

namespace inquest {
namespace {

uint64_t hash_of(uint64_t seed, const Resources& resources) {
  seed = combine(seed, static_cast<uint64_t>(resources.cpu_milli));
  seed = combine(seed, static_cast<uint64_t>(resources.memory));
  seed = combine(seed, static_cast<uint64_t>(resources.ephemeral));
  for (const NamedAmount& extended : resources.extended) {
    seed = combine(combine(seed, table_hash(extended.name)), static_cast<uint64_t>(extended.amount));
  }
  return seed;
}

}  // namespace

// For the catalog's tables alone: another value in each process.
uint64_t hash_of(const PodShape& shape) {
  uint64_t hash = hash_of(table_seed() + 1, shape.requests);
  hash = combine(hash, static_cast<uint64_t>(shape.nonzero_cpu_milli));
  hash = combine(hash, static_cast<uint64_t>(shape.nonzero_memory));
  for (const HostPort& port : shape.ports) {
    hash = combine(combine(hash, table_hash(port.ip)), uint64_t{port.port} << 8 | static_cast<uint64_t>(port.protocol));
  }
  return hash;
}

uint64_t hash_of(const Allocatable& allocatable) {
  return combine(hash_of(table_seed() + 2, allocatable.resources), static_cast<uint64_t>(allocatable.pods));
}

}  // namespace inquest
