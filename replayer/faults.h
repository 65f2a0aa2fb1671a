// FaultMatcher: which faults of a plan hit a change of the truth, a list, a bookmark or a bind, and how often each has
// fired. It decides nothing about what a fault does.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "replayer/finding.h"
#include "replayer/plan.h"
#include "replayer/recording.h"

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

// A list that the scheduler asks for; `watch` is kEvery where one watch sees all pods, and of nodes. `seq`: the record
// that is current then.
struct ListAsked {
  trace::Seq seq = 0;
  Time at;
  Resource resource = Resource::kPods;
  OnWatch watch = OnWatch::kEvery;
};

// A bookmark on one of the scheduler's watches. `seq`: its record, or the one that is current.
struct BookmarkSent {
  trace::Seq seq = 0;
  Time at;
  Resource resource = Resource::kPods;
  OnWatch watch = OnWatch::kEvery;
};

// A bind that the scheduler sends. `seq`: its record where it is a recorded one, or the one that is current.
struct BindSent {
  trace::Seq seq = 0;
  Time at;
  PodId pod;
  NodeId node;
};

// When a fault of an instant fires: at `at`; `seq` is the record that the plan names, or 0.
struct Instant {
  Time at;
  trace::Seq seq = 0;
  size_t fault = 0;
  friend auto operator<=>(const Instant&, const Instant&) = default;
};

// Of all faults of a plan that wait for an instant, in order of time, record, fault. A record of which a run makes
// nothing stands for the next of which it does; without such a one the fault is left out: it can never fire.
std::vector<Instant> instants(const Plan& plan, Time origin, std::span<const Event> events);

// Copyable: a run is forked by copying it.
class FaultMatcher {
 public:
  // Plan and catalog must outlive it. `origin`: the start of the trace, which `at: +12s` counts from.
  FaultMatcher(const Plan& plan, const Catalog& catalog, Time origin);

  // Indices of the faults that hit this, in the order of the plan; valid until the next call. `watch` of a fault that
  // waits for a change is not looked at: it says which of the change's frames it hits.
  std::span<const size_t> hits(const Change& change);
  std::span<const size_t> hits(const ListAsked& list);
  std::span<const size_t> hits(const BookmarkSent& bookmark);
  std::span<const size_t> hits(const BindSent& bind);
  // The fault of this instant has struck; `seq`: the record that is current.
  void fired(const Instant& instant, trace::Seq seq);

  // From now on the fault hits nothing, as if the plan did not hold it.
  void mute(size_t fault);
  bool muted(size_t fault) const { return !muted_.empty() && muted_[fault]; }

  // A delay of the latest change that did nothing, because a drop hit the same frames.
  void overruled(size_t fault);
  // The latest change that it hit became no frame on the watch that it names.
  void unfelt(size_t fault);

  // Over the faults that may fire yet, except those of an instant: what they have counted and taken hold of. `reached`:
  // the latest record. A plan whose faults are spent is as none.
  uint64_t state_hash(trace::Seq reached) const;

  const Plan& plan() const { return *plan_; }
  const std::vector<FaultReport>& reports() const { return reports_; }

 private:
  // The faults of one occasion, found by what they name: most plans that are long name a record or an object each.
  struct Index {
    std::vector<std::pair<trace::Seq, size_t>> by_seq;         // ascending
    std::vector<std::pair<std::string_view, size_t>> by_name;  // of names that are no globs; ascending
    std::vector<size_t> others;
  };
  struct State {
    uint64_t matched = 0;
    // Of all-of: uid: what it has taken hold of; pods by ordinal.
    std::vector<bool> pods;
    std::set<std::pair<NodeId, StringId>> nodes;  // of a name and its uid, which may be none
  };

  Index& index(Occasion occasion) { return indices_[static_cast<size_t>(occasion)]; }
  // Those that may hit what has this record and name, in the order of the plan.
  const std::vector<size_t>& candidates(Occasion occasion, trace::Seq seq, std::string_view name);
  bool matches(const Trigger& trigger, const Change& change) const;
  bool becomes(const Trigger& trigger, const Change& change) const;
  std::string_view field(Field field, const PodFacts* pod, const NodeFacts* node) const;
  std::string_view name_of(const Change& change) const;
  static bool holds(const State& state, const Change& change);
  bool in_time(const Trigger& trigger, trace::Seq seq, Time at) const;
  bool counts(size_t fault);  // whether this match is the one that nth asks for
  void hit(const FaultHit& hit);
  void take_back(size_t fault);
  template <typename Conversation>
  std::span<const size_t> hits_of(Occasion occasion, const Conversation& what);

  const Plan* plan_;
  const Catalog* catalog_;
  Time origin_;
  std::array<Index, 5> indices_;  // by occasion
  std::vector<State> states_;
  std::vector<FaultReport> reports_;
  std::vector<bool> muted_;  // by fault; empty: none is
  std::vector<size_t> hits_, candidates_;
};

}  // namespace inquest::replayer
