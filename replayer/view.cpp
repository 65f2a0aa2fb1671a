#include "replayer/view.h"

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using reflector::Delta;
using reflector::Rv;

namespace {

reflector::Config config_of(uint64_t seed, size_t lane) {
  reflector::Config out;
  out.seed = combine(seed, lane);
  return out;
}

// A version without a number is some version all the same.
Rv rv_of(ResourceVersion rv) { return Rv::number(rv == 0 || rv >> 63 != 0 ? 1 : rv); }

reflector::FrameType type_of(Frame::Kind kind) {
  switch (kind) {
    case Frame::Kind::kAdded:
      return reflector::FrameType::kAdded;
    case Frame::Kind::kModified:
      return reflector::FrameType::kModified;
    case Frame::Kind::kDeleted:
      return reflector::FrameType::kDeleted;
    case Frame::Kind::kBookmark:
      return reflector::FrameType::kBookmark;
  }
  return reflector::FrameType::kUnknown;
}

Verb verb_of(Delta::Kind kind) {
  return kind == Delta::Kind::kAdded ? Verb::kAdded : kind == Delta::Kind::kUpdated ? Verb::kModified : Verb::kDeleted;
}

}  // namespace

View::View(const Catalog& catalog, scheduler::Watches watches, uint64_t seed)
    : catalog_(&catalog),
      watches_(watches),
      streams_{{{reflector::Reflector(config_of(seed, 0))},
                {reflector::Reflector(config_of(seed, 1))},
                {reflector::Reflector(config_of(seed, 2))},
                {reflector::Reflector(config_of(seed, 3))}}} {}

Time View::next_wake() const {
  Time out = Time::never();
  for (const Lane lane : lanes_of(watches_)) out = std::min(out, at(lane).reflector.next_wake());
  return out;
}

void View::start(Time now, Lane lane) {
  take(lane, at(lane).reflector.step(now, reflector::Start{}), {}, {}, Tell::kCore);
}

void View::wake(Time now) {
  for (const Lane lane : lanes_of(watches_)) {
    if (at(lane).reflector.next_wake() > now) continue;
    take(lane, at(lane).reflector.step(now, reflector::TimeReached{}), {}, {}, Tell::kCore);
  }
}

void View::list_anew(Time now, Lane lane) {
  take(lane, at(lane).reflector.step(now, reflector::RelistNow{}), {}, {}, Tell::kCore);
}

void View::frame(Time now, const Frame& frame) {
  reflector::Frame in{type_of(frame.kind), {}};
  in.object.rv = rv_of(frame.rv);
  in.object.version = 0;
  std::span<const PodFacts> pods;
  std::span<const NodeFacts> nodes;
  if (const auto* pod = std::get_if<PodFacts>(&frame.object)) {
    pods = {pod, 1};
    in.object.key = catalog_->key_of(pod->pod).value;
    in.object.uid = pod->pod.value;
  } else if (const auto* node = std::get_if<NodeFacts>(&frame.object)) {
    nodes = {node, 1};
    in.object.key = node->node.value;
    in.object.uid = node->uid.value;
  }
  take(frame.lane, at(frame.lane).reflector.step(now, in), pods, nodes, Tell::kCore);
}

void View::pods_listed(Time now, Lane lane, std::span<const PodFacts> pods, Tell tell) {
  items_.clear();
  ResourceVersion latest = 1;
  for (uint32_t i = 0; i < pods.size(); ++i) {
    const PodFacts& pod = pods[i];
    latest = std::max(latest, pod.rv);
    if (selects(lane, pod)) items_.push_back({catalog_->key_of(pod.pod).value, pod.pod.value, i, rv_of(pod.rv)});
  }
  take(lane, at(lane).reflector.step(now, reflector::ListPage{items_, rv_of(latest), {}}), pods, {}, tell);
}

void View::nodes_listed(Time now, std::span<const NodeFacts> nodes, Tell tell) {
  items_.clear();
  ResourceVersion latest = 1;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    latest = std::max(latest, nodes[i].rv);
    items_.push_back({nodes[i].node.value, nodes[i].uid.value, i, rv_of(nodes[i].rv)});
  }
  take(Lane::kNodes, at(Lane::kNodes).reflector.step(now, reflector::ListPage{items_, rv_of(latest), {}}), {}, nodes,
       tell);
}

void View::watch_opened(Time now, Lane lane) {
  at(lane).wants = Wants::kNothing;
  take(lane, at(lane).reflector.step(now, reflector::WatchOpened{}), {}, {}, Tell::kCore);
}

void View::refused(Time now, Lane lane, reflector::Refusal::Why why) {
  const bool list = listing(lane);
  at(lane).wants = Wants::kNothing;
  const reflector::Refusal refusal{why, {}};
  take(lane,
       list ? at(lane).reflector.step(now, reflector::ListRefused{refusal})
            : at(lane).reflector.step(now, reflector::WatchRefused{refusal}),
       {}, {}, Tell::kCore);
}

void View::closed(Time now, Lane lane) {
  const reflector::Phase phase = at(lane).reflector.phase();
  if (phase != reflector::Phase::kWatching && phase != reflector::Phase::kWatchRequested) return;
  at(lane).wants = Wants::kNothing;  // a request that was still open has its answer
  take(lane, at(lane).reflector.step(now, reflector::WatchClosed{}), {}, {}, Tell::kCore);
}

void View::take(Lane lane, std::span<const reflector::Output> outputs, std::span<const PodFacts> pods,
                std::span<const NodeFacts> nodes, Tell tell) {
  for (const reflector::Output& output : outputs) {
    if (std::get_if<reflector::ListRequest>(&output) != nullptr) {
      at(lane).wants = Wants::kList;
    } else if (std::get_if<reflector::WatchRequest>(&output) != nullptr) {
      at(lane).wants = Wants::kWatch;
    } else if (std::get_if<reflector::Cancel>(&output) != nullptr) {
      at(lane).wants = Wants::kNothing;
    } else if (const auto* delta = std::get_if<Delta>(&output)) {
      const size_t before = told_.size();
      lane == Lane::kNodes ? node_delta(*delta, nodes) : pod_delta(lane, *delta, pods);
      if (tell == Tell::kQuietly) told_.resize(before);
    }
  }
}

void View::pod_delta(Lane lane, const Delta& delta, std::span<const PodFacts> pods) {
  auto& shown = shown_pods_[static_cast<size_t>(lane)];
  if (delta.repeats() && pods[delta.object.version].rv != 0) return;
  scheduler::PodChanged told{watch_of(lane), verb_of(delta.kind), {}};
  if (delta.kind == Delta::Kind::kTombstone) {
    told.pod = shown[delta.object.uid];
    told.known_from = scheduler::KnownFrom::kList;
  } else {
    told.pod = grown(shown, delta.object.uid) = pods[delta.object.version];
  }
  told_.push_back(told);
}

void View::node_delta(const Delta& delta, std::span<const NodeFacts> nodes) {
  if (delta.repeats()) return;
  scheduler::NodeChanged told{verb_of(delta.kind), {}};
  if (delta.kind == Delta::Kind::kTombstone) {
    told.node = shown_nodes_[delta.object.key];
  } else {
    told.node = grown(shown_nodes_, delta.object.key) = nodes[delta.object.version];
  }
  told_.push_back(told);
}

uint64_t View::state_hash(Time now) const {
  uint64_t out = 0;
  for (const Lane lane : lanes_of(watches_)) out = combine(out, at(lane).reflector.state_hash(now));
  return out;
}

}  // namespace inquest::replayer
