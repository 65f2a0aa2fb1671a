// Lane: one stream from the API to the scheduler: a watch of pods (of all, or of those with a node and of those
// without) or of nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "replayer/plan.h"
#include "scheduler/input.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

enum class Lane : uint8_t { kNodes, kPods, kQueued, kScheduled };
inline constexpr size_t kLanes = 4;

constexpr std::string_view name_of(Lane lane) {
  constexpr std::array<std::string_view, kLanes> kNames = {"nodes", "pods", "pods without a node", "pods with a node"};
  return kNames[static_cast<size_t>(lane)];
}

// Those that a policy opens, in the order in which it lists them.
inline constexpr std::array<Lane, 2> kLanesOfOneWatch = {Lane::kNodes, Lane::kPods};
inline constexpr std::array<Lane, 3> kLanesOfTwoWatches = {Lane::kNodes, Lane::kQueued, Lane::kScheduled};
constexpr std::span<const Lane> lanes_of(scheduler::Watches watches) {
  if (watches == scheduler::Watches::kOne) return kLanesOfOneWatch;
  return kLanesOfTwoWatches;
}

constexpr Resource resource_of(Lane lane) { return lane == Lane::kNodes ? Resource::kNodes : Resource::kPods; }

constexpr scheduler::Watch watch_of(Lane lane) {
  return lane == Lane::kQueued      ? scheduler::Watch::kQueued
         : lane == Lane::kScheduled ? scheduler::Watch::kScheduled
                                    : scheduler::Watch::kAll;
}

// How plans name it.
constexpr OnWatch on_watch(Lane lane) {
  return lane == Lane::kQueued ? OnWatch::kQueued : lane == Lane::kScheduled ? OnWatch::kScheduled : OnWatch::kEvery;
}

// Whether a fault that says `watch` means this lane.
constexpr bool means(OnWatch watch, Lane lane) {
  return watch == OnWatch::kEvery || resource_of(lane) == Resource::kNodes || on_watch(lane) == OnWatch::kEvery ||
         on_watch(lane) == watch;
}

// Whether the lane's selector lets this version through (kubernetes-facts 5.7).
constexpr bool selects(Lane lane, const PodFacts& pod) {
  return lane == Lane::kPods || pod.bound() == (lane == Lane::kScheduled);
}

}  // namespace inquest::replayer
