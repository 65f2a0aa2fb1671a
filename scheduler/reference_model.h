// For tests only: the core again, slow and obvious. Stores are maps, every rule looks at everything there is, nothing
// is kept that can be worked out anew. What happens inside the queue (who is next, how long a pod waits) is not its
// business: it takes from the core who was in line, who was taken, and where the pod went.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/core.h"

namespace inquest::scheduler {

class ReferenceModel {
 public:
  struct Observed {
    std::set<PodId> in_line;  // before the step
    PodId taken;              // by Decide
    NodeId chosen;
  };
  struct Bound {
    PodId pod;
    NodeId node;
    ShapeId shape;
    friend bool operator==(const Bound&, const Bound&) = default;
  };
  struct Assumption {
    Bound bound;
    Time deadline;
    bool won = false;
    friend bool operator==(const Assumption&, const Assumption&) = default;
  };
  struct Flight {
    int open = 0;
    Time started;
    NodeId node;
  };
  using Slot = uint32_t;

  ReferenceModel(const Catalog& catalog, CoreConfig config)
      : catalog_(&catalog), config_(std::move(config)), policy_(config_.policy), next_relist_(config_.origin) {
    if (policy_.relist.period) next_relist_ = next_relist_ + *policy_.relist.period;
  }

  void step(Time now, const Input& input, Observed observed) {
    now_ = now;
    saw_ = std::move(observed);
    expired.clear();
    std::visit([this](const auto& given) { on(given); }, input);
  }

  // Of everything but the queue's waits.
  Time next_wake() const {
    Time out = policy_.relist.period ? next_relist_ : Time::never();
    for (const auto& [slot, entry] : assumed) out = std::min(out, entry.deadline);
    for (const auto& [pod, flight] : flights) {
      if (flight.open > 0 && policy_.deletes_wait) out = std::min(out, flight.started + *policy_.deletes_wait);
    }
    return out;
  }

  std::map<Slot, Bound> scheduled;
  std::map<Slot, Assumption> assumed;
  std::map<Slot, PodId> queued;  // in line or waiting
  std::map<Slot, Bound> journal;
  std::map<PodId, Flight> flights;
  std::set<PodId> expired;  // by the last step

 private:
  struct Held {
    std::vector<PodChanged> frame;  // one, or else it is a list
    PodsListed list;
    std::vector<PodFacts> pods;
  };

  void on(const PodChanged& frame);
  void on(const PodsListed& list);
  void on(const NodeChanged&) {}
  void on(const NodesListed&) {}
  void on(const Decide&);
  void on(const DecideAs& decision);
  void on(const AttemptFailed& attempt);
  void on(const BindAnswered& answer);
  void on(const RereadAnswered& answer);
  void on(const Restarted& restart);
  void on(const TimeReached&);

  Slot slot(PodId pod) const { return policy_.key == PodKey::kUid ? pod.value : catalog_->key_of(pod).value; }
  bool open(PodId pod) const { return flights.count(pod) > 0 && flights.at(pod).open > 0; }
  template <typename Store>
  static bool holds(const Store& store, Slot slot, PodId pod) {
    const auto at = store.find(slot);
    if (at == store.end()) return false;
    if constexpr (requires { at->second.bound; }) {
      return at->second.bound.pod == pod;
    } else if constexpr (requires { at->second.pod; }) {
      return at->second.pod == pod;
    } else {
      return at->second == pod;
    }
  }
  static bool gone(const PodChanged& frame) { return frame.verb == Verb::kDeleted || frame.pod.terminal(); }
  static int lane(Watch watch) { return watch == Watch::kQueued ? 0 : 1; }
  PodId shown(Watch watch, PodId pod) const;

  bool lacks(const PodsListed& list, PodId pod) const;
  std::vector<PodId> lost(const PodsListed& list) const;
  bool must_wait(const PodChanged& frame) const;
  bool must_wait(const PodsListed& list) const;
  void release();
  void take(const PodChanged& frame);
  void take(const PodsListed& list);
  void bind_is_over(PodId pod, BindAnswered::Outcome outcome);
  void enter_queue(const PodFacts& pod);
  void enter_scheduled(const PodFacts& pod);
  void leave_scheduled(PodId pod);
  void purge();
  void start(PodId pod, NodeId node);
  void assume(PodId pod, NodeId node, ShapeId shape, Time deadline);
  bool runs_while_open() const {
    return policy_.ttl_from == TtlFrom::kAssume && policy_.expire_while_bind_open == ExpireWhileBindOpen::kYes;
  }
  Time ends(Time end) const;
  Time ttl_from(Time start) const { return policy_.ttl ? ends(start + *policy_.ttl) : Time::never(); }
  Time end_after_answer(PodId pod) const;

  const Catalog* catalog_;
  CoreConfig config_;
  Policy policy_;
  Time now_, next_relist_;
  Observed saw_;
  std::map<PodId, PodFacts> facts_;  // of whatever was ever seen
  std::set<PodId> present_;
  std::map<std::pair<int, uint32_t>, PodId> lives_;  // what each watch shows under a key
  std::vector<Held> held_;
};

}  // namespace inquest::scheduler
