// What outlives the process: the journal, and what a new process makes of it.
#include <utility>

#include "scheduler/core.h"

namespace inquest::scheduler {

void Core::persist(PodId pod, NodeId node) {
  if (!config_.policy.keeps_journal() || !node || scheduled_.find(pod) != nullptr) return;
  const Decision decision{pod, node, facts_[pod.value].shape};
  if (const Decision before = journal_.take(pod); before.pod.known() && before.pod != pod) {
    effects_.push_back(ForgetDecision{before.pod});
  }
  journal_.put(decision);
  effects_.push_back(PersistDecision{decision});
}

void Core::forget(PodId pod) {
  if (const Decision held = journal_.take(pod); held.pod.known()) effects_.push_back(ForgetDecision{held.pod});
}

void Core::on(const Restarted& input) {
  touch_all();
  Core fresh(*catalog_, std::move(config_));
  fresh.now_ = now_;
  fresh.next_relist_ = next_relist_;
  fresh.chain_ = chain_;
  fresh.touched_pods_ = std::move(touched_pods_);
  fresh.touched_nodes_ = std::move(touched_nodes_);
  *this = fresh;
  if (!config_.policy.keeps_journal()) return;
  for (const Decision& decision : input.survived) {
    forget(decision.pod);
    journal_.put(decision);
    // Nobody will answer its bind, so its time runs from here whatever the policy counts from.
    assume(decision.pod, decision.node, decision.shape, ttl_from(now_));
  }
}

void Core::touch_all() {
  for (const std::vector<PodId>* store : {&scheduled_.pods(), &assumed_.pods(), &queued_.pods()}) {
    touched_pods_.insert(touched_pods_.end(), store->begin(), store->end());
  }
  for (uint32_t pod = 0; pod < flights_.size(); ++pod) {
    if (flights_[pod].open > 0) touch({pod});
  }
  for (uint32_t node = 0; node < books_.size(); ++node) touched_nodes_.push_back({node});
}

}  // namespace inquest::scheduler
