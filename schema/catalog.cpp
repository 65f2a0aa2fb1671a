#include "schema/catalog.h"

#include <functional>

#include "base/hash.h"
#include "schema/table_hash.h"

namespace inquest {
namespace {

constexpr size_t kBlock = size_t{64} << 10;

// Besides the string itself; a short text fits into it.
size_t memory_of(const std::string& text) {
  constexpr size_t kShort = 15, kAllocation = 16;
  return text.size() > kShort ? text.size() + kAllocation : 0;
}

size_t memory_of(const Resources& resources) {
  size_t bytes = resources.extended.size() * sizeof(NamedAmount);
  for (const NamedAmount& extended : resources.extended) bytes += memory_of(extended.name);
  return bytes;
}

size_t memory_of(const PodShape& shape) {
  size_t bytes = sizeof shape + memory_of(shape.requests) + shape.ports.size() * sizeof(HostPort);
  for (const HostPort& port : shape.ports) bytes += memory_of(port.ip);
  return bytes;
}

size_t memory_of(const Placement& placement) {
  size_t bytes = sizeof placement + placement.node_selector.size() * sizeof(Label) +
                 placement.tolerations.size() * sizeof(Toleration);
  for (const SelectorTerm& term : placement.terms) {
    bytes += sizeof term;
    for (const std::vector<Requirement>* list : {&term.expressions, &term.fields}) {
      for (const Requirement& requirement : *list) {
        bytes += sizeof requirement + requirement.values.size() * sizeof(StringId);
      }
    }
  }
  return bytes;
}

uint64_t hash_pair(uint32_t a, uint32_t b) { return combine(table_seed(), uint64_t{a} << 32 | b); }

// The ordinal of a value that is there already, or that is entered now, as `keep` keeps it.
template <typename Values, typename Value, typename Keep = std::identity>
uint32_t intern(InternTable& table, Values& values, uint64_t hash, const Value& value, Keep keep = {}) {
  const auto next = static_cast<uint32_t>(values.size());
  const uint32_t id = table.find_or_insert(hash, next, [&](uint32_t i) { return values[i] == value; });
  if (id == next) values.push_back(keep(value));
  return id;
}

}  // namespace

Catalog::Catalog() {
  const StringId empty = string("");
  INQUEST_CHECK(empty == kEmptyText, empty.value);
}

std::string_view Catalog::store(std::string_view text) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    blocks_.emplace_back();
    blocks_.back().reserve(text.size() > kBlock ? text.size() : kBlock);
    block_bytes_ += blocks_.back().capacity();
  }
  std::string& block = blocks_.back();
  const size_t at = block.size();
  block.append(text);  // within its capacity, so it does not move
  return std::string_view(block).substr(at);
}

StringId Catalog::string(std::string_view text) {
  return {
      intern(string_table_, strings_, table_hash(text), text, [&](std::string_view given) { return store(given); })};
}

KeyId Catalog::key(StringId ns, StringId name) {
  return {intern(key_table_, keys_, hash_pair(ns.value, name.value), Key{ns, name})};
}

PodId Catalog::pod(KeyId key, StringId uid) {
  return {intern(pod_table_, pods_, hash_pair(key.value, uid.value), Pod{key, uid})};
}

NodeId Catalog::node(std::string_view name) {
  const StringId text = string(name);
  return {intern(node_table_, nodes_, hash_pair(0, text.value), text)};
}

ShapeId Catalog::shape(const PodShape& shape) {
  return {intern(shape_table_, shapes_, hash_of(shape), shape, [&](const PodShape& given) {
    shape_bytes_ += memory_of(given);
    return given;
  })};
}

AllocatableId Catalog::allocatable(const Allocatable& allocatable) {
  return {intern(allocatable_table_, allocatables_, hash_of(allocatable), allocatable, [&](const Allocatable& given) {
    shape_bytes_ += sizeof given + memory_of(given.resources);
    return given;
  })};
}

size_t Catalog::memory() const {
  constexpr size_t kTable = 40;  // of an intern table, for each entry: slots half full, hashes that grow by doubling
  const size_t pairs = keys_.size() + pods_.size();
  const size_t others =
      nodes_.size() + shapes_.size() + allocatables_.size() + placements_.size() + labels_.size() + taints_.size();
  return block_bytes_ + shape_bytes_ + strings_.size() * (sizeof(std::string_view) + kTable) +
         pairs * (sizeof(Key) + kTable) + others * kTable;
}

PlacementId Catalog::placement(const Placement& placement) {
  return {intern(placement_table_, placements_, hash_of(placement), placement, [&](const Placement& given) {
    shape_bytes_ += memory_of(given);
    return given;
  })};
}

LabelsId Catalog::labels(const Labels& labels) {
  return {intern(labels_table_, labels_, hash_of(labels), labels, [&](const Labels& given) {
    shape_bytes_ += sizeof(Labels) + given.size() * sizeof(Label);
    return given;
  })};
}

TaintsId Catalog::taints(const Taints& taints) {
  return {intern(taints_table_, taints_, hash_of(taints), taints, [&](const Taints& given) {
    shape_bytes_ += sizeof(Taints) + given.size() * sizeof(Taint);
    return given;
  })};
}

std::string_view Catalog::text(StringId id) const { return id.known() ? strings_[id.value] : std::string_view(); }

std::string_view Catalog::ns(KeyId key) const { return key.known() ? text(keys_[key.value].ns) : std::string_view(); }

std::string_view Catalog::name(KeyId key) const {
  return key.known() ? text(keys_[key.value].name) : std::string_view();
}

std::string_view Catalog::node_name(NodeId node) const {
  return node.known() ? text(nodes_[node.value]) : std::string_view();
}

}  // namespace inquest
