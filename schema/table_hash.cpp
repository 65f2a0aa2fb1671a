#include "schema/table_hash.h"

#include <sys/random.h>

#include "base/check.h"

namespace inquest {
namespace {

const HashKey& key() {
  static const HashKey kKey = [] {
    HashKey drawn;
    const ssize_t got = getrandom(&drawn, sizeof drawn, 0);
    INQUEST_CHECK(got == static_cast<ssize_t>(sizeof drawn), got);
    return drawn;
  }();
  return kKey;
}

}  // namespace

uint64_t table_hash(std::string_view bytes) { return sip_hash<1, 3>(key(), bytes); }
uint64_t table_seed() { return key().first; }

}  // namespace inquest
