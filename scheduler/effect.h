// What the core wants done, or wants known. The driver carries it out: an API client live, the replayer in replay.
#pragma once

#include <variant>

#include "scheduler/fit.h"
#include "scheduler/policy.h"

namespace inquest::scheduler {

// POST the binding of this pod (by uid) to this node.
struct BindPod {
  PodId pod;
  NodeId node;
};

// GET this pod: its backoff is over, and it may have been bound or deleted meanwhile (kubernetes-facts 1.4).
struct RereadPod {
  PodId pod;
};

// LIST what the policy re-lists.
struct RelistNow {};

// The decision found no node.
struct Unschedulable {
  PodId pod;
};

// Follow: a recorded bind that these books would have refused.
struct WouldRefuse {
  PodId pod;
  NodeId node;
  Misfit misfit;
};

// An assumption ran out at its TTL.
struct AssumptionExpired {
  PodId pod;
  NodeId node;
};

using Effect = std::variant<BindPod, RereadPod, RelistNow, Unschedulable, WouldRefuse, AssumptionExpired>;

}  // namespace inquest::scheduler
