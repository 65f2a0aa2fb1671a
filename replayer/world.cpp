#include "replayer/world.h"

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::ListKind;
using scheduler::RereadAnswered;
using scheduler::Watch;

World::World(const Catalog& catalog, const WorldConfig& config)
    : catalog_(&catalog),
      config_(config),
      core_(catalog, config.core),
      truth_(catalog),
      judge_(config.lag),
      silence_(config.end),
      faults_(*config.plan, catalog, config.core.origin),
      delivery_(config.core.policy.watches, *config.plan, config.latency),
      view_(catalog, config.core.policy.watches, config.core.seed) {
  for (const Fault& fault : config.plan->faults) {
    keeps_past_ = keeps_past_ || (fault.kind == FaultKind::kList && fault.list == ListFault::kStale);
  }
}

Time World::next_due() {
  Time out = std::min(delivery_.next_due(), view_.next_wake());
  for (const Answer& answer : answers_) out = std::min(out, answer.due);
  if (config_.strikes && next_strike_ < config_.strikes->size()) {
    out = std::min(out, (*config_.strikes)[next_strike_].at);
  }
  if (dead_) return std::max(now_, away_until_);
  const Time wake = core_.next_wake();
  return std::max(now_, wake == Time::never() ? out : std::min(out, wake - clock_ahead_));
}

// The scheduler's clock: it may jump, but what it has told the core never goes back.
Time World::core_time() { return core_time_ = std::max(core_time_, now_ + clock_ahead_); }

// --- The API's side

void World::pod_changed(Verb verb, const PodFacts& pod, bool in_view) {
  remember(pod.pod);
  const Truth::PodChange change = truth_.apply(verb, pod);
  if (change.kind == Truth::PodChange::Kind::kTimeTravel) point(Verdict::kTimeTravel, pod.pod, pod.node);
  if (!in_view) return change.kind == Truth::PodChange::Kind::kApplied ? outdated(pod.pod) : void();
  should_hear(change.existed ? &change.before : nullptr, verb == Verb::kDeleted ? nullptr : &pod);
  if (change.kind != Truth::PodChange::Kind::kTimeTravel) shown(pod, verb == Verb::kDeleted);
  open_unlisted(Resource::kPods);
  delivery_.pod_changed({seq_, now_, verb, &pod, change.existed ? &change.before : nullptr, nullptr, nullptr}, faults_);
  after_change();
}

void World::node_changed(Verb verb, const NodeFacts& node, bool in_view) {
  const bool existed = truth_.has_node(node.node);
  const NodeFacts before = truth_.books().book(node.node).facts;
  truth_.apply(verb, node);
  if (!in_view) return;
  silence_.changed(now_, Lane::kNodes);
  open_unlisted(Resource::kNodes);
  delivery_.node_changed({seq_, now_, verb, nullptr, nullptr, &node, existed ? &before : nullptr}, faults_);
  after_change();
}

void World::pods_listed(std::span<const PodFacts> pods, bool in_view) {
  if (keeps_past_) {
    for (const PodFacts& pod : truth_.pods()) remember(pod.pod);
    for (const PodFacts& pod : pods) remember(pod.pod);
  }
  for (const PodFacts& pod : truth_.replace(pods)) point(Verdict::kTimeTravel, pod.pod, pod.node);
  if (!in_view) return;
  for (const PodFacts& pod : pods) shown(pod, false);
  for (Shown& state : shown_) state = state == Shown::kNever ? state : Shown::kCurrent;
  outdated_ = 0;
  list_lanes(Resource::kPods);
}

void World::nodes_listed(std::span<const NodeFacts> nodes, bool in_view) {
  truth_.replace(nodes);
  if (in_view) list_lanes(Resource::kNodes);
}

void World::bookmark(Resource resource, ResourceVersion rv) { delivery_.bookmark(seq_, now_, resource, rv, faults_); }

bool World::accept_bind(PodId pod, NodeId node) {
  remember(pod);
  const bool first = truth_.accept_bind(pod, node);
  if (first) outdated(pod);
  return first;
}

void World::outdated(PodId pod) {
  Shown& state = grown(shown_, pod.value);
  if (state == Shown::kNever) return;  // it may lie outside its scope
  const PodFacts held = truth_.held(pod);
  should_hear(&held, truth_.exists(pod) ? &held : nullptr);
  if (state != Shown::kCurrent) return;
  state = Shown::kOutdated;
  ++outdated_;
}

// --- Whether something comes on a lane

// A pod has changed: lanes whose selector matched it before, or matches it now, should tell.
void World::should_hear(const PodFacts* before, const PodFacts* after) {
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (resource_of(lane) != Resource::kPods) continue;
    const bool concerns = (before != nullptr && selects(lane, *before)) || (after != nullptr && selects(lane, *after));
    if (concerns) silence_.changed(now_, lane);
  }
}

void World::heard_on(Lane lane, Cure cure) {
  if (const auto since = silence_.heard(now_, lane)) judge_.stuck(lane, *since, now_, cure, seq_, phase());
}

void World::deaf_on(Lane lane, Cure cure) {
  if (const auto since = silence_.deaf(now_, lane)) judge_.stuck(lane, *since, now_, cure, seq_, phase());
}

Judge World::judge_at(Time now) const {
  Judge out = judge_;
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    const auto since = silence_.stuck_since(now, lane);
    if (since) out.stuck(lane, *since, std::nullopt, Cure::kNever, seq_, phase());
  }
  return out;
}

void World::shown(const PodFacts& pod, bool gone) {
  Shown& state = grown(shown_, pod.pod.value);
  const bool current = gone || (pod.rv >= truth_.facts(pod.pod).rv && pod.node == truth_.node_of(pod.pod));
  if (state == Shown::kOutdated) --outdated_;
  if (!current) ++outdated_;
  state = current ? Shown::kCurrent : Shown::kOutdated;
}

void World::point(Verdict verdict, PodId pod, NodeId node, PodId other) {
  const ShapeId holds = truth_.exists(pod) ? truth_.facts(pod).shape : ShapeId::none();
  judge_.point(verdict, pod, node, holds, now_, seq_, other);
}

// A recording may begin with frames that no list came before: the watch was opened on nothing.
void World::open_unlisted(Resource resource) {
  if (dead_) return;
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (resource_of(lane) != resource || view_.started(lane)) continue;
    view_.start(now_, lane);
    lane == Lane::kNodes ? view_.nodes_listed(now_, {}, View::Tell::kQuietly)
                         : view_.pods_listed(now_, lane, {}, View::Tell::kQuietly);
    view_.watch_opened(now_, lane);
  }
}

void World::list_lanes(Resource resource) {
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (resource_of(lane) != resource) continue;
    if (dead_) {
      watched_[static_cast<size_t>(lane)] = true;
      continue;
    }
    view_.started(lane) ? view_.list_anew(now_, lane) : view_.start(now_, lane);
  }
}

// What a fault made of the change besides its frames.
void World::after_change() {
  for (const Lane lane : delivery_.take_lists()) {
    if (!dead_) view_.list_anew(now_, lane);
  }
  for (const size_t fault : delivery_.take_struck()) strike(fault);
}

void World::remember(PodId pod) {
  if (!keeps_past_) return;
  past_.push_back({now_, pod, truth_.exists(pod) ? std::optional(truth_.held(pod)) : std::nullopt});
}

// As the API held them when `time` was over.
std::vector<PodFacts> World::pods_at(Time time) const {
  std::vector<std::optional<PodFacts>> held(catalog_->pods());
  for (const PodFacts& pod : truth_.pods()) held[pod.pod.value] = pod;
  for (auto past = past_.rbegin(); past != past_.rend() && past->until > time; ++past) {
    held[past->pod.value] = past->was;
  }
  std::vector<PodFacts> out;
  for (const auto& pod : held) {
    if (pod) out.push_back(*pod);
  }
  return out;
}

// --- Faults that strike at an instant

void World::strike() {
  if (!config_.strikes) return;
  for (; next_strike_ < config_.strikes->size() && (*config_.strikes)[next_strike_].at <= now_; ++next_strike_) {
    const Instant& instant = (*config_.strikes)[next_strike_];
    if (faults_.muted(instant.fault)) continue;
    faults_.fired(instant, seq_);
    strike(instant.fault);
  }
}

void World::strike(size_t fault) {
  switch (config_.plan->faults[fault].kind) {
    case FaultKind::kDisconnect:
      return break_lanes(fault);
    case FaultKind::kRestart:
      return die(fault);
    case FaultKind::kClock:
      clock_ahead_ = clock_ahead_ + config_.plan->faults[fault].by;
      return blame(fault, {});
    default:
      return;
  }
}

void World::break_lanes(size_t index) {
  const Fault& fault = config_.plan->faults[index];
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (fault.trigger.resource && *fault.trigger.resource != resource_of(lane)) continue;
    if (!means(fault.watch, lane)) continue;
    delivery_.cut(lane, now_ + fault.by, fault.then, index, seq_);
    deaf_on(lane, Cure::kRelist);
    if (view_.started(lane)) view_.closed(now_, lane);
  }
}

// What it had in memory is gone; what it had asked for is answered to nobody.
void World::die(size_t fault) {
  survived_ = core_.journal();
  step(scheduler::Restarted{}, Cure::kRestart);
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    watched_[static_cast<size_t>(lane)] = watched_[static_cast<size_t>(lane)] || view_.started(lane);
    delivery_.restart(lane, {});
    deaf_on(lane, Cure::kRestart);
  }
  view_ = View(*catalog_, core_.policy().watches, combine(config_.core.seed, ++lives_));
  answers_.clear();
  rereads_.clear();
  periodic_ = {};
  relist_due_ = false;
  dead_ = true;
  away_until_ = now_ + config_.plan->faults[fault].by;
  blame(fault, {});
}

void World::come_back() {
  dead_ = false;
  step(scheduler::Restarted{survived_}, Cure::kRestart);
  for (const Lane lane : lanes_of(core_.policy().watches)) {
    if (std::exchange(watched_[static_cast<size_t>(lane)], false)) view_.start(now_, lane);
  }
}

void World::blame(size_t fault, PodId pod) { causes_.push_back({fault, seq_, now_, Verb::kModified, 0, pod, {}, 0}); }

std::vector<FaultHit> World::causes() const {
  std::vector<FaultHit> out = delivery_.causes();
  out.insert(out.end(), causes_.begin(), causes_.end());
  std::stable_sort(out.begin(), out.end(), [](const FaultHit& a, const FaultHit& b) { return a.at < b.at; });
  return out;
}

// --- The scheduler's side

void World::step(const scheduler::Input& input, Cure cause) {
  ++inputs_;
  const std::span<const scheduler::Effect> effects = core_.step(core_time(), input);
  if (observer_ != nullptr) observer_->stepped(*this, input, effects);
  for (const scheduler::Effect& effect : effects) carry_out(effect);
  unknown_binds_.stepped(input, effects);
  for (const PodId pod : core_.touched_pods()) judge_.note(pod, cause);
  note_binds(cause);
  for (const NodeId node : core_.touched_nodes()) judge_.note(node, cause);
  core_.clear_touched();
}

void World::note_binds(Cure cause) {
  for (const PodId pod : unknown_binds_.touched()) judge_.note(pod, cause);
  unknown_binds_.clear_touched();
}

void World::carry_out(const scheduler::Effect& effect) {
  if (const auto* reread = std::get_if<scheduler::RereadPod>(&effect)) {
    rereads_.push_back(reread->pod);
  } else if (std::get_if<scheduler::RelistNow>(&effect) != nullptr) {
    relist_due_ = true;
  } else if (const auto* bind = std::get_if<scheduler::BindPod>(&effect)) {
    binds_.push_back(*bind);
  } else if (const auto* failed = std::get_if<scheduler::Unschedulable>(&effect)) {
    unschedulable_.push_back(failed->pod);
  } else if (const auto* refusal = std::get_if<scheduler::WouldRefuse>(&effect)) {
    judge_.refused({truth_, core_, unknown_binds_}, *refusal, now_);
  } else if (const auto* expired = std::get_if<scheduler::AssumptionExpired>(&effect)) {
    const bool unconfirmed = truth_.node_of(expired->pod) && core_.scheduled().find(expired->pod) == nullptr;
    if (core_.in_flight(expired->pod) || unconfirmed) point(Verdict::kEarlyExpire, expired->pod, expired->node);
  }
}

bool World::act_first() {
  if (dead_) {
    if (now_ < away_until_) return false;
    come_back();
    return true;
  }
  if (core_.next_wake() <= core_time()) {
    step(scheduler::TimeReached{}, Cure::kTtl);
    return true;
  }
  if (rereads_.empty()) return false;
  const PodId pod = rereads_.front();
  rereads_.pop_front();
  const auto found = !truth_.holds(pod)    ? RereadAnswered::Found::kGone
                     : truth_.node_of(pod) ? RereadAnswered::Found::kBound
                                           : RereadAnswered::Found::kPending;
  step(RereadAnswered{pod, found}, Cure::kAnswer);
  return true;
}

bool World::hear_frame() {
  if (dead_) return false;
  const auto frame = delivery_.pop(now_);
  if (!frame) return false;
  heard_on(frame->lane, Cure::kFrame);
  view_.frame(now_, *frame);
  tell(Cure::kFrame);
  return true;
}

void World::tell(Cure cause) {
  for (const scheduler::Input& input : view_.told()) {
    step(input, cause);
    if (const auto* changed = std::get_if<scheduler::PodChanged>(&input)) heard_.push_back(changed->pod.pod);
  }
  view_.told().clear();
}

// --- Lists and watches

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

void World::trace_over() { judge_.behind(lanes_of(core_.policy().watches).back(), false, config_.end, seq_); }

void World::settle(Judge::Phase phase) {
  for (const PodId pod : truth_.touched_pods()) judge_.note(pod, Cure::kTruth);
  for (const NodeId node : truth_.touched_nodes()) judge_.note(node, Cure::kTruth);
  if (phase == Judge::Phase::kTrace) judge_.behind(lanes_of(core_.policy().watches).back(), outdated_ > 0, now_, seq_);
  if (!dead_) judge_.settle({truth_, core_, unknown_binds_}, now_, seq_, phase);  // a dead one holds no view
  blocks_.settle(truth_, core_, truth_.touched_pods(), !dead_ && judge_.differs(), now_);
  truth_.clear_touched();
}

Duration World::blocked(Time end) {
  blocks_.finish(end);
  return blocks_.total();
}

uint64_t World::state_hash() const {
  uint64_t out = combine(core_.state_hash(), truth_.state_hash());
  out = combine(out, judge_.state_hash());
  out = combine(out, faults_.state_hash());
  out = combine(out, combine(unknown_binds_.state_hash(), silence_.state_hash()));
  out = combine(out, delivery_.state_hash(now_));
  out = combine(out, view_.state_hash(now_));
  for (const Answer& answer : answers_) {
    out = combine(combine(out, static_cast<uint64_t>(answer.due.ns)), static_cast<uint64_t>(answer.lane));
    for (const PodFacts& pod : answer.held->pods) out = combine(combine(out, pod.pod.value), pod.rv);
    for (const NodeFacts& node : answer.held->nodes) out = combine(combine(out, node.node.value), node.rv);
  }
  for (const PodId pod : rereads_) out = combine(out, pod.value);
  for (const scheduler::Decision& decision : survived_)
    out = combine(combine(out, decision.pod.value), decision.node.value);
  out = combine(out, static_cast<uint64_t>(clock_ahead_.ns));
  out = combine(out, outdated_);
  return combine(out, dead_ ? static_cast<uint64_t>(away_until_.ns) : 0);
}

}  // namespace inquest::replayer
