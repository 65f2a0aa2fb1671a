// Promises: what a watch promises its client, checked over a whole trace. A broken promise means that the recording,
// the proxy in between or the server lied, and that a replay stands on sand at that place.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/reader.h"

namespace inquest::replayer {

enum class Promise : uint8_t {
  kOrdered,       // frames come in the order of their resourceVersions (kubernetes-facts 5.6: "strictly after N")
  kUnique,        // no frame comes twice
  kResumable,     // a watch goes on from where the stream had got to, not from before
  kKnown,         // ADDED is new; MODIFIED and DELETED are of what was listed or added
  kNoTimeTravel,  // an object's resourceVersion never falls, and a deleted uid never comes back
  kNoSilentHole,  // what was not seen is a gap record
};
inline constexpr size_t kPromises = 6;
std::string_view name_of(Promise promise);  // "ordered", …

struct BrokenPromise {
  Promise promise = Promise::kOrdered;
  trace::Seq seq = 0;
  std::string stream;
  std::string object;  // "" where it is not about one
  std::string what;
};

struct PromiseReport {
  uint64_t frames = 0;                       // that were checked
  std::array<uint64_t, kPromises> broken{};  // how often, by Promise
  std::vector<BrokenPromise> first;          // at most kKeptBroken of them
  uint64_t forgotten = 0;                    // deleted objects beyond kMaxRemembered: they may come back unnoticed
  uint64_t not_kept = 0;                     // live ones beyond it: nothing of them was checked but their order

  uint64_t total() const;
};
inline constexpr size_t kKeptBroken = 20;
inline constexpr size_t kMaxRemembered = size_t{2} << 20;  // objects, of all streams

// Walks the trace once, in bounded memory, and empties the reader's catalog on the way; rewinds the reader first and
// after.
Result<PromiseReport> check_promises(trace::TraceReader& reader);

}  // namespace inquest::replayer
