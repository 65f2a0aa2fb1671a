#include "scheduler/core.h"

#include <algorithm>

#include "base/check.h"

namespace inquest::scheduler {

Core::Core(const Catalog& catalog, CoreConfig config)
    : catalog_(&catalog),
      config_(std::move(config)),
      slots_(catalog, config_.policy.key),
      scheduled_(slots_),
      assumed_(slots_),
      queued_(slots_, config_.policy.queue, config_.origin),
      journal_(slots_),
      books_(catalog),
      chooser_(catalog, config_.policy.score, config_.policy.ready),
      next_relist_(config_.policy.relist.period ? config_.origin + *config_.policy.relist.period : Time::never()) {}

std::span<const Effect> Core::step(Time now, const Input& input) {
  INQUEST_CHECK(now >= now_, now.ns, now_.ns);
  now_ = now;
  effects_.clear();
  std::visit([this](const auto& given) { on(given); }, input);
  chain_ = combine(combine(chain_, static_cast<uint64_t>(now.ns)), stores_hash());
  return effects_;
}

Time Core::next_wake() {
  const Deadline* give_up = next_give_up();
  return std::max(now_, std::min({assumed_.next_deadline(), queued_.next_end(), next_relist_,
                                  give_up == nullptr ? Time::never() : give_up->at}));
}

bool Core::can_decide() { return open_binds_ < config_.policy.binds && !queued_.empty(); }

bool Core::ours(const PodFacts& pod) const {
  const auto& names = config_.scheduler_names;
  return std::find(names.begin(), names.end(), pod.scheduler) != names.end();
}

void Core::clear_touched() {
  touched_pods_.clear();
  touched_nodes_.clear();
}

// --- What the watches tell

Core::Changed Core::remember(const PodFacts& pod) {
  PodFacts& held = grown(facts_, pod.pod.value);
  Presence& presence = grown(presence_, pod.pod.value);
  // Status alone is nothing to try again for: the scheduler's own report of a failure changes it
  // (kubernetes-facts 4.2).
  const bool same = kind_of(held) == kind_of(pod) && held.priority == pod.priority && held.gated == pod.gated &&
                    held.deletion == pod.deletion && held.scheduler == pod.scheduler;
  // The mark of a life that is over says nothing: told again, the pod is new (and the hash of the state need not hold
  // it).
  const bool was_marked = presence == Presence::kPresent && held.deletion.known();
  const bool marked = pod.deletion.known() && !was_marked;
  held = pod;
  presence = Presence::kPresent;
  mark_changed(pod.pod);
  return marked ? Changed::kMarked : same ? Changed::kNo : Changed::kYes;
}

void Core::take(const PodChanged& input) {
  const PodFacts& pod = input.pod;
  const bool is_gone = gone(input);  // terminal pods hold no room
  Watch to = input.watch;
  if (to == Watch::kAll && input.known_from == KnownFrom::kList && config_.policy.tombstones == Tombstones::kLastSeen) {
    to = pod.bound() ? Watch::kScheduled : Watch::kQueued;
  }
  const bool heard = config_.policy.key == PodKey::kName || follow_life(input);
  // A DELETED may show an old version, or one that another selector still matches; the latest facts stay.
  const Changed changed = !is_gone || !seen(pod.pod) ? remember(pod) : Changed::kNo;
  if (is_gone) went(pod.pod);
  if (!heard) return;
  const bool queue_lost_it = is_gone || pod.bound();
  if (to != Watch::kScheduled) queue_lost_it ? leave_queue(pod.pod) : enter_queue(pod, changed);
  const bool forgets = changed == Changed::kMarked && config_.policy.when_marked == WhenMarked::kForget;
  if (forgets && to != Watch::kScheduled && !queue_lost_it && assumed_.find(pod.pod) != nullptr) {
    end_assumption(pod.pod);
  }
  if (to == Watch::kQueued) return;
  // With one watch a DELETED goes to both stores: the version it shows may be older than the bind (facts 2.5).
  if (is_gone) return leave_scheduled(pod.pod);
  if (pod.bound()) return enter_scheduled(pod);
  const ScheduledPod* held = scheduled_.find(pod.pod);
  if (held == nullptr) return;
  effects_.push_back(NodeNameChanged{pod.pod, held->node, NodeId::none()});
  leave_scheduled(pod.pod);
}

void Core::enter_scheduled(const PodFacts& pod) {
  const ScheduledPod entry{pod.pod, pod.node, pod.shape};
  ScheduledPod held = scheduled_.put(entry);  // what holds the slot's room until now: one slot is charged once
  if (held.pod == entry.pod && held.node != entry.node) {
    effects_.push_back(NodeNameChanged{pod.pod, held.node, entry.node});
  }
  forget(pod.pod);
  AssumedPod* assumption = assumed_.at(pod.pod);
  if (assumption != nullptr && assumption->charged) {
    held = {assumption->pod, assumption->node, assumption->shape};
    assumption->charged = false;
  }
  if (held != entry) {
    if (held.pod) {
      discharge(held.node, held.shape, held.pod);
      touch(held.pod);
    }
    charge(entry.node, entry.shape, entry.pod);
  }
  touch(entry.pod);
  if (assumption == nullptr) return;
  if (config_.policy.purges_on_event()) {
    drop_assumption(pod.pod);
  } else {
    purgeable_.push_back(pod.pod);
  }
}

void Core::leave_scheduled(PodId pod) {
  const ScheduledPod held = scheduled_.take(pod);
  if (held.pod) {
    discharge(held.node, held.shape, held.pod);
    touch(held.pod);
  }
  forget(pod);
  if (config_.policy.deletes_to == DeletesTo::kBoth) return drop_assumption(pod);
  AssumedPod* assumption = assumed_.at(pod);
  if (held.pod && assumption != nullptr && !assumption->charged) {
    charge(assumption->node, assumption->shape, assumption->pod);  // nothing shadows it any more
    assumption->charged = true;
    touch(assumption->pod);
  }
}

void Core::enter_queue(const PodFacts& pod, Changed changed) {
  // What is being bound or is assumed is not queued again by an update of its own (kubernetes-facts 2.5).
  if (!ours(pod) || pod.gated || in_flight(pod.pod) || assumed_.find(pod.pod) != nullptr) return;
  if (const PodId before = queued_.at(pod.pod); before.known()) touch(before);
  queued_.put(pod.pod, pod.priority, now_);
  if (changed != Changed::kNo) queued_.move(pod.pod, now_);
  touch(pod.pod);
  if (assumed_.at(pod.pod) != nullptr) purgeable_.push_back(pod.pod);  // another life of its name
}

void Core::leave_queue(PodId pod) {
  const PodId held = queued_.at(pod);
  if (!held.known()) return;
  queued_.remove(pod);
  touch(held);
}

void Core::on(const NodeChanged& input) {
  input.verb == Verb::kDeleted ? remove_node(input.node.node) : set_node(input.node);
}

void Core::on(const NodesListed& input) {
  if (input.kind == ListKind::kPeriodic && !config_.policy.relist.nodes) return;
  std::vector<bool> listed(books_.size());
  for (const NodeFacts& node : input.nodes) {
    if (node.node.value >= listed.size()) listed.resize(node.node.value + 1);
    listed[node.node.value] = true;
    set_node(node);
  }
  for (uint32_t node = 0; node < books_.size(); ++node) {
    if (books_.book({node}).known && !listed[node]) remove_node({node});
  }
}

// --- Deciding and binding

void Core::on(const Decide&) {
  const PodId pod = queued_.pop();
  if (!pod) return;
  touch(pod);
  ++grown(attempts_, pod.value);
  purge();
  if (facts_[pod.value].deletion.known()) {  // "skip schedule deleting pod" (kubernetes-facts 4.3)
    effects_.push_back(ReportEvent{pod, NodeId::none(), ReportEvent::Text::kBeingDeleted});
    return;
  }
  const uint64_t tie = combine(combine(config_.seed, pod.value), attempts_[pod.value]);
  const NodeId node = chooser_.choose(books_, kind_of(facts_[pod.value]), tie);
  if (!node) {
    effects_.push_back(Unschedulable{pod});
    report_failure(pod, NodeId::none(), ReportEvent::Text::kNoFit);
    return failed(pod, QueuedStore::Failure::kRejected);
  }
  start_bind(pod, node);
  effects_.push_back(BindPod{pod, node});
}

void Core::on(const DecideAs& input) {
  INQUEST_CHECK(seen(input.pod), "a followed decision for a pod that was never in the view", input.pod.value);
  ++grown(attempts_, input.pod.value);
  if (queued_.state(input.pod) != QueuedStore::State::kAbsent) leave_queue(input.pod);
  purge();
  const ShapeId shape = facts_[input.pod.value].shape;
  const Misfit misfit = books_.fit(shape, input.node, input.pod, charged_as(input.pod, input.node));
  if (!misfit.fits()) effects_.push_back(WouldRefuse{input.pod, input.node, misfit});
  start_bind(input.pod, input.node);
}

void Core::on(const AttemptFailed& input) {
  const bool waits = queued_.state(input.pod) == QueuedStore::State::kQueued;
  if (waits) leave_queue(input.pod);  // taken first, as a decision does: it must not purge its own namesake
  purge();
  if (!waits) return;
  ++grown(attempts_, input.pod.value);
  failed(input.pod, QueuedStore::Failure::kRejected);
}

// As SimpleModeler.list of 2015: an assumption whose name is queued again, or was seen scheduled, is dropped.
void Core::purge() {
  if (!config_.policy.purges_at_decision()) return;
  std::sort(purgeable_.begin(), purgeable_.end());
  purgeable_.erase(std::unique(purgeable_.begin(), purgeable_.end()), purgeable_.end());
  size_t kept = 0;
  for (const PodId pod : purgeable_) {
    const PodId waiting = queued_.at(pod);
    const bool queued = waiting.known() && queued_.state(waiting) == QueuedStore::State::kQueued;
    if (queued || scheduled_.at(pod) != nullptr) {
      end_assumption(pod);
    } else if (waiting.known() && assumed_.at(pod) != nullptr) {
      purgeable_[kept++] = pod;  // its wait may be over by the next decision
    }
  }
  purgeable_.resize(kept);
}

void Core::start_bind(PodId pod, NodeId node) {
  Flight& flight = grown(flights_, pod.value);
  count_open(pod, flight, +1);
  flight.started = now_;
  flight.node = node;
  mark_changed(pod);
  if (config_.policy.deletes_wait) give_ups_.add({now_ + *config_.policy.deletes_wait, 0, pod.value});
  persist(pod, node);
  if (config_.policy.assume != AssumeWhen::kBeforeBind) return;
  // Where the API has the pod already, a bind sent again puts it nowhere else; and a cache by uid refuses to assume
  // what it holds (kubernetes-facts 2.3), while the store of 2015 took the latest (1.3).
  const AssumedPod* entry = assumed_.find(pod);
  if (entry != nullptr && (entry->won || config_.policy.key == PodKey::kUid)) {
    if (!runs_while_open()) assumed_.set_deadline(pod, Time::never());
    return;
  }
  assume(pod, node, facts_[pod.value].shape, runs_while_open() ? ttl_from(now_) : Time::never());
}

bool Core::runs_while_open() const {
  return config_.policy.ttl_from == TtlFrom::kAssume &&
         config_.policy.expire_while_bind_open == ExpireWhileBindOpen::kYes;
}

// One open bind of the pod more, or less.
void Core::count_open(PodId pod, Flight& flight, int change) {
  const auto hash = [&] { return StateHash::of(StateHash::Entry::kInFlight, {pod.value, flight.open}); };
  hash_.remove(hash());
  flight.open += static_cast<uint32_t>(change);
  hash_.add(hash());
  open_binds_ += static_cast<uint32_t>(change);
  touch(pod);
}

Time Core::ttl_from(Time start) const {
  return config_.policy.ttl ? expires_at(start + *config_.policy.ttl) : Time::never();
}

Time Core::expires_at(Time end) const {
  if (config_.policy.expiry == Expiry::kExact || end == Time::never()) return end;
  const int64_t ticks = std::max<int64_t>(0, (end - config_.origin).ns / kTick.ns);
  return config_.origin + kTick * (ticks + 1);
}

void Core::on(const BindAnswered& input) {
  if (!in_flight(input.pod)) return;
  count_open(input.pod, flights_[input.pod.value], -1);
  if (input.outcome != BindAnswered::Outcome::kBound) {
    bind_failed(input.pod, input.node, input.outcome);
  } else {
    effects_.push_back(ReportEvent{input.pod, input.node, ReportEvent::Text::kAssigned});
    bind_won(input.pod, input.node);
  }
  release_held();
}

void Core::bind_won(PodId pod, NodeId node) {
  switch (config_.policy.assume) {
    case AssumeWhen::kNever:
      return;
    case AssumeWhen::kAfterSuccess:
      return assume(pod, node, facts_[pod.value].shape, ttl_from(now_));
    case AssumeWhen::kBeforeBind:
      return finish_bind(pod, node);
  }
}

// Of a pod that is assumed since its decision; nothing if it is not any more.
void Core::finish_bind(PodId pod, NodeId node) {
  const AssumedPod* entry = assumed_.find(pod);
  if (entry == nullptr) return;
  if (entry->node != node && !entry->won) assume(pod, node, entry->shape, entry->deadline);  // one of two open binds
  run_from_answer(pod);
  assumed_.set_won(pod);
}

void Core::run_from_answer(PodId pod) {
  if (config_.policy.ttl_from == TtlFrom::kBindAnswer) return assumed_.set_deadline(pod, ttl_from(now_));
  // Counted from the assumption; if the bind held it up beyond its end, that end is now.
  const Time end = ttl_from(flights_[pod.value].started);
  assumed_.set_deadline(pod, end >= now_ ? end : expires_at(now_));
}

void Core::bind_failed(PodId pod, NodeId node, BindAnswered::Outcome outcome) {
  const bool unknown = outcome == BindAnswered::Outcome::kUnknown;
  report_failure(pod, node, unknown ? ReportEvent::Text::kBindUnknown : ReportEvent::Text::kBindRefused);
  if (in_flight(pod)) return;  // another request for it is still open
  if (const AssumedPod* entry = assumed_.find(pod);
      entry != nullptr && config_.policy.assume == AssumeWhen::kBeforeBind) {
    if (!entry->won) {
      drop_assumption(pod);
    } else if (!runs_while_open()) {
      run_from_answer(pod);
    }
  }
  const bool settled = scheduled_.find(pod) != nullptr || assumed_.find(pod) != nullptr;
  const bool replaced = queued_.at(pod).known() && queued_.at(pod) != pod;  // by another life of its name
  const bool again = !settled && !replaced && presence_[pod.value] == Presence::kPresent && ours(facts_[pod.value]);
  if (again) failed(pod, QueuedStore::Failure::kError);
  if (assumed_.find(pod) == nullptr && !(unknown && again)) forget(pod);  // unless a re-read or another try will tell
}

void Core::report_failure(PodId pod, NodeId node, ReportEvent::Text text) {
  effects_.push_back(ReportEvent{pod, node, text});
  effects_.push_back(PatchStatus{pod, text});
}

const Deadline* Core::next_give_up() {
  return give_ups_.first([&](const Deadline& give_up) {
    const Flight& flight = flights_[give_up.slot];
    return flight.open == 0 || flight.started + *config_.policy.deletes_wait != give_up.at;
  });
}

// What no answer came to in time: whoever waits for it goes on, and an answer that still comes says nothing.
void Core::give_up_binds() {
  for (const Deadline* due = next_give_up(); due != nullptr && due->at <= now_; due = next_give_up()) {
    const PodId pod{due->slot};
    Flight& flight = flights_[pod.value];
    count_open(pod, flight, -static_cast<int>(flight.open));
    bind_failed(pod, flight.node, BindAnswered::Outcome::kUnknown);
  }
}

void Core::failed(PodId pod, QueuedStore::Failure why) {
  queued_.failed(pod, facts_[pod.value].priority, attempts_[pod.value], why, now_);
  if (assumed_.at(pod) != nullptr) purgeable_.push_back(pod);  // another life of its name
  touch(pod);
}

void Core::on(const RereadAnswered& input) {
  if (queued_.state(input.pod) != QueuedStore::State::kParked) return;
  if (input.found == RereadAnswered::Found::kPending) {
    queued_.requeue(input.pod, facts_[input.pod.value].priority, now_);
  } else {
    queued_.remove(input.pod);
  }
  forget(input.pod);
  touch(input.pod);
}

void Core::assume(PodId pod, NodeId node, ShapeId shape, Time deadline) {
  if (!node) return;                            // a bind that names no node puts the pod nowhere
  if (scheduled_.find(pod) != nullptr) return;  // it was confirmed first
  const AssumedPod before = assumed_.put(pod, node, shape, deadline);
  if (before.pod) {
    if (before.charged) discharge(before.node, before.shape, before.pod);
    touch(before.pod);
  }
  touch(pod);
  AssumedPod* assumption = assumed_.at(pod);
  if (scheduled_.at(pod) != nullptr || queued_.at(pod).known()) purgeable_.push_back(pod);  // another life of its name
  if (scheduled_.at(pod) == nullptr) {
    charge(node, shape, pod);
    assumption->charged = true;
  }
}

void Core::end_assumption(PodId pod) {
  if (assumed_.at(pod) == nullptr) return;  // a decision of the slot's next life may stand in the journal
  forget(pod);
  drop_assumption(pod);
}

void Core::drop_assumption(PodId pod) {
  const AssumedPod held = assumed_.take(pod);
  if (!held.pod) return;
  if (held.charged) discharge(held.node, held.shape, held.pod);
  touch(held.pod);
}

void Core::on(const TimeReached&) {
  for (PodId pod = assumed_.due(now_); pod; pod = assumed_.due(now_)) {
    effects_.push_back(AssumptionExpired{pod, assumed_.at(pod)->node});
    end_assumption(pod);
  }
  give_up_binds();
  release_held();
  const size_t before = touched_pods_.size();
  queued_.wake(now_, touched_pods_);
  if (config_.policy.queue == QueueOrder::kFifo) {
    for (size_t i = before; i < touched_pods_.size(); ++i) effects_.push_back(RereadPod{touched_pods_[i]});
  }
  if (next_relist_ > now_) return;
  const Duration period = *config_.policy.relist.period;
  next_relist_ = next_relist_ + period * ((now_ - next_relist_).ns / period.ns + 1);
  effects_.push_back(RelistNow{});
}

// --- Books

void Core::charge(NodeId node, ShapeId shape, PodId pod) {
  books_.charge(node, shape, pod);
  chooser_.charge_changed(node);
  touched_nodes_.push_back(node);
}

void Core::discharge(NodeId node, ShapeId shape, PodId pod) {
  books_.discharge(node, shape, pod);
  chooser_.charge_changed(node);
  touched_nodes_.push_back(node);
  queued_.move(
      now_, [](PodId) { return true; }, touched_pods_);
}

// 0 for a node that the view does not hold.
uint64_t Core::hash_of(NodeId node) const {
  const NodeBook& book = books_.book(node);
  if (!book.known) return 0;
  const uint64_t flags = static_cast<uint64_t>(book.facts.ready) << 1 | (book.facts.unschedulable ? 1 : 0);
  return StateHash::of(StateHash::Entry::kNode, {node.value, book.facts.allocatable.value, book.facts.labels.value,
                                                 book.facts.taints.value, flags});
}

void Core::set_node(const NodeFacts& node) {
  hash_.remove(hash_of(node.node));
  books_.set_node(node);
  chooser_.node_changed(node.node);
  hash_.add(hash_of(node.node));
  touched_nodes_.push_back(node.node);
  const auto fits = [&](PodId pod) {
    return chooser_.filters().all(books_, node.node, kind_of(facts_[pod.value])).fits();
  };
  queued_.move(now_, fits, touched_pods_);
}

void Core::remove_node(NodeId node) {
  hash_.remove(hash_of(node));
  books_.remove_node(node);
  chooser_.node_changed(node);
  touched_nodes_.push_back(node);
}

ShapeId Core::charged_as(PodId pod, NodeId node) const {
  if (const ScheduledPod* entry = scheduled_.find(pod); entry != nullptr && entry->node == node) return entry->shape;
  const AssumedPod* entry = assumed_.find(pod);
  return entry != nullptr && entry->charged && entry->node == node ? entry->shape : ShapeId::none();
}

}  // namespace inquest::scheduler
