// Follow: mode follow, the post-mortem. What happens is what the trace recorded, and the decisions are the recorded
// ones of one scheduler; the others' binds are part of the truth.
//
// A value that holds no pointer to the run it drives: it is handed the world with each call.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replayer/recording.h"
#include "replayer/world.h"

namespace inquest::replayer {

class Follow {
 public:
  // `followed`: whose binds are the decisions. The recording must outlive it.
  // `lost_after`: when a client gives up waiting for an answer that a fault has lost.
  Follow(const Recording& recording, StringId followed, Duration lost_after)
      : recording_(&recording), followed_(followed), lost_after_(lost_after), binds_(recording.binds().size()) {}

  // When the next recorded event happened; never if there is none.
  Time next_due() const;
  // What happened at the world's instant: the truth changes, and what concerns the scheduler waits for its turn.
  void happen(World& world);

  // Each does the first thing of its kind that is due; false: nothing is.
  bool answer(World& world);
  bool decide(World& world);

  // The core has heard of these pods: decisions that waited for them may be taken.
  void heard(std::span<const PodId> pods);

  // Over what waits for its turn.
  uint64_t state_hash() const;
  uint64_t followed() const { return taken_; }
  uint64_t inferred() const { return inferred_; }
  uint64_t while_away() const { return while_away_; }
  uint64_t skipped() const { return waiting_.size(); }  // decisions whose pod never was in the view

 private:
  struct BindState {
    bool decided = false;
    bool answer_waits = false;    // it came before the pod was in the view
    bool doubled = false;         // its request was a double-bind: what its answer adds is the same finding
    std::optional<size_t> fault;  // of a plan, that hit it
    Time sent;
  };
  // An answer that a fault holds.
  struct Late {
    Time due;
    uint32_t index = 0;
  };

  void ingest(World& world, const Event& event);
  void ingest_request(World& world, uint32_t index);
  bool has_won(const RecordedBind& bind) const;  // its sender has won the pod before
  void hit_bind(World& world, uint32_t index);
  template <typename Change>
  void change(uint32_t index, const Change& how);
  uint64_t hash_of(uint32_t bind) const;
  std::optional<Time> held_until(const World& world, uint32_t index) const;
  void ingest_answer(World& world, uint32_t index);
  bool fail_attempt(World& world);

  const Recording* recording_;
  StringId followed_;
  Duration lost_after_;
  size_t next_ = 0;               // of the recording's events
  std::vector<BindState> binds_;  // by index into the recording's binds; as they began again, once they are answered
  uint64_t binds_hash_ = 0;
  std::deque<uint32_t> answers_, decisions_;
  std::vector<Late> late_;  // in order of arrival
  std::deque<PodId> failures_;
  std::multimap<PodId, uint32_t> waiting_;       // followed requests whose pod is not in the view yet, by pod, as sent
  std::vector<std::optional<StringId>> won_by_;  // by pod: whose bind was accepted; nobody may know its sender's name
  std::set<std::pair<PodId, StringId>> also_won_;  // whose further ones were
  uint64_t taken_ = 0, inferred_ = 0, while_away_ = 0;
};

}  // namespace inquest::replayer
