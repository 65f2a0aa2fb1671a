// Script: what mode decide takes from a trace: creations, changes of specs, first deletions, nodes, and the binds of
// others. What follows from the decisions (nodeName, status, DELETED of what a kubelet stops) is left out: it is made
// up as the run goes.
#pragma once

#include <optional>
#include <vector>

#include "replayer/recording.h"

namespace inquest::replayer {

enum class ScriptKind : uint8_t {
  kNodesListed,  // index: into the recording's lists
  kNode,         // index: into the recording's nodes
  kOpened,       // the pods' watch begins on what is there
  kCreated,      // a pod as it was created; of our own without node and status
  kRespecified,  // its spec or labels changed
  kDeletion,     // somebody deleted it: its deletionTimestamp appears
  kGone,         // it went without a deletionTimestamp
  kRecorded,     // a frame of a pod that is not ours, as it was
  kBind,         // somebody else's bind reaches the API; index: into the recording's binds
};

struct ScriptEntry {
  Time at;
  trace::Seq seq = 0;
  ScriptKind kind = ScriptKind::kCreated;
  Verb verb = Verb::kAdded;  // of kNode, kRecorded
  uint32_t index = 0;        // into the recording's pods, or as the kind says
};

// How long a pod ran before it ended by itself, and how it ended.
struct RunLength {
  Duration ran;
  PodPhase ended = PodPhase::kSucceeded;
};

struct Script {
  std::vector<ScriptEntry> entries;                   // in order
  std::vector<std::optional<RunLength>> run_lengths;  // by pod
};

// `own`: whose pods are ours (spec.schedulerName); `ourselves`: whose recorded binds are left out, because ours stand
// in their place.
Script script_of(const Recording& recording, const std::vector<StringId>& own, StringId ourselves);

}  // namespace inquest::replayer
