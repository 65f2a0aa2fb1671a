// What the scheduler asks the API for, and how the answers reach it: lists, watches, and the policy's periodic list.
#include <algorithm>
#include <utility>

#include "replayer/world.h"

namespace inquest::replayer {

using scheduler::ListKind;
using scheduler::Watch;

bool World::answer_requests() {
  if (dead_) return false;
  if (hear_list()) return true;
  if (view_.next_wake() <= now_) {
    view_.wake(now_);
    return true;
  }
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (view_.wants_list(lane)) return answer_list(lane), true;
    if (view_.wants_watch(lane)) return answer_watch(lane), true;
  }
  return false;
}

void World::answer_list(Lane lane) {
  if (!delivery_.reachable(lane, now_)) return view_.refused(now_, lane, reflector::Refusal::Why::kConnectionRefused);
  view_.list_asked(lane);
  send_list(lane, false);
}

void World::answer_watch(Lane lane) {
  if (!delivery_.reachable(lane, now_)) return view_.refused(now_, lane, reflector::Refusal::Why::kConnectionRefused);
  switch (delivery_.take_then(lane)) {
    case Then::kGone:
      return view_.refused(now_, lane, reflector::Refusal::Why::kExpired);
    case Then::kRelist:
      return view_.refused(now_, lane, reflector::Refusal::Why::kOther);
    case Then::kResume:
      delivery_.resume(lane, now_);
      heard_on(lane, Cure::kRelist);
      return view_.watch_opened(now_, lane);
  }
}

// The list is taken now; it arrives after the latency, or when a fault lets it.
void World::send_list(Lane lane, bool aside) {
  auto held = std::make_shared<Snapshot>();
  Time asked_for = now_, due = now_ + config_.latency;
  bool empty = false;
  size_t late = Delivery::kNoFault;
  for (const size_t hit : faults_.hits(ListAsked{seq_, now_, resource_of(lane), on_watch(lane)})) {
    const Fault& fault = config_.plan->faults[hit];
    if (fault.list == ListFault::kEmpty) empty = true;
    if (fault.list == ListFault::kStale) asked_for = now_ - fault.by;
    if (fault.list == ListFault::kLate) due = due + fault.by, late = hit;
    blame(hit, {});
  }
  if (!empty && lane == Lane::kNodes) held->nodes = truth_.nodes();
  if (!empty && lane != Lane::kNodes) held->pods = asked_for < now_ ? pods_at(asked_for) : truth_.pods();
  if (!aside) delivery_.restart(lane, due, late, seq_);
  answers_.push_back({due, lane, aside, std::move(held)});
}

bool World::hear_list() {
  const auto due = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& one) { return one.due <= now_; });
  if (due == answers_.end()) return false;
  const Answer answer = std::move(*due);
  answers_.erase(due);
  hear(answer);
  return true;
}

void World::hear(const Answer& answer) {
  const Lane lane = answer.lane;
  heard_on(lane, Cure::kRelist);
  if (answer.aside) return correct(lane, *answer.held);
  const bool periodic = std::exchange(periodic_[static_cast<size_t>(lane)], false);
  const auto how = periodic ? View::Tell::kQuietly : View::Tell::kCore;
  lane == Lane::kNodes ? view_.nodes_listed(now_, answer.held->nodes, how)
                       : view_.pods_listed(now_, lane, answer.held->pods, how);
  if (periodic) correct(lane, *answer.held);
  tell(Cure::kRelist);
  if (lane == Lane::kNodes) return;
  unknown_binds_.listed();
  note_binds(Cure::kRelist);
}

// The policy's list corrects the stores that the policy names.
void World::correct(Lane lane, const Snapshot& held) {
  const scheduler::Relist& what = core_.policy().relist;
  if (lane == Lane::kNodes) return step(scheduler::NodesListed{held.nodes, ListKind::kPeriodic}, Cure::kRelist);
  if (lane != Lane::kScheduled && what.queued) {
    step(scheduler::PodsListed{Watch::kQueued, held.pods, ListKind::kPeriodic}, Cure::kRelist);
  }
  if (lane != Lane::kQueued && (what.scheduled || what.assumed)) {
    step(scheduler::PodsListed{Watch::kScheduled, held.pods, ListKind::kPeriodic}, Cure::kRelist);
  }
  for (const PodFacts& pod : held.pods) heard_.push_back(pod.pod);
}

bool World::corrects_all(Lane lane) const {
  const scheduler::Relist& what = core_.policy().relist;
  return lane == Lane::kNodes    ? what.nodes
         : lane == Lane::kQueued ? what.queued
         : lane == Lane::kPods   ? what.queued && what.scheduled
                                 : what.scheduled;
}

bool World::corrects_some(Lane lane) const {
  const scheduler::Relist& what = core_.policy().relist;
  return corrects_all(lane) || (lane == Lane::kPods && (what.queued || what.scheduled || what.assumed)) ||
         (lane == Lane::kScheduled && what.assumed);
}

// A list that corrects all that a lane feeds stands for the frames still under way on it: its watch begins anew there.
// Where nobody can be reached it fails, and the next one comes when the policy says.
bool World::relist() {
  if (!std::exchange(relist_due_, false)) return false;
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (!corrects_some(lane) || !view_.started(lane) || !delivery_.reachable(lane, now_)) continue;
    if (!corrects_all(lane)) {
      send_list(lane, true);
      continue;
    }
    if (!view_.listing(lane)) view_.list_anew(now_, lane), periodic_[static_cast<size_t>(lane)] = true;
  }
  return true;
}

}  // namespace inquest::replayer
