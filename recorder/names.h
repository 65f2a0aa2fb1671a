// Names: records of one catalog → records of another.
#pragma once

#include <utility>
#include <vector>

#include "base/grown.h"
#include "schema/record.h"

namespace inquest::recorder {

class Names {
 public:
  // Both must outlive this; clear() must follow when one was emptied.
  Names(const Catalog& from, Catalog& to) : from_(&from), to_(&to) {}

  void clear() { *this = Names(*from_, *to_); }

  StringId string(StringId id) {
    return moved(strings_, id, [&] { return to_->string(from_->text(id)); });
  }
  KeyId key(KeyId id) {
    return moved(keys_, id, [&] { return to_->key(string(from_->ns_id(id)), string(from_->name_id(id))); });
  }
  PodId pod(PodId id) {
    return moved(pods_, id, [&] { return to_->pod(key(from_->key_of(id)), string(from_->uid_id(id))); });
  }
  NodeId node(NodeId id) {
    return moved(nodes_, id, [&] { return to_->node(from_->node_name(id)); });
  }

  ObjectFacts object(ObjectFacts facts) {
    std::visit([&](auto& f) { move(f); }, facts);
    return facts;
  }
  // All but the streams.
  void move(trace::Record& record) {
    record.path = string(record.path);
    record.text = string(record.text);
    for (ObjectFacts& facts : record.objects) facts = object(facts);
    trace::Bind& bind = record.bind;
    bind.pod = pod(bind.pod);
    bind.node = node(bind.node);
    for (StringId* id : {&bind.scheduler, &bind.user, &bind.agent, &bind.reason, &bind.message}) *id = string(*id);
  }

 private:
  template <typename Id, typename Make>
  static Id moved(std::vector<Id>& table, Id id, Make&& make) {
    if (!id) return id;
    if (const Id known = grown(table, id.value); known) return known;
    const Id made = make();
    grown(table, id.value) = made;
    return made;
  }
  template <typename Pairs>
  void move_pairs(Pairs& pairs) {
    for (auto& pair : pairs) {
      pair.key = string(pair.key);
      pair.value = string(pair.value);
    }
  }
  Labels moved(Labels labels) {
    move_pairs(labels);
    canonicalise(labels);
    return labels;
  }
  Taints moved(Taints taints) {
    move_pairs(taints);
    return taints;
  }
  Placement moved(Placement placement) {
    placement.node_selector = moved(std::move(placement.node_selector));
    move_pairs(placement.tolerations);
    for (SelectorTerm& term : placement.terms) {
      for (std::vector<Requirement>* requirements : {&term.expressions, &term.fields}) {
        for (Requirement& requirement : *requirements) {
          requirement.key = string(requirement.key);
          for (StringId& value : requirement.values) value = string(value);
        }
      }
    }
    return placement;
  }
  void move(PodFacts& f) {
    f.pod = pod(f.pod);
    f.node = node(f.node);
    f.scheduler = string(f.scheduler);
    f.shape = moved(shapes_, f.shape, [&] { return to_->shape(from_->shape(f.shape)); });
    f.placement = moved(placements_, f.placement, [&] { return to_->placement(moved(from_->placement(f.placement))); });
  }
  void move(NodeFacts& f) {
    f.node = node(f.node);
    f.uid = string(f.uid);
    f.allocatable =
        moved(allocatables_, f.allocatable, [&] { return to_->allocatable(from_->allocatable(f.allocatable)); });
    f.labels = moved(labels_, f.labels, [&] { return to_->labels(moved(from_->labels(f.labels))); });
    f.taints = moved(taints_, f.taints, [&] { return to_->taints(moved(from_->taints(f.taints))); });
  }
  void move(EventFacts& f) {
    f.key = key(f.key);
    f.regarding = key(f.regarding);
    for (StringId* id : {&f.uid, &f.reason, &f.controller, &f.regarding_kind, &f.regarding_uid}) *id = string(*id);
  }
  void move(OtherFacts& f) {
    f.kind = string(f.kind);
    f.key = key(f.key);
    f.uid = string(f.uid);
  }

  const Catalog* from_;
  Catalog* to_;
  std::vector<StringId> strings_;
  std::vector<KeyId> keys_;
  std::vector<PodId> pods_;
  std::vector<NodeId> nodes_;
  std::vector<ShapeId> shapes_;
  std::vector<AllocatableId> allocatables_;
  std::vector<PlacementId> placements_;
  std::vector<LabelsId> labels_;
  std::vector<TaintsId> taints_;
};

}  // namespace inquest::recorder
