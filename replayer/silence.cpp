#include "replayer/silence.h"

#include <algorithm>

#include "base/hash.h"

namespace inquest::replayer {

std::optional<Time> Silence::heard(Time now, Lane lane) {
  const auto stuck = stuck_since(now, lane);
  at(lane) = {true, now, Time::never()};
  return stuck;
}

std::optional<Time> Silence::deaf(Time now, Lane lane) {
  const auto stuck = stuck_since(now, lane);
  at(lane) = {};
  return stuck;
}

std::optional<Time> Silence::stuck_since(Time now, Lane lane) const {
  const LaneState& state = lanes_[static_cast<size_t>(lane)];
  if (!state.listens || state.changed == Time::never()) return std::nullopt;
  const Time birth = std::max(state.heard + kTooLong, state.changed);
  return birth < now && birth < end_ ? std::optional(birth) : std::nullopt;
}

uint64_t Silence::state_hash() const {
  uint64_t out = 0;
  for (const LaneState& state : lanes_) {
    const bool matters = state.listens && state.heard + kTooLong < end_;
    out = combine(out, matters ? static_cast<uint64_t>(state.heard.ns) : 0);
    out = combine(out, matters && state.changed != Time::never() ? static_cast<uint64_t>(state.changed.ns) : 0);
  }
  return out;
}

}  // namespace inquest::replayer
