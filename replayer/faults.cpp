#include "replayer/faults.h"

#include "base/grown.h"

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

FaultMatcher::FaultMatcher(const Plan& plan, const Catalog& catalog, Time origin)
    : plan_(&plan), catalog_(&catalog), origin_(origin), states_(plan.faults.size()), reports_(plan.faults.size()) {}

std::span<const size_t> FaultMatcher::hits(const Change& change) {
  hits_.clear();
  for (size_t i = 0; i < plan_->faults.size(); ++i) {
    const Fault& fault = plan_->faults[i];
    State& state = states_[i];
    if (!holds(state, change)) {
      if (!matches(fault.trigger, change)) continue;
      ++state.matched;
      if (fault.trigger.nth != 0 && state.matched != fault.trigger.nth) continue;
      if (fault.all_of_uid && change.pod != nullptr) grown(state.pods, change.pod->pod.value) = true;
      if (fault.all_of_uid && change.node != nullptr) state.nodes.emplace(change.node->node, change.node->uid);
    }
    hits_.push_back(i);
    ++reports_[i].fired;
    if (reports_[i].hits.size() < kKeptHits) reports_[i].hits.push_back(change.hit_by(i));
  }
  return hits_;
}

bool FaultMatcher::holds(const State& state, const Change& change) {
  if (change.node != nullptr) return state.nodes.contains({change.node->node, change.node->uid});
  return change.pod->pod.value < state.pods.size() && state.pods[change.pod->pod.value];
}

void FaultMatcher::overruled(size_t fault) {
  FaultReport& report = reports_[fault];
  if (report.fired == report.hits.size()) report.hits.pop_back();
  --report.fired;
  ++report.overruled;
}

bool FaultMatcher::matches(const Trigger& trigger, const Change& change) const {
  const bool pod = change.pod != nullptr;
  if (trigger.resource && (*trigger.resource == Resource::kPods) != pod) return false;
  if (trigger.verb && *trigger.verb != change.verb) return false;
  if (trigger.seq && *trigger.seq != change.seq) return false;
  if (trigger.after && change.at < origin_ + *trigger.after) return false;
  const KeyId key = pod ? catalog_->key_of(change.pod->pod) : KeyId::none();
  const std::string_view name = pod ? catalog_->name(key) : catalog_->node_name(change.node->node);
  const std::string_view uid = pod ? catalog_->uid(change.pod->pod) : catalog_->text(change.node->uid);
  if (!trigger.name.empty() && !glob_matches(trigger.name, name)) return false;
  if (!trigger.ns.empty() && !glob_matches(trigger.ns, catalog_->ns(key))) return false;
  if (!trigger.uid.empty() && trigger.uid != uid) return false;
  return !trigger.field || becomes(trigger, change);
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
