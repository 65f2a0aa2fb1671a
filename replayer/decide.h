// Decide: mode decide, the counterfactual. The core decides for itself; the API answers its binds by the API's rules
// (kubernetes-facts 6.2), and made-up kubelets start and stop what was bound. From the trace come creations, deletions,
// nodes and the binds of others (script.h); controllers stay open-loop: what they created is created, whatever became
// of it.
//
// A value that holds no pointer to the run it drives: it is handed the world with each call.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replayer/pace.h"
#include "replayer/recording.h"
#include "replayer/script.h"
#include "replayer/world.h"

namespace inquest::replayer {

class Decide {
 public:
  // The recording must outlive it. `lost_after`: when a client gives up waiting for an answer.
  Decide(const Recording& recording, std::shared_ptr<const Script> script, const Pace& pace, Duration lost_after);

  // When the next entry of the script is due, or something made up; never if nothing is.
  Time next_due() const;
  void happen(World& world);

  // Each does the first thing of its kind that is due; false: nothing is.
  bool answer(World& world);
  bool decide(World& world);
  void heard(std::span<const PodId>) {}

  // Over what is still to come.
  uint64_t state_hash() const;
  Decided decided(const World& world) const;

 private:
  enum class Deed : uint8_t { kBind, kAnswer, kStart, kEnd, kStop };
  // Something made up that will happen.
  struct Coming {
    Time at;
    uint64_t order = 0;
    Deed deed = Deed::kBind;
    PodId pod;
    uint32_t bind = 0;  // of kBind, kAnswer
  };
  struct OpenBind {
    PodId pod;
    NodeId node;
    bool ours = true;
    std::optional<size_t> fault;
    uint16_t code = 0;  // as the API answered
  };
  struct Life {
    Time created, bound;
    uint32_t binds = 0;  // accepted
    bool ours = false, ended = false;
  };

  void take(World& world, const ScriptEntry& entry);
  void list(World& world);
  void create(World& world, const PodFacts& recorded);
  void respecify(World& world, const PodFacts& recorded);
  void mark_deleted(World& world, PodId pod, Time deletion);
  void remove(World& world, PodId pod);
  void change(World& world, Verb verb, PodFacts pod);
  void come(Time at, Deed deed, PodId pod, uint32_t bind = 0);

  void act(World& world, const Coming& coming);
  bool runs(const World& world, PodId pod) const;
  const RunLength* run_length(PodId pod) const;  // nullptr: it did not end by itself
  void start(World& world, PodId pod);
  void end(World& world, PodId pod);
  void send(World& world, const scheduler::BindPod& bind);
  void carry_out(World& world, OpenBind& bind);
  uint16_t bind_at_api(World& world, const OpenBind& bind);
  void bound(World& world, PodId pod, NodeId node);
  void tell_answer(World& world, const OpenBind& bind);
  PodId other_life(const World& world, PodId pod) const;

  const Recording* recording_;
  std::shared_ptr<const Script> script_;
  Pace pace_;
  Duration lost_after_;
  size_t next_ = 0;             // of the script
  bool opened_ = false;         // the pods' watch has begun
  std::vector<Coming> coming_;  // a heap, the earliest first
  uint64_t order_ = 0;
  std::vector<OpenBind> binds_;
  std::vector<Life> lives_;    // by pod
  std::vector<PodId> latest_;  // by key: the latest life of the name
  ResourceVersion rv_ = 0;     // own counter, from beyond the recorded ones
  uint64_t decisions_ = 0, unschedulable_ = 0, hanging_ = 0, refused_ = 0;
};

}  // namespace inquest::replayer
