// Delivery: from changes of the truth to the frames of the scheduler's watches, through the faults of a plan.
//
// The server's side of a watch: a selector rewrites what it sees (kubernetes-facts 5.7), and a watch is a stream: what
// comes late holds up all that is behind it on that watch.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "replayer/faults.h"
#include "scheduler/input.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

class Delivery {
 public:
  explicit Delivery(scheduler::Watches watches) : watches_(watches) {}

  // Frames are queued for the instant they reach the scheduler: the change's own, unless a fault holds them.
  void pod_changed(const Change& change, FaultMatcher& faults);
  void node_changed(const Change& change, FaultMatcher& faults);

  // The earliest queued frame; never if none is.
  Time next_due() const { return frames_.empty() ? Time::never() : frames_.front().due; }
  // The next frame due at `now` or earlier, in order of due time, then record.
  std::optional<scheduler::Input> pop(Time now);

  // The watch was opened anew after a list: what was on its way on the old one is never delivered.
  void restart_pods(scheduler::Watch watch);
  void restart_nodes();

  // Why a pod's or node's frames were missing or late: the hits that touched them, and those that held them up. Of one
  // record the one that decided when it arrived stands last.
  const std::vector<FaultHit>& causes() const { return causes_; }

 private:
  enum class Lane : uint8_t { kAll, kScheduled, kQueued, kNodes };
  struct Frame {
    Time due;
    uint64_t order = 0;
    Lane lane = Lane::kAll;
    scheduler::Input input;
  };
  struct LaneState {
    Time held_until;        // nothing on this lane arrives earlier
    size_t held_by = 0;     // the fault that holds it
    trace::Seq behind = 0;  // the record that it hit
  };

  static Lane lane_of(scheduler::Watch watch);
  // What happens to this change's frame on a lane; nothing: it is dropped.
  std::optional<Time> due_on(Lane lane, const Change& change, const Plan& plan, std::span<const size_t> hits);
  void account(const Change& change, FaultMatcher& faults, std::span<const size_t> hits);
  void send(Lane lane, Time due, scheduler::Input input);
  void restart(Lane lane);

  scheduler::Watches watches_;
  std::vector<Frame> frames_;  // a heap, the earliest first
  std::array<LaneState, 4> lanes_;
  uint64_t order_ = 0;
  // Of the change that is being delivered: where it waits behind another, and its delays by what became of them.
  std::vector<FaultHit> waits_;
  std::vector<size_t> overruled_, in_force_;
  std::vector<FaultHit> causes_;
};

}  // namespace inquest::replayer
