#include "replayer/stores.h"

#include <algorithm>
#include <tuple>

#include "base/grown.h"

namespace inquest::replayer {

using scheduler::Core;
using scheduler::QueuedStore;

namespace {

constexpr std::array<std::string_view, 5> kStoreNames = {"scheduled", "assumed", "queued", "nodes", "truth"};
constexpr std::array<std::string_view, 10> kBringers = {"ADDED",   "MODIFIED", "DELETED", "list",    "decision",
                                                        "failure", "answer",   "re-read", "restart", "time"};

Bringer bringer(Verb verb) {
  return verb == Verb::kAdded ? Bringer::kAdded : verb == Verb::kModified ? Bringer::kModified : Bringer::kDeleted;
}

struct WhatBrings {
  Bringer operator()(const scheduler::PodChanged& input) const { return bringer(input.verb); }
  Bringer operator()(const scheduler::NodeChanged& input) const { return bringer(input.verb); }
  Bringer operator()(const scheduler::PodsListed&) const { return Bringer::kList; }
  Bringer operator()(const scheduler::NodesListed&) const { return Bringer::kList; }
  Bringer operator()(const scheduler::Decide&) const { return Bringer::kDecision; }
  Bringer operator()(const scheduler::DecideAs&) const { return Bringer::kDecision; }
  Bringer operator()(const scheduler::AttemptFailed&) const { return Bringer::kFailure; }
  Bringer operator()(const scheduler::BindAnswered&) const { return Bringer::kAnswer; }
  Bringer operator()(const scheduler::RereadAnswered&) const { return Bringer::kReread; }
  Bringer operator()(const scheduler::Restarted&) const { return Bringer::kRestart; }
  Bringer operator()(const scheduler::TimeReached&) const { return Bringer::kTime; }
};

// Where the store has the pod, as a number that changes when the place does; 0: nowhere.
uint32_t where(const Core& core, Store store, PodId pod) {
  if (store == Store::kScheduled) {
    const scheduler::ScheduledPod* held = core.scheduled().find(pod);
    return held == nullptr ? 0 : held->node.value + 1;
  }
  if (store == Store::kAssumed) {
    const scheduler::AssumedPod* held = core.assumed().find(pod);
    return held == nullptr ? 0 : held->node.value + 1;
  }
  const QueuedStore::State state = core.queued().state(pod);
  if (state != QueuedStore::State::kAbsent) return static_cast<uint32_t>(state) + 1;
  return core.in_flight(pod) ? 1 : 0;
}

// When each waiting pod's wait ends if nothing cuts it short; never: once it was read again. A copy of the store is
// taken through all of them.
std::vector<Time> ends_of_waits(QueuedStore store, size_t pods) {
  std::vector<Time> out(pods, Time::never());
  std::vector<PodId> ended;
  for (Time end = store.next_end(); end != Time::never(); end = store.next_end()) {
    ended.clear();
    store.wake(end, ended);
    for (const PodId pod : ended) {
      if (out[pod.value] == Time::never()) out[pod.value] = end;
    }
  }
  return out;
}

auto order_of(const Catalog& catalog, PodId pod) {
  const KeyId key = catalog.key_of(pod);
  return std::tuple(catalog.ns(key), catalog.name(key), pod);
}

template <typename Held>
void sort_by_name(const Catalog& catalog, std::vector<Held>& held) {
  std::sort(held.begin(), held.end(),
            [&](const Held& a, const Held& b) { return order_of(catalog, a.pod) < order_of(catalog, b.pod); });
}

}  // namespace

std::string_view name_of(Store store) { return kStoreNames[static_cast<size_t>(store)]; }

std::optional<Store> store_named(std::string_view name) {
  for (const Store store : kStores) {
    if (name_of(store) == name) return store;
  }
  return std::nullopt;
}

std::string_view name_of(Bringer bringer) { return kBringers[static_cast<size_t>(bringer)]; }

Bringer bringer_of(const scheduler::Input& input) { return std::visit(WhatBrings{}, input); }

std::string_view name_of(QueuedPod::How how) {
  constexpr std::array<std::string_view, 4> kHows = {"in line", "bind open", "parked", "unschedulable"};
  return kHows[static_cast<size_t>(how)];
}

void Arrivals::stepped(const World& world, const scheduler::Input& input, std::span<const scheduler::Effect>) {
  for (const PodId pod : world.core().touched_pods()) {
    for (const Store store : {Store::kScheduled, Store::kAssumed, Store::kQueued}) {
      Place& place = grown(places_[static_cast<size_t>(store)], pod.value);
      const uint32_t now = where(world.core(), store, pod);
      if (now == place.where) continue;
      place = {now, {world.now(), world.seq(), bringer_of(input)}};
    }
  }
}

std::vector<HeldPod> scheduled_pods(const Run& run, const Arrivals& arrivals) {
  std::vector<HeldPod> out;
  const auto& store = run.world().core().scheduled();
  for (const PodId pod : store.pods()) {
    const scheduler::ScheduledPod* held = store.find(pod);
    out.push_back({pod, held->node, held->shape, arrivals.of(Store::kScheduled, pod)});
  }
  sort_by_name(run.recording().catalog(), out);
  return out;
}

std::vector<AssumedUntil> assumed_pods(const Run& run, const Arrivals& arrivals) {
  std::vector<AssumedUntil> out;
  const auto& store = run.world().core().assumed();
  for (const PodId pod : store.pods()) {
    const scheduler::AssumedPod* held = store.find(pod);
    out.push_back({{pod, held->node, held->shape, arrivals.of(Store::kAssumed, pod)}, held->deadline});
  }
  sort_by_name(run.recording().catalog(), out);
  return out;
}

std::vector<QueuedPod> queued_pods(const Run& run, const Arrivals& arrivals) {
  using How = QueuedPod::How;
  const Core& core = run.world().core();
  const size_t pods = run.recording().catalog().pods();
  std::vector<QueuedPod> out;
  QueuedStore line = core.queued();
  for (PodId pod = line.pop(); pod.known(); pod = line.pop()) {
    out.push_back({pod, How::kInLine, out.size() + 1, {}, arrivals.of(Store::kQueued, pod)});
  }
  std::vector<QueuedPod> others;
  const std::vector<Time> ends = ends_of_waits(core.queued(), pods);
  for (uint32_t i = 0; i < pods; ++i) {
    const PodId pod{i};
    const QueuedStore::State state = core.queued().state(pod);
    if (state == QueuedStore::State::kQueued || (state == QueuedStore::State::kAbsent && !core.in_flight(pod)))
      continue;
    const How how = state == QueuedStore::State::kAbsent   ? How::kInFlight
                    : state == QueuedStore::State::kParked ? How::kParked
                                                           : How::kUnschedulable;
    others.push_back({pod, how, 0, how == How::kInFlight ? Time{} : ends[i], arrivals.of(Store::kQueued, pod)});
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const QueuedPod& a, const QueuedPod& b) { return a.until < b.until; });
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

std::vector<PodFacts> true_pods(const Run& run) {
  const Truth& truth = run.world().truth();
  std::vector<PodFacts> out;
  for (const PodFacts& pod : truth.pods()) out.push_back(truth.held(pod.pod));
  sort_by_name(run.recording().catalog(), out);
  return out;
}

std::vector<NodeId> nodes_of(const scheduler::NodeBooks& books, const Catalog& catalog) {
  std::vector<NodeId> out;
  for (uint32_t i = 0; i < books.size(); ++i) {
    const scheduler::NodeBook& book = books.book(NodeId{i});
    if (book.known || book.pods != 0) out.emplace_back(NodeId{i});
  }
  std::sort(out.begin(), out.end(), [&](NodeId a, NodeId b) { return catalog.node_name(a) < catalog.node_name(b); });
  return out;
}

}  // namespace inquest::replayer
