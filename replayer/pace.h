// Pace: how long the things take that mode decide must make up: binds, frames and kubelets. By default the medians of
// the recording, so that the made-up cluster is as quick as the recorded one.
#pragma once

#include <optional>

#include "base/duration.h"
#include "replayer/recording.h"

namespace inquest::replayer {

// A duration, and how many samples in the trace it is the median of; 0: nobody measured it, it was given or assumed.
struct PaceValue {
  Duration value;
  uint64_t samples = 0;
};

struct Pace {
  PaceValue bind_rtt{Duration::milliseconds(5), 0};  // from sending a bind to its answer; it is carried out halfway
  PaceValue deliver{Duration::milliseconds(5), 0};   // from a change to its frame, from asking for a list to it
  PaceValue kubelet_start{Duration::seconds(1), 0};  // from the bind to Running
  PaceValue kubelet_stop{Duration::seconds(1), 0};   // from the deletionTimestamp to DELETED
};

// What the user said stands over what was measured.
struct PaceWanted {
  std::optional<Duration> bind_rtt, deliver, kubelet_start, kubelet_stop;
};

Pace pace_of(const Recording& recording, const PaceWanted& wanted);

}  // namespace inquest::replayer
