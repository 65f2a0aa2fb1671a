// Delivery: from changes of the truth to the frames of the scheduler's watches, through the faults of a plan.
//
// The server's side of a watch: a selector rewrites what it sees (kubernetes-facts 5.7), and a watch is a stream: what
// comes late holds up all that is behind it on that lane. What a broken lane would have carried waits for its
// resumption.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "replayer/faults.h"
#include "replayer/finding.h"
#include "replayer/lane.h"

namespace inquest::replayer {

// A frame as the server sends it. A bookmark has no object.
struct Frame {
  enum class Kind : uint8_t { kAdded, kModified, kDeleted, kBookmark };
  Time due;
  uint64_t order = 0;  // of those due in one instant
  Time changed;        // when what it tells happened
  trace::Seq seq = 0;
  Lane lane = Lane::kPods;
  Kind kind = Kind::kAdded;
  ResourceVersion rv = 0;
  std::variant<std::monostate, PodFacts, NodeFacts> object;
  bool repeated = false;  // it was sent before
};

class Delivery {
 public:
  static constexpr size_t kNoFault = SIZE_MAX;

  // `latency`: of every frame.
  Delivery(scheduler::Watches watches, const Plan& plan, Duration latency);

  // Frames are queued for the instant they reach the scheduler: the change's own, unless a fault holds them.
  void pod_changed(const Change& change, FaultMatcher& faults);
  void node_changed(const Change& change, FaultMatcher& faults);
  void bookmark(trace::Seq seq, Time now, Resource resource, ResourceVersion rv, FaultMatcher& faults);

  // The earliest queued frame; never if none is.
  Time next_due() const { return frames_.empty() ? Time::never() : frames_.front().due; }
  // The next frame due at `now` or earlier, in order of due time, then record.
  std::optional<Frame> pop(Time now);

  // --- The connection

  // The watch breaks: what is on its way is not received, and the server holds what follows for whoever resumes.
  // Nothing can be asked on this lane before `until`; what the server says then is `then`. `fault`, `seq`: what did it.
  void cut(Lane lane, Time until, Then then, size_t fault, trace::Seq seq);
  bool reachable(Lane lane, Time now) const { return at(lane).down_until <= now; }
  // What it says to whoever wants to resume; told once, after that it is kResume.
  Then take_then(Lane lane) { return std::exchange(at(lane).then, Then::kResume); }
  // The watch is open again, from where it broke: all that it has missed arrives now.
  void resume(Lane lane, Time now);
  // It is opened anew after a list: what was on its way, or held for a resumption, is never delivered. Nothing arrives
  // before `until`, when the list itself is there; `fault`, `seq`: what made it late.
  void restart(Lane lane, Time until, size_t fault = kNoFault, trace::Seq seq = 0);
  // Who watched it is gone: what comes from now on is never delivered, until it is opened anew after a list.
  void abandon(Lane lane);

  // Lanes on which a deletion was lost that a list is to tell. Taken once.
  std::vector<Lane> take_lists() { return std::exchange(lists_, {}); }

  // Faults of a stream or of the scheduler itself that waited for a change and have met it. Taken once.
  std::vector<size_t> take_struck() { return std::exchange(struck_, {}); }

  // Why a pod's or node's frames were missing or late: the hits that touched them, and those that held them up. Of one
  // record the one that decided when it arrived stands last.
  const std::vector<FaultHit>& causes() const { return causes_; }

  // Over what is queued or held at `now`, and when it arrives.
  uint64_t state_hash(Time now) const;

 private:
  struct LaneState {
    Time held_until;            // nothing on this lane arrives earlier
    size_t held_by = kNoFault;  // the fault that holds it
    trace::Seq behind = 0;      // the record that it hit
    Time down_until;            // nobody can be reached on it
    Then then = Then::kResume;
    bool broken = false;
    uint64_t swapped = 0;        // order of the queued frame that changes places with the next; 0: none
    std::vector<Frame> missed;   // since it broke
    std::vector<Frame> history;  // all that was sent, if the plan may want it again
  };

  LaneState& at(Lane lane) { return lanes_[static_cast<size_t>(lane)]; }
  const LaneState& at(Lane lane) const { return lanes_[static_cast<size_t>(lane)]; }
  void change_on(Lane lane, const Change& change, Frame frame, const Plan& plan, std::span<const size_t> hits);
  void send(Frame frame, const Change& change, const Plan& plan);
  Time arrival(Lane lane, const Change& change, const Plan& plan);
  void account(const Change& change, FaultMatcher& faults, std::span<const size_t> hits);
  void queue(Frame frame);
  void repeat(Frame frame, Time due);
  void miss(Frame frame);
  std::vector<Frame> take_queued(Lane lane);

  scheduler::Watches watches_;
  Duration latency_;
  bool keeps_history_ = false;
  std::vector<Frame> frames_;  // a heap, the earliest first
  std::array<LaneState, kLanes> lanes_;
  uint64_t order_ = 0;
  std::vector<Lane> lists_;
  std::vector<size_t> struck_;
  // Of the change that is being delivered: the faults that hit the lane at hand, and, of all lanes, where it waits
  // behind another, and its faults by what became of them.
  std::vector<size_t> here_;
  std::vector<FaultHit> waits_;
  std::vector<size_t> overruled_, in_force_;
  std::vector<FaultHit> causes_;
};

}  // namespace inquest::replayer
