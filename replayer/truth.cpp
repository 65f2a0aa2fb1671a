#include "replayer/truth.h"

#include <algorithm>
#include <utility>

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

Truth::Pod& Truth::at(PodId pod) { return grown(pods_, pod.value); }

NodeId Truth::node_of(PodId pod) const {
  if (!holds(pod)) return NodeId::none();
  const Pod& held = pods_[pod.value];
  return held.facts.node ? held.facts.node : held.accepted;
}

Truth::PodChange Truth::apply(Verb verb, const PodFacts& pod, By by) {
  Pod& held = at(pod.pod);
  ResourceVersion& reached = held.reached[static_cast<size_t>(by)];
  const ResourceVersion before = std::exchange(reached, std::max(reached, pod.rv));
  PodChange change{PodChange::Kind::kApplied, held.exists, held.facts};
  const bool known_version = held.facts.rv != 0 && pod.rv != 0;
  if (held.deleted && verb != Verb::kDeleted) {
    const bool merely_late = known_version && pod.rv <= held.facts.rv && before < held.facts.rv && pod.rv >= before;
    change.kind = merely_late ? PodChange::Kind::kStale : PodChange::Kind::kTimeTravel;
    return change;
  }
  if (held.exists && known_version && pod.rv <= held.facts.rv && verb != Verb::kDeleted) {
    change.kind = pod.rv < before ? PodChange::Kind::kTimeTravel : PodChange::Kind::kStale;
    return change;
  }
  if (verb == Verb::kDeleted && held.deleted) {
    change.kind = PodChange::Kind::kStale;
    return change;
  }
  held.facts = pod;
  held.exists = verb != Verb::kDeleted;
  held.deleted = !held.exists;
  settle(pod.pod);
  return change;
}

void Truth::apply(Verb verb, const NodeFacts& node) {
  verb == Verb::kDeleted ? books_.remove_node(node.node) : books_.set_node(node);
  rehash(node.node, verb != Verb::kDeleted);
  touched_nodes_.push_back(node.node);
}

std::vector<PodFacts> Truth::replace(std::span<const PodFacts> pods) {
  std::vector<bool> listed(pods_.size());
  for (const PodFacts& pod : pods) {
    if (pod.pod.value < listed.size()) listed[pod.pod.value] = true;
  }
  for (uint32_t pod = 0; pod < listed.size(); ++pod) {
    if (!pods_[pod].exists || listed[pod]) continue;
    pods_[pod].exists = false;
    pods_[pod].deleted = true;
    settle({pod});
  }
  std::vector<PodFacts> travelled;
  for (const PodFacts& pod : pods) {
    const bool deleted = at(pod.pod).deleted;
    if (deleted || apply(Verb::kModified, pod).kind == PodChange::Kind::kTimeTravel) travelled.push_back(pod);
  }
  return travelled;
}

void Truth::replace(std::span<const NodeFacts> nodes) {
  std::vector<bool> listed(books_.size());
  for (const NodeFacts& node : nodes) {
    if (node.node.value < listed.size()) listed[node.node.value] = true;
  }
  for (uint32_t node = 0; node < listed.size(); ++node) {
    if (!listed[node] && has_node({node})) {
      books_.remove_node({node});
      rehash({node}, false);
      touched_nodes_.push_back({node});
    }
  }
  for (const NodeFacts& node : nodes) apply(Verb::kModified, node);
}

bool Truth::accept_bind(PodId pod, NodeId node) {
  Pod& held = at(pod);
  if (held.won) return false;
  held.won = true;
  held.accepted = node;  // also for a pod whose first frame is still on its way
  settle(pod);
  return true;
}

void Truth::settle(PodId pod) {
  Pod& held = pods_[pod.value];
  touched_pods_.push_back(pod);
  rehash(held);
  const NodeId node = node_of(pod);
  if (node == held.charged && held.facts.shape == held.charged_shape) return;
  if (held.charged) {
    books_.discharge(held.charged, held.charged_shape, pod);
    touched_nodes_.push_back(held.charged);
  }
  held.charged = node;
  held.charged_shape = held.facts.shape;
  if (node) {
    books_.charge(node, held.charged_shape, pod);
    touched_nodes_.push_back(node);
  }
}

void Truth::rehash(Pod& pod) {
  hash_ -= pod.hash;
  const uint64_t flags = (pod.exists ? 1U : 0U) | (pod.deleted ? 2U : 0U) | (pod.won ? 4U : 0U);
  pod.hash = combine(combine(combine(pod.facts.pod.value, pod.facts.rv), pod.accepted.value), flags);
  for (const ResourceVersion reached : pod.reached) pod.hash = combine(pod.hash, reached);
  hash_ += pod.hash;
}

void Truth::rehash(NodeId node, bool held) {
  uint64_t& hash = grown(node_hashes_, node.value);
  hash_ -= hash;
  hash = held ? combine(combine(1, node.value), books_.book(node).facts.rv) : 0;
  hash_ += hash;
}

std::vector<PodFacts> Truth::pods() const {
  std::vector<PodFacts> out;
  for (const Pod& pod : pods_) {
    if (pod.exists) out.push_back(held(pod.facts.pod));
  }
  return out;
}

PodFacts Truth::held(PodId pod) const {
  PodFacts out = pods_[pod.value].facts;
  if (!out.node) out.node = pods_[pod.value].accepted;
  return out;
}

std::vector<NodeFacts> Truth::nodes() const {
  std::vector<NodeFacts> out;
  for (uint32_t node = 0; node < books_.size(); ++node) {
    if (books_.book({node}).known) out.push_back(books_.book({node}).facts);
  }
  return out;
}

void Truth::clear_touched() {
  touched_pods_.clear();
  touched_nodes_.clear();
}

}  // namespace inquest::replayer
