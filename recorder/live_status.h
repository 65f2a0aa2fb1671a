// LiveStatus: what a recording is doing, for whoever asks over HTTP from another thread: /metrics for Prometheus,
// /healthz (the recorder turns), /readyz (everything that was asked for is being watched).
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/server.h"
#include "recorder/live_stream.h"

namespace inquest::recorder {

class LiveStatus {
 public:
  struct Snapshot {
    LiveCounts counts;
    std::vector<std::pair<std::string, bool>> streams;  // and whether each is watched
    Time turned;                                        // when the recorder said so, by the monotonic clock
  };

  // The clock must outlive it.
  explicit LiveStatus(const Clock& clock) : clock_(&clock) {}

  void set(Snapshot snapshot);
  http::Answer answer(const std::string& path) const;

 private:
  const Clock* clock_;
  mutable std::mutex mutex_;
  Snapshot last_;
};

}  // namespace inquest::recorder
