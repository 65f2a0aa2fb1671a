#include "schema/trace_fixture.h"

#include <sqlite3.h>

#include <map>
#include <sstream>

namespace inquest::trace {
namespace {

// Prints ids as the text they stand for; none and "" differ.
class Printer {
 public:
  explicit Printer(const Catalog& catalog) : catalog_(catalog) {}
  Printer& operator<<(const char* text) {
    out_ << text;
    return *this;
  }
  Printer& operator<<(std::string_view text) {
    out_ << '\'' << text << '\'';
    return *this;
  }
  template <typename Integer>
  requires std::is_integral_v<Integer> Printer& operator<<(Integer value) {
    out_ << +value << ' ';
    return *this;
  }
  template <typename Enum>
  requires std::is_enum_v<Enum> Printer& operator<<(Enum value) { return *this << static_cast<int>(value); }
  Printer& operator<<(Time time) { return *this << time.ns; }
  Printer& operator<<(StreamId id) { return *this << id.value; }
  Printer& operator<<(StringId id) { return id ? *this << catalog_.text(id) : *this << "-"; }
  Printer& operator<<(NodeId id) { return id ? *this << catalog_.node_name(id) : *this << "-"; }
  Printer& operator<<(KeyId id) { return id ? *this << catalog_.ns_id(id) << catalog_.name_id(id) : *this << "-"; }
  Printer& operator<<(PodId id) { return id ? *this << catalog_.key_of(id) << catalog_.uid_id(id) : *this << "-"; }
  Printer& operator<<(const Resources& r) {
    *this << r.cpu_milli << r.memory << r.ephemeral;
    for (const NamedAmount& e : r.extended) *this << std::string_view(e.name) << e.amount;
    return *this;
  }
  Printer& operator<<(ShapeId id) {
    const PodShape& shape = catalog_.shape(id);
    *this << shape.requests << shape.nonzero_cpu_milli << shape.nonzero_memory;
    for (const HostPort& port : shape.ports) *this << std::string_view(port.ip) << port.protocol << port.port;
    return *this;
  }
  Printer& operator<<(AllocatableId id) {
    return *this << catalog_.allocatable(id).resources << catalog_.allocatable(id).pods;
  }
  Printer& operator<<(const Labels& labels) {
    // By text: the order of ordinals is the catalog's own.
    std::map<std::string_view, std::string_view> sorted;
    for (const Label& label : labels) sorted[catalog_.text(label.key)] = catalog_.text(label.value);
    for (const auto& [key, value] : sorted) *this << key << value;
    return *this;
  }
  Printer& operator<<(const std::vector<Requirement>& requirements) {
    for (const Requirement& r : requirements) {
      *this << r.key << r.op;
      for (const StringId value : r.values) *this << value;
    }
    return *this << "; ";
  }
  Printer& operator<<(PlacementId id) {
    if (!id) return *this;
    const Placement& placement = catalog_.placement(id);
    *this << "on " << placement.node_selector << placement.has_affinity;
    for (const SelectorTerm& term : placement.terms) *this << term.expressions << term.fields;
    for (const Toleration& t : placement.tolerations) *this << t.key << t.value << t.op << t.effect;
    return *this;
  }
  Printer& operator<<(LabelsId id) { return id ? *this << "labels " << catalog_.labels(id) : *this; }
  Printer& operator<<(TaintsId id) {
    if (!id) return *this;
    *this << "taints ";
    for (const Taint& t : catalog_.taints(id)) *this << t.key << t.value << t.effect;
    return *this;
  }
  Printer& operator<<(const PodFacts& f) {
    *this << "pod " << f.pod << f.node << f.scheduler << f.shape << f.rv << f.created << f.deletion << f.priority
          << f.phase << f.scheduled << f.mirror << f.gated;
    return f.placement ? *this << f.placement << f.unmodelled : *this;
  }
  Printer& operator<<(const NodeFacts& f) {
    return *this << "node " << f.node << f.uid << f.allocatable << f.rv << f.created << f.ready << f.unschedulable
                 << f.labels << f.taints;
  }
  Printer& operator<<(const EventFacts& f) {
    return *this << "event " << f.key << f.uid << f.rv << f.reason << f.controller << f.regarding_kind << f.regarding
                 << f.regarding_uid;
  }
  Printer& operator<<(const OtherFacts& f) { return *this << "other " << f.kind << f.key << f.uid << f.rv; }
  std::string text() const { return out_.str(); }

 private:
  const Catalog& catalog_;
  std::ostringstream out_;
};

}  // namespace

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(database);
}

std::string describe(const Record& r, const Catalog& catalog) {
  Printer out(catalog);
  out << r.seq << r.stream << r.kind << r.verb << r.checkpoint << r.status << r.wall << r.monotonic << r.rv
      << r.gap_from << r.path << r.text;
  if (r.more_objects != 0) out << r.more_objects;
  for (const ObjectFacts& object : r.objects) std::visit([&](const auto& facts) { out << facts; }, object);
  const Bind& b = r.bind;
  out << " bind " << b.pod << b.node << b.scheduler << b.user << b.agent << b.request << b.code << b.reason
      << b.message;
  for (const BindObservation& o : b.observations) out << o.stream << o.sent << o.answered;
  return out.text();
}

// Every operator and effect, the empty text and lists without entries.
Placement Sample::placement() {
  const StringId zone = catalog.string("zone"), east = catalog.string("east"), name = catalog.string("metadata.name");
  Placement out;
  out.node_selector = {{zone, east}, {catalog.string("disk"), kEmptyText}};
  canonicalise(out.node_selector);
  out.has_affinity = true;
  SelectorTerm every;
  for (int op = 0; op <= static_cast<int>(SelectorOperator::kLt); ++op) {
    every.expressions.push_back({zone, static_cast<SelectorOperator>(op), {east, kEmptyText}});
  }
  out.terms = {every, {}, {{{kEmptyText, SelectorOperator::kExists, {}}}, {{name, SelectorOperator::kIn, {east}}}}};
  for (int i = 0; i <= static_cast<int>(TaintEffect::kUnknown); ++i) {
    const StringId value = i == 0 ? kEmptyText : east;
    out.tolerations.push_back({zone, value, static_cast<TolerationOperator>(i), static_cast<TaintEffect>(i)});
  }
  return out;
}

PodFacts Sample::pod(const std::string& name, const std::string& uid) {
  PodFacts facts;
  facts.pod = catalog.pod(catalog.key(catalog.string("shop"), catalog.string(name)), catalog.string(uid));
  facts.node = catalog.node("node-a");
  facts.scheduler = catalog.string("default-scheduler");
  facts.shape = catalog.shape({{250, 64 << 20, 5, {{"example.com/fpga", 1}, {"nvidia.com/gpu", 2}}},
                               250,
                               64 << 20,
                               {{"", Protocol::kTcp, 8080}, {"10.0.0.1", Protocol::kSctp, 65535}}});
  facts.rv = 90;
  facts.created = {1'700'000'000'000'000'000};
  facts.deletion = {1'700'000'030'000'000'001};
  facts.priority = -7;
  facts.phase = PodPhase::kRunning;
  facts.scheduled = Condition::kTrue;
  facts.mirror = true;
  facts.gated = true;
  facts.placement = catalog.placement(placement());
  facts.unmodelled = 0xff;
  return facts;
}

Record Sample::frame(const std::string& name, ResourceVersion rv) {
  Record record;
  record.stream = {0};
  record.kind = RecordKind::kFrame;
  record.verb = Verb::kModified;
  record.wall = {1'700'000'000'000'000'000 + static_cast<int64_t>(rv) * 1000};
  record.rv = rv;
  PodFacts facts = pod(name, "uid-" + name);
  facts.rv = rv;
  record.objects = {facts};
  return record;
}

void Sample::add_list() {
  Record list;
  list.stream = {0};
  list.kind = RecordKind::kList;
  list.status = 200;
  list.checkpoint = true;
  list.wall = {1'700'000'000'000'000'005};
  list.monotonic = {77};
  list.rv = 100;
  list.path = catalog.string("/api/v1/pods");
  NodeFacts node{catalog.node("node-a"),
                 catalog.string("node-uid"),
                 catalog.allocatable({{2000, int64_t{2} << 30, 9, {{"nvidia.com/gpu", 4}}}, 110}),
                 catalog.labels(placement().node_selector),
                 95,
                 {1'600'000'000'000'000'000},
                 catalog.taints({{catalog.string("dedicated"), catalog.string("db"), TaintEffect::kNoExecute},
                                 {catalog.string("soft"), kEmptyText, TaintEffect::kPreferNoSchedule}}),
                 Condition::kUnknown,
                 true};
  EventFacts event{catalog.key(catalog.string("shop"), catalog.string("pod1.17a")),
                   catalog.string("event-uid"),
                   18'446'744'073'709'551'615ULL,
                   catalog.string("Scheduled"),
                   catalog.string("default-scheduler"),
                   catalog.string("Pod"),
                   catalog.key(catalog.string("shop"), catalog.string("pod1")),
                   catalog.string("")};
  OtherFacts other{catalog.string("Lease"), catalog.key(StringId::none(), catalog.string("lease1")), StringId::none(),
                   3};
  PodFacts unbound = pod("pod2", "uid2");
  unbound.node = NodeId::none();
  unbound.scheduler = StringId::none();
  unbound.placement = catalog.placement(Placement{});
  unbound.unmodelled = 0;
  list.objects = {pod("pod1", "uid1"), node, event, other, unbound, OtherFacts{}, EventFacts{}};
  records.emplace_back(list, "{\"kind\":\"List\"}");
}

Sample::Sample() {
  streams = {{{}, StreamKind::kWatch, "pods", "pods", "x.jsonl"},
             {{}, StreamKind::kBindLog, "x.binds", "", "x.binds.jsonl"}};
  add_list();
  const auto add = [&](RecordKind kind, const char* text, const char* body) -> Record& {
    Record record;
    record.stream = {0};
    record.kind = kind;
    record.wall = {1'700'000'000'000'000'000};
    record.rv = 50;  // lower than the one before
    if (*text != '\0') record.text = catalog.string(text);
    records.emplace_back(record, body);
    return records.back().first;
  };
  add(RecordKind::kOpen, "", "").status = 200;
  for (const Verb verb : {Verb::kAdded, Verb::kModified, Verb::kDeleted}) {
    Record& record = add(RecordKind::kFrame, "", "{\"type\":\"frame\"}");
    record.verb = verb;
    record.objects = {pod("pod1", "uid1")};
  }
  add(RecordKind::kBookmark, "", "{}").rv = 101;
  Record& error = add(RecordKind::kError, "Expired: too old resource version", "{\"code\":410}");
  error.status = 410;
  add(RecordKind::kClose, "end of stream", "");
  Record& request = add(RecordKind::kBindRequest, "", "");
  request.stream = {1};
  request.wall = {};
  request.bind.pod = pod("pod1", "uid1").pod;
  request.bind.node = catalog.node("node-a");
  request.bind.scheduler = catalog.string("toy");
  request.bind.user = catalog.string("system:toy");
  request.bind.agent = catalog.string("toy/1.0");
  request.bind.observations = {{{1}, {1'700'000'000'000'000'100}, {1'700'000'000'000'000'200}}, {{0}, {5}, {}}};
  Record& answer = add(RecordKind::kBindAnswer, "", "{\"kind\":\"Status\"}");
  answer.stream = {1};
  answer.bind.request = records.size() - 1;
  answer.bind.pod = pod("pod1", "uid1").pod;
  answer.bind.code = 409;
  answer.bind.reason = catalog.string("Conflict");
  answer.bind.message = catalog.string("pod pod1 is already assigned");
  add(RecordKind::kGap, "the recorder was away", "").gap_from = 40;
  add(RecordKind::kUndecodable, "not JSON", std::string("\0\xff\n\n<html>", 10).c_str());
  records.back().second = std::string("\0\xff\n\n<html>", 10);
  add(RecordKind::kSource, "line", "# a comment between the lines");
}

void Sample::add_long_list() {
  Record list, source;
  list.stream = source.stream = {0};
  list.kind = RecordKind::kList;
  list.rv = source.rv = 60;
  list.objects = {pod("pod1", "uid1")};
  list.more_objects = 2;
  records.emplace_back(list, R"({"kind":"PodList","items":[1)");
  source.kind = RecordKind::kSource;
  const auto add = [&](const char* text, std::vector<ObjectFacts> objects, const char* body) {
    source.text = catalog.string(text);
    source.objects = std::move(objects);
    records.emplace_back(source, body);
  };
  add("envelope", {}, R"({"body":""})");
  add(kPart, {pod("pod2", "uid2")}, ",2");
  add(kPart, {pod("pod3", "uid3")}, ",3]}");
}

TraceHeader sample_header() { return {"v1.36.0", "https://10.0.0.1:6443", "namespace shop"}; }

std::vector<std::string> write_sample(Sample& sample, const std::string& path) {
  auto writer = TraceWriter::create(path, sample_header(), sample.catalog);
  INQUEST_CHECK(writer.ok(), path);
  for (const Stream& stream : sample.streams) INQUEST_CHECK(writer->add_stream(stream).ok(), stream.name);
  std::vector<std::string> written;
  for (auto& [record, body] : sample.records) {
    record.seq = *writer->append(record, body);
    written.push_back(describe(record, sample.catalog) + body);
  }
  writer->add_loss("x.jsonl", "not JSON", 2);
  writer->add_note("x.jsonl", "redacted: env values", 3);
  const auto closed = writer->close();
  INQUEST_CHECK(closed.ok(), closed.error().message());
  return written;
}

namespace {

std::string describe(const TraceInfo& info) {
  std::ostringstream out;
  out << info.format_version << ' ' << info.uuid << ' ' << info.writer << ' ' << info.cluster_version << ' '
      << info.server << ' ' << info.scope << ' ' << static_cast<int>(info.state) << ' ' << info.start.ns << ' '
      << info.end.ns << ' ' << info.records << ' ' << info.batches << ' ' << info.body_bytes;
  for (const StreamSummary& s : info.streams) {
    out << " | " << s.stream.name << ' ' << static_cast<int>(s.stream.kind) << ' ' << s.stream.resource << ' '
        << s.stream.source;
    for (const uint64_t value :
         {s.lists, s.checkpoints, s.added, s.modified, s.deleted, s.bookmarks, s.errors, s.opens, s.closes, s.gaps,
          s.undecodable, s.bind_requests, s.bind_answers, s.observations, s.first, s.last, s.closed_at}) {
      out << ' ' << value;
    }
  }
  for (const BindCount& bind : info.binds) out << " | " << bind.scheduler << ' ' << bind.code << ' ' << bind.count;
  for (const TraceLoss& note : info.notes) out << " | note " << note.source << ' ' << note.what << ' ' << note.count;
  for (const TraceLoss& loss : info.losses) out << " | " << loss.source << ' ' << loss.what << ' ' << loss.count;
  for (const TraceLoss& note : info.notes) out << " | note " << note.source << ' ' << note.what << ' ' << note.count;
  return out.str();
}

}  // namespace

Content read_all(const std::string& path) {
  Content content;
  auto reader = TraceReader::open(path);
  if (!reader.ok()) {
    content.error = reader.error().message();
    return content;
  }
  content.info = describe(reader->info());
  while (true) {
    const auto record = reader->next();
    if (!record.ok()) {
      content.error = record.error().message();
      return content;
    }
    if (*record == nullptr) return content;
    const std::string text = describe(**record, reader->catalog());
    const auto body = reader->body((*record)->seq);
    if (!body.ok()) {
      content.error = body.error().message();
      return content;
    }
    content.records.push_back(text + *body);
  }
}

}  // namespace inquest::trace
