#include "replayer/blocks.h"

#include <algorithm>

#include "base/grown.h"

namespace inquest::replayer {
namespace {

bool fits_somewhere(const scheduler::NodeBooks& books, const PodFacts& pod) {
  for (uint32_t node = 0; node < books.size(); ++node) {
    if (books.book({node}).known && books.fit(pod.shape, {node}, pod.pod, ShapeId::none()).fits()) return true;
  }
  return false;
}

}  // namespace

void Blocks::settle(const Truth& truth, const scheduler::Core& core, std::span<const PodId> touched, bool differ,
                    Time now) {
  finish(now);
  for (const PodId pod : touched) follow(truth, core, pod);
  blocked_now_ = 0;
  if (!differ) return;
  for (const PodId pod : pending_) blocked_now_ += blocked(truth, core, pod) ? 1 : 0;
}

void Blocks::finish(Time end) {
  if (blocked_now_ > 0) total_ = total_ + (end - since_) * static_cast<int64_t>(blocked_now_);
  since_ = end;
}

void Blocks::follow(const Truth& truth, const scheduler::Core& core, PodId pod) {
  const bool waits = truth.holds(pod) && !truth.node_of(pod) && core.ours(truth.facts(pod)) &&
                     !truth.facts(pod).gated && !truth.facts(pod).deletion.known();
  uint32_t& place = grown(place_, pod.value);
  if (waits == (place != 0)) return;
  if (waits) {
    pending_.push_back(pod);
    place = static_cast<uint32_t>(pending_.size());
    return;
  }
  const PodId last = pending_.back();
  pending_[place - 1] = last;
  place_[last.value] = place;
  pending_.pop_back();
  place_[pod.value] = 0;
}

bool Blocks::blocked(const Truth& truth, const scheduler::Core& core, PodId pod) const {
  const PodFacts& facts = truth.facts(pod);
  return fits_somewhere(truth.books(), facts) && !fits_somewhere(core.books(), facts);
}

}  // namespace inquest::replayer
