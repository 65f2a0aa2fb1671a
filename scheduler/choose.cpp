// Where a pod goes: filters, then LeastAllocated, then a tie decided by a hash (kubernetes-facts 4.3, 9.7).
#include <algorithm>

#include "scheduler/core.h"

namespace inquest::scheduler {
namespace {

// (cap − used) · 100 / cap, 0 if it would not fit; upstream's integer division.
int64_t least_allocated(Int128 used, int64_t capacity) {
  if (capacity <= 0 || used > capacity) return 0;
  return static_cast<int64_t>((Int128{capacity} - used) * 100 / capacity);
}

int64_t score(const NodeBook& book, const Allocatable& allocatable, const PodShape& shape) {
  const Resources& offered = allocatable.resources;
  const int64_t weights = (offered.cpu_milli > 0 ? 1 : 0) + (offered.memory > 0 ? 1 : 0);
  if (weights == 0) return 0;
  const int64_t cpu = least_allocated(book.nonzero_cpu_milli + shape.nonzero_cpu_milli, offered.cpu_milli);
  const int64_t memory = least_allocated(book.nonzero_memory + shape.nonzero_memory, offered.memory);
  return (cpu + memory) / weights;
}

}  // namespace

NodeId Core::choose_node(PodId pod) {
  const PodShape& shape = catalog_->shape(facts_[pod.value].shape);
  best_.clear();
  int64_t best_score = -1;
  for (uint32_t i = 0; i < books_.size(); ++i) {
    const NodeBook& book = books_.book({i});
    if (!books_.fit(shape, {i}, pod, ShapeId::none()).fits()) continue;
    const int64_t points = score(book, catalog_->allocatable(book.facts.allocatable), shape);
    if (points > best_score) best_.clear();
    if (points >= best_score) best_.push_back({i});
    best_score = std::max(best_score, points);
  }
  if (best_.empty()) return NodeId::none();
  const uint64_t tie = combine(combine(config_.seed, pod.value), attempts_[pod.value]);
  return best_[tie % best_.size()];
}

}  // namespace inquest::scheduler
