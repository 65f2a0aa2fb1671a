#include "replayer/test_trace.h"

#include <algorithm>

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

trace::TraceWriter& TestTrace::writer() {
  if (writer_) return *writer_;
  folder_ = std::make_unique<TestFolder>();
  auto writer = trace::TraceWriter::create(folder_->path("test.trace"), {}, catalog_);
  INQUEST_CHECK(writer.ok(), writer.ok() ? "" : writer.error().message());
  writer_ = std::make_unique<trace::TraceWriter>(std::move(*writer));
  const trace::Stream streams[] = {{{}, trace::StreamKind::kWatch, "pods", "pods", "test.jsonl"},
                                   {{}, trace::StreamKind::kWatch, "nodes", "nodes", "test.jsonl"},
                                   {{}, trace::StreamKind::kBindLog, "binds", "", "test.binds.jsonl"},
                                   {{}, trace::StreamKind::kWatch, "events", "events", "test.jsonl"},
                                   {{}, trace::StreamKind::kWatch, "aside", "pods", "aside.jsonl"}};
  for (const trace::Stream& stream : streams) INQUEST_CHECK(writer_->add_stream(stream).ok(), stream.name);
  return *writer_;
}

PodFacts TestTrace::pod(std::string_view name, std::string_view uid, uint16_t host_port, int64_t cpu_milli) {
  PodShape shape;
  shape.requests.cpu_milli = shape.nonzero_cpu_milli = cpu_milli;
  if (host_port != 0) shape.ports.push_back({"", Protocol::kTcp, host_port});
  const std::string own_uid = uid.empty() ? std::string("uid-").append(name) : std::string(uid);
  PodFacts out;
  out.pod = catalog_.pod(catalog_.key(catalog_.string("shop"), catalog_.string(name)), catalog_.string(own_uid));
  out.scheduler = catalog_.string(kScheduler);
  out.shape = catalog_.shape(shape);
  out.phase = PodPhase::kPending;
  return out;
}

NodeFacts TestTrace::node(std::string_view name, int64_t cpu_milli) {
  Allocatable room;
  room.resources.cpu_milli = cpu_milli;
  room.resources.memory = int64_t{8} << 30;
  room.pods = 110;
  NodeFacts out;
  out.node = catalog_.node(name);
  out.uid = catalog_.string(std::string("uid-").append(name));
  out.allocatable = catalog_.allocatable(room);
  out.ready = Condition::kTrue;
  return out;
}

Seq TestTrace::append(int64_t ms, Record record) {
  record.wall = at(ms);
  const auto seq = writer().append(record, "{}");
  INQUEST_CHECK(seq.ok(), seq.ok() ? "" : seq.error().message());
  return *seq;
}

Seq TestTrace::append_list(int64_t ms, Record record) {
  std::vector<ObjectFacts> rest;
  if (list_part != 0 && record.objects.size() > list_part) {
    rest.assign(record.objects.begin() + static_cast<std::ptrdiff_t>(list_part), record.objects.end());
    record.objects.resize(list_part);
    record.more_objects = rest.size();
  }
  Record part;
  part.stream = record.stream;
  part.kind = RecordKind::kSource;
  part.rv = record.rv;
  part.text = catalog_.string(trace::kPart);
  const Seq seq = append(ms, std::move(record));
  for (size_t begin = 0; begin < rest.size(); begin += list_part) {
    const size_t end = std::min(begin + list_part, rest.size());
    if (loses_parts && end == rest.size()) break;
    part.objects.assign(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                        rest.begin() + static_cast<std::ptrdiff_t>(end));
    append(ms, part);
  }
  return seq;
}

Seq TestTrace::pods_listed(int64_t ms, std::vector<PodFacts> pods, Checkpoint checkpoint, ResourceVersion list_rv) {
  Record record;
  record.stream = kPods;
  record.kind = RecordKind::kList;
  record.checkpoint = checkpoint == Checkpoint::kYes;
  record.status = 200;
  for (PodFacts& pod : pods) {
    if (pod.rv == 0) pod.rv = ++rv;
    record.objects.emplace_back(pod);
  }
  record.rv = list_rv != 0 ? list_rv : rv;
  return append_list(ms, std::move(record));
}

Seq TestTrace::nodes_listed(int64_t ms, std::vector<NodeFacts> nodes) {
  Record record;
  record.stream = kNodes;
  record.kind = RecordKind::kList;
  record.status = 200;
  for (NodeFacts& node : nodes) {
    node.rv = ++rv;
    record.objects.emplace_back(node);
  }
  record.rv = rv;
  return append_list(ms, std::move(record));
}

template <typename Facts>
Seq TestTrace::append_frame(int64_t ms, Verb verb, Facts facts, trace::StreamId stream) {
  if (facts.rv == 0) facts.rv = ++rv;
  Record record;
  record.stream = stream;
  record.kind = RecordKind::kFrame;
  record.verb = verb;
  record.rv = facts.rv;
  record.objects.emplace_back(facts);
  return append(ms, std::move(record));
}

Seq TestTrace::frame(int64_t ms, Verb verb, PodFacts pod, trace::StreamId stream) {
  return append_frame(ms, verb, pod, stream);
}

Seq TestTrace::frame(int64_t ms, Verb verb, NodeFacts node) { return append_frame(ms, verb, node, kNodes); }

Seq TestTrace::failed_event(int64_t ms, const PodFacts& pod, std::string_view uid) {
  EventFacts event;
  event.key = catalog_.key(catalog_.string("shop"), catalog_.string("event"));
  event.uid = catalog_.string("event-uid");
  event.reason = catalog_.string("FailedScheduling");
  event.controller = catalog_.string(kScheduler);
  event.regarding_kind = catalog_.string("Pod");
  event.regarding = catalog_.key_of(pod.pod);
  event.regarding_uid = catalog_.string(uid);
  return append_frame(ms, Verb::kAdded, event, kEvents);
}

Seq TestTrace::request(int64_t ms, const PodFacts& pod, std::string_view node, std::string_view scheduler) {
  Record record;
  record.stream = kBinds;
  record.kind = RecordKind::kBindRequest;
  record.bind.pod = pod.pod;
  record.bind.node = node.empty() ? NodeId::none() : catalog_.node(node);
  record.bind.scheduler = catalog_.string(scheduler);
  record.bind.observations.push_back({kBinds, at(ms), {}});
  return append(ms, std::move(record));
}

Seq TestTrace::answer(int64_t ms, Seq request, uint16_t code) {
  Record record;
  record.stream = kBinds;
  record.kind = RecordKind::kBindAnswer;
  record.bind.request = request;
  record.bind.code = code;
  return append(ms, std::move(record));
}

Seq TestTrace::mark(int64_t ms, RecordKind kind, ResourceVersion mark_rv) {
  Record record;
  record.stream = kPods;
  record.kind = kind;
  record.rv = mark_rv;
  return append(ms, std::move(record));
}

PodFacts TestTrace::place(int64_t ms, std::string_view name, std::string_view node, uint16_t host_port) {
  const PodFacts pending = pod(name, "", host_port);
  frame(ms, Verb::kAdded, pending);
  const Seq asked = request(ms + 10, pending, node);
  answer(ms + 20, asked, 201);
  frame(ms + 30, Verb::kModified, on(pending, node));
  return on(pending, node);
}

std::string TestTrace::close() {
  const auto closed = writer().close();
  INQUEST_CHECK(closed.ok(), closed.ok() ? "" : closed.error().message());
  return folder_->path("test.trace");
}

trace::TraceReader TestTrace::reader() {
  auto reader = trace::TraceReader::open(close());
  INQUEST_CHECK(reader.ok(), reader.ok() ? "" : reader.error().message());
  return std::move(*reader);
}

std::unique_ptr<Recording> TestTrace::load() {
  auto recording = Recording::load(reader());
  INQUEST_CHECK(recording.ok(), recording.ok() ? "" : recording.error().message());
  return std::move(*recording);
}

std::string describe(const Recording& recording, const Finding& finding) {
  const Catalog& catalog = recording.catalog();
  const auto offset = [&](Time time) { return std::to_string((time - recording.start()).ns / 1'000'000); };
  std::string out(name_of(finding.verdict));
  if (finding.pod) out.append(" ").append(catalog.name(catalog.key_of(finding.pod)));
  if (finding.node) out.append(" on ").append(catalog.node_name(finding.node));
  if (finding.lane) out.append(" of ").append(name_of(*finding.lane));
  out.append(" from ").append(offset(finding.birth)).append(" to ");
  out.append(finding.end ? offset(*finding.end) : "never").append(" by ").append(name_of(finding.cure));
  if (finding.after_end) out.append(" after end");
  if (finding.root) out.append(" under ").append(std::to_string(*finding.root + 1));
  return out;
}

std::vector<std::string> describe(const Recording& recording, const Outcome& outcome) {
  std::vector<std::string> out;
  for (const Finding& finding : outcome.findings) out.push_back(describe(recording, finding));
  return out;
}

RunConfig config(std::string_view policy, std::vector<Fault> faults) {
  RunConfig out;
  out.policy = *scheduler::preset(policy);
  out.plan.faults = std::move(faults);
  return out;
}

Fault drop(std::string_view text) { return *parse_fault(FaultKind::kDrop, text); }
Fault delay(std::string_view text) { return *parse_fault(FaultKind::kDelay, text); }

}  // namespace inquest::replayer
