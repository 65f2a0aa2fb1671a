#include "replayer/delivery.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"
#include "replayer/judge.h"

namespace inquest::replayer {
namespace {

constexpr auto kLater = [](const Frame& a, const Frame& b) {
  return a.due != b.due ? a.due > b.due : a.order > b.order;
};

Frame::Kind kind_of(Verb verb) {
  return verb == Verb::kAdded      ? Frame::Kind::kAdded
         : verb == Verb::kModified ? Frame::Kind::kModified
                                   : Frame::Kind::kDeleted;
}

// What a lane's selector makes of a change; nothing if it matched neither before nor after.
std::optional<std::pair<Frame::Kind, PodFacts>> rewrite(Lane lane, const Change& change) {
  if (lane == Lane::kPods) return std::pair{kind_of(change.verb), *change.pod};
  const bool before = change.pod_before != nullptr && selects(lane, *change.pod_before);
  const bool after = change.verb != Verb::kDeleted && selects(lane, *change.pod);
  // Of a pod whose last version was never seen, only the DELETED itself can tell where it stood.
  const bool deleted =
      change.verb == Verb::kDeleted && (before || (change.pod_before == nullptr && selects(lane, *change.pod)));
  if (deleted) return std::pair{Frame::Kind::kDeleted, *change.pod};
  if (before && after) return std::pair{Frame::Kind::kModified, *change.pod};
  if (after) return std::pair{Frame::Kind::kAdded, *change.pod};
  if (!before) return std::nullopt;
  std::pair left{Frame::Kind::kDeleted, *change.pod_before};  // the old content with the new resourceVersion
  left.second.rv = change.pod->rv;
  return left;
}

// The frame never comes: what the scheduler learns of it, it learns otherwise or not at all.
bool loses(const Fault& fault, Frame::Kind frame) {
  if (fault.kind == FaultKind::kDrop) return true;
  return frame == Frame::Kind::kDeleted && (fault.kind == FaultKind::kTombstone || fault.kind == FaultKind::kCollapse);
}

bool holds(const std::vector<size_t>& all, size_t hit) { return std::find(all.begin(), all.end(), hit) != all.end(); }

// A frame that waited behind what the fault did at record `behind`.
FaultHit waiting(const Frame& frame, size_t fault, trace::Seq behind) {
  FaultHit hit{fault, frame.seq, frame.changed, Verb::kModified, frame.rv, {}, {}, behind};
  if (frame.kind == Frame::Kind::kAdded) hit.verb = Verb::kAdded;
  if (frame.kind == Frame::Kind::kDeleted) hit.verb = Verb::kDeleted;
  if (const auto* pod = std::get_if<PodFacts>(&frame.object)) hit.pod = pod->pod;
  if (const auto* node = std::get_if<NodeFacts>(&frame.object)) hit.node = node->node;
  return hit;
}

}  // namespace

Delivery::Delivery(scheduler::Watches watches, const Plan& plan, Duration latency)
    : watches_(watches), latency_(latency) {
  for (const Fault& fault : plan.faults) keeps_history_ = keeps_history_ || fault.kind == FaultKind::kRvBack;
}

// --- From changes to frames

void Delivery::pod_changed(const Change& change, FaultMatcher& faults) {
  const auto hits = faults.hits(change);
  for (const Lane lane : lanes_of(watches_)) {
    if (resource_of(lane) != Resource::kPods) continue;
    const auto frame = rewrite(lane, change);
    if (!frame) continue;
    change_on(lane, change, {{}, 0, change.at, change.seq, lane, frame->first, frame->second.rv, frame->second},
              faults.plan(), hits);
  }
  if (!hits.empty() || !waits_.empty()) account(change, faults, hits);
}

void Delivery::node_changed(const Change& change, FaultMatcher& faults) {
  const auto hits = faults.hits(change);
  change_on(Lane::kNodes, change,
            {{}, 0, change.at, change.seq, Lane::kNodes, kind_of(change.verb), change.node->rv, *change.node},
            faults.plan(), hits);
  if (!hits.empty() || !waits_.empty()) account(change, faults, hits);
}

void Delivery::bookmark(trace::Seq seq, Time now, Resource resource, ResourceVersion rv, FaultMatcher& faults) {
  for (const Lane lane : lanes_of(watches_)) {
    if (resource_of(lane) != resource || at(lane).broken) continue;
    if (!faults.hits(BookmarkSent{seq, now, resource, on_watch(lane)}).empty()) continue;
    queue({std::max(now + latency_, at(lane).held_until), 0, now, seq, lane, Frame::Kind::kBookmark, rv, {}});
  }
}

void Delivery::change_on(Lane lane, const Change& change, Frame frame, const Plan& plan, std::span<const size_t> hits) {
  here_.clear();
  for (const size_t hit : hits) {
    if (means(plan.faults[hit].watch, lane)) here_.push_back(hit);
  }
  const auto lost_to = [&](size_t hit) { return loses(plan.faults[hit], frame.kind); };
  const bool lost = std::any_of(here_.begin(), here_.end(), lost_to);
  // What never comes delays nothing behind it, whichever of the two faults stands first in the plan.
  for (const size_t hit : here_) (lost && !lost_to(hit) ? overruled_ : in_force_).push_back(hit);
  if (!lost) return send(std::move(frame), change, plan);
  for (const size_t hit : here_) {
    if (plan.faults[hit].kind == FaultKind::kTombstone) lists_.push_back(lane);
  }
}

void Delivery::send(Frame frame, const Change& change, const Plan& plan) {
  LaneState& lane = at(frame.lane);
  if (lane.broken) return miss(std::move(frame));
  frame.due = arrival(frame.lane, change, plan);
  bool swapped = false;
  for (const size_t hit : here_) {
    const Fault& fault = plan.faults[hit];
    if (fault.kind != FaultKind::kSwap) continue;
    swapped = true;
    frame.due = std::max(frame.due, change.at + latency_ + (fault.by.ns == 0 ? kDefaultLag : fault.by));
  }
  if (keeps_history_) lane.history.push_back(frame);
  queue(frame);
  if (swapped) lane.swapped = order_;
  for (const size_t hit : here_) {
    const Fault& fault = plan.faults[hit];
    if (fault.kind == FaultKind::kDuplicate) repeat(frame, frame.due + fault.by);
    if (fault.kind != FaultKind::kRvBack) continue;
    for (const Frame& before : lane.history) {
      if (before.changed > change.at - fault.by) repeat(before, frame.due);
    }
  }
}

// The instant at which a change's frame arrives, of those faults alone that hold the lane.
Time Delivery::arrival(Lane lane, const Change& change, const Plan& plan) {
  LaneState& state = at(lane);
  const auto [held_until, held_by, behind] = std::tuple(state.held_until, state.held_by, state.behind);
  Time due = std::max(change.at + latency_, held_until);
  for (const size_t hit : here_) {
    const Fault& fault = plan.faults[hit];
    if (fault.kind != FaultKind::kDelay) continue;
    due = std::max(due, change.at + latency_ + fault.by);
    if (fault.overtake || due <= state.held_until) continue;
    state.held_until = due;
    state.held_by = hit;
    state.behind = change.seq;
  }
  if (held_until > change.at && due == held_until && held_by != kNoFault) {
    FaultHit wait = change.hit_by(held_by);
    wait.behind = behind;
    waits_.push_back(wait);
  }
  return due;
}

// What the faults did to the change, once it has gone through every lane.
void Delivery::account(const Change& change, FaultMatcher& faults, std::span<const size_t> hits) {
  for (const size_t hit : hits) {
    const FaultKind kind = faults.plan().faults[hit].kind;
    if (kind == FaultKind::kDisconnect || kind == FaultKind::kRestart || kind == FaultKind::kClock) {
      struck_.push_back(hit);
    } else if (holds(in_force_, hit)) {
      causes_.push_back(change.hit_by(hit));
    } else if (holds(overruled_, hit)) {
      faults.overruled(hit);
    } else {
      faults.unfelt(hit);
    }
  }
  causes_.insert(causes_.end(), waits_.begin(), waits_.end());
  waits_.clear();
  overruled_.clear();
  in_force_.clear();
}

void Delivery::queue(Frame frame) {
  LaneState& lane = at(frame.lane);
  const Time due = frame.due;
  frame.order = ++order_;
  frames_.push_back(std::move(frame));
  std::push_heap(frames_.begin(), frames_.end(), kLater);
  if (lane.swapped == 0) return;
  // The one that waited for it comes right after it.
  for (Frame& queued : frames_) {
    if (queued.order != lane.swapped) continue;
    queued.due = due;
    queued.order = ++order_;
  }
  lane.swapped = 0;
  std::make_heap(frames_.begin(), frames_.end(), kLater);
}

void Delivery::repeat(Frame frame, Time due) {
  frame.due = due;
  frame.repeated = true;
  queue(std::move(frame));
}

std::optional<Frame> Delivery::pop(Time now) {
  if (frames_.empty() || frames_.front().due > now) return std::nullopt;
  std::pop_heap(frames_.begin(), frames_.end(), kLater);
  std::optional<Frame> frame(std::move(frames_.back()));
  frames_.pop_back();
  LaneState& lane = at(frame->lane);
  if (lane.swapped == frame->order) lane.swapped = 0;
  return frame;
}

// --- The connection

void Delivery::cut(Lane lane, Time until, Then then, size_t fault, trace::Seq seq) {
  LaneState& state = at(lane);
  std::vector<Frame> unread = take_queued(lane);
  state.broken = true;
  state.down_until = std::max(state.down_until, until);
  state.then = then;
  state.held_until = {};
  state.held_by = fault;
  state.behind = seq;
  state.swapped = 0;
  for (Frame& frame : unread) {
    if (!frame.repeated && frame.kind != Frame::Kind::kBookmark) miss(std::move(frame));
  }
}

void Delivery::miss(Frame frame) {
  LaneState& lane = at(frame.lane);
  if (lane.held_by != kNoFault) causes_.push_back(waiting(frame, lane.held_by, lane.behind));
  if (keeps_history_) lane.history.push_back(frame);
  lane.missed.push_back(std::move(frame));
}

void Delivery::resume(Lane lane, Time now) {
  LaneState& state = at(lane);
  state.broken = false;
  for (Frame& frame : std::exchange(state.missed, {})) {
    frame.due = now;
    queue(std::move(frame));
  }
}

void Delivery::restart(Lane lane, Time until, size_t fault, trace::Seq seq) {
  LaneState& state = at(lane);
  take_queued(lane);
  state.broken = false;
  state.then = Then::kResume;
  state.missed.clear();
  state.swapped = 0;
  state.held_until = until;
  state.held_by = fault;
  state.behind = seq;
}

void Delivery::abandon(Lane lane) {
  restart(lane, {});
  at(lane).broken = true;
}

// In the order in which they were sent.
std::vector<Frame> Delivery::take_queued(Lane lane) {
  std::vector<Frame> out;
  for (const Frame& frame : frames_) {
    if (frame.lane == lane) out.push_back(frame);
  }
  if (out.empty()) return out;
  std::erase_if(frames_, [&](const Frame& frame) { return frame.lane == lane; });
  std::make_heap(frames_.begin(), frames_.end(), kLater);
  std::sort(out.begin(), out.end(), [](const Frame& a, const Frame& b) { return a.order < b.order; });
  return out;
}

uint64_t Delivery::state_hash(Time now) const {
  uint64_t out = 0;
  const auto add = [&](const Frame& frame, bool missed) {
    out += combine(combine(combine(static_cast<uint64_t>(frame.due.ns), frame.seq), static_cast<uint64_t>(frame.lane)),
                   static_cast<uint64_t>(frame.kind) << 2 | (frame.repeated ? 2U : 0U) | (missed ? 1U : 0U));
  };
  for (const Frame& frame : frames_) add(frame, false);
  for (const LaneState& lane : lanes_) {
    for (const Frame& frame : lane.missed) add(frame, true);
    const auto ahead = [&](Time time) { return time > now ? static_cast<uint64_t>(time.ns) : 0; };
    out = combine(out, ahead(lane.held_until));
    out = combine(out, ahead(lane.down_until) << 3 | static_cast<uint64_t>(lane.then) << 1 | (lane.broken ? 1U : 0U));
  }
  return out;
}

}  // namespace inquest::replayer
