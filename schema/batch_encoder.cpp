#include "schema/batch_encoder.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <trace.capnp.h>

#include <algorithm>
#include <string>
#include <variant>

#include "schema/limits.h"
#include "schema/wire_enums.h"

namespace inquest::trace {
namespace {

// References (index + 1) of one dictionary for the catalog's ordinals; begins anew for each batch without clearing.
class References {
 public:
  void begin() {
    ++epoch_;
    count_ = 0;
  }
  // True if the ordinal is new to this batch; its reference is then count().
  bool enter(uint32_t ordinal, uint32_t& reference) {
    if (ordinal >= slots_.size()) slots_.resize(std::max<size_t>(size_t{ordinal} + 1, slots_.size() * 2));
    Slot& slot = slots_[ordinal];
    const bool is_new = slot.epoch != epoch_;
    if (is_new) slot = {epoch_, ++count_};
    reference = slot.reference;
    return is_new;
  }

 private:
  struct Slot {
    uint32_t epoch = 0, reference = 0;
  };
  std::vector<Slot> slots_;
  uint32_t epoch_ = 0, count_ = 0;
};

template <typename T>
unsigned size_of(const T& container) {
  return static_cast<unsigned>(container.size());
}

int64_t step(int64_t to, int64_t from) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

bool has_bind(const Record& record) {
  const Bind& b = record.bind;
  return record.kind == RecordKind::kBindRequest || record.kind == RecordKind::kBindAnswer || b.pod || b.node ||
         b.scheduler || b.user || b.agent || b.request != 0 || b.code != 0 || b.reason || b.message ||
         !b.observations.empty();
}

bool has_extra(const Record& record) {
  return record.status != 0 || record.path || record.text || record.gap_from != 0 || record.more_objects != 0;
}

struct Counts {
  unsigned pods = 0, nodes = 0, events = 0, others = 0, extras = 0, binds = 0, observations = 0;
};

}  // namespace

struct BatchEncoder::Dictionaries {
  struct Pair {
    uint32_t first, second;
  };

  explicit Dictionaries(const Catalog* names) : catalog(names) {}

  void begin() {
    for (References* references : {&string_refs, &key_refs, &pod_refs, &node_refs, &shape_refs, &allocatable_refs,
                                   &placement_refs, &labels_refs, &taints_refs}) {
      references->begin();
    }
    string_at.clear();
    text.clear();
    text_sizes.clear();
    keys.clear();
    pods.clear();
    nodes.clear();
    shapes.clear();
    allocatables.clear();
    placements.clear();
    labels.clear();
    taints.clear();
    parts = 0;
  }

  // Strings that have no StringId are entered as they come.
  uint32_t put(std::string_view bytes) {
    text.append(bytes);
    text_sizes.push_back(size_of(bytes));
    return size_of(text_sizes);
  }
  // Node names and names in shapes have ordinals of their own, so string references are counted by text_sizes.
  uint32_t ref(StringId id) {
    if (!id) return 0;
    uint32_t slot = 0;
    if (string_refs.enter(id.value, slot)) string_at.push_back(put(catalog->text(id)));
    return string_at[slot - 1];
  }
  uint32_t ref(KeyId id) {
    if (!id) return 0;
    uint32_t reference = 0;
    if (key_refs.enter(id.value, reference)) keys.push_back({ref(catalog->ns_id(id)), ref(catalog->name_id(id))});
    return reference;
  }
  uint32_t ref(PodId id) {
    if (!id) return 0;
    uint32_t reference = 0;
    if (pod_refs.enter(id.value, reference)) pods.push_back({ref(catalog->key_of(id)), ref(catalog->uid_id(id))});
    return reference;
  }
  uint32_t ref(NodeId id) {
    if (!id) return 0;
    uint32_t reference = 0;
    if (node_refs.enter(id.value, reference)) nodes.push_back(put(catalog->node_name(id)));
    return reference;
  }
  uint32_t ref(ShapeId id) { return ref(id, shape_refs, shapes); }
  uint32_t ref(AllocatableId id) { return ref(id, allocatable_refs, allocatables); }
  uint32_t ref(PlacementId id) { return ref(id, placement_refs, placements); }
  uint32_t ref(LabelsId id) { return ref(id, labels_refs, labels); }
  uint32_t ref(TaintsId id) { return ref(id, taints_refs, taints); }
  template <typename Id>
  static uint32_t ref(Id id, References& references, std::vector<Id>& entered) {
    if (!id) return 0;
    uint32_t reference = 0;
    if (references.enter(id.value, reference)) entered.push_back(id);
    return reference;
  }
  // The size of a list of which the batch holds a limited number of entries.
  template <typename T>
  unsigned parts_of(const std::vector<T>& list) {
    parts += list.size();
    return size_of(list);
  }
  uint32_t put_of_shape(std::string_view bytes) {
    parts += text_parts(bytes);
    return put(bytes);
  }
  // Where 0 is the empty string.
  uint32_t text_ref(StringId id) { return id == kEmptyText ? 0 : ref(id); }

  template <typename From, typename List>
  void write_pairs(const From& from, List to) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setKey(text_ref(from[i].key));
      to[i].setValue(text_ref(from[i].value));
    }
  }

  void write(const std::vector<Requirement>& from, capnp::List<wire::Requirement>::Builder to) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setKey(text_ref(from[i].key));
      to[i].setOperator(kSelectorOperators.to_wire(from[i].op));
      if (from[i].values.empty()) continue;
      auto values = to[i].initValues(parts_of(from[i].values));
      for (unsigned v = 0; v < values.size(); ++v) values.set(v, text_ref(from[i].values[v]));
    }
  }

  void write(const Placement& from, wire::Placement::Builder to) {
    to.setHasAffinity(from.has_affinity);
    if (!from.node_selector.empty()) {
      write_pairs(from.node_selector, to.initNodeSelector(parts_of(from.node_selector)));
    }
    if (!from.terms.empty()) {
      auto terms = to.initTerms(parts_of(from.terms));
      for (unsigned i = 0; i < terms.size(); ++i) {
        const auto& [expressions, fields] = from.terms[i];
        if (!expressions.empty()) write(expressions, terms[i].initExpressions(parts_of(expressions)));
        if (!fields.empty()) write(fields, terms[i].initFields(parts_of(fields)));
      }
    }
    if (from.tolerations.empty()) return;
    auto tolerations = to.initTolerations(parts_of(from.tolerations));
    write_pairs(from.tolerations, tolerations);
    for (unsigned i = 0; i < tolerations.size(); ++i) {
      tolerations[i].setOperator(kTolerationOperators.to_wire(from.tolerations[i].op));
      tolerations[i].setEffect(kTaintEffects.to_wire(from.tolerations[i].effect));
    }
  }

  void write(const Taints& from, wire::Taints::Builder to) {
    if (from.empty()) return;
    auto list = to.initTaints(parts_of(from));
    write_pairs(from, list);
    for (unsigned i = 0; i < list.size(); ++i) list[i].setEffect(kTaintEffects.to_wire(from[i].effect));
  }

  void write_placements(wire::Batch::Builder batch) {
    if (!placements.empty()) {
      auto list = batch.initPlacements(size_of(placements));
      for (unsigned i = 0; i < list.size(); ++i) write(catalog->placement(placements[i]), list[i]);
    }
    if (!labels.empty()) {
      auto list = batch.initLabels(size_of(labels));
      for (unsigned i = 0; i < list.size(); ++i) {
        const Labels& from = catalog->labels(labels[i]);
        if (!from.empty()) write_pairs(from, list[i].initLabels(parts_of(from)));
      }
    }
    if (!taints.empty()) {
      auto list = batch.initTaints(size_of(taints));
      for (unsigned i = 0; i < list.size(); ++i) write(catalog->taints(taints[i]), list[i]);
    }
  }

  void write(const Resources& from, wire::Resources::Builder to) {
    to.setCpuMilli(from.cpu_milli);
    to.setMemory(from.memory);
    to.setEphemeral(from.ephemeral);
    if (from.extended.empty()) return;
    auto extended = to.initExtended(parts_of(from.extended));
    for (unsigned i = 0; i < extended.size(); ++i) {
      extended[i].setName(put_of_shape(from.extended[i].name));
      extended[i].setAmount(from.extended[i].amount);
    }
  }

  void write(const PodShape& from, wire::Shape::Builder to) {
    write(from.requests, to.initRequests());
    to.setNonzeroCpuMilli(from.nonzero_cpu_milli);
    to.setNonzeroMemory(from.nonzero_memory);
    if (from.ports.empty()) return;
    auto ports = to.initPorts(parts_of(from.ports));
    for (unsigned i = 0; i < ports.size(); ++i) {
      if (!from.ports[i].ip.empty()) ports[i].setIp(put_of_shape(from.ports[i].ip));
      ports[i].setProtocol(kProtocols.to_wire(from.ports[i].protocol));
      ports[i].setPort(from.ports[i].port);
    }
  }

  // After all rows; the strings last, because the other dictionaries add to them.
  void write(wire::Batch::Builder batch) {
    auto shape_list = batch.initShapes(size_of(shapes));
    for (unsigned i = 0; i < shape_list.size(); ++i) write(catalog->shape(shapes[i]), shape_list[i]);
    auto allocatable_list = batch.initAllocatables(size_of(allocatables));
    for (unsigned i = 0; i < allocatable_list.size(); ++i) {
      const Allocatable& allocatable = catalog->allocatable(allocatables[i]);
      write(allocatable.resources, allocatable_list[i].initResources());
      allocatable_list[i].setPods(allocatable.pods);
    }
    write_placements(batch);
    auto key_list = batch.initKeys(size_of(keys));
    for (unsigned i = 0; i < key_list.size(); ++i) {
      key_list[i].setNs(keys[i].first);
      key_list[i].setName(keys[i].second);
    }
    auto pod_list = batch.initPods(size_of(pods));
    for (unsigned i = 0; i < pod_list.size(); ++i) {
      pod_list[i].setKey(pods[i].first);
      pod_list[i].setUid(pods[i].second);
    }
    auto node_list = batch.initNodes(size_of(nodes));
    for (unsigned i = 0; i < node_list.size(); ++i) node_list.set(i, nodes[i]);
    auto size_list = batch.initTextSizes(size_of(text_sizes));
    for (unsigned i = 0; i < size_list.size(); ++i) size_list.set(i, text_sizes[i]);
    batch.setText(kj::arrayPtr(reinterpret_cast<const kj::byte*>(text.data()), text.size()));
  }

  const Catalog* catalog;
  References string_refs, key_refs, pod_refs, node_refs, shape_refs, allocatable_refs, placement_refs, labels_refs,
      taints_refs;
  std::vector<uint32_t> string_at;  // by string_refs' reference: the reference among all strings
  std::string text;
  std::vector<uint32_t> text_sizes;
  std::vector<Pair> keys, pods;
  std::vector<uint32_t> nodes;
  std::vector<ShapeId> shapes;
  std::vector<AllocatableId> allocatables;
  std::vector<PlacementId> placements;
  std::vector<LabelsId> labels;
  std::vector<TaintsId> taints;
  size_t parts = 0;
};

namespace {

// Fills the row lists, record by record.
template <typename Names>
class Rows {
 public:
  Rows(wire::Batch::Builder batch, unsigned records, unsigned objects, const Counts& counts, Names& names)
      : names_(names),
        records_(batch.initRecords(records)),
        kinds_(batch.initObjectKinds(objects)),
        pods_(batch.initPodFacts(counts.pods)),
        nodes_(batch.initNodeFacts(counts.nodes)),
        events_(batch.initEventFacts(counts.events)),
        others_(batch.initOtherFacts(counts.others)),
        extras_(batch.initExtras(counts.extras)),
        binds_(batch.initBinds(counts.binds)),
        observations_(batch.initObservations(counts.observations)) {}

  void add(const Record& record, uint32_t body_size) {
    auto row = records_[record_++];
    row.setWallStep(step(record.wall.ns, wall_));
    row.setMonotonicStep(step(record.monotonic.ns, monotonic_));
    row.setRvStep(static_cast<int64_t>(record.rv - rv_));
    row.setBodySize(body_size);
    row.setObjects(size_of(record.objects));
    row.setStream(static_cast<uint16_t>(record.stream.value + 1));
    row.setKind(kRecordKinds.to_wire(record.kind));
    row.setVerb(kVerbs.to_wire(record.verb));
    row.setCheckpoint(record.checkpoint);
    wall_ = record.wall.ns;
    monotonic_ = record.monotonic.ns;
    rv_ = record.rv;
    for (const ObjectFacts& object : record.objects) {
      std::visit([&](const auto& facts) { add(facts); }, object);
    }
    if (has_extra(record)) {
      row.setHasExtra(true);
      add_extra(record);
    }
    if (has_bind(record)) {
      row.setHasBind(true);
      add_bind(record.bind, record.seq);
    }
  }

 private:
  void kind(wire::ObjectKind value) { kinds_[object_++] = static_cast<kj::byte>(value); }

  void add(const PodFacts& facts) {
    kind(wire::ObjectKind::POD);
    auto row = pods_[pod_++];
    row.setRvBelow(rv_ - facts.rv);
    row.setCreated(facts.created.ns);
    row.setDeletion(facts.deletion.ns);
    row.setPod(names_.ref(facts.pod));
    row.setNode(names_.ref(facts.node));
    row.setScheduler(names_.ref(facts.scheduler));
    row.setShape(names_.ref(facts.shape));
    row.setPriority(facts.priority);
    row.setPhase(kPhases.to_wire(facts.phase));
    row.setScheduled(kConditions.to_wire(facts.scheduled));
    row.setMirror(facts.mirror);
    row.setGated(facts.gated);
    row.setPlacement(names_.ref(facts.placement));
    row.setUnmodelled(facts.unmodelled);
  }

  void add(const NodeFacts& facts) {
    kind(wire::ObjectKind::NODE);
    auto row = nodes_[node_++];
    row.setRvBelow(rv_ - facts.rv);
    row.setCreated(facts.created.ns);
    row.setNode(names_.ref(facts.node));
    row.setUid(names_.ref(facts.uid));
    row.setAllocatable(names_.ref(facts.allocatable));
    row.setReady(kConditions.to_wire(facts.ready));
    row.setUnschedulable(facts.unschedulable);
    row.setLabels(names_.ref(facts.labels));
    row.setTaints(names_.ref(facts.taints));
  }

  void add(const EventFacts& facts) {
    kind(wire::ObjectKind::EVENT);
    auto row = events_[event_++];
    row.setRvBelow(rv_ - facts.rv);
    row.setKey(names_.ref(facts.key));
    row.setUid(names_.ref(facts.uid));
    row.setReason(names_.ref(facts.reason));
    row.setController(names_.ref(facts.controller));
    row.setRegardingKind(names_.ref(facts.regarding_kind));
    row.setRegarding(names_.ref(facts.regarding));
    row.setRegardingUid(names_.ref(facts.regarding_uid));
  }

  void add(const OtherFacts& facts) {
    kind(wire::ObjectKind::OTHER);
    auto row = others_[other_++];
    row.setRvBelow(rv_ - facts.rv);
    row.setKind(names_.ref(facts.kind));
    row.setKey(names_.ref(facts.key));
    row.setUid(names_.ref(facts.uid));
  }

  void add_extra(const Record& record) {
    auto row = extras_[extra_++];
    row.setStatus(record.status);
    row.setPath(names_.ref(record.path));
    row.setText(names_.ref(record.text));
    row.setGapFrom(record.gap_from);
    row.setMoreObjects(record.more_objects);
  }

  void add_bind(const Bind& bind, Seq seq) {
    auto row = binds_[bind_++];
    row.setRequestBack(bind.request == 0 ? 0 : seq - bind.request);
    row.setPod(names_.ref(bind.pod));
    row.setNode(names_.ref(bind.node));
    row.setScheduler(names_.ref(bind.scheduler));
    row.setUser(names_.ref(bind.user));
    row.setAgent(names_.ref(bind.agent));
    row.setReason(names_.ref(bind.reason));
    row.setMessage(names_.ref(bind.message));
    row.setCode(bind.code);
    row.setObservations(size_of(bind.observations));
    for (const BindObservation& from : bind.observations) {
      auto to = observations_[observation_++];
      to.setStream(static_cast<uint16_t>(from.stream.value + 1));
      to.setSent(from.sent.ns);
      to.setAnswered(from.answered.ns);
    }
  }

  Names& names_;
  capnp::List<wire::Record>::Builder records_;
  capnp::Data::Builder kinds_;
  capnp::List<wire::PodFacts>::Builder pods_;
  capnp::List<wire::NodeFacts>::Builder nodes_;
  capnp::List<wire::EventFacts>::Builder events_;
  capnp::List<wire::OtherFacts>::Builder others_;
  capnp::List<wire::Extra>::Builder extras_;
  capnp::List<wire::Bind>::Builder binds_;
  capnp::List<wire::Observation>::Builder observations_;
  unsigned record_ = 0, object_ = 0, pod_ = 0, node_ = 0, event_ = 0, other_ = 0, extra_ = 0, bind_ = 0,
           observation_ = 0;
  int64_t wall_ = 0, monotonic_ = 0;
  uint64_t rv_ = 0;
};

void count(const Record& record, Counts& counts) {
  for (const ObjectFacts& object : record.objects) {
    counts.pods += std::holds_alternative<PodFacts>(object);
    counts.nodes += std::holds_alternative<NodeFacts>(object);
    counts.events += std::holds_alternative<EventFacts>(object);
    counts.others += std::holds_alternative<OtherFacts>(object);
  }
  counts.extras += has_extra(record);
  if (!has_bind(record)) return;
  ++counts.binds;
  counts.observations += size_of(record.bind.observations);
}

}  // namespace

BatchEncoder::BatchEncoder(const Catalog& catalog) : dictionaries_(std::make_unique<Dictionaries>(&catalog)) {}
BatchEncoder::BatchEncoder(BatchEncoder&&) noexcept = default;
BatchEncoder& BatchEncoder::operator=(BatchEncoder&&) noexcept = default;
BatchEncoder::~BatchEncoder() = default;

void BatchEncoder::add(const Record& record, Seq seq, size_t body_size) {
  if (count_ == records_.size()) records_.emplace_back();
  records_[count_] = record;
  records_[count_++].seq = seq;
  objects_ += record.objects.size();
  body_sizes_.push_back(static_cast<uint32_t>(body_size));
}

Result<void> BatchEncoder::encode(const Use& use) {
  dictionaries_->begin();
  Counts counts;
  for (size_t i = 0; i < count_; ++i) count(records_[i], counts);

  // One segment as a rule: 64 bytes an object and a record are rarely exceeded.
  capnp::MallocMessageBuilder message(static_cast<unsigned>(1024 + 8 * (count_ + objects_) + 8 * counts.binds),
                                      capnp::AllocationStrategy::GROW_HEURISTICALLY);
  auto batch = message.initRoot<wire::Batch>();
  Rows<Dictionaries> rows(batch, static_cast<unsigned>(count_), static_cast<unsigned>(objects_), counts,
                          *dictionaries_);
  for (size_t i = 0; i < count_; ++i) rows.add(records_[i], body_sizes_[i]);
  dictionaries_->write(batch);

  if (dictionaries_->parts > kMaxBatchParts) {
    return Error{ErrorCode::kOutOfLimit,
                 "the pods and nodes of one batch have " + std::to_string(dictionaries_->parts) +
                     " parts of shapes, labels, taints and selectors, the limit is " + std::to_string(kMaxBatchParts),
                 "", ""};
  }
  const size_t size = capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word);
  if (size > kMaxFactsBytes) {
    return Error{ErrorCode::kOutOfLimit,
                 "the facts of one batch need " + std::to_string(size) + " bytes, the limit is " +
                     std::to_string(kMaxFactsBytes),
                 "", ""};
  }
  // The table of segments, then the segments: what capnp::messageToFlatArray would copy together.
  const auto segments = message.getSegmentsForOutput();
  std::vector<uint32_t> table{static_cast<uint32_t>(segments.size() - 1)};
  for (const auto segment : segments) table.push_back(static_cast<uint32_t>(segment.size()));
  if (table.size() % 2 != 0) table.push_back(0);
  std::vector<std::string_view> pieces{{reinterpret_cast<const char*>(table.data()), table.size() * sizeof(uint32_t)}};
  for (const auto segment : segments) {
    const auto bytes = segment.asBytes();
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  }
  return use(pieces);
}

void BatchEncoder::clear() {
  for (size_t i = 0; i < count_; ++i) {
    // A large list's memory is not kept for later.
    if (records_[i].objects.capacity() > 64) records_[i].objects = {};
  }
  count_ = objects_ = 0;
  body_sizes_.clear();
}

}  // namespace inquest::trace
