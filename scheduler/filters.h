// Filters: whether a node takes a pod. First what the node says of itself, which changes with the node alone, then
// what room it has; in upstream's order, with upstream's reasons (kubernetes-facts 4.4, 9.3-9.6).
#pragma once

#include <string>

#include "scheduler/books.h"
#include "scheduler/policy.h"

namespace inquest::scheduler {

// All of a pod that a decision about it depends on; pods of one kind are told apart by their turn alone.
struct PodKind {
  ShapeId shape;
  PlacementId placement;  // none: not recorded; such a pod selects nothing and tolerates nothing
  friend bool operator==(const PodKind&, const PodKind&) = default;
};
inline PodKind kind_of(const PodFacts& pod) { return {pod.shape, pod.placement}; }

class Filters {
 public:
  // The catalog must outlive them.
  Filters(const Catalog& catalog, Readiness readiness) : catalog_(&catalog), readiness_(readiness) {}

  // What stands against the pod on a node that the view holds, were it empty.
  Misfit placement(const NodeFacts& node, PlacementId pod) const;
  // The same and room, which the pod itself does not take yet. Unknown nodes take nobody.
  Misfit all(const NodeBooks& books, NodeId node, PodKind pod) const;

  // Why no node takes the pod, in the words of upstream's FitError (those of 1.24 and later for taints):
  // "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {k: v}."
  std::string fit_error(const NodeBooks& books, PodKind pod) const;

 private:
  std::string reason(const Misfit& misfit) const;

  const Catalog* catalog_;
  Readiness readiness_;
};

}  // namespace inquest::scheduler
