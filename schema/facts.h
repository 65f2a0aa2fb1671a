// Facts: the few fields of an object that scheduling depends on, typed. The body, the object's JSON, stays beside them
// in the trace; facts are an index over it and never replace it.
//
// Plain values without ownership: strings are ordinals of a Catalog.
#pragma once

#include <cstdint>
#include <variant>

#include "base/time.h"
#include "schema/catalog.h"

namespace inquest {

// metadata.resourceVersion as a number, for the order of writes within one resource and one epoch. 0: not plain decimal
// (then only the body has it).
using ResourceVersion = uint64_t;

enum class ObjectKind : uint8_t { kOther, kPod, kNode, kEvent };

enum class Verb : uint8_t { kAdded, kModified, kDeleted };

enum class PodPhase : uint8_t { kUnknown, kPending, kRunning, kSucceeded, kFailed };

// A condition's status; kAbsent if the object has no such condition.
enum class Condition : uint8_t { kAbsent, kTrue, kFalse, kUnknown };

// What may keep a pod off a node, or draw it to one, without the core knowing how: a decision about such a pod is
// `unknown`, and counted. A set of these is an unmodelled().
enum Unmodelled : uint8_t {
  kTopologySpread = 1 << 0,  // topologySpreadConstraints that must hold
  kPodAffinity = 1 << 1,     // required affinity or anti-affinity to pods; binds the pods of others, too
  kVolumes = 1 << 2,         // a persistentVolumeClaim, or an ephemeral volume, which makes one
  kResourceClaims = 1 << 3,  // spec.resourceClaims
  kNominated = 1 << 4,       // status.nominatedNodeName: it preempted, and room is kept for it
  kPreferences = 1 << 5,     // preferred affinity of any kind, or topology spread that need not hold: scores alone
};

// One version of a pod.
struct PodFacts {
  PodId pod;
  NodeId node;         // spec.nodeName; none while it is not bound
  StringId scheduler;  // spec.schedulerName
  ShapeId shape;
  PlacementId placement;  // none: not recorded (an old trace), or not readable
  int32_t priority = 0;   // spec.priority; null is 0
  ResourceVersion rv = 0;
  Time created;   // metadata.creationTimestamp
  Time deletion;  // metadata.deletionTimestamp; not known while nobody has deleted it
  PodPhase phase = PodPhase::kUnknown;
  Condition scheduled = Condition::kAbsent;  // the condition PodScheduled
  bool mirror = false;                       // a static pod's mirror: uses room, never scheduled by anyone
  bool gated = false;                        // spec.schedulingGates is not empty
  uint8_t unmodelled = 0;                    // a set of Unmodelled

  bool bound() const { return node.known(); }
  // Succeeded and Failed pods hold no room (kubernetes-facts 2.5).
  bool terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

// One version of a node.
struct NodeFacts {
  NodeId node;
  StringId uid;
  AllocatableId allocatable;
  LabelsId labels;  // none: not recorded, or not readable
  ResourceVersion rv = 0;
  Time created;
  TaintsId taints;  // likewise
  Condition ready = Condition::kAbsent;
  bool unschedulable = false;
};

// An events.k8s.io or core Event, as far as it tells what a scheduler did.
struct EventFacts {
  KeyId key;
  StringId uid;
  ResourceVersion rv = 0;
  StringId reason;      // "Scheduled", "FailedScheduling", …
  StringId controller;  // reportingController, or source.component
  StringId regarding_kind;
  KeyId regarding;
  StringId regarding_uid;
};

// Anything else that a stream may carry: identity only.
struct OtherFacts {
  StringId kind;
  KeyId key;
  StringId uid;
  ResourceVersion rv = 0;
};

using ObjectFacts = std::variant<OtherFacts, PodFacts, NodeFacts, EventFacts>;

inline ResourceVersion rv_of(const ObjectFacts& object) {
  return std::visit([](const auto& facts) { return facts.rv; }, object);
}

}  // namespace inquest
