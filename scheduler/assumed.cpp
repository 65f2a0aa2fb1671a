#include "scheduler/assumed.h"

namespace inquest::scheduler {
namespace {

uint64_t hash_of(const AssumedPod& entry) {
  const uint64_t hash = StateHash::of(StateHash::Entry::kAssumed, {entry.pod.value, entry.node.value, entry.shape.value,
                                                                   static_cast<uint64_t>(entry.deadline.ns)});
  return entry.won ? combine(hash, 1) : hash;
}

}  // namespace

AssumedPod AssumedStore::put(PodId pod, NodeId node, ShapeId shape, Time deadline) {
  const uint32_t slot = slots_.of(pod);
  AssumedPod& held = grown(entries_, slot);
  const AssumedPod before = held;
  if (before.pod) {
    hash_.remove(hash_of(before));
    members_.replace(slot, pod);
  } else {
    members_.enter(slot, pod);
  }
  held = {pod, node, shape, deadline, ++tickets_, false, false};
  hash_.add(hash_of(held));
  expiries_.add({deadline, held.ticket, slot});
  return before;
}

AssumedPod AssumedStore::take(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || !entries_[slot].pod) return {};
  const AssumedPod held = entries_[slot];
  hash_.remove(hash_of(held));
  entries_[slot] = {};
  members_.leave(slot);
  return held;
}

void AssumedStore::set_deadline(PodId pod, Time deadline) {
  AssumedPod* entry = at(pod);
  if (entry == nullptr || entry->deadline == deadline) return;
  hash_.remove(hash_of(*entry));
  entry->deadline = deadline;
  hash_.add(hash_of(*entry));
  expiries_.add({deadline, entry->ticket, slots_.of(pod)});
}

void AssumedStore::set_won(PodId pod) {
  AssumedPod* entry = at(pod);
  if (entry == nullptr || entry->won) return;
  hash_.remove(hash_of(*entry));
  entry->won = true;
  hash_.add(hash_of(*entry));
}

const Deadline* AssumedStore::next_expiry() {
  return expiries_.first([&](const Deadline& expiry) {
    const AssumedPod& entry = entries_[expiry.slot];
    return entry.ticket != expiry.ticket || entry.deadline != expiry.at;
  });
}

Time AssumedStore::next_deadline() {
  const Deadline* next = next_expiry();
  return next == nullptr ? Time::never() : next->at;
}

PodId AssumedStore::due(Time now) {
  const Deadline* next = next_expiry();
  return next != nullptr && next->at <= now ? entries_[next->slot].pod : PodId::none();
}

}  // namespace inquest::scheduler
