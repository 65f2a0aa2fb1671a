#include "schema/batch_decoder.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <trace.capnp.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "schema/limits.h"
#include "schema/wire_enums.h"

namespace inquest::trace {
namespace {

// Thrown inside this file only, where every field may turn out wrong; becomes an Error at load() and next().
struct Malformed {
  const char* why;
};

int64_t advance(int64_t from, int64_t step) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + static_cast<uint64_t>(step));
}

// What the batch's references mean in the catalog. Entry 0 is "none".
template <typename Id>
class Translation {
 public:
  void begin(size_t entries) {
    ids_.clear();
    ids_.reserve(entries + 1);
    ids_.push_back(Id::none());
  }
  void add(Id id) { ids_.push_back(id); }
  Id at(uint32_t reference) const {
    if (reference >= ids_.size()) throw Malformed{"a reference beyond its dictionary"};
    return ids_[reference];
  }
  Id required(uint32_t reference) const {
    if (reference == 0) throw Malformed{"a reference is missing"};
    return at(reference);
  }

 private:
  std::vector<Id> ids_;
};

template <typename List>
unsigned checked_size(const List& list, size_t limit = kMaxBatchEntries) {
  if (list.size() > limit) throw Malformed{"a list beyond its limit"};
  return static_cast<unsigned>(list.size());
}

template <typename T, typename Less>
bool strictly_sorted(const std::vector<T>& values, Less&& less) {
  return std::adjacent_find(values.begin(), values.end(), [&](const T& a, const T& b) { return !less(a, b); }) ==
         values.end();
}

// A list and how far it has been consumed.
template <typename T>
struct Rows {
  typename capnp::List<T>::Reader list;
  unsigned at = 0;

  void open(typename capnp::List<T>::Reader reader) {
    checked_size(reader);
    list = reader;
    at = 0;
  }
  typename T::Reader take() {
    if (at >= list.size()) throw Malformed{"a list of rows is shorter than the records say"};
    return list[at++];
  }
};

}  // namespace

struct BatchDecoder::Impl {
  Decompressor decompressor;
  Buffer message_bytes;
  std::optional<capnp::FlatArrayMessageReader> message;

  BatchRow batch;
  size_t streams = 0;
  bool loaded = false;

  Translation<StringId> strings;
  Translation<KeyId> keys;
  Translation<PodId> pods;
  Translation<NodeId> nodes;
  Translation<ShapeId> shapes;
  Translation<AllocatableId> allocatables;
  Translation<PlacementId> placements;
  Translation<LabelsId> labels;
  Translation<TaintsId> taints;
  size_t parts = 0;  // of the last five, so far

  Rows<wire::Record> records;
  capnp::Data::Reader object_kinds;
  size_t object = 0;
  Rows<wire::PodFacts> pod_facts;
  Rows<wire::NodeFacts> node_facts;
  Rows<wire::EventFacts> event_facts;
  Rows<wire::OtherFacts> other_facts;
  Rows<wire::Extra> extras;
  Rows<wire::Bind> binds;
  Rows<wire::Observation> observations;
  int64_t wall = 0, monotonic = 0;
  uint64_t rv = 0;
  size_t next_body = 0, body_offset = 0, body_size = 0;

  Error corrupt(const std::string& why, ErrorCode code = ErrorCode::kCorrupt) {
    loaded = false;
    return {code, why, "batch " + std::to_string(batch.id), ""};
  }

  void load(std::string_view facts, Catalog& catalog, uint64_t& catalog_bytes);
  void load_strings(wire::Batch::Reader batch_reader, Catalog& catalog, uint64_t& catalog_bytes);
  void load_dictionaries(wire::Batch::Reader batch_reader, Catalog& catalog, uint64_t& catalog_bytes);
  std::string shape_text(uint32_t reference, const Catalog& catalog);
  Resources resources(wire::Resources::Reader reader, const Catalog& catalog);
  PodShape shape(wire::Shape::Reader reader, const Catalog& catalog);
  StringId text(uint32_t reference) const { return reference == 0 ? kEmptyText : strings.at(reference); }
  template <typename List>
  unsigned parts_of(const List& list);
  Labels label_list(capnp::List<wire::Label>::Reader list);
  std::vector<Requirement> requirements(capnp::List<wire::Requirement>::Reader list);
  Placement placement(wire::Placement::Reader reader);
  Taints taint_list(capnp::List<wire::Taint>::Reader list);
  void load_shapes(wire::Batch::Reader batch_reader, Catalog& catalog, uint64_t& catalog_bytes);
  void count_parts(size_t more);
  void check_totals() const;
  void rewind();

  void read(Record& record);
  void read_extra(Record& record);
  void read_bind(Record& record);
  ObjectFacts read_object();
  StreamId stream(uint16_t number) const {
    if (number == 0 || number > streams) throw Malformed{"a stream that the trace does not have"};
    return {static_cast<uint32_t>(number - 1)};
  }
};

void BatchDecoder::Impl::load_strings(wire::Batch::Reader batch_reader, Catalog& catalog, uint64_t& catalog_bytes) {
  const auto text = batch_reader.getText();
  const auto sizes = batch_reader.getTextSizes();
  strings.begin(checked_size(sizes));
  size_t at = 0;
  for (const uint32_t size : sizes) {
    if (size > text.size() - at) throw Malformed{"strings beyond the text"};
    const size_t before = catalog.strings();
    strings.add(catalog.string({reinterpret_cast<const char*>(text.begin()) + at, size}));
    if (catalog.strings() != before) catalog_bytes += size;
    if (catalog_bytes > kMaxCatalogBytes) throw Malformed{"more text than a catalog may hold"};
    at += size;
  }
  if (at != text.size()) throw Malformed{"text that belongs to no string"};
}

// The batch has a limit for them: what takes no room in the message does so in memory.
void BatchDecoder::Impl::count_parts(size_t more) {
  parts += more;
  if (parts > kMaxBatchParts)
    throw Malformed{"more parts of shapes, labels, taints and selectors than a batch may hold"};
}

template <typename List>
unsigned BatchDecoder::Impl::parts_of(const List& list) {
  count_parts(list.size());
  return static_cast<unsigned>(list.size());
}

std::string BatchDecoder::Impl::shape_text(uint32_t reference, const Catalog& catalog) {
  const std::string_view text = catalog.text(strings.at(reference));
  count_parts(text_parts(text));
  return std::string(text);
}

Resources BatchDecoder::Impl::resources(wire::Resources::Reader reader, const Catalog& catalog) {
  Resources out{reader.getCpuMilli(), reader.getMemory(), reader.getEphemeral(), {}};
  const auto extended = reader.getExtended();
  out.extended.reserve(parts_of(extended));
  for (const auto amount : extended) {
    if (amount.getName() == 0) throw Malformed{"a resource without a name"};
    out.extended.push_back({shape_text(amount.getName(), catalog), amount.getAmount()});
  }
  if (!strictly_sorted(out.extended, [](const NamedAmount& a, const NamedAmount& b) { return a.name < b.name; })) {
    throw Malformed{"extended resources out of order"};
  }
  return out;
}

PodShape BatchDecoder::Impl::shape(wire::Shape::Reader reader, const Catalog& catalog) {
  PodShape out;
  out.requests = resources(reader.getRequests(), catalog);
  out.nonzero_cpu_milli = reader.getNonzeroCpuMilli();
  out.nonzero_memory = reader.getNonzeroMemory();
  const auto ports = reader.getPorts();
  out.ports.reserve(parts_of(ports));
  for (const auto port : ports) {
    if (!kProtocols.knows(port.getProtocol())) throw Malformed{"a port with an unknown protocol"};
    out.ports.push_back({shape_text(port.getIp(), catalog), kProtocols.from_wire(port.getProtocol()), port.getPort()});
  }
  if (!std::is_sorted(out.ports.begin(), out.ports.end())) throw Malformed{"host ports out of order"};
  return out;
}

void BatchDecoder::Impl::load_dictionaries(wire::Batch::Reader batch_reader, Catalog& catalog,
                                           uint64_t& catalog_bytes) {
  const auto key_list = batch_reader.getKeys();
  keys.begin(checked_size(key_list));
  for (const auto key : key_list) keys.add(catalog.key(strings.at(key.getNs()), strings.at(key.getName())));

  const auto pod_list = batch_reader.getPods();
  pods.begin(checked_size(pod_list));
  for (const auto pod : pod_list) pods.add(catalog.pod(keys.required(pod.getKey()), strings.at(pod.getUid())));

  const auto node_list = batch_reader.getNodes();
  nodes.begin(checked_size(node_list));
  for (const uint32_t name : node_list) nodes.add(catalog.node(catalog.text(strings.required(name))));

  load_shapes(batch_reader, catalog, catalog_bytes);
}

// Sorted anew: the order is that of this catalog's ordinals.
Labels BatchDecoder::Impl::label_list(capnp::List<wire::Label>::Reader list) {
  Labels out;
  out.reserve(parts_of(list));
  for (const auto label : list) out.push_back({text(label.getKey()), text(label.getValue())});
  canonicalise(out);
  return out;
}

std::vector<Requirement> BatchDecoder::Impl::requirements(capnp::List<wire::Requirement>::Reader list) {
  std::vector<Requirement> out;
  out.reserve(parts_of(list));
  for (const auto from : list) {
    Requirement& to = out.emplace_back();
    to.key = text(from.getKey());
    to.op = kSelectorOperators.from_wire(from.getOperator());
    const auto values = from.getValues();
    to.values.reserve(parts_of(values));
    for (const uint32_t value : values) to.values.push_back(text(value));
  }
  return out;
}

Placement BatchDecoder::Impl::placement(wire::Placement::Reader reader) {
  Placement out;
  out.node_selector = label_list(reader.getNodeSelector());
  out.has_affinity = reader.getHasAffinity();
  const auto terms = reader.getTerms();
  out.terms.reserve(parts_of(terms));
  for (const auto term : terms) {
    out.terms.push_back({requirements(term.getExpressions()), requirements(term.getFields())});
  }
  const auto tolerations = reader.getTolerations();
  out.tolerations.reserve(parts_of(tolerations));
  for (const auto from : tolerations) {
    out.tolerations.push_back({text(from.getKey()), text(from.getValue()),
                               kTolerationOperators.from_wire(from.getOperator()),
                               kTaintEffects.from_wire(from.getEffect())});
  }
  return out;
}

Taints BatchDecoder::Impl::taint_list(capnp::List<wire::Taint>::Reader list) {
  Taints out;
  out.reserve(parts_of(list));
  for (const auto taint : list) {
    out.push_back({text(taint.getKey()), text(taint.getValue()), kTaintEffects.from_wire(taint.getEffect())});
  }
  return out;
}

// Values that the catalog keeps whole. What it takes for them is counted.
void BatchDecoder::Impl::load_shapes(wire::Batch::Reader batch_reader, Catalog& catalog, uint64_t& catalog_bytes) {
  parts = 0;
  const auto load = [&](auto& translation, const auto& list, auto&& enter) {
    translation.begin(checked_size(list));
    for (const auto reader : list) {
      const size_t before = catalog.memory();
      translation.add(enter(reader));
      catalog_bytes += catalog.memory() - before;
      if (catalog_bytes > kMaxCatalogBytes) throw Malformed{"more shapes and selectors than a catalog may hold"};
    }
  };
  load(shapes, batch_reader.getShapes(), [&](auto reader) { return catalog.shape(shape(reader, catalog)); });
  load(allocatables, batch_reader.getAllocatables(), [&](auto reader) {
    return catalog.allocatable({resources(reader.getResources(), catalog), reader.getPods()});
  });
  load(placements, batch_reader.getPlacements(), [&](auto reader) { return catalog.placement(placement(reader)); });
  load(labels, batch_reader.getLabels(), [&](auto reader) { return catalog.labels(label_list(reader.getLabels())); });
  load(taints, batch_reader.getTaints(), [&](auto reader) { return catalog.taints(taint_list(reader.getTaints())); });
}

// Everything that records take from lists must be there, so that a short list is found now and not in the middle.
void BatchDecoder::Impl::check_totals() const {
  if (records.list.size() != batch.records()) throw Malformed{"another number of records than the batch's row says"};
  uint64_t objects = 0, extra_rows = 0, bind_rows = 0, body_bytes = 0;
  for (const auto record : records.list) {
    objects += record.getObjects();
    extra_rows += record.getHasExtra();
    bind_rows += record.getHasBind();
    body_bytes += record.getBodySize();
  }
  if (objects != object_kinds.size()) throw Malformed{"another number of objects than the records say"};
  if (extra_rows != extras.list.size()) throw Malformed{"another number of extras than the records say"};
  if (bind_rows != binds.list.size()) throw Malformed{"another number of binds than the records say"};
  if (body_bytes != batch.body_bytes) throw Malformed{"another size of bodies than the batch's row says"};
}

void BatchDecoder::Impl::load(std::string_view facts, Catalog& catalog, uint64_t& catalog_bytes) {
  if (message_bytes.size() % sizeof(capnp::word) != 0 || message_bytes.size() == 0) {
    throw Malformed{"not a whole number of words"};
  }
  capnp::ReaderOptions options;
  options.traversalLimitInWords = message_bytes.size() / sizeof(capnp::word) * kTraversalFactor + 64;
  options.nestingLimit = 8;
  const kj::ArrayPtr<const capnp::word> words(reinterpret_cast<const capnp::word*>(facts.data()),
                                              facts.size() / sizeof(capnp::word));
  message.emplace(words, options);
  const auto reader = message->getRoot<wire::Batch>();
  records.open(reader.getRecords());
  checked_size(records.list, kMaxBatchRecords);
  object_kinds = reader.getObjectKinds();
  checked_size(object_kinds, kMaxBatchObjects);
  pod_facts.open(reader.getPodFacts());
  node_facts.open(reader.getNodeFacts());
  event_facts.open(reader.getEventFacts());
  other_facts.open(reader.getOtherFacts());
  extras.open(reader.getExtras());
  binds.open(reader.getBinds());
  observations.open(reader.getObservations());
  check_totals();
  load_strings(reader, catalog, catalog_bytes);
  load_dictionaries(reader, catalog, catalog_bytes);
}

void BatchDecoder::Impl::rewind() {
  records.at = pod_facts.at = node_facts.at = event_facts.at = other_facts.at = 0;
  extras.at = binds.at = observations.at = 0;
  object = 0;
  wall = monotonic = 0;
  rv = 0;
  next_body = body_offset = body_size = 0;
}

ObjectFacts BatchDecoder::Impl::read_object() {
  if (object >= object_kinds.size()) throw Malformed{"fewer objects than the records say"};
  switch (static_cast<wire::ObjectKind>(object_kinds[object++])) {
    case wire::ObjectKind::POD: {
      const auto row = pod_facts.take();
      PodFacts facts;
      facts.pod = pods.required(row.getPod());
      facts.node = nodes.at(row.getNode());
      facts.scheduler = strings.at(row.getScheduler());
      facts.shape = shapes.required(row.getShape());
      facts.rv = rv - row.getRvBelow();
      facts.created = {row.getCreated()};
      facts.deletion = {row.getDeletion()};
      facts.priority = row.getPriority();
      facts.phase = kPhases.from_wire(row.getPhase());
      facts.scheduled = kConditions.from_wire(row.getScheduled());
      facts.mirror = row.getMirror();
      facts.gated = row.getGated();
      facts.placement = placements.at(row.getPlacement());
      facts.unmodelled = row.getUnmodelled();
      return facts;
    }
    case wire::ObjectKind::NODE: {
      const auto row = node_facts.take();
      NodeFacts facts;
      facts.node = nodes.required(row.getNode());
      facts.uid = strings.at(row.getUid());
      facts.allocatable = allocatables.required(row.getAllocatable());
      facts.rv = rv - row.getRvBelow();
      facts.created = {row.getCreated()};
      facts.ready = kConditions.from_wire(row.getReady());
      facts.unschedulable = row.getUnschedulable();
      facts.labels = labels.at(row.getLabels());
      facts.taints = taints.at(row.getTaints());
      return facts;
    }
    case wire::ObjectKind::EVENT: {
      const auto row = event_facts.take();
      EventFacts facts;
      facts.key = keys.at(row.getKey());
      facts.uid = strings.at(row.getUid());
      facts.rv = rv - row.getRvBelow();
      facts.reason = strings.at(row.getReason());
      facts.controller = strings.at(row.getController());
      facts.regarding_kind = strings.at(row.getRegardingKind());
      facts.regarding = keys.at(row.getRegarding());
      facts.regarding_uid = strings.at(row.getRegardingUid());
      return facts;
    }
    case wire::ObjectKind::OTHER: {
      const auto row = other_facts.take();
      return OtherFacts{strings.at(row.getKind()), keys.at(row.getKey()), strings.at(row.getUid()),
                        rv - row.getRvBelow()};
    }
    default:
      return OtherFacts{};
  }
}

void BatchDecoder::Impl::read_extra(Record& record) {
  const auto row = extras.take();
  record.status = row.getStatus();
  record.path = strings.at(row.getPath());
  record.text = strings.at(row.getText());
  record.gap_from = row.getGapFrom();
  record.more_objects = row.getMoreObjects();
}

void BatchDecoder::Impl::read_bind(Record& record) {
  const auto row = binds.take();
  Bind& bind = record.bind;
  if (row.getRequestBack() >= record.seq) throw Malformed{"an answer to a request before the trace"};
  bind.request = row.getRequestBack() == 0 ? 0 : record.seq - row.getRequestBack();
  bind.pod = pods.at(row.getPod());
  bind.node = nodes.at(row.getNode());
  bind.scheduler = strings.at(row.getScheduler());
  bind.user = strings.at(row.getUser());
  bind.agent = strings.at(row.getAgent());
  bind.reason = strings.at(row.getReason());
  bind.message = strings.at(row.getMessage());
  bind.code = row.getCode();
  const uint32_t count = row.getObservations();
  if (count > observations.list.size() - observations.at) throw Malformed{"fewer observations than the binds say"};
  for (uint32_t i = 0; i < count; ++i) {
    const auto observation = observations.take();
    bind.observations.push_back(
        {stream(observation.getStream()), {observation.getSent()}, {observation.getAnswered()}});
  }
}

// Every field of `record` is set anew; its vectors keep their memory.
void BatchDecoder::Impl::read(Record& record) {
  record.seq = batch.first_seq + records.at;
  const auto row = records.take();
  wall = advance(wall, row.getWallStep());
  monotonic = advance(monotonic, row.getMonotonicStep());
  rv += static_cast<uint64_t>(row.getRvStep());
  record.stream = stream(row.getStream());
  record.kind = kRecordKinds.from_wire(row.getKind());
  record.verb = kVerbs.from_wire(row.getVerb());
  if (record.kind == RecordKind::kFrame && !kVerbs.knows(row.getVerb())) record.kind = RecordKind::kUndecodable;
  record.checkpoint = row.getCheckpoint();
  record.status = 0;
  record.wall = {wall};
  record.monotonic = {monotonic};
  record.rv = rv;
  record.gap_from = record.more_objects = 0;
  record.path = record.text = StringId::none();
  if (row.getHasExtra()) read_extra(record);

  record.objects.clear();
  const uint32_t objects = row.getObjects();
  if (record.kind == RecordKind::kFrame && objects != 1) throw Malformed{"a frame without exactly one object"};
  for (uint32_t i = 0; i < objects; ++i) record.objects.push_back(read_object());

  auto kept = std::move(record.bind.observations);
  kept.clear();
  record.bind = Bind{};
  record.bind.observations = std::move(kept);
  if (row.getHasBind()) read_bind(record);
  if (record.kind == RecordKind::kBindRequest && !record.bind.pod) throw Malformed{"a bind request without a pod"};

  body_offset = next_body;
  body_size = row.getBodySize();
  next_body += body_size == 0 ? 0 : body_size + 1;
}

BatchDecoder::BatchDecoder() : impl_(std::make_unique<Impl>()) {}
BatchDecoder::BatchDecoder(BatchDecoder&&) noexcept = default;
BatchDecoder& BatchDecoder::operator=(BatchDecoder&&) noexcept = default;
BatchDecoder::~BatchDecoder() = default;

Result<void> BatchDecoder::load(const BatchRow& row, std::string_view facts, const Dictionaries& dictionaries,
                                size_t streams, Catalog& catalog, uint64_t& catalog_bytes) {
  Impl& impl = *impl_;
  impl.loaded = false;
  impl.message.reset();
  impl.batch = row;
  impl.streams = streams;
  if (row.body_bytes > kMaxBodiesBytes) return impl.corrupt("more bytes of bodies than a batch may hold");
  const auto dictionary = dictionaries.find(dictionary_of(facts));
  if (!dictionary.ok()) return impl.corrupt("facts: " + dictionary.error().text);
  if (auto done = impl.decompressor.decompress(facts, kMaxFactsBytes, *dictionary, impl.message_bytes); !done.ok()) {
    return impl.corrupt("facts: " + done.error().text, done.error().code);
  }
  try {
    impl.load(impl.message_bytes.view(), catalog, catalog_bytes);
  } catch (const Malformed& malformed) {
    return impl.corrupt(std::string("facts: ") + malformed.why);
  } catch (const kj::Exception& exception) {
    return impl.corrupt(std::string("facts: ") + exception.getDescription().cStr());
  }
  impl.rewind();
  impl.loaded = true;
  return {};
}

Result<void> BatchDecoder::next(Record& record) {
  Impl& impl = *impl_;
  try {
    impl.read(record);
    return {};
  } catch (const Malformed& malformed) {
    return impl.corrupt("record @" + std::to_string(record.seq) + ": " + malformed.why);
  } catch (const kj::Exception& exception) {
    return impl.corrupt("record @" + std::to_string(record.seq) + ": " + exception.getDescription().cStr());
  }
}

const BatchRow& BatchDecoder::row() const { return impl_->batch; }
bool BatchDecoder::holds(Seq seq) const {
  return impl_->loaded && seq >= impl_->batch.first_seq && seq <= impl_->batch.last_seq;
}
bool BatchDecoder::at_end() const { return !impl_->loaded || impl_->records.at >= impl_->records.list.size(); }
void BatchDecoder::rewind() { impl_->rewind(); }
Seq BatchDecoder::given() const {
  return impl_->loaded && impl_->records.at > 0 ? impl_->batch.first_seq + impl_->records.at - 1 : 0;
}
size_t BatchDecoder::body_offset() const { return impl_->body_offset; }
size_t BatchDecoder::body_size() const { return impl_->body_size; }

}  // namespace inquest::trace
