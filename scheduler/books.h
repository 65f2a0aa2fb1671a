// NodeBooks: what is charged to each node, and whether a pod still fits there.
//
// Sums are kept in 128 bits so that charging and discharging in any order is exact, whatever a hostile pod asks for.
// A node may be charged before it is known, and after it is gone: the charges stay until their pods leave
// (kubernetes-facts 2.3, RemoveNode).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/fit.h"
#include "scheduler/int128.h"
#include "schema/facts.h"

namespace inquest::scheduler {

struct NamedSum {
  std::string_view name;  // lives in the catalog
  Int128 amount = 0;
};

struct PortCharge {
  const HostPort* port = nullptr;  // lives in the catalog
  PodId holder;
};

struct NodeBook {
  bool known = false;  // the view holds such a node
  NodeFacts facts;     // of a known node
  int64_t pods = 0;
  Int128 cpu_milli = 0, memory = 0, ephemeral = 0;
  Int128 nonzero_cpu_milli = 0, nonzero_memory = 0;  // for scores
  std::vector<NamedSum> extended;                    // ordered by name, none of them 0
  std::vector<PortCharge> ports;                     // by port, those of one port by holder
};

class NodeBooks {
 public:
  // The catalog must outlive the books.
  explicit NodeBooks(const Catalog& catalog) : catalog_(&catalog) {}

  void set_node(const NodeFacts& facts);
  void remove_node(NodeId node);

  void charge(NodeId node, ShapeId shape, PodId holder);
  // Takes back exactly one earlier charge of the same arguments.
  void discharge(NodeId node, ShapeId shape, PodId holder);

  // Whether a pod of this shape fits besides what is charged. If the pod itself is charged here already, say as what
  // shape, so that it does not stand in its own way; none otherwise.
  Misfit fit(ShapeId shape, NodeId node, PodId self, ShapeId charged_as) const;
  // The same of a shape that was looked up already; it lives in the catalog.
  Misfit fit(const PodShape& shape, NodeId node, PodId self, ShapeId charged_as) const;

  // Every reason at once, as upstream reports them: a port, or else all that there is too little of.
  std::vector<Misfit> misfits(ShapeId shape, NodeId node) const;

  // What exceeds the node: the first sum over its allocatable, or two holders of one port. Fits if nothing, and for a
  // node whose allocatable nobody knows.
  Misfit overcommit(NodeId node) const;

  // Whether more was taken back than was charged: a bug of the core, which a judge looks out for.
  bool negative(NodeId node) const;

  // By ordinal, up to size(); a node that was never mentioned has an empty, unknown book.
  const NodeBook& book(NodeId node) const;
  uint32_t size() const { return static_cast<uint32_t>(books_.size()); }

 private:
  NodeBook& at(NodeId node);
  void add(NodeId node, ShapeId shape, int sign);

  const Catalog* catalog_;
  std::vector<NodeBook> books_;
};

}  // namespace inquest::scheduler
