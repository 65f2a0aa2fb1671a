#include "replayer/finding.h"

namespace inquest::replayer {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kZombieScheduled:
      return "zombie-scheduled";
    case Verdict::kZombieAssumed:
      return "zombie-assumed";
    case Verdict::kGhostQueued:
      return "ghost-queued";
    case Verdict::kMissingScheduled:
      return "missing-scheduled";
    case Verdict::kMissingQueued:
      return "missing-queued";
    case Verdict::kWrongNode:
      return "wrong-node";
    case Verdict::kDoubleCount:
      return "double-count";
    case Verdict::kUnknownBind:
      return "unknown-bind";
    case Verdict::kGhostNode:
      return "ghost-node";
    case Verdict::kMissingNode:
      return "missing-node";
    case Verdict::kOvercommitView:
    case Verdict::kOvercommitTruth:
      return "overcommit";
    case Verdict::kNegative:
      return "negative";
    case Verdict::kStaleView:
      return "stale-view";
    case Verdict::kStuck:
      return "stuck";
    case Verdict::kDoubleBind:
      return "double-bind";
    case Verdict::kWrongUid:
      return "wrong-uid";
    case Verdict::kEarlyExpire:
      return "early-expire";
    case Verdict::kTimeTravel:
      return "time-travel";
  }
  return "";
}

std::string_view name_of(Cure cure) {
  switch (cure) {
    case Cure::kNever:
      return "never";
    case Cure::kFrame:
      return "event";
    case Cure::kRelist:
      return "relist";
    case Cure::kTtl:
      return "ttl";
    case Cure::kDecision:
      return "decision";
    case Cure::kAnswer:
      return "answer";
    case Cure::kTruth:
      return "truth";
    case Cure::kRestart:
      return "restart";
  }
  return "";
}

std::string_view name_of(Blame::Kind kind) {
  switch (kind) {
    case Blame::Kind::kUnproved:
      return "unproved";
    case Blame::Kind::kFaults:
      return "faults";
    case Blame::Kind::kJointly:
      return "jointly";
    case Blame::Kind::kGap:
      return "gap";
    case Blame::Kind::kPolicy:
      return "policy";
    case Blame::Kind::kRecording:
      return "recording";
  }
  return "";
}

bool about_the_same(const Finding& a, const Finding& b) {
  return a.verdict == b.verdict && a.pod == b.pod && (a.pod || a.node == b.node) && a.lane == b.lane;
}

size_t Outcome::roots() const {
  size_t count = 0;
  for (const Finding& finding : findings) count += finding.root ? 0 : 1;
  return count;
}

}  // namespace inquest::replayer
