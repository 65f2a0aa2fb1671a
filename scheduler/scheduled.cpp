#include "scheduler/scheduled.h"

namespace inquest::scheduler {
namespace {

uint64_t hash_of(const ScheduledPod& entry) {
  return StateHash::of(StateHash::Entry::kScheduled, {entry.pod.value, entry.node.value, entry.shape.value});
}

}  // namespace

ScheduledPod ScheduledStore::put(const ScheduledPod& entry) {
  const uint32_t slot = slots_.of(entry.pod);
  ScheduledPod& held = grown(entries_, slot);
  const ScheduledPod before = held;
  if (before.pod) {
    hash_.remove(hash_of(before));
    members_.replace(slot, entry.pod);
  } else {
    members_.enter(slot, entry.pod);
  }
  held = entry;
  hash_.add(hash_of(entry));
  return before;
}

ScheduledPod ScheduledStore::take(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || !entries_[slot].pod) return {};
  const ScheduledPod held = entries_[slot];
  entries_[slot] = {};
  hash_.remove(hash_of(held));
  members_.leave(slot);
  return held;
}

}  // namespace inquest::scheduler
