// View: the scheduler's end of its streams: one reflector a lane, which turns what the server sends into what the core
// is told: added, updated, deleted, and the tombstones of what a list no longer holds.
//
// The reflector is the one that the live client runs (reflector/). This is what stands around it here: which facts an
// object that it names has. A value: a copy goes on by itself.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "reflector/reflector.h"
#include "replayer/delivery.h"
#include "replayer/lane.h"
#include "scheduler/input.h"

namespace inquest::replayer {

class View {
 public:
  // `seed`: of the reflectors' jitter. The catalog must outlive the view.
  View(const Catalog& catalog, scheduler::Watches watches, uint64_t seed);

  bool started(Lane lane) const { return at(lane).reflector.phase() != reflector::Phase::kStopped; }
  // What the reflector asks for; the server's side answers each once. A list may be long under way.
  bool wants_list(Lane lane) const { return at(lane).wants == Wants::kList; }
  void list_asked(Lane lane) { at(lane).wants = Wants::kNothing; }
  bool listing(Lane lane) const { return at(lane).reflector.phase() == reflector::Phase::kListing; }
  bool wants_watch(Lane lane) const { return at(lane).wants == Wants::kWatch; }
  // When a lane asks again after a backoff; never if none waits for that.
  Time next_wake() const;

  void start(Time now, Lane lane);
  void wake(Time now);  // those whose time has come
  void list_anew(Time now, Lane lane);
  void frame(Time now, const Frame& frame);
  // All that the lane's selector lets through of what the server held; it is told to the core, or, `kQuietly`, known
  // only, because the core is given the list itself.
  enum class Tell : uint8_t { kCore, kQuietly };
  void pods_listed(Time now, Lane lane, std::span<const PodFacts> pods, Tell tell);
  void nodes_listed(Time now, std::span<const NodeFacts> nodes, Tell tell);
  void watch_opened(Time now, Lane lane);
  void refused(Time now, Lane lane, reflector::Refusal::Why why);
  void closed(Time now, Lane lane);

  // What the core is to be told, in order; taken by the caller.
  std::vector<scheduler::Input>& told() { return told_; }

  uint64_t state_hash(Time now) const;

 private:
  enum class Wants : uint8_t { kNothing, kList, kWatch };
  struct Stream {
    reflector::Reflector reflector;
    Wants wants = Wants::kNothing;
  };

  Stream& at(Lane lane) { return streams_[static_cast<size_t>(lane)]; }
  const Stream& at(Lane lane) const { return streams_[static_cast<size_t>(lane)]; }
  // Of the versions that came in with the outputs' cause; `facts[object.version]`.
  void take(Lane lane, std::span<const reflector::Output> outputs, std::span<const PodFacts> pods,
            std::span<const NodeFacts> nodes, Tell tell);
  void pod_delta(Lane lane, const reflector::Delta& delta, std::span<const PodFacts> pods);
  void node_delta(const reflector::Delta& delta, std::span<const NodeFacts> nodes);

  const Catalog* catalog_;
  scheduler::Watches watches_;
  std::array<Stream, kLanes> streams_;
  std::array<std::vector<PodFacts>, kLanes> shown_pods_;  // by pod: the version that the lane has shown last
  std::vector<NodeFacts> shown_nodes_;                    // by node
  std::vector<reflector::Object> items_;                  // of a list, kept for its memory
  std::vector<PodFacts> selected_;
  std::vector<scheduler::Input> told_;
};

}  // namespace inquest::replayer
