#include "reflector/store.h"

#include "base/check.h"
#include "base/grown.h"
#include "base/hash.h"

namespace inquest::reflector {

namespace {

// Every frame pays for it, hence one round of mixing over three products instead of combine's four.
uint64_t hash_of(const Object& object) {
  const uint64_t who = uint64_t{object.key} << 32 | object.uid;
  return mix(who * 0x9e3779b97f4a7c15ULL + object.version * 0xd6e8feb86659fd93ULL +
             object.rv.bits() * 0xa0761d6478bd642fULL);
}

}  // namespace

std::optional<Object> Store::find(uint32_t key) const {
  if (!keys_.has(key)) return std::nullopt;
  return at(key);
}

std::optional<Object> Store::put(const Object& object) {
  INQUEST_CHECK(object.key != UINT32_MAX, "an object without a key");
  const std::optional<Object> before = find(object.key);
  Slot& slot = grown(slots_, object.key);
  if (before) {
    hash_ -= slot.hash;
  } else {
    keys_.insert(object.key);
    ++size_;
  }
  slot = {object.uid, object.version, object.rv, hash_of(object)};
  hash_ += slot.hash;
  return before;
}

std::optional<Object> Store::erase(uint32_t key) {
  const std::optional<Object> before = find(key);
  if (!before) return before;
  keys_.erase(key);
  --size_;
  hash_ -= slots_[key].hash;
  return before;
}

void Store::clear() { *this = {}; }

}  // namespace inquest::reflector
