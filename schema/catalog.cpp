#include "schema/catalog.h"

#include <functional>

#include "base/hash.h"
#include "schema/table_hash.h"

namespace inquest {
namespace {

constexpr size_t kBlock = size_t{64} << 10;

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

ShapeId Catalog::shape(const PodShape& shape) { return {intern(shape_table_, shapes_, hash_of(shape), shape)}; }

AllocatableId Catalog::allocatable(const Allocatable& allocatable) {
  return {intern(allocatable_table_, allocatables_, hash_of(allocatable), allocatable)};
}

PlacementId Catalog::placement(const Placement& placement) {
  return {intern(placement_table_, placements_, hash_of(placement), placement)};
}

LabelsId Catalog::labels(const Labels& labels) { return {intern(labels_table_, labels_, hash_of(labels), labels)}; }

TaintsId Catalog::taints(const Taints& taints) { return {intern(taints_table_, taints_, hash_of(taints), taints)}; }

std::string_view Catalog::text(StringId id) const { return id.known() ? strings_[id.value] : std::string_view(); }

std::string_view Catalog::ns(KeyId key) const { return key.known() ? text(keys_[key.value].ns) : std::string_view(); }

std::string_view Catalog::name(KeyId key) const {
  return key.known() ? text(keys_[key.value].name) : std::string_view();
}

std::string_view Catalog::node_name(NodeId node) const {
  return node.known() ? text(nodes_[node.value]) : std::string_view();
}

}  // namespace inquest
