#include "scheduler/books.h"

#include <algorithm>

#include "base/check.h"

namespace inquest::scheduler {
namespace {

const NodeBook kNoBook;

Int128 amount_of(const std::vector<NamedSum>& sums, std::string_view name) {
  for (const NamedSum& sum : sums) {
    if (sum.name == name) return sum.amount;
  }
  return 0;
}

int64_t amount_of(const std::vector<NamedAmount>& amounts, std::string_view name) {
  for (const NamedAmount& amount : amounts) {
    if (amount.name == name) return amount.amount;
  }
  return 0;
}

void add_to(std::vector<NamedSum>& sums, std::string_view name, Int128 amount) {
  for (NamedSum& sum : sums) {
    if (sum.name == name) {
      sum.amount += amount;
      return;
    }
  }
  sums.push_back({name, amount});
}

}  // namespace

NodeBook& NodeBooks::at(NodeId node) {
  INQUEST_CHECK(node.known(), "a node without a name");
  if (node.value >= books_.size()) books_.resize(node.value + 1);
  return books_[node.value];
}

const NodeBook& NodeBooks::book(NodeId node) const { return node.value < books_.size() ? books_[node.value] : kNoBook; }

void NodeBooks::set_node(const NodeFacts& facts) {
  NodeBook& book = at(facts.node);
  book.known = true;
  book.facts = facts;
}

void NodeBooks::remove_node(NodeId node) { at(node).known = false; }

void NodeBooks::add(NodeId node, ShapeId shape_id, int sign) {
  NodeBook& book = at(node);
  const PodShape& shape = catalog_->shape(shape_id);
  book.pods += sign;
  book.cpu_milli += Int128{sign} * shape.requests.cpu_milli;
  book.memory += Int128{sign} * shape.requests.memory;
  book.ephemeral += Int128{sign} * shape.requests.ephemeral;
  book.nonzero_cpu_milli += Int128{sign} * shape.nonzero_cpu_milli;
  book.nonzero_memory += Int128{sign} * shape.nonzero_memory;
  for (const NamedAmount& extended : shape.requests.extended) {
    add_to(book.extended, extended.name, Int128{sign} * extended.amount);
  }
}

void NodeBooks::charge(NodeId node, ShapeId shape, PodId holder) {
  add(node, shape, +1);
  for (const HostPort& port : catalog_->shape(shape).ports) at(node).ports.push_back({&port, holder});
}

void NodeBooks::discharge(NodeId node, ShapeId shape, PodId holder) {
  add(node, shape, -1);
  NodeBook& book = at(node);
  INQUEST_CHECK(book.pods >= 0, "a charge below zero", node.value);
  for (const HostPort& port : catalog_->shape(shape).ports) {
    const auto held = std::find_if(book.ports.begin(), book.ports.end(), [&](const PortCharge& charge) {
      return charge.port == &port && charge.holder == holder;
    });
    INQUEST_CHECK(held != book.ports.end(), "a port that was never charged", node.value, port.port);
    book.ports.erase(held);
  }
}

Misfit NodeBooks::fit(ShapeId shape_id, NodeId node, PodId self, ShapeId charged_as) const {
  const NodeBook& book = this->book(node);
  if (!book.known) return {Misfit::Kind::kNoSuchNode, 0, {}};
  const PodShape& shape = catalog_->shape(shape_id);
  for (size_t i = 0; i < shape.ports.size(); ++i) {
    for (const PortCharge& charge : book.ports) {
      if (charge.holder != self && charge.port->conflicts_with(shape.ports[i])) {
        return {Misfit::Kind::kPort, static_cast<uint32_t>(i), charge.holder};
      }
    }
  }
  static const PodShape kNothing;
  const Resources& own = charged_as ? catalog_->shape(charged_as).requests : kNothing.requests;
  const Allocatable& allocatable = catalog_->allocatable(book.facts.allocatable);
  const int64_t own_pods = charged_as ? 1 : 0;
  if (book.pods - own_pods + 1 > allocatable.pods) return {Misfit::Kind::kPods, 0, {}};
  const auto exceeds = [](int64_t asked, Int128 used, int64_t own_use, int64_t offered) {
    return asked > 0 && Int128{asked} > Int128{offered} - (used - own_use);  // equality fits
  };
  const Resources& asked = shape.requests;
  const Resources& offered = allocatable.resources;
  if (exceeds(asked.cpu_milli, book.cpu_milli, own.cpu_milli, offered.cpu_milli)) return {Misfit::Kind::kCpu, 0, {}};
  if (exceeds(asked.memory, book.memory, own.memory, offered.memory)) return {Misfit::Kind::kMemory, 0, {}};
  if (exceeds(asked.ephemeral, book.ephemeral, own.ephemeral, offered.ephemeral)) {
    return {Misfit::Kind::kEphemeral, 0, {}};
  }
  for (size_t i = 0; i < asked.extended.size(); ++i) {
    const std::string& name = asked.extended[i].name;
    if (exceeds(asked.extended[i].amount, amount_of(book.extended, name), amount_of(own.extended, name),
                amount_of(offered.extended, name))) {
      return {Misfit::Kind::kExtended, static_cast<uint32_t>(i), {}};
    }
  }
  return {};
}

Misfit NodeBooks::overcommit(NodeId node) const {
  const NodeBook& book = this->book(node);
  if (!book.known) return {};
  const Allocatable& allocatable = catalog_->allocatable(book.facts.allocatable);
  for (size_t i = 0; i < book.ports.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (book.ports[i].holder != book.ports[j].holder && book.ports[i].port->conflicts_with(*book.ports[j].port)) {
        return {Misfit::Kind::kPort, 0, book.ports[j].holder};
      }
    }
  }
  if (book.pods > allocatable.pods) return {Misfit::Kind::kPods, 0, {}};
  if (book.cpu_milli > allocatable.resources.cpu_milli) return {Misfit::Kind::kCpu, 0, {}};
  if (book.memory > allocatable.resources.memory) return {Misfit::Kind::kMemory, 0, {}};
  if (book.ephemeral > allocatable.resources.ephemeral) return {Misfit::Kind::kEphemeral, 0, {}};
  for (size_t i = 0; i < book.extended.size(); ++i) {
    if (book.extended[i].amount > amount_of(allocatable.resources.extended, book.extended[i].name)) {
      return {Misfit::Kind::kExtended, static_cast<uint32_t>(i), {}};
    }
  }
  return {};
}

}  // namespace inquest::scheduler
