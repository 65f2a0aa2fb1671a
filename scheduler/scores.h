// Scores of kube-scheduler's resource plugins, 0 to 100, the higher the better (kubernetes-facts 9.7).
//
// Exact integers and rationals where upstream has floats, so that every compiler gives the same: a score differs from
// upstream's by at most 1. A resource of which the node offers nothing does not count; if none is left the score is 0.
#pragma once

#include <cstdint>
#include <span>

#include "scheduler/int128.h"

namespace inquest::scheduler {

// One resource of a node, with the pod on it.
struct Share {
  Int128 requested = 0;
  int64_t capacity = 0;
  int64_t weight = 1;  // 1 to 100
};

// How much is left, and how much is taken; more than there is counts as all of it.
int64_t least_allocated(std::span<const Share> shares);
int64_t most_allocated(std::span<const Share> shares);
// How much alike the resources are used: 100 less their standard deviation. Weights do not count.
int64_t balanced_allocation(std::span<const Share> shares);

}  // namespace inquest::scheduler
