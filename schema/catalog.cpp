#include "schema/catalog.h"

#include "base/hash.h"

namespace inquest {
namespace {

constexpr size_t kBlock = size_t{64} << 10;

uint64_t hash_pair(uint32_t a, uint32_t b) { return mix(uint64_t{a} << 32 | b); }

}  // namespace

Catalog::Catalog() {
  const StringId empty = string("");
  INQUEST_CHECK(empty.value == 0, empty.value);
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
  const auto next = static_cast<uint32_t>(strings_.size());
  const uint32_t id =
      string_table_.find_or_insert(hash_bytes(text), next, [&](uint32_t i) { return strings_[i] == text; });
  if (id == next) strings_.push_back(store(text));
  return {id};
}

KeyId Catalog::key(StringId ns, StringId name) {
  const auto next = static_cast<uint32_t>(keys_.size());
  const uint32_t id = key_table_.find_or_insert(hash_pair(ns.value, name.value), next,
                                                [&](uint32_t i) { return keys_[i].ns == ns && keys_[i].name == name; });
  if (id == next) keys_.push_back({ns, name});
  return {id};
}

PodId Catalog::pod(KeyId key, StringId uid) {
  const auto next = static_cast<uint32_t>(pods_.size());
  const uint32_t id = pod_table_.find_or_insert(hash_pair(key.value, uid.value), next,
                                                [&](uint32_t i) { return pods_[i].key == key && pods_[i].uid == uid; });
  if (id == next) pods_.push_back({key, uid});
  return {id};
}

NodeId Catalog::node(std::string_view name) {
  const StringId text = string(name);
  const auto next = static_cast<uint32_t>(nodes_.size());
  const uint32_t id = node_table_.find_or_insert(mix(text.value), next, [&](uint32_t i) { return nodes_[i] == text; });
  if (id == next) nodes_.push_back(text);
  return {id};
}

ShapeId Catalog::shape(const PodShape& shape) {
  const auto next = static_cast<uint32_t>(shapes_.size());
  const uint32_t id =
      shape_table_.find_or_insert(hash_of(shape), next, [&](uint32_t i) { return shapes_[i] == shape; });
  if (id == next) shapes_.push_back(shape);
  return {id};
}

AllocatableId Catalog::allocatable(const Allocatable& allocatable) {
  const auto next = static_cast<uint32_t>(allocatables_.size());
  const uint32_t id = allocatable_table_.find_or_insert(hash_of(allocatable), next,
                                                        [&](uint32_t i) { return allocatables_[i] == allocatable; });
  if (id == next) allocatables_.push_back(allocatable);
  return {id};
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
