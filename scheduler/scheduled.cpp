#include "scheduler/scheduled.h"

namespace inquest::scheduler {

ScheduledPod ScheduledStore::put(const ScheduledPod& entry) {
  const uint32_t slot = slots_.of(entry.pod);
  ScheduledPod& held = slot_at(entries_, slot);
  const ScheduledPod before = held;
  if (before.pod) {
    hash_->remove(StateHash::Entry::kScheduled, {before.pod.value, before.node.value, before.shape.value});
    members_[position_[slot]] = entry.pod;
  } else {
    slot_at(position_, slot) = static_cast<uint32_t>(members_.size());
    members_.push_back(entry.pod);
  }
  held = entry;
  hash_->add(StateHash::Entry::kScheduled, {entry.pod.value, entry.node.value, entry.shape.value});
  return before;
}

ScheduledPod ScheduledStore::take(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || !entries_[slot].pod) return {};
  const ScheduledPod held = entries_[slot];
  entries_[slot] = {};
  hash_->remove(StateHash::Entry::kScheduled, {held.pod.value, held.node.value, held.shape.value});
  const PodId last = members_.back();
  members_[position_[slot]] = last;
  position_[slots_.of(last)] = position_[slot];
  members_.pop_back();
  return held;
}

}  // namespace inquest::scheduler
