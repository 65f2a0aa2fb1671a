#include "scheduler/journal.h"

#include <utility>

#include "base/check.h"

namespace inquest::scheduler {
namespace {

uint64_t hash_of(const Decision& decision) {
  return StateHash::of(StateHash::Entry::kDecision, {decision.pod.value, decision.node.value, decision.shape.value});
}

}  // namespace

void Journal::put(const Decision& decision) {
  const uint32_t slot = slots_.of(decision.pod);
  Decision& held = grown(entries_, slot);
  INQUEST_CHECK(!held.pod, "two decisions in one slot", slot);
  held = decision;
  members_.enter(slot, decision.pod);
  hash_.add(hash_of(decision));
}

Decision Journal::take(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || !entries_[slot].pod) return {};
  const Decision held = std::exchange(entries_[slot], {});
  members_.leave(slot);
  hash_.remove(hash_of(held));
  return held;
}

std::vector<Decision> Journal::decisions() const {
  std::vector<Decision> out;
  for (const PodId pod : members_.pods()) out.push_back(entries_[slots_.of(pod)]);
  return out;
}

}  // namespace inquest::scheduler
