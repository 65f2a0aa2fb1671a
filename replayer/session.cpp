#include "replayer/session.h"

#include <utility>

namespace inquest::replayer {

using scheduler::RereadAnswered;

Session::Session(const Catalog& catalog, scheduler::CoreConfig config, Duration lag)
    : core_(catalog, std::move(config)), truth_(catalog), judge_(truth_, core_, lag) {}

void Session::step(const scheduler::Input& input, Cure cause) {
  ++inputs_;
  for (const scheduler::Effect& effect : core_.step(now_, input)) carry_out(effect);
  for (const PodId pod : core_.touched_pods()) judge_.note(pod, cause);
  for (const NodeId node : core_.touched_nodes()) judge_.note(node, cause);
  core_.clear_touched();
}

void Session::carry_out(const scheduler::Effect& effect) {
  if (const auto* reread = std::get_if<scheduler::RereadPod>(&effect)) {
    rereads_.push_back(reread->pod);
  } else if (std::get_if<scheduler::RelistNow>(&effect) != nullptr) {
    relist_due_ = true;
  } else if (const auto* bind = std::get_if<scheduler::BindPod>(&effect)) {
    binds_.push_back(*bind);
  } else if (const auto* failed = std::get_if<scheduler::Unschedulable>(&effect)) {
    unschedulable_.push_back(failed->pod);
  } else if (const auto* refusal = std::get_if<scheduler::WouldRefuse>(&effect)) {
    judge_.refused(*refusal, now_);
  } else if (const auto* expired = std::get_if<scheduler::AssumptionExpired>(&effect)) {
    const bool unconfirmed = truth_.node_of(expired->pod) && core_.scheduled().find(expired->pod) == nullptr;
    if (core_.in_flight(expired->pod) || unconfirmed) {
      judge_.point(Verdict::kEarlyExpire, expired->pod, expired->node, now_, seq_);
    }
  }
}

bool Session::act_first() {
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

bool Session::take_relist() { return std::exchange(relist_due_, false); }

std::vector<PodFacts> Session::list_pods(scheduler::Watch watch, scheduler::ListKind kind) {
  std::vector<PodFacts> pods = truth_.pods();
  step(scheduler::PodsListed{watch, pods, kind}, Cure::kRelist);
  return pods;
}

void Session::list_nodes(scheduler::ListKind kind) {
  const std::vector<NodeFacts> nodes = truth_.nodes();
  step(scheduler::NodesListed{nodes, kind}, Cure::kRelist);
}

std::vector<PodFacts> Session::relist() {
  const scheduler::Relist& what = core_.policy().relist;
  const auto kPeriodic = scheduler::ListKind::kPeriodic;
  std::vector<PodFacts> pods;
  if (what.queued) pods = list_pods(scheduler::Watch::kQueued, kPeriodic);
  if (what.scheduled || what.assumed) pods = list_pods(scheduler::Watch::kScheduled, kPeriodic);
  if (what.nodes) list_nodes(kPeriodic);
  return pods;
}

void Session::settle(Judge::Phase phase) {
  for (const PodId pod : truth_.touched_pods()) judge_.note(pod, Cure::kTruth);
  for (const NodeId node : truth_.touched_nodes()) judge_.note(node, Cure::kTruth);
  truth_.clear_touched();
  judge_.settle(now_, seq_, phase);
}

}  // namespace inquest::replayer
