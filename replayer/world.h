// World: the truth, the scheduler core that hears of it, what carries the one to the other, and the judge over both.
// What every mode shares: stepping the core, answering those of its wishes that only ask the API (re-reads, lists),
// carrying frames, and telling the judge what changed.
//
// It is a value: a copy goes on by itself, which is how a run is forked.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "replayer/delivery.h"
#include "replayer/judge.h"
#include "replayer/truth.h"
#include "scheduler/core.h"

namespace inquest::replayer {

class World {
 public:
  // Catalog and plan must outlive the world and its copies.
  World(const Catalog& catalog, scheduler::CoreConfig config, const Plan& plan, Duration lag);

  const scheduler::Core& core() const { return core_; }
  scheduler::Core& core() { return core_; }
  const Truth& truth() const { return truth_; }
  Truth& truth() { return truth_; }
  Judge& judge() { return judge_; }
  Delivery& delivery() { return delivery_; }
  FaultMatcher& faults() { return faults_; }
  const FaultMatcher& faults() const { return faults_; }

  Time now() const { return now_; }
  trace::Seq seq() const { return seq_; }
  uint64_t inputs() const { return inputs_; }
  // The instant and the latest record, for all that follows.
  void set_now(Time now, trace::Seq seq) {
    now_ = now;
    seq_ = seq;
  }
  // When something happens by itself: an expiry, an end of backoff, the next re-list, a frame that is due.
  Time next_due() { return std::min(core_.next_wake(), delivery_.next_due()); }

  // --- The API's side: the truth changes at once, the view when it is delivered

  void pod_changed(Verb verb, const PodFacts& pod, bool in_view);
  void node_changed(Verb verb, const NodeFacts& node, bool in_view);
  // A list that opened a watch; the view's own watch lists anew then.
  void pods_listed(std::span<const PodFacts> pods, bool in_view);
  void nodes_listed(std::span<const NodeFacts> nodes, bool in_view);
  // A verdict about this instant.
  void point(Verdict verdict, PodId pod, NodeId node);

  // --- The scheduler's side. Each does the first thing of its kind that is due; false: nothing is.

  // Gives the core one input; `cause` is what the judge says ended an episode that this input ends.
  void step(const scheduler::Input& input, Cure cause);
  // What stands before all else within an instant: expiries, then answers to re-reads.
  bool act_first();
  // Lists that the view's watches open with.
  bool list_anew();
  bool hear_frame();
  // The policy's periodic list: of the stores it names, as the API holds them now.
  bool relist();

  // Pods that the core has heard of since the last call, for whoever waits for one of them.
  std::span<const PodId> heard() const { return heard_; }
  void clear_heard() { heard_.clear(); }
  // Binds the core has decided on its own since the last call, and pods for which it found no node.
  std::vector<scheduler::BindPod> take_binds() { return std::exchange(binds_, {}); }
  std::vector<PodId> take_unschedulable() { return std::exchange(unschedulable_, {}); }

  // The instant is over: the judge compares what changed.
  void settle(Judge::Phase phase);

 private:
  void carry_out(const scheduler::Effect& effect);
  void list_pods(scheduler::Watch watch, scheduler::ListKind kind);
  void list_nodes(scheduler::ListKind kind);

  scheduler::Core core_;
  Truth truth_;
  Judge judge_;
  FaultMatcher faults_;
  Delivery delivery_;
  Time now_;
  trace::Seq seq_ = 0;
  uint64_t inputs_ = 0;
  std::deque<PodId> rereads_;
  bool relist_due_ = false;
  bool pods_to_list_ = false, nodes_to_list_ = false;
  std::vector<PodId> heard_;
  std::vector<scheduler::BindPod> binds_;
  std::vector<PodId> unschedulable_;
};

}  // namespace inquest::replayer
