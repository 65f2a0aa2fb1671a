// Core: the scheduler as a pure state machine: three stores, a queue, books, decisions. The same code runs live and in
// replay, which is what makes a replay evidence.
//
// No I/O, no clock, no thread, no global: time and everything else come in as inputs (input.h), what should be done
// comes out as effects (effect.h). Same inputs, same effects and same hash, on every machine. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/assumed.h"
#include "scheduler/books.h"
#include "scheduler/choose.h"
#include "scheduler/effect.h"
#include "scheduler/held.h"
#include "scheduler/input.h"
#include "scheduler/policy.h"
#include "scheduler/queued.h"
#include "scheduler/scheduled.h"

namespace inquest::scheduler {

struct CoreConfig {
  Policy policy;
  Time origin;                            // where the grid of re-lists is anchored
  std::vector<StringId> scheduler_names;  // whose pods it queues (spec.schedulerName)
  uint64_t seed = 0;                      // of ties between equally good nodes
};

class Core {
 public:
  // The catalog must outlive the core and hold every ordinal that its inputs name.
  Core(const Catalog& catalog, CoreConfig config);
  // A copy holds no pointer into its original, only one to the catalog: from here on the two go their own ways.
  Core(const Core&) = default;
  Core& operator=(const Core&) = default;

  // Takes one input at `now`, which never falls and never passes next_wake(). The effects are valid until the next
  // call.
  std::span<const Effect> step(Time now, const Input& input);

  // When it wants TimeReached; never if nothing is pending. Never earlier than the last step's time.
  Time next_wake();
  // Whether Decide would do something: a pod is queued, and the policy allows one more open bind.
  bool can_decide();

  const ScheduledStore& scheduled() const { return scheduled_; }
  const AssumedStore& assumed() const { return assumed_; }
  const QueuedStore& queued() const { return queued_; }
  const NodeBooks& books() const { return books_; }
  // The decisions that a restart would find on disk.
  std::vector<Decision> journal() const { return journal_.decisions(); }
  // Why no node takes a pod of this kind now, in the words of upstream's FitError.
  std::string fit_error(PodKind pod) const { return chooser_.filters().fit_error(books_, pod); }
  const Policy& policy() const { return config_.policy; }
  bool in_flight(PodId pod) const { return pod.value < flights_.size() && flights_[pod.value].open > 0; }
  // The view holds it, or held it until a DELETED.
  bool seen(PodId pod) const { return pod.value < presence_.size() && presence_[pod.value] != Presence::kNever; }
  bool ours(const PodFacts& pod) const;

  // Pods and nodes whose place in the stores or books may have changed since the last call of clear_touched; a pod may
  // stand there twice. This is what lets a judge work in O(change).
  std::span<const PodId> touched_pods() const { return touched_pods_; }
  std::span<const NodeId> touched_nodes() const { return touched_nodes_; }
  void clear_touched();

  // Over everything that can still matter: two cores of one catalog and config with the same one do the same from here
  // on, whatever comes. What it is asked for the first time costs what has changed since the last.
  uint64_t state_hash() const;
  // Over the stores, open binds and nodes alone: 0 where there are none.
  uint64_t stores_hash() const {
    return hash_.value() + scheduled_.hash() + assumed_.hash() + queued_.hash() + journal_.hash() + held_.hash();
  }
  // Over the stores after each input: two runs with one chain did the same.
  uint64_t chain() const { return chain_; }

 private:
  enum class Presence : uint8_t { kNever, kPresent, kGone };
  // Whether a version differs from the one before in what may help a pod that found no node.
  enum class Changed : uint8_t { kNo, kYes, kMarked };  // for deletion, and was not before
  struct Flight {
    uint32_t open = 0;  // binds without an answer
    Time started;       // of the latest
    NodeId node;        // of the latest
  };

  void on(const PodChanged& input);
  void on(const NodeChanged& input);
  void on(const PodsListed& input);
  void on(const NodesListed& input);
  void on(const Decide&);
  void on(const DecideAs& input);
  void on(const AttemptFailed& input);
  void on(const BindAnswered& input);
  void on(const RereadAnswered& input);
  void on(const Restarted& input);
  void on(const TimeReached&);

  static bool gone(const PodChanged& input) { return input.verb == Verb::kDeleted || input.pod.terminal(); }
  template <typename FromWatch>
  bool must_wait(const FromWatch& input);
  bool deletes_open(const PodChanged& input);  // a pod whose bind is open
  bool deletes_open(const PodsListed& list);
  void release_held();
  void take(const PodChanged& input);
  void take(const PodsListed& input);
  PodId& life_of(Watch watch, PodId pod);
  PodId exchange_life(Watch watch, PodId pod, PodId next);
  void went(PodId pod);
  bool follow_life(const PodChanged& input);
  Changed remember(const PodFacts& pod);
  void lose(Watch watch, PodId pod);
  void enter_scheduled(const PodFacts& pod);
  void leave_scheduled(PodId pod);
  void enter_queue(const PodFacts& pod, Changed changed);
  void leave_queue(PodId pod);
  void take_own(const PodsListed& list);
  std::vector<PodId> lost_by_own(const PodsListed& list);
  std::vector<PodId> lost_by_periodic(const PodsListed& list);
  void correct_scheduled(const PodsListed& list);
  void correct_queued(const PodsListed& list);

  void assume(PodId pod, NodeId node, ShapeId shape, Time deadline);
  void drop_assumption(PodId pod);  // of the pod's slot, if it has one
  void end_assumption(PodId pod);   // the same; nor need its decision survive
  void touch_all();
  void persist(PodId pod, NodeId node);
  void forget(PodId pod);  // the decision of the pod's slot, if there is one
  void purge();
  void start_bind(PodId pod, NodeId node);
  void count_open(PodId pod, Flight& flight, int change);
  void bind_won(PodId pod, NodeId node);
  void finish_bind(PodId pod, NodeId node);
  void bind_failed(PodId pod, NodeId node, BindAnswered::Outcome outcome);
  void give_up_binds();
  const Deadline* next_give_up();
  void report_failure(PodId pod, NodeId node, ReportEvent::Text text);
  bool runs_while_open() const;     // an assumption made before its bind does not wait for the answer
  void run_from_answer(PodId pod);  // the answer that its assumption waited for is here
  void failed(PodId pod, QueuedStore::Failure why);

  void charge(NodeId node, ShapeId shape, PodId pod);
  void discharge(NodeId node, ShapeId shape, PodId pod);
  void set_node(const NodeFacts& node);
  void remove_node(NodeId node);
  uint64_t hash_of(NodeId node) const;
  uint64_t hash_of(PodId pod) const;
  void mark_changed(PodId pod);  // what the hash of the state has of it besides its places in the stores
  void touch(PodId pod) {
    touched_pods_.push_back(pod);
    mark_changed(pod);
  }
  ShapeId charged_as(PodId pod, NodeId node) const;
  Time ttl_from(Time start) const;
  Time expires_at(Time end) const;

  const Catalog* catalog_;
  CoreConfig config_;
  Slots slots_;
  StateHash hash_;  // of what the stores do not hold: open binds and nodes
  ScheduledStore scheduled_;
  AssumedStore assumed_;
  QueuedStore queued_;
  Journal journal_;
  HeldStream held_;
  NodeBooks books_;
  Chooser chooser_;
  std::vector<PodFacts> facts_;     // by pod: the latest version the view was told
  std::vector<Presence> presence_;  // by pod
  std::vector<Flight> flights_;     // by pod
  Deadlines give_ups_;              // of binds, if deletes wait for them; by pod
  std::vector<uint32_t> attempts_;  // by pod
  std::vector<PodId> purgeable_;    // assumptions seen scheduled or queued since the last decision
  std::vector<uint32_t> listed_;    // by slot, or by key in a watch's own list: the last list that held it
  // By uid only. Of each watch, by key: the pod that it shows now; of the queue's watch, of the other or only one.
  std::array<std::vector<PodId>, 2> lives_;
  uint32_t list_epoch_ = 0;
  uint32_t open_binds_ = 0;
  Time now_, next_relist_;
  uint64_t chain_ = 0;
  // Of each pod what its places in the stores do not tell, brought up to date when the hash of the state is asked for.
  mutable StateHash pods_hash_;
  mutable std::vector<uint64_t> pod_hashes_;  // by pod
  mutable std::vector<PodId> unhashed_;       // those that have changed since
  mutable std::vector<bool> is_unhashed_;     // by pod
  std::vector<Effect> effects_;
  std::vector<PodId> touched_pods_;
  std::vector<NodeId> touched_nodes_;
};

}  // namespace inquest::scheduler
