// Journal: decisions as they stand on disk, written before their bind and forgotten once its outcome is known (policy
// journal). The core keeps the list; its effects say what to write.
#pragma once

#include <vector>

#include "scheduler/slots.h"
#include "scheduler/state_hash.h"

namespace inquest::scheduler {

// All that a new process needs to assume the pod again.
struct Decision {
  PodId pod;
  NodeId node;
  ShapeId shape;
};

class Journal {
 public:
  explicit Journal(Slots slots) : slots_(slots), members_(slots) {}

  // Its slot must be empty.
  void put(const Decision& decision);
  // Empties the pod's slot and returns what it held (pod none: nothing).
  Decision take(PodId pod);

  // In an order that depends on the inputs alone.
  std::vector<Decision> decisions() const;
  uint64_t hash() const { return hash_.value(); }

 private:
  Slots slots_;
  StateHash hash_;
  std::vector<Decision> entries_;
  Members members_;
};

}  // namespace inquest::scheduler
