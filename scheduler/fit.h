// Misfit: the first reason why a pod does not fit a node, or none.
#pragma once

#include <cstdint>

#include "schema/catalog.h"

namespace inquest::scheduler {

struct Misfit {
  // In the order upstream checks them (NodePorts, then NodeResourcesFit).
  enum class Kind : uint8_t { kFits, kNoSuchNode, kPort, kPods, kCpu, kMemory, kEphemeral, kExtended };
  Kind kind = Kind::kFits;
  uint32_t index = 0;  // of kPort, kExtended: which entry of the asking shape's ports or extended
  PodId holder;        // of kPort: who holds it

  bool fits() const { return kind == Kind::kFits; }
};

}  // namespace inquest::scheduler
