#include "scheduler/held.h"

#include <span>
#include <utility>

namespace inquest::scheduler {
namespace {

// Of all that a core may look at.
uint64_t hash_of(const PodFacts& pod) {
  const uint64_t flags = static_cast<uint64_t>(pod.phase) << 2 | (pod.gated ? 2 : 0) | (pod.mirror ? 1 : 0);
  return StateHash::of(StateHash::Entry::kHeld,
                       {pod.pod.value, pod.node.value, pod.scheduler.value, pod.shape.value, pod.placement.value,
                        static_cast<uint64_t>(pod.deletion.ns), static_cast<uint64_t>(pod.priority), flags});
}

}  // namespace

uint64_t HeldStream::hash_of(const HeldInput& input, size_t place) {
  if (const auto* frame = std::get_if<PodChanged>(&input)) {
    const uint64_t how = static_cast<uint64_t>(frame->verb) << 8 | static_cast<uint64_t>(frame->known_from);
    return StateHash::of(StateHash::Entry::kHeld,
                         {place, static_cast<uint64_t>(frame->watch), how, scheduler::hash_of(frame->pod)});
  }
  const auto& list = std::get<HeldList>(input);
  uint64_t out = StateHash::of(StateHash::Entry::kHeld,
                               {place, static_cast<uint64_t>(list.watch), static_cast<uint64_t>(list.kind)});
  for (const PodFacts& pod : list.pods) out = combine(out, scheduler::hash_of(pod));
  return out;
}

void HeldStream::push(HeldInput input) {
  hash_.add(hash_of(input, inputs_.size()));
  inputs_.push_back(std::move(input));
}

HeldInput HeldStream::pop() {
  HeldInput out = std::move(inputs_[head_]);
  hash_.remove(hash_of(out, head_));
  if (++head_ == inputs_.size()) {
    inputs_.clear();
    head_ = 0;
  }
  return out;
}

}  // namespace inquest::scheduler
