// For tests only: truth, stores and judge again, slow and obvious. Everything is a set or a map; before and after every
// step of the core all of it is compared, by the table of verdicts (design 2), as if nobody knew what had changed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "replayer/run.h"
#include "scheduler/reference_model.h"

namespace inquest::replayer {

// What the API server held, folded from the events of a recording.
class ReferenceTruth {
 public:
  struct Point {
    Verdict verdict;
    PodId pod;
    friend bool operator==(const Point&, const Point&) = default;
  };

  explicit ReferenceTruth(const Recording& recording) : recording_(&recording) {}

  // All events up to `now`. Returns the verdicts about these instants.
  std::vector<Point> advance(Time now);

  // With the node of a bind that was answered 201, though no frame has shown it yet.
  const std::map<PodId, PodFacts>& pods() const { return pods_; }
  const std::map<NodeId, NodeFacts>& nodes() const { return nodes_; }
  // The view's own recorded stream has not shown yet what other records told of a pod that it has shown before.
  bool behind() const;

 private:
  void take(const Event& event);
  void pod(Verb verb, const PodFacts& pod, bool in_view);
  void pods_listed(std::span<const PodFacts> pods, bool in_view);
  void nodes_listed(std::span<const NodeFacts> nodes);
  void request(uint32_t bind);
  void answer(uint32_t bind);

  const Recording* recording_;
  size_t next_ = 0;
  std::map<PodId, PodFacts> pods_;
  std::map<NodeId, NodeFacts> nodes_;
  std::map<PodId, PodFacts> gone_;                            // as they were deleted
  std::map<PodId, NodeId> accepted_;                          // by a 201
  std::map<PodId, std::set<StringId>> won_by_;                // whose 201s
  std::set<uint32_t> doubled_;                                // binds whose request was a double-bind
  std::map<bool, std::map<PodId, ResourceVersion>> reached_;  // by stream: the version that it showed last
  std::map<PodId, std::optional<PodFacts>> shown_;            // by the view's own stream; nothing: as gone
  std::vector<Point> points_;
};

class ReferenceJudge : public StepObserver {
 public:
  // The run has just begun, and is observed from here on; `own` are the names of config.scheduler_names.
  ReferenceJudge(const Recording& recording, const RunConfig& config, std::vector<StringId> own);

  void stepped(const World& world, const scheduler::Input& input, std::span<const scheduler::Effect> effects) override;
  // The run has worked off an instant.
  void instant_over(const World& world);

  // Each in words, sorted; only verdicts that this judge knows.
  std::vector<std::string> findings(Time end);
  // The same of what a run has found.
  std::vector<std::string> words(const Outcome& outcome) const;
  // Where the run's own stores and truth are not as they are here.
  const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  using Key = std::tuple<Verdict, PodId, NodeId>;  // of a pod, or of a node; of neither: the stream
  struct Episode {
    NodeId where;
    Time birth;
  };
  struct Found {
    Verdict verdict;
    PodId pod;
    NodeId node;
    Time birth;
    std::optional<Time> end;
    Cure cure = Cure::kNever;
    bool after_end = false;
  };
  using Charges = std::map<NodeId, std::vector<std::pair<PodId, ShapeId>>>;

  void moment(const World& world, Cure cause);
  void truth_moves(const World& world);
  void end_stale_view(const Episode& episode, Time end);
  std::map<Key, NodeId> holding(const World& world) const;
  void look_at_pod(const World& world, PodId pod, std::map<Key, NodeId>& out) const;
  void look_at_nodes(std::map<Key, NodeId>& out) const;
  bool exceeds(const NodeFacts& node, const std::vector<std::pair<PodId, ShapeId>>& pods) const;
  void take_nodes(const scheduler::Input& input);
  void compare_stores(const World& world);
  bool judges(Verdict verdict) const;
  std::string words(const Found& found) const;
  void mistake(const World& world, const std::string& what);

  const Recording* recording_;
  bool follow_;
  Duration lag_;
  scheduler::Policy policy_;
  scheduler::ReferenceModel model_;
  ReferenceTruth truth_;
  std::map<PodId, PodFacts> pods_;  // the truth
  std::map<NodeId, NodeFacts> nodes_;
  std::map<NodeId, NodeFacts> view_nodes_;
  std::set<PodId> in_line_;  // after the latest step
  std::map<Key, Episode> open_;
  std::map<Key, Cure> ended_;  // within this instant, and by what
  std::vector<Found> found_;
  std::vector<std::string> mistakes_;
};

}  // namespace inquest::replayer
