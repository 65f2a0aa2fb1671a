#include "scheduler/assumed.h"

#include <algorithm>

namespace inquest::scheduler {

void AssumedStore::hash_entry(const AssumedPod& entry, int sign) {
  const auto deadline = static_cast<uint64_t>(entry.deadline.ns);
  if (sign > 0) {
    hash_->add(StateHash::Entry::kAssumed, {entry.pod.value, entry.node.value, entry.shape.value, deadline});
  } else {
    hash_->remove(StateHash::Entry::kAssumed, {entry.pod.value, entry.node.value, entry.shape.value, deadline});
  }
}

AssumedPod AssumedStore::put(PodId pod, NodeId node, ShapeId shape, Time deadline) {
  const uint32_t slot = slots_.of(pod);
  AssumedPod& held = slot_at(entries_, slot);
  const AssumedPod before = held;
  if (before.pod) {
    hash_entry(before, -1);
    members_[position_[slot]] = pod;
  } else {
    slot_at(position_, slot) = static_cast<uint32_t>(members_.size());
    members_.push_back(pod);
  }
  held = {pod, node, shape, deadline, ++tickets_, false};
  hash_entry(held, +1);
  schedule(held);
  return before;
}

AssumedPod AssumedStore::take(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || !entries_[slot].pod) return {};
  const AssumedPod held = entries_[slot];
  hash_entry(held, -1);
  entries_[slot] = {};
  const PodId last = members_.back();
  members_[position_[slot]] = last;
  position_[slots_.of(last)] = position_[slot];
  members_.pop_back();
  return held;
}

void AssumedStore::set_deadline(PodId pod, Time deadline) {
  AssumedPod* entry = at(pod);
  if (entry == nullptr || entry->deadline == deadline) return;
  hash_entry(*entry, -1);
  entry->deadline = deadline;
  hash_entry(*entry, +1);
  schedule(*entry);
}

namespace {
// For std::push_heap, which keeps the greatest in front: later is "less".
constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.deadline != b.deadline ? a.deadline > b.deadline : a.ticket > b.ticket;
};
}  // namespace

void AssumedStore::schedule(const AssumedPod& entry) {
  if (entry.deadline == Time::never()) return;
  expiries_.push_back({entry.deadline, entry.ticket, entry.pod});
  std::push_heap(expiries_.begin(), expiries_.end(), kLater);
}

bool AssumedStore::stale(const Expiry& expiry) const {
  const AssumedPod* entry = at(expiry.pod);
  return entry == nullptr || entry->ticket != expiry.ticket || entry->deadline != expiry.deadline;
}

void AssumedStore::drop_stale() {
  while (!expiries_.empty() && stale(expiries_.front())) {
    std::pop_heap(expiries_.begin(), expiries_.end(), kLater);
    expiries_.pop_back();
  }
}

Time AssumedStore::next_deadline() {
  drop_stale();
  return expiries_.empty() ? Time::never() : expiries_.front().deadline;
}

PodId AssumedStore::due(Time now) {
  return next_deadline() <= now && !expiries_.empty() ? expiries_.front().pod : PodId::none();
}

}  // namespace inquest::scheduler
