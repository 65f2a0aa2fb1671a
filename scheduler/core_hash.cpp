// What the hash of the state has of the pods: it says when two runs have become one.
#include "scheduler/core.h"

namespace inquest::scheduler {

uint64_t Core::state_hash() const {
  for (const PodId pod : unhashed_) {
    is_unhashed_[pod.value] = false;
    uint64_t& hash = grown(pod_hashes_, pod.value);
    pods_hash_.remove(hash);
    hash = hash_of(pod);
    pods_hash_.add(hash);
  }
  unhashed_.clear();
  return combine(stores_hash() + pods_hash_.value(), static_cast<uint64_t>(next_relist_.ns));
}

void Core::mark_changed(PodId pod) {
  if (pod.value >= is_unhashed_.size()) is_unhashed_.resize(std::max<size_t>(pod.value + 1, is_unhashed_.size() * 2));
  if (is_unhashed_[pod.value]) return;
  is_unhashed_[pod.value] = true;
  unhashed_.push_back(pod);
}

// What its places in the stores do not tell. What is purged at a decision, and when a bind is given up, follows from
// that and this.
uint64_t Core::hash_of(PodId pod) const {
  if (!seen(pod)) return 0;
  const PodFacts& facts = facts_[pod.value];
  const uint64_t attempts = pod.value < attempts_.size() ? attempts_[pod.value] : 0;
  const uint32_t key = catalog_->key_of(pod).value;
  uint64_t standing = presence_[pod.value] == Presence::kPresent ? 1 : 0;
  for (size_t watch = 0; watch < lives_.size(); ++watch) {
    if (key < lives_[watch].size() && lives_[watch][key] == pod) standing |= uint64_t{2} << watch;
  }
  const bool open = in_flight(pod);
  const uint64_t seen_as = StateHash::of(StateHash::Entry::kSeen, {pod.value, facts.shape.value, attempts});
  if (standing == 0 && !open && queued_.at(pod) != pod) return seen_as;  // nobody will look at the rest of it
  const uint64_t flags = standing << 2 | (facts.gated ? 2U : 0U) | (facts.terminal() ? 1U : 0U);
  const uint64_t hash =
      StateHash::of(StateHash::Entry::kSeen,
                    {seen_as, facts.node.value, facts.scheduler.value, facts.placement.value,
                     static_cast<uint64_t>(facts.priority), static_cast<uint64_t>(facts.deletion.ns), flags});
  if (!open) return hash;
  const Flight& flight = flights_[pod.value];
  return combine(combine(hash, static_cast<uint64_t>(flight.started.ns)), flight.node.value);
}

}  // namespace inquest::scheduler
