// What lists tell a core, and what they share with the frames of their watch: both wait behind a delete whose bind is
// open, and in both a name's next life may come as an update of the one before it.
#include <algorithm>
#include <utility>

#include "scheduler/core.h"

namespace inquest::scheduler {
namespace {

// The watch's selector lets the pod through, and it belongs into a store.
bool shows(Watch watch, const PodFacts& pod) {
  return !pod.terminal() && (watch == Watch::kAll || pod.bound() == (watch == Watch::kScheduled));
}

}  // namespace

// --- Deletes that wait

void Core::on(const PodChanged& input) {
  if (!must_wait(input)) return take(input);
  if (!seen(input.pod.pod)) remember(input.pod);  // the watch has told of it, though no store has heard it yet
  held_.push(input);
}

void Core::on(const PodsListed& input) {
  if (!must_wait(input)) return take(input);
  for (const PodFacts& pod : input.pods) {
    if (!seen(pod.pod)) remember(pod);
  }
  held_.push(HeldList{input.watch, input.kind, {input.pods.begin(), input.pods.end()}});
}

// The queue's watch has nothing to wait for: an open bind's pod is not in the queue.
template <typename FromWatch>
bool Core::must_wait(const FromWatch& input) {
  if (!config_.policy.deletes_wait || input.watch == Watch::kQueued) return false;
  return !held_.empty() || deletes_open(input);
}

bool Core::deletes_open(const PodChanged& input) {
  if (gone(input) && in_flight(input.pod.pod)) return true;
  if (config_.policy.key == PodKey::kName || config_.policy.uid_change == UidChange::kUpdate) return false;
  const PodId before = life_of(input.watch, input.pod.pod);  // the next life deletes it
  return before.known() && before != input.pod.pod && in_flight(before);
}

bool Core::deletes_open(const PodsListed& list) {
  const std::vector<PodId> lost = list.kind == ListKind::kOwn ? lost_by_own(list) : lost_by_periodic(list);
  return std::any_of(lost.begin(), lost.end(), [&](PodId pod) { return in_flight(pod); });
}

void Core::release_held() {
  while (!held_.empty()) {
    if (const auto* frame = std::get_if<PodChanged>(&held_.front())) {
      if (deletes_open(*frame)) return;
      take(std::get<PodChanged>(held_.pop()));
    } else {
      const auto& front = std::get<HeldList>(held_.front());
      if (deletes_open(PodsListed{front.watch, front.pods, front.kind})) return;
      const auto list = std::get<HeldList>(held_.pop());
      take(PodsListed{list.watch, list.pods, list.kind});
    }
  }
}

// --- The next life of a name

PodId& Core::life_of(Watch watch, PodId pod) {
  return grown(lives_[watch == Watch::kQueued ? 0 : 1], catalog_->key_of(pod).value);
}

// Returns whom the watch has shown under this name until now.
PodId Core::exchange_life(Watch watch, PodId pod, PodId next) {
  const PodId before = std::exchange(life_of(watch, pod), next);
  mark_changed(pod);
  if (before.known()) mark_changed(before);
  return before;
}

void Core::went(PodId pod) {
  presence_[pod.value] = Presence::kGone;
  mark_changed(pod);
}

// By uid: every watch keeps its objects by name, so that a pod created anew is an update of the old one if that was
// not seen to go (kubernetes#85726). Says whether the stores are to hear of this version.
bool Core::follow_life(const PodChanged& input) {
  const PodId pod = input.pod.pod;
  const PodId before = exchange_life(input.watch, pod, input.verb == Verb::kDeleted ? PodId::none() : pod);
  if (input.verb == Verb::kDeleted || !before.known()) return true;
  if (config_.policy.uid_change == UidChange::kSplit) {
    if (before == pod) return true;
    take(PodChanged{input.watch, Verb::kDeleted, facts_[before.value]});
    exchange_life(input.watch, pod, pod);
    return true;
  }
  // Where the last version had a node this is an update of a scheduled pod, which fails if no store holds that uid.
  const bool was_bound = facts_[before.value].bound();
  if (before == pod) return !was_bound || scheduled_.find(pod) != nullptr;
  went(before);
  if (!was_bound) leave_queue(before);
  return !was_bound;
}

// A list has shown that it is gone.
void Core::lose(Watch watch, PodId pod) {
  went(pod);
  if (config_.policy.key == PodKey::kName) return;
  if (life_of(watch, pod) == pod) exchange_life(watch, pod, PodId::none());
}

// --- Lists

void Core::take(const PodsListed& list) {
  if (list.kind == ListKind::kOwn) return take_own(list);
  if (list.watch != Watch::kQueued) correct_scheduled(list);
  if (list.watch != Watch::kScheduled) correct_queued(list);
}

// Of what the watch knew, by name: two watches feed a store each; one watch knows whatever it has shown.
std::vector<PodId> Core::lost_by_own(const PodsListed& list) {
  ++list_epoch_;
  const auto key = [&](PodId pod) { return catalog_->key_of(pod).value; };
  for (const PodFacts& pod : list.pods) {
    if (shows(list.watch, pod)) grown(listed_, key(pod.pod)) = list_epoch_;
  }
  std::vector<PodId> lost;
  const auto ask = [&](PodId pod) {
    if (grown(listed_, key(pod)) != list_epoch_) lost.push_back(pod);
  };
  if (list.watch == Watch::kScheduled) std::for_each(scheduled_.pods().begin(), scheduled_.pods().end(), ask);
  if (list.watch == Watch::kQueued) std::for_each(queued_.pods().begin(), queued_.pods().end(), ask);
  if (list.watch != Watch::kAll) return lost;
  for (uint32_t pod = 0; pod < presence_.size(); ++pod) {
    if (presence_[pod] == Presence::kPresent) ask({pod});
  }
  return lost;
}

void Core::take_own(const PodsListed& list) {
  for (const PodId pod : lost_by_own(list)) {
    take(PodChanged{list.watch, Verb::kDeleted, facts_[pod.value], KnownFrom::kList});
  }
  for (const PodFacts& pod : list.pods) {
    if (shows(list.watch, pod)) take(PodChanged{list.watch, Verb::kModified, pod});
  }
}

// Of the scheduled and assumed stores; a list of the policy's own corrects those that it names.
std::vector<PodId> Core::lost_by_periodic(const PodsListed& list) {
  ++list_epoch_;
  for (const PodFacts& pod : list.pods) {
    if (shows(Watch::kScheduled, pod)) grown(listed_, slots_.of(pod.pod)) = list_epoch_;
  }
  std::vector<PodId> lost;
  const auto ask = [&](PodId pod) {
    if (grown(listed_, slots_.of(pod)) != list_epoch_) lost.push_back(pod);
  };
  const Relist& corrects = config_.policy.relist;
  if (corrects.scheduled) std::for_each(scheduled_.pods().begin(), scheduled_.pods().end(), ask);
  if (corrects.assumed) std::for_each(assumed_.pods().begin(), assumed_.pods().end(), ask);
  return lost;
}

void Core::correct_scheduled(const PodsListed& list) {
  const Relist& corrects = config_.policy.relist;
  for (const PodId pod : lost_by_periodic(list)) {
    if (corrects.scheduled && scheduled_.find(pod) != nullptr) {
      lose(list.watch, pod);
      leave_scheduled(pod);
    }
    if (corrects.assumed) end_assumption(pod);
  }
  if (!corrects.scheduled) return;
  for (const PodFacts& pod : list.pods) {
    if (!shows(Watch::kScheduled, pod)) continue;
    remember(pod);
    enter_scheduled(pod);
  }
}

void Core::correct_queued(const PodsListed& list) {
  if (!config_.policy.relist.queued) return;
  ++list_epoch_;
  for (const PodFacts& pod : list.pods) {
    if (shows(Watch::kQueued, pod)) grown(listed_, slots_.of(pod.pod)) = list_epoch_;
  }
  const std::vector<PodId> held = queued_.pods();
  for (const PodId pod : held) {
    if (grown(listed_, slots_.of(pod)) == list_epoch_) continue;
    lose(list.watch, pod);
    leave_queue(pod);
  }
  for (const PodFacts& pod : list.pods) {
    if (!shows(Watch::kQueued, pod)) continue;
    enter_queue(pod, remember(pod));
  }
}

}  // namespace inquest::scheduler
