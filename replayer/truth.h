// Truth: what the API server held, folded from the trace. The truth of a version begins at its first arrival in any
// record; an accepted bind is truth from its answer or its frame, whichever comes first. Faults never touch it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "scheduler/books.h"
#include "schema/facts.h"

namespace inquest::replayer {

class Truth {
 public:
  explicit Truth(const Catalog& catalog) : books_(catalog) {}

  // What shows a change: the stream that the view is made of, or another one.
  enum class By : uint8_t { kView, kOther };
  // What one change did. `before` is the version that watches saw before it. Stale: this version, or a newer one, is
  // known; time travel: what shows it has shown a newer one before, or the pod is gone.
  struct PodChange {
    enum class Kind : uint8_t { kApplied, kStale, kTimeTravel };
    Kind kind = Kind::kApplied;
    bool existed = false;
    PodFacts before;
  };
  PodChange apply(Verb verb, const PodFacts& pod, By by = By::kView);
  void apply(Verb verb, const NodeFacts& node);
  // A list that opens a watch: what it lacks is gone. Returns what travelled in time, which changes nothing: a deleted
  // uid that is listed again, whatever its version, and an older version than is known.
  std::vector<PodFacts> replace(std::span<const PodFacts> pods);
  void replace(std::span<const NodeFacts> nodes);
  // The API answered a bind with 201. False: it had accepted one for this uid before.
  bool accept_bind(PodId pod, NodeId node);

  bool exists(PodId pod) const { return pod.value < pods_.size() && pods_[pod.value].exists; }
  // Exists and is not terminal.
  bool holds(PodId pod) const { return exists(pod) && !pods_[pod.value].facts.terminal(); }
  // Where it is bound; none if it is not, or is not held.
  NodeId node_of(PodId pod) const;
  const PodFacts& facts(PodId pod) const { return pods_[pod.value].facts; }
  PodFacts held(PodId pod) const;  // as a list shows it: with the node of a bind that no frame has shown yet
  bool has_node(NodeId node) const { return books_.book(node).known; }

  // All pods and nodes it holds, by ordinal.
  std::vector<PodFacts> pods() const;
  std::vector<NodeFacts> nodes() const;

  // Over all that it holds, kept as it changes.
  uint64_t state_hash() const { return hash_; }

  const scheduler::NodeBooks& books() const { return books_; }
  std::span<const PodId> touched_pods() const { return touched_pods_; }
  std::span<const NodeId> touched_nodes() const { return touched_nodes_; }
  void clear_touched();

 private:
  struct Pod {
    PodFacts facts;
    NodeId accepted;  // by a 201, before a frame said so
    NodeId charged;   // where the books have it
    ShapeId charged_shape;
    bool exists = false;
    bool deleted = false;
    bool won = false;                          // some bind of it was accepted
    std::array<ResourceVersion, 2> reached{};  // the newest version shown, by By
    uint64_t hash = 0;
  };
  Pod& at(PodId pod);
  void settle(PodId pod);  // makes the books agree

  void rehash(Pod& pod);
  void rehash(NodeId node, bool held);

  std::vector<Pod> pods_;
  std::vector<uint64_t> node_hashes_;
  uint64_t hash_ = 0;
  scheduler::NodeBooks books_;
  std::vector<PodId> touched_pods_;
  std::vector<NodeId> touched_nodes_;
};

}  // namespace inquest::replayer
