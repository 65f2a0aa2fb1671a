// For tests only: pods, nodes and shapes in few words, and a core that is fed by short calls.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduler/core.h"

namespace inquest::scheduler {

constexpr Time kStart{1'000'000'000'000};
inline Time at(int64_t milliseconds) { return kStart + Duration::milliseconds(milliseconds); }
inline constexpr std::string_view kOurs = "default-scheduler";

inline HostPort port(uint16_t number, std::string ip = "", Protocol protocol = Protocol::kTcp) {
  return {std::move(ip), protocol, number};
}

// "p7"; by append, as gcc 12 warns of operator+ where nothing is wrong.
inline std::string numbered(std::string prefix, size_t number) { return prefix.append(std::to_string(number)); }

// A preset with some parameters set.
inline Policy with(std::string_view preset_name,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  Policy policy = *preset(preset_name);
  for (const auto& [name, value] : settings) {
    const std::string_view wanted = name;
    const auto parameter = std::find_if(parameters().begin(), parameters().end(),
                                        [&](const Parameter& candidate) { return candidate.name == wanted; });
    INQUEST_CHECK(parameter != parameters().end() && parameter->set(policy, value).ok(), name, value);
  }
  return policy;
}

struct World {
  Catalog catalog;
  ResourceVersion rv = 0;

  ShapeId shape(int64_t cpu_milli, int64_t memory = 0, std::vector<HostPort> ports = {}) {
    PodShape out;
    out.requests.cpu_milli = out.nonzero_cpu_milli = cpu_milli;
    out.requests.memory = out.nonzero_memory = memory;
    out.ports = std::move(ports);
    std::sort(out.ports.begin(), out.ports.end());
    return catalog.shape(out);
  }
  ShapeId nothing() { return shape(0); }

  PodId id(std::string_view name, std::string_view uid) {
    return catalog.pod(catalog.key(catalog.string("shop"), catalog.string(name)), catalog.string(uid));
  }
  // Pending and ours; bound if a node is given.
  PodFacts pod(std::string_view name, std::string_view uid, ShapeId asks, std::string_view on = "") {
    PodFacts out;
    out.pod = id(name, uid);
    out.node = on.empty() ? NodeId::none() : catalog.node(on);
    out.scheduler = catalog.string(kOurs);
    out.shape = asks;
    out.rv = ++rv;
    out.phase = PodPhase::kPending;
    return out;
  }
  PodFacts pod(std::string_view name) { return pod(name, "uid-" + std::string(name), shape(100)); }
  static PodFacts on(PodFacts pod, NodeId node) {
    pod.node = node;
    ++pod.rv;
    return pod;
  }

  NodeFacts node(std::string_view name, int64_t cpu_milli = 4000, int64_t memory = 1 << 30, int64_t pods = 110) {
    Allocatable room;
    room.resources.cpu_milli = cpu_milli;
    room.resources.memory = memory;
    room.pods = pods;
    return node(name, room);
  }
  NodeFacts node(std::string_view name, const Allocatable& room) {
    NodeFacts out;
    out.node = catalog.node(name);
    out.uid = catalog.string("uid");
    out.allocatable = catalog.allocatable(room);
    out.ready = Condition::kTrue;
    out.rv = ++rv;
    return out;
  }

  Label label(std::string_view key, std::string_view value) { return {catalog.string(key), catalog.string(value)}; }
  Taint taint(std::string_view key, std::string_view value, TaintEffect effect = TaintEffect::kNoSchedule) {
    return {catalog.string(key), catalog.string(value), effect};
  }
  Toleration toleration(std::string_view key, std::string_view value) {
    return {catalog.string(key), catalog.string(value), TolerationOperator::kEqual, TaintEffect::kAny};
  }

  CoreConfig config(Policy policy, uint64_t seed = 0) {
    return {std::move(policy), kStart, {catalog.string(kOurs)}, seed};
  }
  CoreConfig config(std::string_view preset_name) { return config(*preset(preset_name)); }
};

// Steps a core and keeps the effects.
struct Driver {
  Core core;
  std::vector<Effect> effects;

  Driver(const Catalog& catalog, CoreConfig config) : core(catalog, std::move(config)) {}

  void step(Time now, const Input& input) {
    const auto given = core.step(now, input);
    effects.assign(given.begin(), given.end());
  }
  // With time's own steps before it, as a driver must.
  void run_to(Time now) {
    while (core.next_wake() <= now) step(core.next_wake(), TimeReached{});
  }

  template <typename Wanted>
  const Wanted* effect() const {
    for (const Effect& effect : effects) {
      if (const Wanted* found = std::get_if<Wanted>(&effect)) return found;
    }
    return nullptr;
  }

  void add(Time now, const PodFacts& pod, Watch watch = Watch::kAll) {
    step(now, PodChanged{watch, Verb::kAdded, pod});
  }
  void modify(Time now, const PodFacts& pod, Watch watch = Watch::kAll) {
    step(now, PodChanged{watch, Verb::kModified, pod});
  }
  void remove(Time now, const PodFacts& pod, Watch watch = Watch::kAll) {
    step(now, PodChanged{watch, Verb::kDeleted, pod});
  }
  void add(Time now, const NodeFacts& node) { step(now, NodeChanged{Verb::kAdded, node}); }
  void answer(Time now, PodId pod, NodeId node, BindAnswered::Outcome outcome = BindAnswered::Outcome::kBound) {
    step(now, BindAnswered{pod, node, outcome});
  }
  // Where the next decision sent its pod; none if nowhere.
  NodeId decide(Time now) {
    step(now, Decide{});
    const BindPod* bind = effect<BindPod>();
    return bind == nullptr ? NodeId::none() : bind->node;
  }

  bool scheduled(PodId pod) const { return core.scheduled().find(pod) != nullptr; }
  bool assumed(PodId pod) const { return core.assumed().find(pod) != nullptr; }
  bool queued(PodId pod) const { return core.queued().state(pod) == QueuedStore::State::kQueued; }
  bool parked(PodId pod) const { return core.queued().state(pod) == QueuedStore::State::kParked; }
};

}  // namespace inquest::scheduler
