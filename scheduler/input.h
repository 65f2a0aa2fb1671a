// What the core is told. Every instant comes in with an input; the core has no clock.
//
// Within one instant the driver gives expiries (TimeReached), answers, frames and re-lists, decisions, in this order.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "scheduler/journal.h"
#include "schema/facts.h"

namespace inquest::scheduler {

// Which watch a pod frame or list comes from. With one watch, kAll; with two, each sees its own selector's events:
// a pod that is bound leaves kQueued as DELETED and enters kScheduled as ADDED (kubernetes-facts 5.7).
enum class Watch : uint8_t { kAll, kScheduled, kQueued };

// How a deletion became known. By a list that lacks the pod it is a tombstone: its version is the last that the watch
// saw, which may be older than the pod's bind (kubernetes-facts 2.5, kubernetes#106102).
enum class KnownFrom : uint8_t { kFrame, kList };

// A frame of a pod watch.
struct PodChanged {
  Watch watch = Watch::kAll;
  Verb verb = Verb::kAdded;
  PodFacts pod;
  KnownFrom known_from = KnownFrom::kFrame;
};

struct NodeChanged {
  Verb verb = Verb::kAdded;
  NodeFacts node;
};

// Why a list came. The watch's own, at its start and after a break, is the whole truth to it whatever the policy; the
// policy's periodic one corrects the stores that the policy names (Relist).
enum class ListKind : uint8_t { kOwn, kPeriodic };

// A whole list of pods, as that watch's selector sees them. What the watch knew and its own list lacks is deleted by a
// tombstone.
struct PodsListed {
  Watch watch = Watch::kAll;
  std::span<const PodFacts> pods;
  ListKind kind = ListKind::kOwn;
};

struct NodesListed {
  std::span<const NodeFacts> nodes;
  ListKind kind = ListKind::kOwn;
};

// "Take the next decision": the core pops its queue and decides where the pod goes.
struct Decide {};

// Follow: somebody else has decided; take note as if the core had. The pod must have been in the view.
struct DecideAs {
  PodId pod;
  NodeId node;
};

// Follow: a recorded attempt at this pod found no node.
struct AttemptFailed {
  PodId pod;
};

// The answer to a bind. kUnknown: a transport error or a time-out; the bind may have been applied. An answer to a bind
// that is not open (its process has died, or it was given up) says nothing.
struct BindAnswered {
  enum class Outcome : uint8_t { kBound, kRefused, kUnknown };
  PodId pod;
  NodeId node;
  Outcome outcome = Outcome::kBound;
};

// The answer to a Reread: what the API server holds now.
struct RereadAnswered {
  enum class Found : uint8_t { kGone, kPending, kBound };
  PodId pod;
  Found found = Found::kGone;
};

// The process died and another begins. Nothing is left of stores, queue, backoff, nodes and open binds; time, the grid
// of re-lists and the chain go on. What survived are the decisions that stand in the journal (Core::journal of the one
// that died, or what its effects had written); a policy without one takes none.
struct Restarted {
  std::span<const Decision> survived;
};

// The instant that next_wake() asked for has come: expiries, binds given up, ends of backoff, the next re-list.
struct TimeReached {};

using Input = std::variant<PodChanged, NodeChanged, PodsListed, NodesListed, Decide, DecideAs, AttemptFailed,
                           BindAnswered, RereadAnswered, Restarted, TimeReached>;

}  // namespace inquest::scheduler
