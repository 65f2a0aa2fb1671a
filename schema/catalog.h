// Catalog: strings, pods, nodes, shapes and constraints as dense ordinals, in order of first appearance.
//
// Everything after the decoder works on ordinals: comparing two pods is comparing two integers, and a store is an
// array. Values are immutable and never removed, so references obtained from a catalog stay meaningful for its lifetime
// (string_views and references to shapes stay valid). One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/intern_table.h"
#include "schema/ids.h"
#include "schema/placement.h"
#include "schema/resources.h"

namespace inquest {

class Catalog {
 public:
  Catalog();
  Catalog(Catalog&&) = default;
  Catalog& operator=(Catalog&&) = default;
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  StringId string(std::string_view text);
  KeyId key(StringId ns, StringId name);
  // The uid is an opaque string and may be empty or shared by two mirror pods; hence all three make the identity.
  PodId pod(KeyId key, StringId uid);
  NodeId node(std::string_view name);
  ShapeId shape(const PodShape& shape);
  AllocatableId allocatable(const Allocatable& allocatable);
  // Labels, a node selector too, are canonical (placement.h).
  PlacementId placement(const Placement& placement);
  LabelsId labels(const Labels& labels);
  TaintsId taints(const Taints& taints);

  std::string_view text(StringId id) const;  // "" for none
  std::string_view ns(KeyId key) const;
  std::string_view name(KeyId key) const;
  StringId ns_id(KeyId key) const { return keys_[key.value].ns; }
  StringId name_id(KeyId key) const { return keys_[key.value].name; }
  KeyId key_of(PodId pod) const { return pods_[pod.value].key; }
  StringId uid_id(PodId pod) const { return pods_[pod.value].uid; }
  std::string_view uid(PodId pod) const { return text(uid_id(pod)); }
  std::string_view node_name(NodeId node) const;  // "" for none
  const PodShape& shape(ShapeId id) const { return shapes_[id.value]; }
  const Allocatable& allocatable(AllocatableId id) const { return allocatables_[id.value]; }
  const Placement& placement(PlacementId id) const { return placements_[id.value]; }
  const Labels& labels(LabelsId id) const { return labels_[id.value]; }
  const Taints& taints(TaintsId id) const { return taints_[id.value]; }

  size_t strings() const { return strings_.size(); }
  size_t pods() const { return pods_.size(); }
  size_t keys() const { return keys_.size(); }
  size_t nodes() const { return nodes_.size(); }
  size_t placements() const { return placements_.size(); }
  size_t labels() const { return labels_.size(); }
  size_t taints() const { return taints_.size(); }
  // About how many bytes all of it takes.
  size_t memory() const;

 private:
  struct Key {
    StringId ns, name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Pod {
    KeyId key;
    StringId uid;
    friend bool operator==(const Pod&, const Pod&) = default;
  };

  std::string_view store(std::string_view text);

  std::deque<std::string> blocks_;  // the bytes of all strings; a block never moves
  size_t block_bytes_ = 0, shape_bytes_ = 0;
  std::vector<std::string_view> strings_;
  std::vector<Key> keys_;
  std::vector<Pod> pods_;
  std::vector<StringId> nodes_;
  std::deque<PodShape> shapes_;  // a deque, so that references stay valid
  std::deque<Allocatable> allocatables_;
  std::deque<Placement> placements_;
  std::deque<Labels> labels_;
  std::deque<Taints> taints_;
  InternTable string_table_, key_table_, pod_table_, node_table_, shape_table_, allocatable_table_, placement_table_,
      labels_table_, taints_table_;
};

}  // namespace inquest
