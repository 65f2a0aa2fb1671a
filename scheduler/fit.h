// Misfit: a reason why a pod does not fit a node, or why a node is charged too much; or none.
#pragma once

#include <cstdint>
#include <string_view>

#include "schema/catalog.h"

namespace inquest::scheduler {

struct Misfit {
  // In the order upstream checks them: NodeUnschedulable, (readiness, as 2015 had it,) TaintToleration, NodeAffinity,
  // NodePorts, NodeResourcesFit (kubernetes-facts 4.4).
  enum class Kind : uint8_t {
    kFits,
    kNoSuchNode,
    kUnschedulable,
    kNotReady,
    kTaint,
    kAffinity,  // the pod's node selector or required node affinity
    kPort,
    kPods,
    kCpu,
    kMemory,
    kEphemeral,
    kExtended,
  };
  Kind kind = Kind::kFits;
  PodId holder;                    // of kPort: who holds it
  const HostPort* port = nullptr;  // of kPort: the one asked for, or taken twice; lives in the catalog
  std::string_view resource;       // of kExtended: its name; lives in the catalog
  const Taint* taint = nullptr;    // of kTaint: the first that is not tolerated; lives in the catalog

  bool fits() const { return kind == Kind::kFits; }
};

}  // namespace inquest::scheduler
