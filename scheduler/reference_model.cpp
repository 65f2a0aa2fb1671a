#include "scheduler/reference_model.h"

#include <algorithm>

namespace inquest::scheduler {

namespace {

bool shows(Watch watch, const PodFacts& pod) {
  if (pod.terminal()) return false;
  return watch == Watch::kAll || (watch == Watch::kScheduled) == pod.bound();
}

}  // namespace

// --- Frames and lists

PodId ReferenceModel::shown(Watch watch, PodId pod) const {
  const auto at = lives_.find({lane(watch), catalog_->key_of(pod).value});
  return at == lives_.end() ? PodId::none() : at->second;
}

void ReferenceModel::on(const PodChanged& frame) {
  if (!must_wait(frame)) return take(frame);
  held_.push_back({{frame}, {}, {}});
  if (facts_.emplace(frame.pod.pod, frame.pod).second) present_.insert(frame.pod.pod);
}

void ReferenceModel::on(const PodsListed& list) {
  if (!must_wait(list)) return take(list);
  held_.push_back({{}, list, {list.pods.begin(), list.pods.end()}});
  for (const PodFacts& pod : list.pods) {
    if (facts_.emplace(pod.pod, pod).second) present_.insert(pod.pod);
  }
}

bool ReferenceModel::must_wait(const PodChanged& frame) const {
  if (!policy_.deletes_wait || frame.watch == Watch::kQueued) return false;
  if (!held_.empty() || (gone(frame) && open(frame.pod.pod))) return true;
  const PodId before = shown(frame.watch, frame.pod.pod);
  return policy_.key == PodKey::kUid && policy_.uid_change == UidChange::kSplit && before && before != frame.pod.pod &&
         open(before);
}

bool ReferenceModel::must_wait(const PodsListed& list) const {
  if (!policy_.deletes_wait || list.watch == Watch::kQueued) return false;
  const std::vector<PodId> pods = lost(list);
  return !held_.empty() || std::any_of(pods.begin(), pods.end(), [&](PodId pod) { return open(pod); });
}

void ReferenceModel::release() {
  while (!held_.empty()) {
    const Held first = held_.front();
    const std::vector<Held> rest(held_.begin() + 1, held_.end());
    const PodsListed list{first.list.watch, first.pods, first.list.kind};
    held_.clear();  // nothing stands before it
    const bool waits = first.frame.empty() ? must_wait(list) : must_wait(first.frame.front());
    if (waits) {
      held_ = rest;
      held_.insert(held_.begin(), first);
      return;
    }
    first.frame.empty() ? take(list) : take(first.frame.front());
    held_ = rest;
  }
}

void ReferenceModel::take(const PodChanged& frame) {
  const PodFacts& pod = frame.pod;
  bool heard = true;
  if (policy_.key == PodKey::kUid) {
    const PodId before = shown(frame.watch, pod.pod);
    if (frame.verb != Verb::kDeleted && before && policy_.uid_change == UidChange::kSplit && before != pod.pod) {
      take(PodChanged{frame.watch, Verb::kDeleted, facts_.at(before)});
    }
    if (frame.verb != Verb::kDeleted && before && policy_.uid_change == UidChange::kUpdate) {
      const bool was_bound = facts_.at(before).bound();
      if (before == pod.pod) heard = !was_bound || holds(scheduled, slot(pod.pod), pod.pod);
      if (before != pod.pod) {
        present_.erase(before);
        if (was_bound) heard = false;
        if (!was_bound) queued.erase(slot(before));
      }
    }
    const std::pair<int, uint32_t> name{lane(frame.watch), catalog_->key_of(pod.pod).value};
    lives_.erase(name);
    if (frame.verb != Verb::kDeleted) lives_[name] = pod.pod;
  }
  const bool marked = pod.deletion.known() && (present_.count(pod.pod) == 0 || !facts_.at(pod.pod).deletion.known());
  if (!gone(frame) || facts_.count(pod.pod) == 0) facts_[pod.pod] = pod;
  gone(frame) ? (void)present_.erase(pod.pod) : (void)present_.insert(pod.pod);
  if (!heard) return;
  bool to_queue = frame.watch != Watch::kScheduled, to_scheduled = frame.watch != Watch::kQueued;
  if (frame.watch == Watch::kAll && frame.known_from == KnownFrom::kList &&
      policy_.tombstones == Tombstones::kLastSeen) {
    to_scheduled = pod.bound();
    to_queue = !pod.bound();
  }
  if (to_queue && (gone(frame) || pod.bound())) queued.erase(slot(pod.pod));
  if (to_queue && !gone(frame) && !pod.bound()) {
    const bool was_assumed = holds(assumed, slot(pod.pod), pod.pod);
    enter_queue(pod);
    if (was_assumed && marked && policy_.when_marked == WhenMarked::kForget) {
      assumed.erase(slot(pod.pod));
      journal.erase(slot(pod.pod));
    }
  }
  if (to_scheduled && gone(frame)) leave_scheduled(pod.pod);
  if (to_scheduled && !gone(frame) && pod.bound()) enter_scheduled(pod);
  if (to_scheduled && !gone(frame) && !pod.bound() && holds(scheduled, slot(pod.pod), pod.pod)) {
    leave_scheduled(pod.pod);
  }
}

void ReferenceModel::enter_queue(const PodFacts& pod) {
  const bool ours = std::count(config_.scheduler_names.begin(), config_.scheduler_names.end(), pod.scheduler) > 0;
  if (ours && !pod.gated && !open(pod.pod) && !holds(assumed, slot(pod.pod), pod.pod)) queued[slot(pod.pod)] = pod.pod;
}

void ReferenceModel::enter_scheduled(const PodFacts& pod) {
  scheduled[slot(pod.pod)] = {pod.pod, pod.node, pod.shape};
  journal.erase(slot(pod.pod));
  if (policy_.purges_on_event()) assumed.erase(slot(pod.pod));
}

void ReferenceModel::leave_scheduled(PodId pod) {
  scheduled.erase(slot(pod));
  journal.erase(slot(pod));
  if (policy_.deletes_to == DeletesTo::kBoth) assumed.erase(slot(pod));
}

// Of a watch's own list by name, of a periodic one by what the stores go by.
bool ReferenceModel::lacks(const PodsListed& list, PodId pod) const {
  const bool own = list.kind == ListKind::kOwn;
  return std::none_of(list.pods.begin(), list.pods.end(), [&](const PodFacts& listed) {
    const bool same = own ? catalog_->key_of(listed.pod) == catalog_->key_of(pod) : slot(listed.pod) == slot(pod);
    return same && shows(own ? list.watch : Watch::kScheduled, listed);
  });
}

std::vector<PodId> ReferenceModel::lost(const PodsListed& list) const {
  std::vector<PodId> out;
  const bool own = list.kind == ListKind::kOwn;
  const auto ask = [&](PodId pod) {
    if (lacks(list, pod)) out.push_back(pod);
  };
  if (own && list.watch == Watch::kAll) std::for_each(present_.begin(), present_.end(), ask);
  if (own ? list.watch == Watch::kScheduled : policy_.relist.scheduled) {
    for (const auto& [at, entry] : scheduled) ask(entry.pod);
  }
  if (!own && policy_.relist.assumed) {
    for (const auto& [at, entry] : assumed) ask(entry.bound.pod);
  }
  if (own && list.watch == Watch::kQueued) {
    for (const auto& [at, pod] : queued) ask(pod);
  }
  return out;
}

void ReferenceModel::take(const PodsListed& list) {
  if (list.kind == ListKind::kOwn) {
    for (const PodId pod : lost(list)) take(PodChanged{list.watch, Verb::kDeleted, facts_.at(pod), KnownFrom::kList});
    for (const PodFacts& pod : list.pods) {
      if (shows(list.watch, pod)) take(PodChanged{list.watch, Verb::kModified, pod});
    }
    return;
  }
  const auto lose = [&](PodId pod) {
    present_.erase(pod);
    if (shown(list.watch, pod) == pod) lives_.erase({lane(list.watch), catalog_->key_of(pod).value});
  };
  if (list.watch != Watch::kQueued) {
    for (const PodId pod : lost(list)) {
      if (policy_.relist.scheduled && holds(scheduled, slot(pod), pod)) {
        lose(pod);
        leave_scheduled(pod);
      }
      if (policy_.relist.assumed) {
        assumed.erase(slot(pod));
        journal.erase(slot(pod));
      }
    }
    for (const PodFacts& pod : list.pods) {
      if (!policy_.relist.scheduled || !shows(Watch::kScheduled, pod)) continue;
      facts_[pod.pod] = pod;
      present_.insert(pod.pod);
      enter_scheduled(pod);
    }
  }
  if (list.watch == Watch::kScheduled || !policy_.relist.queued) return;
  const std::map<Slot, PodId> before = queued;
  for (const auto& [at, pod] : before) {
    const Slot mine = at;
    const bool listed = std::any_of(list.pods.begin(), list.pods.end(), [&](const PodFacts& one) {
      return slot(one.pod) == mine && shows(Watch::kQueued, one);
    });
    if (listed) continue;
    lose(pod);
    queued.erase(at);
  }
  for (const PodFacts& pod : list.pods) {
    if (!shows(Watch::kQueued, pod)) continue;
    facts_[pod.pod] = pod;
    present_.insert(pod.pod);
    enter_queue(pod);
  }
}

// --- Decisions and binds

void ReferenceModel::purge() {
  if (!policy_.purges_at_decision()) return;
  const auto seen = [&](Slot at) {
    return scheduled.count(at) > 0 || (queued.count(at) > 0 && saw_.in_line.count(queued.at(at)) > 0);
  };
  for (auto entry = assumed.begin(); entry != assumed.end();) {
    const Slot at = entry->first;
    entry = seen(at) ? assumed.erase(entry) : std::next(entry);
    if (seen(at)) journal.erase(at);
  }
}

void ReferenceModel::on(const Decide&) {
  if (!saw_.taken) return;
  queued.erase(slot(saw_.taken));
  purge();
  if (facts_.at(saw_.taken).deletion.known()) return;
  if (saw_.chosen) return start(saw_.taken, saw_.chosen);
  queued[slot(saw_.taken)] = saw_.taken;
}

void ReferenceModel::on(const DecideAs& decision) {
  if (holds(queued, slot(decision.pod), decision.pod)) queued.erase(slot(decision.pod));
  purge();
  start(decision.pod, decision.node);
}

void ReferenceModel::on(const AttemptFailed& attempt) {
  const bool waits = saw_.in_line.count(attempt.pod) > 0;
  if (waits) queued.erase(slot(attempt.pod));
  purge();
  if (waits) queued[slot(attempt.pod)] = attempt.pod;
}

void ReferenceModel::start(PodId pod, NodeId node) {
  Flight& flight = flights[pod];
  ++flight.open;
  flight.started = now_;
  flight.node = node;
  const ShapeId shape = facts_.at(pod).shape;
  const bool confirmed = holds(scheduled, slot(pod), pod);
  if (policy_.keeps_journal() && node && !confirmed) journal[slot(pod)] = {pod, node, shape};
  if (policy_.assume != AssumeWhen::kBeforeBind) return;
  const bool mine = holds(assumed, slot(pod), pod);
  if (mine && (assumed.at(slot(pod)).won || policy_.key == PodKey::kUid)) {
    if (!runs_while_open()) assumed.at(slot(pod)).deadline = Time::never();
    return;
  }
  assume(pod, node, shape, runs_while_open() ? ttl_from(now_) : Time::never());
}

void ReferenceModel::assume(PodId pod, NodeId node, ShapeId shape, Time deadline) {
  if (node && !holds(scheduled, slot(pod), pod)) assumed[slot(pod)] = {{pod, node, shape}, deadline, false};
}

Time ReferenceModel::ends(Time end) const {
  if (policy_.expiry == Expiry::kExact || end == Time::never()) return end;
  const int64_t second = Duration::seconds(1).ns;
  return {end.ns - (end - config_.origin).ns % second + second};
}

Time ReferenceModel::end_after_answer(PodId pod) const {
  if (policy_.ttl_from == TtlFrom::kBindAnswer) return ttl_from(now_);
  const Time end = ttl_from(flights.at(pod).started);
  return end < now_ ? ends(now_) : end;
}

void ReferenceModel::on(const BindAnswered& answer) {
  const PodId pod = answer.pod;
  if (!open(pod)) return;
  --flights[pod].open;
  if (answer.outcome != BindAnswered::Outcome::kBound) {
    bind_is_over(pod, answer.outcome);
  } else if (policy_.assume == AssumeWhen::kAfterSuccess) {
    assume(pod, answer.node, facts_.at(pod).shape, ttl_from(now_));
  } else if (holds(assumed, slot(pod), pod)) {
    const Assumption before = assumed.at(slot(pod));
    if (!before.won) assume(pod, answer.node, before.bound.shape, before.deadline);
    assumed.at(slot(pod)).deadline = end_after_answer(pod);
    assumed.at(slot(pod)).won = true;
  }
  release();
}

// Refused, or nobody knows.
void ReferenceModel::bind_is_over(PodId pod, BindAnswered::Outcome outcome) {
  if (open(pod)) return;
  if (holds(assumed, slot(pod), pod) && policy_.assume == AssumeWhen::kBeforeBind) {
    Assumption& mine = assumed.at(slot(pod));
    if (mine.won && !runs_while_open()) mine.deadline = end_after_answer(pod);
    if (!mine.won) assumed.erase(slot(pod));
  }
  const auto& names = config_.scheduler_names;
  const bool ours = std::count(names.begin(), names.end(), facts_.at(pod).scheduler) > 0;
  const bool replaced = queued.count(slot(pod)) > 0 && queued.at(slot(pod)) != pod;
  const bool again = present_.count(pod) > 0 && ours && !replaced && !holds(scheduled, slot(pod), pod) &&
                     !holds(assumed, slot(pod), pod);
  if (again) queued[slot(pod)] = pod;
  const bool told_later = again && outcome == BindAnswered::Outcome::kUnknown;
  if (!told_later && !holds(assumed, slot(pod), pod)) journal.erase(slot(pod));
}

void ReferenceModel::on(const RereadAnswered& answer) {
  const bool parked = holds(queued, slot(answer.pod), answer.pod) && saw_.in_line.count(answer.pod) == 0;
  if (!parked) return;
  journal.erase(slot(answer.pod));
  if (answer.found != RereadAnswered::Found::kPending) queued.erase(slot(answer.pod));
}

// --- Time and death

void ReferenceModel::on(const TimeReached&) {
  for (auto entry = assumed.begin(); entry != assumed.end();) {
    const bool over = entry->second.deadline <= now_;
    if (over) {
      expired.insert(entry->second.bound.pod);
      journal.erase(entry->first);
    }
    entry = over ? assumed.erase(entry) : std::next(entry);
  }
  for (auto& [pod, flight] : flights) {
    if (flight.open == 0 || !policy_.deletes_wait || flight.started + *policy_.deletes_wait > now_) continue;
    flight.open = 0;
    bind_is_over(pod, BindAnswered::Outcome::kUnknown);
  }
  release();
  while (policy_.relist.period && next_relist_ <= now_) next_relist_ = next_relist_ + *policy_.relist.period;
}

void ReferenceModel::on(const Restarted& restart) {
  scheduled.clear();
  assumed.clear();
  queued.clear();
  journal.clear();
  flights.clear();
  facts_.clear();
  present_.clear();
  lives_.clear();
  held_.clear();
  if (!policy_.keeps_journal()) return;
  for (const Decision& decision : restart.survived) {
    journal[slot(decision.pod)] = {decision.pod, decision.node, decision.shape};
    assume(decision.pod, decision.node, decision.shape, ttl_from(now_));
  }
}

}  // namespace inquest::scheduler
