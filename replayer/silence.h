// Silence: how long nothing has come on each lane, and since when something should have.
//
// An API server sends each watch a bookmark about once a minute (kubernetes-facts 5.4), so that one on which nothing
// comes for more than two such periods while its own resource changes is stuck, however alive its connection looks
//. It is all one whether the recorded stream hung or a
// plan's faults silence it: the finding's cause tells. A watch that is broken is not silent, since the scheduler knows;
// nor is anything after the end of the trace, when no bookmarks are recorded any more.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "replayer/lane.h"

namespace inquest::replayer {

class Silence {
 public:
  static constexpr Duration kBookmarkPeriod = Duration::seconds(60);
  static constexpr Duration kTooLong = kBookmarkPeriod * 2;

  // `end`: of the trace.
  explicit Silence(Time end) : end_(end) {}

  // Something came on the lane: a list, a frame, a bookmark, or the watch was opened. Returns since when it had been
  // stuck, if it was.
  std::optional<Time> heard(Time now, Lane lane);
  // The scheduler does not listen any more: the watch broke, or it died. The same is returned.
  std::optional<Time> deaf(Time now, Lane lane);
  // The lane's own resource changed, and the lane should tell.
  void changed(Time now, Lane lane) {
    LaneState& state = at(lane);
    if (state.listens && state.changed == Time::never()) state.changed = now;
  }
  // Since when it has been stuck, if it is.
  std::optional<Time> stuck_since(Time now, Lane lane) const;

  // Over what can still make a lane stuck.
  uint64_t state_hash() const;

 private:
  struct LaneState {
    bool listens = false;
    Time heard;
    Time changed = Time::never();  // the first change since then
  };
  LaneState& at(Lane lane) { return lanes_[static_cast<size_t>(lane)]; }

  Time end_;
  std::array<LaneState, kLanes> lanes_;
};

}  // namespace inquest::replayer
