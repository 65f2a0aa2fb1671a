#include "replayer/world.h"

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::RereadAnswered;

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
  const Truth::PodChange change = truth_.apply(verb, pod, in_view ? Truth::By::kView : Truth::By::kOther);
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
  for (uint32_t pod = 0; pod < shown_.size(); ++pod) {
    if (shown_[pod] != Shown::kNever) show({pod}, shown_[pod], Shown::kCurrent);
  }
  list_lanes(Resource::kPods);
}

void World::nodes_listed(std::span<const NodeFacts> nodes, bool in_view) {
  truth_.replace(nodes);
  if (in_view) list_lanes(Resource::kNodes);
}

void World::bookmark(Resource resource, ResourceVersion rv) { delivery_.bookmark(seq_, now_, resource, rv, faults_); }

bool World::accept_bind(PodId pod, NodeId node) {
  remember(pod);
  const NodeId before = truth_.node_of(pod);
  const bool first = truth_.accept_bind(pod, node);
  if (truth_.node_of(pod) != before) outdated(pod);  // its frame may have come before the answer
  return first;
}

void World::outdated(PodId pod) {
  Shown& state = grown(shown_, pod.value);
  if (state == Shown::kNever) return;  // it may lie outside its scope
  const PodFacts held = truth_.held(pod);
  should_hear(&held, truth_.exists(pod) ? &held : nullptr);
  if (state == Shown::kCurrent) show(pod, state, Shown::kOutdated);
}

void World::show(PodId pod, Shown& state, Shown now) {
  const auto hash = [&] { return state == Shown::kNever ? 0 : combine(pod.value, static_cast<uint64_t>(state)); };
  shown_hash_ -= hash();
  if (state == Shown::kOutdated) --outdated_;
  state = now;
  if (state == Shown::kOutdated) ++outdated_;
  shown_hash_ += hash();
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
  const bool current =
      gone || (truth_.exists(pod.pod) && pod.rv >= truth_.facts(pod.pod).rv && pod.node == truth_.held(pod.pod).node);
  show(pod.pod, state, current ? Shown::kCurrent : Shown::kOutdated);
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
      delivery_.abandon(lane);
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
  past_hash_ = combine(combine(past_hash_, static_cast<uint64_t>(now_.ns)), pod.value);
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
    if (view_.started(lane)) delivery_.abandon(lane);
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
  // What it lacks is missed from now on.
  for (const PodFacts& pod : truth_.pods()) judge_.note(pod.pod, Cure::kRestart);
  for (const NodeFacts& node : truth_.nodes()) judge_.note(node.node, Cure::kRestart);
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
  cause_ = cause;
  truth_changed();
  const std::span<const scheduler::Effect> effects = core_.step(core_time(), input);
  if (observer_ != nullptr) observer_->stepped(*this, input, effects);
  for (const scheduler::Effect& effect : effects) carry_out(effect);
  unknown_binds_.stepped(input, effects);
  const auto note = [&](auto id) {
    judge_.note(id, cause);
    judge_.changed(scene(), id, cause);
  };
  for (const PodId pod : core_.touched_pods()) note(pod);
  for (const NodeId node : core_.touched_nodes()) note(node);
  note_binds(cause);
  core_.clear_touched();
}

// What the truth by itself has ended since the last step.
void World::truth_changed() {
  const auto each = [&](auto touched, size_t& marked) {
    for (; marked < touched.size(); ++marked) judge_.changed(scene(), touched[marked], Cure::kTruth);
  };
  each(truth_.touched_pods(), marked_pods_);
  each(truth_.touched_nodes(), marked_nodes_);
}

void World::note_binds(Cure cause) {
  for (const PodId pod : unknown_binds_.touched()) {
    judge_.note(pod, cause);
    judge_.changed(scene(), pod, cause);
  }
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
    judge_.refused(scene(), *refusal, now_);
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

void World::trace_over() { judge_.behind(lanes_of(core_.policy().watches).back(), false, config_.end, seq_); }

void World::settle(Judge::Phase phase) {
  truth_changed();
  for (const PodId pod : truth_.touched_pods()) judge_.note(pod, Cure::kTruth);
  for (const NodeId node : truth_.touched_nodes()) judge_.note(node, Cure::kTruth);
  if (phase == Judge::Phase::kTrace) judge_.behind(lanes_of(core_.policy().watches).back(), outdated_ > 0, now_, seq_);
  judge_.settle(scene(), now_, seq_, phase);
  blocks_.settle(truth_, core_, truth_.touched_pods(), !dead_ && judge_.differs(), now_);
  truth_.clear_touched();
  marked_pods_ = marked_nodes_ = 0;
}

Duration World::blocked(Time end) {
  blocks_.finish(end);
  return blocks_.total();
}

uint64_t World::state_hash() const {
  uint64_t out = combine(core_.state_hash(), truth_.state_hash());
  const auto mix_in = [&](uint64_t field) { out = combine(out, field); };
  mix_in(judge_.state_hash());
  mix_in(faults_.state_hash(seq_));
  mix_in(combine(unknown_binds_.state_hash(), silence_.state_hash()));
  mix_in(delivery_.state_hash(now_));
  mix_in(view_.state_hash(now_));
  for (const Answer& answer : answers_) {
    mix_in(static_cast<uint64_t>(answer.due.ns));
    mix_in(static_cast<uint64_t>(answer.lane) << 1 | (answer.aside ? 1U : 0U));
    for (const PodFacts& pod : answer.held->pods) mix_in(combine(pod.pod.value, pod.rv));
    for (const NodeFacts& node : answer.held->nodes) mix_in(combine(node.node.value, node.rv));
  }
  for (const PodId pod : rereads_) mix_in(pod.value);
  for (const bool periodic : periodic_) mix_in(periodic ? 1 : 0);
  for (size_t i = next_strike_; config_.strikes && i < config_.strikes->size(); ++i)
    mix_in((*config_.strikes)[i].fault);
  mix_in(static_cast<uint64_t>(clock_ahead_.ns));
  // A clock that was set back tells the core nothing until it is where it was.
  mix_in(core_time_ > now_ + clock_ahead_ ? static_cast<uint64_t>(core_time_.ns) : 0);
  mix_in(shown_hash_);
  mix_in(past_hash_);
  if (!dead_) return out;
  for (const scheduler::Decision& decision : survived_) {
    mix_in(combine(combine(decision.pod.value, decision.node.value), decision.shape.value));
  }
  for (const bool watched : watched_) mix_in(watched ? 1 : 0);
  mix_in(static_cast<uint64_t>(away_until_.ns));
  return out;
}

}  // namespace inquest::replayer
