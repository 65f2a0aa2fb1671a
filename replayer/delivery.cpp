#include "replayer/delivery.h"

#include <algorithm>

namespace inquest::replayer {

using scheduler::NodeChanged;
using scheduler::PodChanged;
using scheduler::Watch;

namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.due != b.due ? a.due > b.due : a.order > b.order; };

bool applies(const Fault& fault, Watch watch) {
  switch (fault.watch) {
    case OnWatch::kEvery:
      return true;
    case OnWatch::kScheduled:
      return watch != Watch::kQueued;
    case OnWatch::kQueued:
      return watch != Watch::kScheduled;
  }
  return true;
}

// What a watch filtered by nodeName sees of a change; nothing if it matched neither before nor after.
std::optional<PodChanged> rewrite(Watch watch, const Change& change) {
  if (watch == Watch::kAll) return PodChanged{watch, change.verb, *change.pod};
  const auto selects = [&](const PodFacts& pod) { return pod.bound() == (watch == Watch::kScheduled); };
  const bool before = change.pod_before != nullptr && selects(*change.pod_before);
  const bool after = change.verb != Verb::kDeleted && selects(*change.pod);
  // Of a pod whose last version was never seen, only the DELETED itself can tell where it stood.
  const bool deleted =
      change.verb == Verb::kDeleted && (before || (change.pod_before == nullptr && selects(*change.pod)));
  if (deleted) return PodChanged{watch, Verb::kDeleted, *change.pod};
  if (before && after) return PodChanged{watch, Verb::kModified, *change.pod};
  if (after) return PodChanged{watch, Verb::kAdded, *change.pod};
  if (!before) return std::nullopt;
  PodChanged left{watch, Verb::kDeleted, *change.pod_before};  // the old content with the new resourceVersion
  left.pod.rv = change.pod->rv;
  return left;
}

}  // namespace

Delivery::Lane Delivery::lane_of(Watch watch) {
  switch (watch) {
    case Watch::kAll:
      return Lane::kAll;
    case Watch::kScheduled:
      return Lane::kScheduled;
    case Watch::kQueued:
      return Lane::kQueued;
  }
  return Lane::kAll;
}

void Delivery::pod_changed(const Change& change, FaultMatcher& faults) {
  const auto hits = faults.hits(change);
  const auto deliver = [&](Watch watch) {
    const std::optional<PodChanged> frame = rewrite(watch, change);
    if (!frame) return;
    std::vector<size_t> here;
    for (const size_t hit : hits) {
      if (applies(faults.plan().faults[hit], watch)) here.push_back(hit);
    }
    if (const auto due = due_on(lane_of(watch), change, faults.plan(), here)) send(lane_of(watch), *due, *frame);
  };
  if (watches_ == scheduler::Watches::kOne) {
    deliver(Watch::kAll);
  } else {
    deliver(Watch::kQueued);  // it leaves the queue's watch before it enters the other: the order of one write
    deliver(Watch::kScheduled);
  }
  account(change, faults, hits);
}

void Delivery::node_changed(const Change& change, FaultMatcher& faults) {
  const auto hits = faults.hits(change);
  if (const auto due = due_on(Lane::kNodes, change, faults.plan(), hits)) {
    send(Lane::kNodes, *due, NodeChanged{change.verb, *change.node});
  }
  account(change, faults, hits);
}

std::optional<Time> Delivery::due_on(Lane lane, const Change& change, const Plan& plan, std::span<const size_t> hits) {
  LaneState& state = lanes_[static_cast<size_t>(lane)];
  // What never comes delays nothing behind it, whichever of the two faults stands first in the plan.
  const auto drops = [&](size_t hit) { return plan.faults[hit].kind == FaultKind::kDrop; };
  const bool dropped = std::any_of(hits.begin(), hits.end(), drops);
  for (const size_t hit : hits) {
    if (!drops(hit)) (dropped ? overruled_ : in_force_).push_back(hit);
  }
  if (dropped) return std::nullopt;
  const LaneState before = state;
  Time due = std::max(change.at, before.held_until);
  for (const size_t hit : hits) {
    const Fault& fault = plan.faults[hit];
    due = std::max(due, change.at + fault.by);
    if (!fault.overtake && due > state.held_until) state = {due, hit, change.seq};
  }
  if (before.held_until > change.at && due == before.held_until) {
    FaultHit wait = change.hit_by(before.held_by);
    wait.behind = before.behind;
    waits_.push_back(wait);
  }
  return due;
}

// What the faults did to the change, once it has gone through every lane.
void Delivery::account(const Change& change, FaultMatcher& faults, std::span<const size_t> hits) {
  const auto holds = [](const std::vector<size_t>& all, size_t hit) {
    return std::find(all.begin(), all.end(), hit) != all.end();
  };
  for (const size_t hit : hits) {
    if (holds(overruled_, hit) && !holds(in_force_, hit)) {
      faults.overruled(hit);
    } else {
      causes_.push_back(change.hit_by(hit));
    }
  }
  causes_.insert(causes_.end(), waits_.begin(), waits_.end());
  waits_.clear();
  overruled_.clear();
  in_force_.clear();
}

void Delivery::send(Lane lane, Time due, scheduler::Input input) {
  frames_.push_back({due, ++order_, lane, std::move(input)});
  std::push_heap(frames_.begin(), frames_.end(), kLater);
}

std::optional<scheduler::Input> Delivery::pop(Time now) {
  if (frames_.empty() || frames_.front().due > now) return std::nullopt;
  std::pop_heap(frames_.begin(), frames_.end(), kLater);
  scheduler::Input input = std::move(frames_.back().input);
  frames_.pop_back();
  return input;
}

void Delivery::restart(Lane lane) {
  lanes_[static_cast<size_t>(lane)] = {};
  if (std::erase_if(frames_, [&](const Frame& frame) { return frame.lane == lane; }) > 0) {
    std::make_heap(frames_.begin(), frames_.end(), kLater);
  }
}

void Delivery::restart_pods(Watch watch) {
  restart(lane_of(watch));
  if (watches_ == scheduler::Watches::kOne) restart(Lane::kAll);
}

void Delivery::restart_nodes() { restart(Lane::kNodes); }

}  // namespace inquest::replayer
