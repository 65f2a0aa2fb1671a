// Session: a core and the truth side by side, judged. What every mode shares: stepping the core, carrying out those of
// its wishes that only ask the API (re-reads, lists), and telling the judge what changed.
#pragma once

#include <deque>
#include <vector>

#include "replayer/judge.h"
#include "replayer/truth.h"
#include "scheduler/core.h"

namespace inquest::replayer {

class Session {
 public:
  // The catalog must outlive the session.
  Session(const Catalog& catalog, scheduler::CoreConfig config, Duration lag);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  scheduler::Core& core() { return core_; }
  Truth& truth() { return truth_; }
  Judge& judge() { return judge_; }
  uint64_t inputs() const { return inputs_; }

  // The instant and the latest record, for all that follows.
  void set_now(Time now, trace::Seq seq) {
    now_ = now;
    seq_ = seq;
  }

  // Gives the core one input; `cause` is what the judge says ended an episode that this input ends.
  void step(const scheduler::Input& input, Cure cause);

  // What stands before all else within an instant: expiries, then answers to re-reads. One step of it; false: nothing.
  bool act_first();

  // The core has asked for its periodic list; says so once.
  bool take_relist();
  // A watch's own list, of what the API holds now. The pods given are returned, for whoever waits for one of them.
  std::vector<PodFacts> list_pods(scheduler::Watch watch) { return list_pods(watch, scheduler::ListKind::kOwn); }
  void list_nodes() { list_nodes(scheduler::ListKind::kOwn); }
  // The policy's periodic lists: of the stores it names.
  std::vector<PodFacts> relist();

  // Binds the core has decided on its own since the last call, and pods for which it found no node.
  std::vector<scheduler::BindPod> take_binds() { return std::exchange(binds_, {}); }
  std::vector<PodId> take_unschedulable() { return std::exchange(unschedulable_, {}); }

  // The instant is over: the judge compares what changed.
  void settle(Judge::Phase phase);

 private:
  void carry_out(const scheduler::Effect& effect);
  std::vector<PodFacts> list_pods(scheduler::Watch watch, scheduler::ListKind kind);
  void list_nodes(scheduler::ListKind kind);

  scheduler::Core core_;
  Truth truth_;
  Judge judge_;
  Time now_;
  trace::Seq seq_ = 0;
  uint64_t inputs_ = 0;
  std::deque<PodId> rereads_;
  bool relist_due_ = false;
  std::vector<scheduler::BindPod> binds_;
  std::vector<PodId> unschedulable_;
};

}  // namespace inquest::replayer
