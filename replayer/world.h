// World: the truth, the scheduler core that hears of it, what carries the one to the other, and the judge over both.
// What every mode shares: stepping the core, answering those of its wishes that only ask the API (re-reads, lists,
// watches), carrying frames, letting faults strike, and telling the judge what changed.
//
// It is a value: a copy goes on by itself, which is how a run is forked.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replayer/blocks.h"
#include "replayer/delivery.h"
#include "replayer/judge.h"
#include "replayer/silence.h"
#include "replayer/step_observer.h"
#include "replayer/truth.h"
#include "replayer/unknown_binds.h"
#include "replayer/view.h"
#include "scheduler/core.h"

namespace inquest::replayer {

struct WorldConfig {
  scheduler::CoreConfig core;
  const Plan* plan = nullptr;                           // outlives the world and its copies
  std::shared_ptr<const std::vector<Instant>> strikes;  // when faults of an instant fire, in order
  Duration lag;
  Duration latency;          // of every frame and list
  Time end = Time::never();  // of the trace
};

class World {
 public:
  // The catalog must outlive the world and its copies.
  World(const Catalog& catalog, const WorldConfig& config);

  const scheduler::Core& core() const { return core_; }
  const Truth& truth() const { return truth_; }
  Judge& judge() { return judge_; }
  const Judge& judge() const { return judge_; }
  const Delivery& delivery() const { return delivery_; }
  FaultMatcher& faults() { return faults_; }
  const FaultMatcher& faults() const { return faults_; }

  Time now() const { return now_; }
  trace::Seq seq() const { return seq_; }
  // Of the latest step of the core: what the scheduler's own clock said, and what ends an episode that it ends.
  Time clock() const { return core_time_; }
  Cure cause() const { return cause_; }
  uint64_t inputs() const { return inputs_; }
  // The instant and the latest record, for all that follows.
  void set_now(Time now, trace::Seq seq) {
    now_ = now;
    seq_ = seq;
  }
  // When something happens by itself: an expiry, an end of backoff, the next re-list, a frame or a list that is due, a
  // lane that asks again, a fault.
  Time next_due();

  // --- The API's side: the truth changes at once, the view when it is delivered

  void pod_changed(Verb verb, const PodFacts& pod, bool in_view);
  void node_changed(Verb verb, const NodeFacts& node, bool in_view);
  // A list that opened a watch; the view's own watch lists anew then.
  void pods_listed(std::span<const PodFacts> pods, bool in_view);
  void nodes_listed(std::span<const NodeFacts> nodes, bool in_view);
  void bookmark(Resource resource, ResourceVersion rv);
  // The API answered a bind with 201. False: it had accepted one for this uid before.
  bool accept_bind(PodId pod, NodeId node);
  // A verdict about this instant. `other`: of a wrong-uid, the pod that was bound.
  void point(Verdict verdict, PodId pod, NodeId node, PodId other = PodId::none());
  // Faults whose instant has come.
  void strike();

  // --- The scheduler's side. Each does the first thing of its kind that is due; false: nothing is.

  // Its process is dead: nothing reaches it, and it does nothing.
  bool away() const { return dead_; }
  // Gives the core one input; `cause` is what the judge says ended an episode that this input ends.
  void step(const scheduler::Input& input, Cure cause);
  // What stands before all else within an instant: it comes back, expiries, answers to re-reads.
  bool act_first();
  // Lists and watches that were asked for, and lists that arrive.
  bool answer_requests();
  bool hear_frame();
  // The policy's periodic list: of the stores it names.
  bool relist();

  // Pods that the core has heard of since the last call, for whoever waits for one of them.
  std::span<const PodId> heard() const { return heard_; }
  void clear_heard() { heard_.clear(); }
  // Binds the core has decided on its own since the last call, and pods for which it found no node.
  std::vector<scheduler::BindPod> take_binds() { return std::exchange(binds_, {}); }
  std::vector<PodId> take_unschedulable() { return std::exchange(unschedulable_, {}); }
  bool can_decide() { return !dead_ && core_.can_decide(); }
  // Is told of every step from now on, also by copies; it must outlive them all.
  void observe(StepObserver& observer) { observer_ = &observer; }

  // The trace is over: how far its own streams lag is known no further.
  void trace_over();
  // The judge, who knows which lanes are stuck at `now`.
  Judge judge_at(Time now) const;
  // The instant is over: the judge compares what changed.
  void settle(Judge::Phase phase);

  // Pod-time during which pods had a place in truth and none in the view; up to `end`.
  Duration blocked(Time end);

  // Hits of faults that touch no single frame (lists, restarts, the clock), and all that delivery knows.
  std::vector<FaultHit> causes() const;
  // Over everything that can still matter: two runs of one recording, policy and plan with the same one at the same
  // record go on alike. Names do not enter it.
  uint64_t state_hash() const;
  void blame(size_t fault, PodId pod);

 private:
  struct Snapshot {
    std::vector<PodFacts> pods;
    std::vector<NodeFacts> nodes;
  };
  // A list on its way to the scheduler.
  struct Answer {
    Time due;
    Lane lane = Lane::kPods;
    bool aside = false;  // the lane's watch goes on as it is: the core alone is given the list
    std::shared_ptr<const Snapshot> held;
  };
  // Whether the view's own recorded stream has ever shown a pod, and whether the truth has moved on from what it showed
  // last.
  enum class Shown : uint8_t { kNever, kCurrent, kOutdated };
  struct Past {
    Time until;  // up to here, and not at this instant, it was so
    PodId pod;
    std::optional<PodFacts> was;
  };

  Judge::Scene scene() const { return {truth_, core_, unknown_binds_, dead_}; }
  void truth_changed();
  Time core_time();
  void open_unlisted(Resource resource);
  void list_lanes(Resource resource);
  void after_change();
  void remember(PodId pod);
  void outdated(PodId pod);
  void should_hear(const PodFacts* before, const PodFacts* after);
  void heard_on(Lane lane, Cure cure);
  void deaf_on(Lane lane, Cure cure);
  Judge::Phase phase() const { return now_ > config_.end ? Judge::Phase::kAfterEnd : Judge::Phase::kTrace; }
  void shown(const PodFacts& pod, bool gone);
  void show(PodId pod, Shown& state, Shown now);
  std::vector<PodFacts> pods_at(Time time) const;

  void strike(size_t fault);
  void break_lanes(size_t fault);
  void die(size_t fault);
  void come_back();
  void carry_out(const scheduler::Effect& effect);
  void answer_list(Lane lane);
  void answer_watch(Lane lane);
  void send_list(Lane lane, bool aside);
  bool hear_list();
  void hear(const Answer& answer);
  void correct(Lane lane, const Snapshot& held);
  bool corrects_all(Lane lane) const;
  bool corrects_some(Lane lane) const;
  void tell(Cure cause);
  void note_binds(Cure cause);

  const Catalog* catalog_;
  WorldConfig config_;
  scheduler::Core core_;
  Truth truth_;
  Judge judge_;
  UnknownBinds unknown_binds_;
  Silence silence_;
  Blocks blocks_;
  FaultMatcher faults_;
  Delivery delivery_;
  View view_;
  Time now_;
  trace::Seq seq_ = 0;
  uint64_t inputs_ = 0;

  size_t marked_pods_ = 0, marked_nodes_ = 0;  // of those that the truth has touched: the judge knows

  size_t next_strike_ = 0;
  bool dead_ = false;
  Time away_until_;                            // of a dead one
  std::vector<scheduler::Decision> survived_;  // on disk
  std::array<bool, kLanes> watched_{};         // lanes that it will list when it comes back
  uint64_t lives_ = 0;
  Duration clock_ahead_;  // the scheduler's clock against the true one
  Time core_time_;
  Cure cause_ = Cure::kTruth;

  std::deque<PodId> rereads_;
  bool relist_due_ = false;
  std::array<bool, kLanes> periodic_{};  // the list that the lane waits for is the policy's
  std::vector<Answer> answers_;
  std::vector<Shown> shown_;  // by pod
  size_t outdated_ = 0;
  uint64_t shown_hash_ = 0;
  std::vector<Past> past_;
  uint64_t past_hash_ = 0;
  bool keeps_past_ = false;
  std::vector<PodId> heard_;
  std::vector<scheduler::BindPod> binds_;
  std::vector<PodId> unschedulable_;
  std::vector<FaultHit> causes_;
  StepObserver* observer_ = nullptr;
};

}  // namespace inquest::replayer
