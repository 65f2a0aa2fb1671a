// Judge: the difference between the core's stores and the truth, kept incrementally: O(change), never O(size).
//
// A predicate (design 2) that begins to hold is the birth of an episode; one that holds no longer ends it. An episode
// that outlived the lag bound becomes a finding.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "replayer/finding.h"
#include "replayer/lane.h"
#include "replayer/truth.h"
#include "replayer/unknown_binds.h"
#include "scheduler/core.h"

namespace inquest::replayer {

// How long view and truth may differ before it counts: a watch is never instant.
inline constexpr Duration kDefaultLag = Duration::seconds(1);

class Judge {
 public:
  // What is compared. It is handed in with each look, so that a judge can be copied with the run that it judges.
  struct Scene {
    const Truth& truth;
    const scheduler::Core& core;
    const UnknownBinds& binds;
    bool away = false;  // the scheduler is not there: its stores are empty, and what they lack is no news
  };

  explicit Judge(Duration lag) : lag_(lag) {}

  // A pod's or node's place may have changed, by `cause`. Looked at when the instant is over; the first cause counts.
  void note(PodId pod, Cure cause) { noted_pods_.push_back({pod, cause}); }
  void note(NodeId node, Cure cause) { noted_nodes_.push_back({node, cause}); }
  // It has changed just now, and more may come within this instant: what is open there and holds no longer has found
  // its cure, unless it holds again when the instant is over. Besides note().
  void changed(const Scene& scene, PodId pod, Cure cause);
  void changed(const Scene& scene, NodeId node, Cure cause);

  // The instant is over: what was noted is compared. `seq`: the latest record so far. `after_end`: the trace is over
  // and time only runs on.
  enum class Phase : uint8_t { kTrace, kAfterEnd };
  void settle(const Scene& scene, Time now, trace::Seq seq, Phase phase);

  // A recorded stream of the view lags, or lags no longer, behind what other records tell; said before the instant is
  // settled. (What a plan holds back is no finding of its own: it is what the plan says.)
  void behind(Lane lane, bool behind, Time now, trace::Seq seq);

  // A verdict about an instant, which no lag bound excuses. `holds`: what the pod takes; none if nobody knows.
  // `other`: of a wrong-uid, the pod that was bound.
  void point(Verdict verdict, PodId pod, NodeId node, ShapeId holds, Time now, trace::Seq seq,
             PodId other = PodId::none());
  // Nothing came on a lane whose resource changed, from `birth` until something did at `end` (none: it never did).
  void stuck(Lane lane, Time birth, std::optional<Time> end, Cure cure, trace::Seq seq, Phase phase);
  // The view's books would have refused a recorded bind. It belongs to what holds the port, else to what has stood
  // wrongly on that node for longest; of two born in one instant, to the pod with the lower ordinal.
  void refused(const Scene& scene, const scheduler::WouldRefuse& refusal, Time now);

  // What differs at this instant, for however short a time, in order of birth.
  std::vector<Finding> open(Time now) const;

  // All findings in order of birth; open episodes last for ever. Consequences name their root.
  std::vector<Finding> finish(Time end);
  // Whether view and truth differ anywhere at present.
  bool differs() const { return episodes_.size() > free_.size(); }
  // Over the births of open episodes: what can still become a finding.
  uint64_t state_hash() const { return open_; }
  uint64_t refused_within_lag() const { return refused_within_lag_; }

 private:
  static constexpr size_t kPodVerdicts = 8;   // the first eight of Verdict
  static constexpr size_t kNodeVerdicts = 5;  // the next five
  struct Episode {
    Verdict verdict = Verdict::kZombieScheduled;
    PodId pod;
    NodeId node;
    std::optional<Lane> lane;
    ShapeId holds;
    Time birth;
    trace::Seq birth_seq = 0;
    Cure born_by = Cure::kTruth;  // the kind of step that began it
    scheduler::Misfit misfit;
    std::vector<Refusal> refusals;
    std::optional<Cure> ended_by;  // within the instant that goes on
  };
  // Whether a verdict holds of a pod or node, and what is to be said of it if it does.
  struct Case {
    bool holds = false;
    NodeId where;
    ShapeId takes;
    scheduler::Misfit misfit;
  };
  template <typename Id>
  struct Noted {
    Id id;
    Cure cause;
  };
  // A zombie, or a pod on the wrong node, as it stands among those of its node: the oldest first.
  using Intruder = std::tuple<NodeId, Time, PodId, Verdict>;
  template <size_t N>
  using Slots = std::array<uint32_t, N>;  // index of the open episode + 1; 0: none

  template <typename Id, typename Look>
  void look_once(std::vector<Noted<Id>>& noted, std::vector<uint64_t>& looked, const Look& look);
  static std::array<Case, kPodVerdicts> cases_of(const Scene& scene, PodId pod);
  static std::array<Case, kNodeVerdicts> cases_of(const Scene& scene, NodeId node);
  template <typename Id, size_t N>
  void look(const Scene& scene, Id id, Slots<N>& slots, Cure cause);
  template <typename Id, size_t N>
  void mark(const Scene& scene, Id id, const Slots<N>& slots, Cure cause);
  void update(uint32_t& slot, bool holds, const Episode& opening, Cure cause);
  static uint64_t hash_of(const Episode& episode);
  void close(uint32_t& slot, std::optional<Time> end, Cure cause);
  Episode* culprit(const Scene& scene, const scheduler::WouldRefuse& refusal);
  static void nest(std::vector<Finding>& findings);

  Duration lag_;
  Time now_;
  trace::Seq seq_ = 0;
  Phase phase_ = Phase::kTrace;
  std::vector<Noted<PodId>> noted_pods_;
  std::vector<Noted<NodeId>> noted_nodes_;
  std::vector<Slots<kPodVerdicts>> pods_;
  std::vector<Slots<kNodeVerdicts>> nodes_;
  std::array<uint32_t, kLanes> behind_{};             // the open episode of each lane, + 1
  uint64_t instant_ = 0;                              // how many have been settled
  std::vector<uint64_t> looked_pods_, looked_nodes_;  // by ordinal: the instant it was looked at last
  std::vector<Episode> episodes_;
  std::map<Intruder, uint32_t> intruders_;  // open episodes of these verdicts, by index
  std::vector<uint32_t> free_;              // indices of closed episodes, to be used again
  std::vector<Finding> findings_;
  uint64_t refused_within_lag_ = 0;
  uint64_t open_ = 0;
};

}  // namespace inquest::replayer
