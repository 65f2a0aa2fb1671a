// HeldStream: what a watch brought behind a delete that waits for its pod's bind (policy deletes-wait): frames and
// lists, in the order they came.
#pragma once

#include <variant>
#include <vector>

#include "scheduler/input.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

// A list that owns its pods.
struct HeldList {
  Watch watch = Watch::kAll;
  ListKind kind = ListKind::kOwn;
  std::vector<PodFacts> pods;
};
using HeldInput = std::variant<PodChanged, HeldList>;

class HeldStream {
 public:
  bool empty() const { return head_ == inputs_.size(); }
  const HeldInput& front() const { return inputs_[head_]; }
  void push(HeldInput input);
  HeldInput pop();

  uint64_t hash() const { return hash_.value(); }

 private:
  static uint64_t hash_of(const HeldInput& input, size_t place);

  std::vector<HeldInput> inputs_;  // from head_ on
  size_t head_ = 0;
  StateHash hash_;
};

}  // namespace inquest::scheduler
