#include "replayer/world.h"

namespace inquest::replayer {

using scheduler::ListKind;
using scheduler::RereadAnswered;
using scheduler::Watch;

World::World(const Catalog& catalog, scheduler::CoreConfig config, const Plan& plan, Duration lag)
    : core_(catalog, config),
      truth_(catalog),
      judge_(lag),
      faults_(plan, catalog, config.origin),
      delivery_(config.policy.watches) {}

// --- The API's side

void World::pod_changed(Verb verb, const PodFacts& pod, bool in_view) {
  const Truth::PodChange change = truth_.apply(verb, pod);
  if (change.kind == Truth::PodChange::Kind::kTimeTravel) point(Verdict::kTimeTravel, pod.pod, pod.node);
  if (!in_view) return;
  delivery_.pod_changed({seq_, now_, verb, &pod, change.existed ? &change.before : nullptr, nullptr, nullptr}, faults_);
}

void World::node_changed(Verb verb, const NodeFacts& node, bool in_view) {
  const bool existed = truth_.has_node(node.node);
  const NodeFacts before = truth_.books().book(node.node).facts;
  truth_.apply(verb, node);
  if (!in_view) return;
  delivery_.node_changed({seq_, now_, verb, nullptr, nullptr, &node, existed ? &before : nullptr}, faults_);
}

void World::pods_listed(std::span<const PodFacts> pods, bool in_view) {
  for (const PodFacts& pod : truth_.replace(pods)) point(Verdict::kTimeTravel, pod.pod, pod.node);
  pods_to_list_ = pods_to_list_ || in_view;
}

void World::nodes_listed(std::span<const NodeFacts> nodes, bool in_view) {
  truth_.replace(nodes);
  nodes_to_list_ = nodes_to_list_ || in_view;
}

void World::point(Verdict verdict, PodId pod, NodeId node) {
  const ShapeId holds = truth_.exists(pod) ? truth_.facts(pod).shape : ShapeId::none();
  judge_.point(verdict, pod, node, holds, now_, seq_);
}

// --- The scheduler's side

void World::step(const scheduler::Input& input, Cure cause) {
  ++inputs_;
  for (const scheduler::Effect& effect : core_.step(now_, input)) carry_out(effect);
  for (const PodId pod : core_.touched_pods()) judge_.note(pod, cause);
  for (const NodeId node : core_.touched_nodes()) judge_.note(node, cause);
  core_.clear_touched();
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
    judge_.refused({truth_, core_}, *refusal, now_);
  } else if (const auto* expired = std::get_if<scheduler::AssumptionExpired>(&effect)) {
    const bool unconfirmed = truth_.node_of(expired->pod) && core_.scheduled().find(expired->pod) == nullptr;
    if (core_.in_flight(expired->pod) || unconfirmed) point(Verdict::kEarlyExpire, expired->pod, expired->node);
  }
}

bool World::act_first() {
  if (core_.next_wake() <= now_) {
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

bool World::list_anew() {
  if (nodes_to_list_) {
    nodes_to_list_ = false;
    delivery_.restart_nodes();
    list_nodes(ListKind::kOwn);
    return true;
  }
  if (!pods_to_list_) return false;
  pods_to_list_ = false;
  delivery_.restart_pods(Watch::kQueued);
  delivery_.restart_pods(Watch::kScheduled);
  if (core_.policy().watches == scheduler::Watches::kOne) {
    list_pods(Watch::kAll, ListKind::kOwn);
  } else {
    list_pods(Watch::kQueued, ListKind::kOwn);
    list_pods(Watch::kScheduled, ListKind::kOwn);
  }
  return true;
}

bool World::hear_frame() {
  const auto frame = delivery_.pop(now_);
  if (!frame) return false;
  step(*frame, Cure::kFrame);
  if (const auto* changed = std::get_if<scheduler::PodChanged>(&*frame)) heard_.push_back(changed->pod.pod);
  return true;
}

// It stands for the frames still under way only where it corrects all that they would have changed.
bool World::relist() {
  if (!std::exchange(relist_due_, false)) return false;
  const scheduler::Relist& what = core_.policy().relist;
  const bool one = core_.policy().watches == scheduler::Watches::kOne;
  if (what.queued && (what.scheduled || !one)) delivery_.restart_pods(Watch::kQueued);
  if (what.scheduled && (what.queued || !one)) delivery_.restart_pods(Watch::kScheduled);
  if (what.nodes) delivery_.restart_nodes();
  if (what.queued) list_pods(Watch::kQueued, ListKind::kPeriodic);
  if (what.scheduled || what.assumed) list_pods(Watch::kScheduled, ListKind::kPeriodic);
  if (what.nodes) list_nodes(ListKind::kPeriodic);
  return true;
}

void World::list_pods(Watch watch, ListKind kind) {
  const std::vector<PodFacts> pods = truth_.pods();
  step(scheduler::PodsListed{watch, pods, kind}, Cure::kRelist);
  for (const PodFacts& pod : pods) heard_.push_back(pod.pod);
}

void World::list_nodes(ListKind kind) {
  const std::vector<NodeFacts> nodes = truth_.nodes();
  step(scheduler::NodesListed{nodes, kind}, Cure::kRelist);
}

void World::settle(Judge::Phase phase) {
  for (const PodId pod : truth_.touched_pods()) judge_.note(pod, Cure::kTruth);
  for (const NodeId node : truth_.touched_nodes()) judge_.note(node, Cure::kTruth);
  truth_.clear_touched();
  judge_.settle({truth_, core_}, now_, seq_, phase);
}

}  // namespace inquest::replayer
