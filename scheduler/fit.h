// Misfit: the first reason why a pod does not fit a node, or why a node is charged too much; or none.
#pragma once

#include <cstdint>
#include <string_view>

#include "schema/catalog.h"

namespace inquest::scheduler {

struct Misfit {
  // In the order upstream checks them (NodePorts, then NodeResourcesFit).
  enum class Kind : uint8_t { kFits, kNoSuchNode, kPort, kPods, kCpu, kMemory, kEphemeral, kExtended };
  Kind kind = Kind::kFits;
  PodId holder;                    // of kPort: who holds it
  const HostPort* port = nullptr;  // of kPort: the one asked for, or taken twice; lives in the catalog
  std::string_view resource;       // of kExtended: its name; lives in the catalog

  bool fits() const { return kind == Kind::kFits; }
};

}  // namespace inquest::scheduler
