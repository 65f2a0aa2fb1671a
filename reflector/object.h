// Object: one version of an object as list and watch see it: who it is and where its facts are. No body, no facts, so
// that a copy is cheap. Rv: a resourceVersion as a client may treat it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/facts.h"

namespace inquest::reflector {

// metadata.resourceVersion: opaque to a client (kubernetes-facts 5.3). It is handed back as it came and never ordered:
// there is no operator<, and what the last event says counts even if it looks smaller. Eight bytes: a plain decimal is
// kept as a number, anything else as an ordinal of the catalog.
class Rv {
 public:
  constexpr Rv() = default;                       // "": not set; in a request, the most recent
  static constexpr Rv any() { return Rv(kTag); }  // "0": in a request, any state the server has at hand
  // 0, what facts have for what is no plain decimal, is not set. The last 2^33 numbers are one: no server gets there.
  static constexpr Rv number(ResourceVersion number) { return Rv(number < kTag ? number : kTag - 1); }
  static constexpr Rv text(StringId text) { return Rv(kTag + 1 + text.value); }
  // What is no canonical decimal enters the catalog.
  static Rv parse(std::string_view text, Catalog& catalog);

  // Of a number or "0" without a catalog's help.
  std::string to_string(const Catalog& catalog) const;

  constexpr bool set() const { return bits_ != 0; }
  constexpr bool is_any() const { return bits_ == kTag; }
  constexpr uint64_t bits() const { return bits_; }  // for hashes
  friend constexpr bool operator==(Rv, Rv) = default;

 private:
  static constexpr uint64_t kTag = 0 - (uint64_t{1} << 33);  // above it: "0", then ordinals of texts
  explicit constexpr Rv(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

struct Object {
  uint32_t key = UINT32_MAX;      // a dense ordinal of namespace/name, such as KeyId's or NodeId's; tables grow with it
  uint32_t uid = UINT32_MAX;      // tells lives of one name apart, such as PodId's
  uint32_t version = UINT32_MAX;  // the driver's way to the facts; opaque here
  Rv rv;
  friend constexpr bool operator==(const Object&, const Object&) = default;
};

}  // namespace inquest::reflector
