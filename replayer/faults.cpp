#include "replayer/faults.h"

#include <algorithm>

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {
namespace {

std::string_view text_of(PodPhase phase) {
  switch (phase) {
    case PodPhase::kUnknown:
      return "Unknown";
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
  }
  return "";
}

}  // namespace

FaultHit Change::hit_by(size_t fault) const {
  FaultHit hit{fault, seq, at, verb, pod != nullptr ? pod->rv : node->rv, {}, {}, 0};
  if (pod != nullptr) {
    hit.pod = pod->pod;
  } else {
    hit.node = node->node;
  }
  return hit;
}

std::vector<Instant> instants(const Plan& plan, Time origin, std::span<const Event> events) {
  std::vector<Instant> out;
  for (size_t i = 0; i < plan.faults.size(); ++i) {
    const Trigger& trigger = plan.faults[i].trigger;
    if (occasion_of(plan.faults[i]) != Occasion::kInstant) continue;
    if (!trigger.seq) {
      out.push_back({trigger.time.value_or(origin + trigger.after.value_or(Duration{})), 0, i});
      continue;
    }
    const auto event = std::lower_bound(events.begin(), events.end(), *trigger.seq,
                                        [](const Event& before, trace::Seq seq) { return before.seq < seq; });
    if (event != events.end()) out.push_back({event->at, event->seq, i});
  }
  std::sort(out.begin(), out.end());
  return out;
}

FaultMatcher::FaultMatcher(const Plan& plan, const Catalog& catalog, Time origin)
    : plan_(&plan), catalog_(&catalog), origin_(origin), states_(plan.faults.size()), reports_(plan.faults.size()) {
  for (size_t i = 0; i < plan.faults.size(); ++i) {
    const Fault& fault = plan.faults[i];
    const Trigger& trigger = fault.trigger;
    Index& index = this->index(occasion_of(fault));
    const bool named = !trigger.name.empty() && trigger.name.find_first_of("*?") == std::string::npos;
    if (fault.all_of_uid || (!trigger.seq && !named)) {
      index.others.push_back(i);  // of all-of: what it holds is hit whatever its record and name
    } else if (trigger.seq) {
      index.by_seq.emplace_back(*trigger.seq, i);
    } else {
      index.by_name.emplace_back(trigger.name, i);
    }
  }
  for (Index& index : indices_) {
    std::sort(index.by_seq.begin(), index.by_seq.end());
    std::sort(index.by_name.begin(), index.by_name.end());
  }
}

const std::vector<size_t>& FaultMatcher::candidates(Occasion occasion, trace::Seq seq, std::string_view name) {
  const Index& index = this->index(occasion);
  candidates_ = index.others;
  const auto add = [&](const auto& sorted, const auto& key) {
    auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair(key, size_t{0}));
    for (; at != sorted.end() && at->first == key; ++at) candidates_.push_back(at->second);
  };
  add(index.by_seq, seq);
  add(index.by_name, name);
  if (candidates_.size() > index.others.size()) std::sort(candidates_.begin(), candidates_.end());
  if (!muted_.empty()) std::erase_if(candidates_, [this](size_t fault) { return muted(fault); });
  return candidates_;
}

std::span<const size_t> FaultMatcher::hits(const Change& change) {
  hits_.clear();
  for (const size_t i : candidates(Occasion::kChange, change.seq, name_of(change))) {
    const Fault& fault = plan_->faults[i];
    State& state = states_[i];
    if (!holds(state, change)) {
      if (!matches(fault.trigger, change) || !counts(i)) continue;
      if (fault.all_of_uid && change.pod != nullptr) grown(state.pods, change.pod->pod.value) = true;
      if (fault.all_of_uid && change.node != nullptr) state.nodes.emplace(change.node->node, change.node->uid);
    }
    hit(change.hit_by(i));
  }
  return hits_;
}

template <typename Conversation>
std::span<const size_t> FaultMatcher::hits_of(Occasion occasion, const Conversation& what) {
  hits_.clear();
  for (const size_t i : candidates(occasion, what.seq, "")) {
    const Fault& fault = plan_->faults[i];
    const Trigger& trigger = fault.trigger;
    if (!in_time(trigger, what.seq, what.at)) continue;
    if (trigger.resource && *trigger.resource != what.resource) continue;
    if (fault.watch != OnWatch::kEvery && fault.watch != what.watch) continue;
    if (counts(i)) hit({i, what.seq, what.at, Verb::kAdded, 0, {}, {}, 0});
  }
  return hits_;
}

std::span<const size_t> FaultMatcher::hits(const ListAsked& list) { return hits_of(Occasion::kList, list); }
std::span<const size_t> FaultMatcher::hits(const BookmarkSent& bookmark) {
  return hits_of(Occasion::kBookmark, bookmark);
}

std::span<const size_t> FaultMatcher::hits(const BindSent& bind) {
  hits_.clear();
  const KeyId key = catalog_->key_of(bind.pod);
  for (const size_t i : candidates(Occasion::kBind, bind.seq, catalog_->name(key))) {
    const Trigger& trigger = plan_->faults[i].trigger;
    if (!in_time(trigger, bind.seq, bind.at)) continue;
    if (!trigger.name.empty() && !glob_matches(trigger.name, catalog_->name(key))) continue;
    if (!trigger.ns.empty() && !glob_matches(trigger.ns, catalog_->ns(key))) continue;
    if (!trigger.uid.empty() && trigger.uid != catalog_->uid(bind.pod)) continue;
    if (!trigger.node.empty() && !glob_matches(trigger.node, catalog_->node_name(bind.node))) continue;
    if (counts(i)) hit({i, bind.seq, bind.at, Verb::kAdded, 0, bind.pod, bind.node, 0});
  }
  return hits_;
}

void FaultMatcher::fired(const Instant& instant, trace::Seq seq) {
  hits_.clear();
  hit({instant.fault, seq, instant.at, Verb::kAdded, 0, {}, {}, 0});
}

void FaultMatcher::mute(size_t fault) {
  muted_.resize(states_.size());
  muted_[fault] = true;
}

bool FaultMatcher::counts(size_t fault) {
  const uint64_t nth = plan_->faults[fault].trigger.nth;
  return ++states_[fault].matched == nth || nth == 0;
}

void FaultMatcher::hit(const FaultHit& hit) {
  FaultReport& report = reports_[hit.fault];
  hits_.push_back(hit.fault);
  ++report.fired;
  if (report.hits.size() < kKeptHits) report.hits.push_back(hit);
}

bool FaultMatcher::holds(const State& state, const Change& change) {
  if (change.node != nullptr) return state.nodes.contains({change.node->node, change.node->uid});
  return change.pod->pod.value < state.pods.size() && state.pods[change.pod->pod.value];
}

uint64_t FaultMatcher::state_hash(trace::Seq reached) const {
  uint64_t out = 0;
  for (size_t i = 0; i < states_.size(); ++i) {
    const Fault& fault = plan_->faults[i];
    const State& state = states_[i];
    const Trigger& trigger = fault.trigger;
    const bool fired = trigger.nth != 0 && state.matched >= trigger.nth;
    const bool passed = trigger.seq && *trigger.seq < reached;
    const bool holds_some = fault.all_of_uid && state.matched > 0;
    if (occasion_of(fault) == Occasion::kInstant || ((fired || passed) && !holds_some)) continue;
    uint64_t one = combine(i, state.matched);
    for (size_t pod = 0; pod < state.pods.size(); ++pod) one = state.pods[pod] ? combine(one, pod) : one;
    for (const auto& [node, uid] : state.nodes) one = combine(combine(one, node.value), uid.value);
    out = combine(out, one);
  }
  return out;
}

void FaultMatcher::overruled(size_t fault) {
  take_back(fault);
  ++reports_[fault].overruled;
}

void FaultMatcher::unfelt(size_t fault) {
  take_back(fault);
  ++reports_[fault].unfelt;
}

void FaultMatcher::take_back(size_t fault) {
  FaultReport& report = reports_[fault];
  if (report.fired == report.hits.size()) report.hits.pop_back();
  --report.fired;
}

bool FaultMatcher::matches(const Trigger& trigger, const Change& change) const {
  const bool pod = change.pod != nullptr;
  if (trigger.resource && (*trigger.resource == Resource::kPods) != pod) return false;
  if (trigger.verb && *trigger.verb != change.verb) return false;
  if (!in_time(trigger, change.seq, change.at)) return false;
  const KeyId key = pod ? catalog_->key_of(change.pod->pod) : KeyId::none();
  const std::string_view uid = pod ? catalog_->uid(change.pod->pod) : catalog_->text(change.node->uid);
  if (!trigger.name.empty() && !glob_matches(trigger.name, name_of(change))) return false;
  if (!trigger.ns.empty() && !glob_matches(trigger.ns, catalog_->ns(key))) return false;
  if (!trigger.uid.empty() && trigger.uid != uid) return false;
  return !trigger.field || becomes(trigger, change);
}

bool FaultMatcher::in_time(const Trigger& trigger, trace::Seq seq, Time at) const {
  if (trigger.seq && *trigger.seq != seq) return false;
  if (trigger.time && at < *trigger.time) return false;
  return !trigger.after || at >= origin_ + *trigger.after;
}

std::string_view FaultMatcher::name_of(const Change& change) const {
  return change.pod != nullptr ? catalog_->name(catalog_->key_of(change.pod->pod))
                               : catalog_->node_name(change.node->node);
}

bool FaultMatcher::becomes(const Trigger& trigger, const Change& change) const {
  const std::string_view after = field(*trigger.field, change.pod, change.node);
  const bool existed = change.pod_before != nullptr || change.node_before != nullptr;
  const std::string_view before = existed ? field(*trigger.field, change.pod_before, change.node_before) : "";
  return after != before && glob_matches(trigger.becomes, after);
}

std::string_view FaultMatcher::field(Field field, const PodFacts* pod, const NodeFacts* node) const {
  switch (field) {
    case Field::kNodeName:
      return pod != nullptr ? catalog_->node_name(pod->node) : "";
    case Field::kPhase:
      return pod != nullptr ? text_of(pod->phase) : "";
    case Field::kDeletionTimestamp:
      return pod != nullptr && pod->deletion.known() ? "set" : "";
    case Field::kUnschedulable:
      return node != nullptr ? (node->unschedulable ? "true" : "false") : "";
  }
  return "";
}

}  // namespace inquest::replayer
