// UnknownBinds: binds whose outcome the scheduler does not know. A transport error, a time-out or a 5xx leaves open
// whether the API carried a bind out, until a watch, a list, a re-read or the answer to another bind tells.
//
// It sees what the core is told and says, nothing else: it is about what the scheduler can know, not about the truth.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "scheduler/effect.h"
#include "scheduler/input.h"

namespace inquest::replayer {

class UnknownBinds {
 public:
  // The core was given `input`, and `effects` came of it.
  void stepped(const scheduler::Input& input, std::span<const scheduler::Effect> effects);
  // A list of pods was heard: it shows each of them bound, pending or gone.
  void listed();

  // Where the bind of the pod was to put it; none if nothing about it is unknown.
  NodeId of(PodId pod) const { return pod.value < pods_.size() ? pods_[pod.value].unknown : NodeId::none(); }

  // Pods of which something became unknown or known. Taken once.
  std::span<const PodId> touched() const { return touched_; }
  void clear_touched() { touched_.clear(); }

  uint64_t state_hash() const;

 private:
  struct Pod {
    NodeId unknown;        // none: nothing is
    bool settled = false;  // a watch has shown it with a node, or gone
  };
  void unknown(PodId pod, NodeId node);
  void known(PodId pod);
  void all_known();

  std::vector<Pod> pods_;  // by ordinal
  std::set<PodId> unknown_;
  std::vector<PodId> touched_;
};

}  // namespace inquest::replayer
