// Stores: what the stores of a run's core hold at an instant, since when and by what. For people who look at a run that
// stands still; the run itself never asks.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "replayer/run.h"
#include "replayer/step_observer.h"

namespace inquest::replayer {

// The core's own, the nodes as its books have them, and what the API server holds.
enum class Store : uint8_t { kScheduled, kAssumed, kQueued, kNodes, kTruth };
inline constexpr std::array<Store, 5> kStores = {Store::kScheduled, Store::kAssumed, Store::kQueued, Store::kNodes,
                                                 Store::kTruth};
std::string_view name_of(Store store);                    // "scheduled"
std::optional<Store> store_named(std::string_view name);  // nothing: there is none of that name

// What kind of input brought a pod where it is.
enum class Bringer : uint8_t {
  kAdded,
  kModified,
  kDeleted,
  kList,
  kDecision,
  kFailure,
  kAnswer,
  kReread,
  kRestart,
  kTime
};
std::string_view name_of(Bringer bringer);  // "ADDED", "list", "decision", …
Bringer bringer_of(const scheduler::Input& input);

// When a pod came where it is, the record that was current then, and what brought it.
struct Arrival {
  Time at;
  trace::Seq seq = 0;
  Bringer by = Bringer::kAdded;
};

// Follows a run from its start and remembers the arrivals. O(change) a step.
class Arrivals : public StepObserver {
 public:
  void stepped(const World& world, const scheduler::Input& input, std::span<const scheduler::Effect> effects) override;

  // Of a pod that the store holds: kScheduled, kAssumed or kQueued.
  Arrival of(Store store, PodId pod) const {
    const auto& places = places_[static_cast<size_t>(store)];
    return pod.value < places.size() ? places[pod.value].arrival : Arrival{};
  }

 private:
  struct Place {
    uint32_t where = 0;  // node + 1, or how it is queued + 1; 0: not there
    Arrival arrival;
  };
  std::array<std::vector<Place>, 3> places_;  // by store, by pod
};

struct HeldPod {
  PodId pod;
  NodeId node;    // of scheduled and assumed
  ShapeId shape;  // likewise: what is charged
  Arrival since;
};
struct AssumedUntil : HeldPod {
  Time deadline;  // never: it does not expire by itself
};
struct QueuedPod {
  enum class How : uint8_t { kInLine, kInFlight, kParked, kUnschedulable };
  PodId pod;
  How how = How::kInLine;
  size_t place = 0;  // in line: 1 is next
  Time until;        // of a wait that nothing cuts short; never: until it was read again
  Arrival since;
};
std::string_view name_of(QueuedPod::How how);  // "in line"

// By namespace, name and life; the queue in the order in which its pods will be taken. The run was observed by
// `arrivals` from its start.
std::vector<HeldPod> scheduled_pods(const Run& run, const Arrivals& arrivals);
std::vector<AssumedUntil> assumed_pods(const Run& run, const Arrivals& arrivals);
std::vector<QueuedPod> queued_pods(const Run& run, const Arrivals& arrivals);
std::vector<PodFacts> true_pods(const Run& run);
// Nodes that the books know or charge, by name.
std::vector<NodeId> nodes_of(const scheduler::NodeBooks& books, const Catalog& catalog);

}  // namespace inquest::replayer
