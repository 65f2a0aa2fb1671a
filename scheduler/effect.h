// What the core wants done, or wants known. The driver carries it out: an API client live, the replayer in replay.
#pragma once

#include <variant>

#include "scheduler/fit.h"
#include "scheduler/journal.h"
#include "scheduler/policy.h"

namespace inquest::scheduler {

// Write this decision to disk, before its bind is sent (policy journal).
struct PersistDecision {
  Decision decision;
};

// It need not survive any longer: refused, seen scheduled, deleted, expired.
struct ForgetDecision {
  PodId pod;
};

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

// POST an event about the pod: best effort, it never holds up a decision (kubernetes-facts 6.5).
struct ReportEvent {
  // What its text says. kNoFit: the FitError of the decision (Unschedulable of the same step).
  enum class Text : uint8_t { kAssigned, kNoFit, kBindRefused, kBindUnknown, kBeingDeleted };
  PodId pod;
  NodeId node;  // of the bind; none if it came to none
  Text text = Text::kAssigned;

  // Its reason: Scheduled, or else FailedScheduling.
  bool scheduled() const { return text == Text::kAssigned; }
};

// PATCH the pod's status to PodScheduled=False (kubernetes-facts 6.4): reason Unschedulable for kNoFit, else
// SchedulerError.
struct PatchStatus {
  PodId pod;
  ReportEvent::Text text = ReportEvent::Text::kNoFit;
};

// The view says that a pod that has a node is on another one (none: on none). The API never does that to one uid, so
// the stream is broken; upstream's cache ends the process here (kubernetes-facts 2.3). The core believes the latest.
struct NodeNameChanged {
  PodId pod;
  NodeId was, is;
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

using Effect = std::variant<PersistDecision, ForgetDecision, BindPod, RereadPod, RelistNow, Unschedulable, ReportEvent,
                            PatchStatus, NodeNameChanged, WouldRefuse, AssumptionExpired>;

}  // namespace inquest::scheduler
