// FaultMatcher: which faults of a plan hit a change of the truth, and how often each has fired.
#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "replayer/finding.h"
#include "replayer/plan.h"

namespace inquest::replayer {

// A change of the truth as the triggers see it: a pod's or a node's, with the version before it (nullptr: none).
struct Change {
  trace::Seq seq = 0;
  Time at;
  Verb verb = Verb::kAdded;
  const PodFacts* pod = nullptr;
  const PodFacts* pod_before = nullptr;
  const NodeFacts* node = nullptr;
  const NodeFacts* node_before = nullptr;

  FaultHit hit_by(size_t fault) const;
};

class FaultMatcher {
 public:
  // Plan and catalog must outlive it. `origin`: the start of the trace, which `at: +12s` counts from.
  FaultMatcher(const Plan& plan, const Catalog& catalog, Time origin);

  // Indices of the faults that hit this change; valid until the next call.
  std::span<const size_t> hits(const Change& change);
  // A delay of the latest change that did nothing, because a drop hit the same frames.
  void overruled(size_t fault);

  const Plan& plan() const { return *plan_; }
  const std::vector<FaultReport>& reports() const { return reports_; }

 private:
  bool matches(const Trigger& trigger, const Change& change) const;
  bool becomes(const Trigger& trigger, const Change& change) const;
  std::string_view field(Field field, const PodFacts* pod, const NodeFacts* node) const;

  struct State {
    uint64_t matched = 0;
    // Of all-of: uid: what it has taken hold of; pods by ordinal.
    std::vector<bool> pods;
    std::set<std::pair<NodeId, StringId>> nodes;  // of a name and its uid, which may be none
  };
  static bool holds(const State& state, const Change& change);

  const Plan* plan_;
  const Catalog* catalog_;
  Time origin_;
  std::vector<State> states_;
  std::vector<FaultReport> reports_;
  std::vector<size_t> hits_;
};

}  // namespace inquest::replayer
