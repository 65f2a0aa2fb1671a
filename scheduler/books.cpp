#include "scheduler/books.h"

#include <algorithm>
#include <functional>
#include <span>

#include "base/check.h"

namespace inquest::scheduler {
namespace {

const NodeBook kNoBook;

Misfit lacks(Misfit::Kind kind, std::string_view resource = {}) { return {kind, {}, nullptr, resource, nullptr}; }
Misfit taken(const HostPort& port, PodId holder) { return {Misfit::Kind::kPort, holder, &port, {}, nullptr}; }

// The amount of a resource in a list ordered by name; 0 if it is not there.
template <typename Amounts>
auto amount_of(const Amounts& amounts, std::string_view name) {
  const auto at = std::lower_bound(amounts.begin(), amounts.end(), name,
                                   [](const auto& amount, std::string_view wanted) { return amount.name < wanted; });
  return at != amounts.end() && at->name == name ? at->amount : decltype(at->amount){0};
}

// Both ordered by name; sums that come to nothing go. One pass: a stranger's pods may name thousands of resources.
void add_to(std::vector<NamedSum>& sums, const std::vector<NamedAmount>& amounts, int sign) {
  std::vector<NamedSum> merged;
  merged.reserve(sums.size() + amounts.size());
  auto sum = sums.begin();
  for (const NamedAmount& amount : amounts) {
    for (; sum != sums.end() && sum->name < amount.name; ++sum) merged.push_back(*sum);
    Int128 total = Int128{sign} * amount.amount;
    if (sum != sums.end() && sum->name == amount.name) total += (sum++)->amount;
    if (total != 0) merged.push_back({amount.name, total});
  }
  merged.insert(merged.end(), sum, sums.end());
  sums = std::move(merged);
}

// Charges of one port stand together: a node of many pods, or a pod of a stranger with thousands of ports, must not be
// compared each with each.
bool by_port(const PortCharge& a, const PortCharge& b) {
  return a.port->port != b.port->port ? a.port->port < b.port->port : a.port->protocol < b.port->protocol;
}

// Of one port by holder, so that whoever is named as the holder does not depend on what came and went before.
bool by_port_and_holder(const PortCharge& a, const PortCharge& b) {
  return by_port(a, b) || (!by_port(b, a) && a.holder < b.holder);
}

std::span<const PortCharge> charges_of(const NodeBook& book, const HostPort& port) {
  const auto [first, last] = std::equal_range(book.ports.begin(), book.ports.end(), PortCharge{&port, {}}, by_port);
  return {first, last};
}

// Of one port's charges the first that another holder's stands in the way of; nullptr if there is none.
const PortCharge* taken_twice(std::span<const PortCharge> charges) {
  const auto others = [&](const PortCharge& charge) { return charge.holder != charges.front().holder; };
  if (std::none_of(charges.begin(), charges.end(), others)) return nullptr;
  for (size_t i = 0; i < charges.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (charges[i].holder != charges[j].holder && charges[i].port->conflicts_with(*charges[j].port)) {
        return &charges[j];
      }
    }
  }
  return nullptr;
}

Misfit port_misfit(const NodeBook& book, const PodShape& shape, PodId self) {
  for (const HostPort& port : shape.ports) {
    for (const PortCharge& charge : charges_of(book, port)) {
      if (charge.holder != self && charge.port->conflicts_with(port)) return taken(port, charge.holder);
    }
  }
  return {};
}

// What there is too little of, in upstream's order, until `visit` says that it has seen enough. `own`: as what the pod
// is charged here already; nullptr if it is not.
template <typename Visit>
void each_lack(const NodeBook& book, const Allocatable& allocatable, const PodShape& shape, const PodShape* own,
               const Visit& visit) {
  const Resources nothing;
  const Resources &asked = shape.requests, &offered = allocatable.resources;
  const Resources& given = own != nullptr ? own->requests : nothing;
  const auto exceeds = [](int64_t asks, Int128 used, int64_t own_use, int64_t offers) {
    return asks > 0 && Int128{asks} > Int128{offers} - (used - own_use);  // equality fits
  };
  const bool crowded = book.pods - (own != nullptr ? 1 : 0) + 1 > allocatable.pods;
  if (crowded && !visit(lacks(Misfit::Kind::kPods))) return;
  const bool cpu = exceeds(asked.cpu_milli, book.cpu_milli, given.cpu_milli, offered.cpu_milli);
  if (cpu && !visit(lacks(Misfit::Kind::kCpu))) return;
  const bool memory = exceeds(asked.memory, book.memory, given.memory, offered.memory);
  if (memory && !visit(lacks(Misfit::Kind::kMemory))) return;
  const bool ephemeral = exceeds(asked.ephemeral, book.ephemeral, given.ephemeral, offered.ephemeral);
  if (ephemeral && !visit(lacks(Misfit::Kind::kEphemeral))) return;
  for (const NamedAmount& one : asked.extended) {
    const bool extended = exceeds(one.amount, amount_of(book.extended, one.name), amount_of(given.extended, one.name),
                                  amount_of(offered.extended, one.name));
    if (extended && !visit(lacks(Misfit::Kind::kExtended, one.name))) return;
  }
}

}  // namespace

NodeBook& NodeBooks::at(NodeId node) {
  INQUEST_CHECK(node.known(), "a node without a name");
  if (node.value >= books_.size()) books_.resize(node.value + 1);
  return books_[node.value];
}

bool NodeBooks::negative(NodeId node) const {
  const NodeBook& held = book(node);
  const auto below_zero = [](const NamedSum& sum) { return sum.amount < 0; };
  return held.pods < 0 || held.cpu_milli < 0 || held.memory < 0 || held.ephemeral < 0 ||
         std::any_of(held.extended.begin(), held.extended.end(), below_zero);
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
  if (!shape.requests.extended.empty()) add_to(book.extended, shape.requests.extended, sign);
}

void NodeBooks::charge(NodeId node, ShapeId shape, PodId holder) {
  add(node, shape, +1);
  const std::vector<HostPort>& asked = catalog_->shape(shape).ports;
  if (asked.empty()) return;
  std::vector<PortCharge>& ports = at(node).ports;
  const auto before = static_cast<std::ptrdiff_t>(ports.size());
  for (const HostPort& port : asked) ports.push_back({&port, holder});
  std::stable_sort(ports.begin() + before, ports.end(), by_port_and_holder);
  std::inplace_merge(ports.begin(), ports.begin() + before, ports.end(), by_port_and_holder);
}

void NodeBooks::discharge(NodeId node, ShapeId shape, PodId holder) {
  add(node, shape, -1);
  NodeBook& book = at(node);
  INQUEST_CHECK(book.pods >= 0, "a charge below zero", node.value);
  // The shape's ports lie in one array, so a charge of it is told by its address.
  const std::vector<HostPort>& asked = catalog_->shape(shape).ports;
  if (asked.empty()) return;
  std::vector<bool> found(asked.size());
  size_t left = asked.size();
  std::erase_if(book.ports, [&](const PortCharge& charge) {
    const std::less<const HostPort*> before;
    const bool of_shape = !before(charge.port, asked.data()) && before(charge.port, asked.data() + asked.size());
    if (charge.holder != holder || !of_shape) return false;
    const auto index = static_cast<size_t>(charge.port - asked.data());
    if (found[index]) return false;  // charged twice: only one charge is taken back
    found[index] = true;
    --left;
    return true;
  });
  INQUEST_CHECK(left == 0, "a port that was never charged", node.value, left);
}

Misfit NodeBooks::fit(ShapeId shape, NodeId node, PodId self, ShapeId charged_as) const {
  return fit(catalog_->shape(shape), node, self, charged_as);
}

Misfit NodeBooks::fit(const PodShape& shape, NodeId node, PodId self, ShapeId charged_as) const {
  const NodeBook& book = this->book(node);
  if (!book.known) return lacks(Misfit::Kind::kNoSuchNode);
  if (const Misfit misfit = port_misfit(book, shape, self); !misfit.fits()) return misfit;
  Misfit first;
  const PodShape* own = charged_as ? &catalog_->shape(charged_as) : nullptr;
  each_lack(book, catalog_->allocatable(book.facts.allocatable), shape, own, [&](const Misfit& misfit) {
    first = misfit;
    return false;
  });
  return first;
}

std::vector<Misfit> NodeBooks::misfits(ShapeId shape_id, NodeId node) const {
  const NodeBook& book = this->book(node);
  if (!book.known) return {lacks(Misfit::Kind::kNoSuchNode)};
  const PodShape& shape = catalog_->shape(shape_id);
  if (const Misfit misfit = port_misfit(book, shape, PodId::none()); !misfit.fits()) return {misfit};
  std::vector<Misfit> out;
  each_lack(book, catalog_->allocatable(book.facts.allocatable), shape, nullptr, [&](const Misfit& misfit) {
    out.push_back(misfit);
    return true;
  });
  return out;
}

Misfit NodeBooks::overcommit(NodeId node) const {
  const NodeBook& book = this->book(node);
  if (!book.known) return {};
  const Allocatable& allocatable = catalog_->allocatable(book.facts.allocatable);
  for (std::span<const PortCharge> rest = book.ports; !rest.empty();) {
    const auto end = std::upper_bound(rest.begin(), rest.end(), rest.front(), by_port);
    const auto count = static_cast<size_t>(end - rest.begin());
    if (const PortCharge* held = taken_twice(rest.first(count)); held != nullptr) {
      return taken(*held->port, held->holder);
    }
    rest = rest.subspan(count);
  }
  if (book.pods > allocatable.pods) return lacks(Misfit::Kind::kPods);
  if (book.cpu_milli > allocatable.resources.cpu_milli) return lacks(Misfit::Kind::kCpu);
  if (book.memory > allocatable.resources.memory) return lacks(Misfit::Kind::kMemory);
  if (book.ephemeral > allocatable.resources.ephemeral) return lacks(Misfit::Kind::kEphemeral);
  for (const NamedSum& sum : book.extended) {
    if (sum.amount > amount_of(allocatable.resources.extended, sum.name)) {
      return lacks(Misfit::Kind::kExtended, sum.name);
    }
  }
  return {};
}

}  // namespace inquest::scheduler
