#include "recorder/merge.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "recorder/bind_set.h"
#include "recorder/names.h"
#include "recorder/source.h"
#include "schema/identity_hash.h"
#include "schema/reader.h"
#include "schema/whole.h"
#include "schema/writer.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

constexpr const char* kNoteSource = "merge";
constexpr size_t kMaxTraces = 16;                  // each open one takes some megabytes
constexpr size_t kNamesKept = size_t{4} << 20;     // of each input, in memory
constexpr size_t kMergedNames = size_t{32} << 20;  // of what is written
constexpr size_t kMaxOpen = 100'000;               // binds of one trace that wait for their answers

// What another trace saw of a bind, too.
struct Added {
  Seq request = 0;  // in the input that keeps it
  trace::BindObservation observation;
};

// A stream of one input.
struct InputStream {
  trace::StreamId id;  // in the merged trace
  trace::Stream stream;
  Time first, last;  // of its records
  ResourceVersion reached = 0;
  std::optional<ResourceVersion> continues;  // what a stream of the same name had reached before
};

struct Input {
  explicit Input(trace::TraceReader opened) : reader(std::move(opened)) {}
  trace::TraceReader reader;
  std::vector<InputStream> streams;
  std::optional<Names> names;
  std::optional<Record> head;  // nothing: at the end
  Time at, start;
  std::optional<Time> origin;
  std::map<Seq, Seq> requests;                 // in the input: in the merged trace
  std::vector<Seq> dropped;                    // requests that another trace has, too, in order
  std::vector<Added> added;                    // to requests of this one, in their order
  std::map<std::string, std::string> renamed;  // sources, because another input has one of that name
};

class Merge {
 public:
  explicit Merge(std::vector<Input> inputs) : inputs_(std::move(inputs)), spool_(""), binds_(spool_) {}

  Result<void> look();
  Result<MergeReport> run(trace::TraceWriter& writer);
  const Catalog& catalog() const { return catalog_; }

 private:
  Result<void> look_at(size_t input);
  void observe(size_t input, const Record& record, std::map<Seq, std::vector<uint32_t>>& open);
  Result<void> spare_names(Input& input, trace::TraceWriter& writer);
  void join_binds();
  void forget_binds();
  void tell_sources_apart();
  void find_continued();
  Result<void> declare(trace::TraceWriter& writer);
  Result<void> write_origin(trace::TraceWriter& writer);
  Result<void> advance(Input& input);
  Result<void> write(size_t index, trace::TraceWriter& writer);
  Result<void> write_gap(InputStream& stream, const Record& first, trace::TraceWriter& writer);
  bool skips(size_t index, const Record& record) const;
  void tell(trace::TraceWriter& writer);

  Catalog catalog_;
  std::vector<Input> inputs_;
  BodySpool spool_;
  BindSet binds_;
  std::deque<Seq> observed_;      // the request, by index into binds_.seen(); no vector: growing one doubles it
  std::vector<size_t> input_of_;  // by stream of the merged trace
  bool too_many_ = false;
  MergeReport report_;
};

// What has to be known before the first record is written.
Result<void> Merge::look() {
  uint32_t id = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const trace::StreamSummary& summary : inputs_[i].reader.info().streams) {
      inputs_[i].streams.push_back({{id++}, summary.stream, {}, {}, 0, {}});
      input_of_.push_back(i);
    }
  }
  tell_sources_apart();
  for (size_t i = 0; i < inputs_.size(); ++i) INQUEST_TRY_VOID(look_at(i));
  find_continued();
  join_binds();
  return {};
}

// Two files of one name are two sources, and export must not make one of them.
void Merge::tell_sources_apart() {
  std::set<std::string> taken;
  for (Input& input : inputs_) {
    std::map<std::string, std::string> renamed;
    std::set<std::string> own;
    for (const InputStream& stream : input.streams) own.insert(stream.stream.source);
    for (const std::string& source : own) {
      std::string name = source;
      for (int i = 2; !source.empty() && (taken.contains(name) || (i > 2 && own.contains(name))); ++i)
        name = source + " (" + std::to_string(i) + ")";
      renamed[source] = name;
    }
    for (InputStream& stream : input.streams) {
      const std::string& name = renamed[stream.stream.source];
      if (name != stream.stream.source) input.renamed[stream.stream.source] = name;
      stream.stream.source = name;
    }
    for (const auto& [source, name] : renamed) taken.insert(name);
  }
}

Result<void> Merge::look_at(size_t index) {
  Input& input = inputs_[index];
  std::map<Seq, std::vector<uint32_t>> open;
  for (;;) {
    input.reader.forget_names_beyond(kNamesKept);
    INQUEST_TRY(const Record* record, input.reader.next());
    if (record == nullptr) break;
    if (record->kind == RecordKind::kSource) {
      const bool origin = record->text && input.reader.catalog().text(record->text) == trace::kOrigin;
      if (origin && !input.origin) input.origin = record->wall;
      continue;
    }
    InputStream& stream = input.streams[record->stream.value];
    if (!stream.first.known()) stream.first = record->wall;
    stream.last = std::max(stream.last, record->wall);
    if (record->kind != RecordKind::kGap && !record->checkpoint) stream.reached = std::max(stream.reached, record->rv);
    if (record->kind == RecordKind::kBindRequest || record->kind == RecordKind::kBindAnswer) {
      observe(index, *record, open);
    }
  }
  input.reader.rewind();
  return {};
}

void Merge::observe(size_t index, const Record& record, std::map<Seq, std::vector<uint32_t>>& open) {
  if (too_many_) return;
  if (record.kind == RecordKind::kBindAnswer) {
    const auto request = open.find(record.bind.request);
    if (request == open.end()) return;
    for (const uint32_t i : request->second) binds_.seen()[i].code = record.bind.code;
    open.erase(request);
    return;
  }
  const Catalog& catalog = inputs_[index].reader.catalog();
  for (const trace::BindObservation& observation : record.bind.observations) {
    if (binds_.seen().size() >= kMaxBinds) {
      too_many_ = true;
      open.clear();
      return forget_binds();
    }
    const InputStream& stream = inputs_[index].streams[observation.stream.value];
    SeenBind bind;
    bind.input = static_cast<uint16_t>(stream.id.value);
    bind.own_log = stream.stream.kind == trace::StreamKind::kBindLog;
    const KeyId key = catalog.key_of(record.bind.pod);
    bind.pod = name_hash(catalog.ns(key), catalog.name(key));
    bind.uid = text_hash(catalog.uid(record.bind.pod));
    bind.node = text_hash(catalog.node_name(record.bind.node));
    bind.scheduler = text_hash(catalog.text(record.bind.scheduler));
    bind.sent = observation.sent;
    bind.answered = observation.answered;
    open[record.seq].push_back(static_cast<uint32_t>(binds_.seen().size()));
    if (open.size() > kMaxOpen) open.erase(open.begin());
    binds_.add(bind);
    observed_.push_back(record.seq);
  }
}

void Merge::join_binds() {
  if (too_many_) return;
  binds_.join();
  for (const JoinedBind& joined : binds_.joined()) {
    const size_t keeper = input_of_[binds_.seen()[joined.first].input];
    bool by_several = false;
    for (const uint32_t i : binds_.observations(joined)) {
      const SeenBind& other = binds_.seen()[i];
      const size_t input = input_of_[other.input];
      if (input == keeper) continue;
      by_several = true;
      inputs_[input].dropped.push_back(observed_[i]);
      inputs_[keeper].added.push_back({observed_[joined.first], {{other.input}, other.sent, other.answered}});
    }
    report_.binds_joined += by_several;
  }
  forget_binds();
  for (Input& input : inputs_) {
    std::sort(input.dropped.begin(), input.dropped.end());
    std::stable_sort(input.added.begin(), input.added.end(),
                     [](const Added& a, const Added& b) { return a.request < b.request; });
  }
}

// A million of them take as much as the writing that comes next.
void Merge::forget_binds() {
  binds_ = BindSet(spool_);
  observed_ = std::deque<Seq>();
}

// Inputs stand in the order of their start.
void Merge::find_continued() {
  for (size_t later = 1; later < inputs_.size(); ++later) {
    for (InputStream& stream : inputs_[later].streams) {
      if (stream.stream.kind != trace::StreamKind::kWatch || !stream.first.known()) continue;
      for (size_t earlier = 0; earlier < later; ++earlier) {
        for (const InputStream& before : inputs_[earlier].streams) {
          const trace::Stream &a = before.stream, &b = stream.stream;
          if (a.kind != b.kind || a.name != b.name || a.resource != b.resource || !before.first.known()) continue;
          if (before.last <= stream.first) {
            stream.continues = std::max(stream.continues.value_or(0), before.reached);
            continue;
          }
          report_.warnings.push_back("two streams named " + b.name + ", from " + inputs_[earlier].reader.path() +
                                     " and " + inputs_[later].reader.path() +
                                     ", overlap in time: both are kept, a replay's view is made of the first");
        }
      }
    }
  }
}

Result<void> Merge::declare(trace::TraceWriter& writer) {
  for (const Input& input : inputs_) {
    for (const InputStream& stream : input.streams) {
      INQUEST_TRY(const trace::StreamId id, writer.add_stream(stream.stream));
      INQUEST_CHECK(id == stream.id, id.value);
    }
  }
  return {};
}

// Of traces that were cut, the earliest start of what they were cut out of.
Result<void> Merge::write_origin(trace::TraceWriter& writer) {
  std::optional<Time> origin;
  Time start = Time::never();
  for (const Input& input : inputs_) {
    if (input.origin && (!origin || *input.origin < *origin)) origin = input.origin;
    start = std::min(start, input.start);
  }
  if (!origin || *origin > start) return {};
  Record record;
  record.stream = {0};
  record.kind = RecordKind::kSource;
  record.wall = *origin;
  record.text = catalog_.string(trace::kOrigin);
  const auto seq = writer.append(record, "");
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

// What follows a record (its form, its parts) shares its time and so stays behind it; lines of logs go last.
Result<void> Merge::advance(Input& input) {
  INQUEST_TRY(const Record* next, input.reader.next());
  input.head.reset();
  if (next == nullptr) return {};
  input.head = *next;
  const bool line = next->kind == RecordKind::kSource && input.reader.catalog().text(next->text) == trace::kLine;
  input.at = line ? Time::never() : std::max(input.at, next->wall);
  return {};
}

bool Merge::skips(size_t index, const Record& record) const {
  const auto dropped = [&](Seq request) {
    return std::binary_search(inputs_[index].dropped.begin(), inputs_[index].dropped.end(), request);
  };
  if (record.kind == RecordKind::kBindRequest) return dropped(record.seq);
  if (record.kind == RecordKind::kBindAnswer) return dropped(record.bind.request);
  return record.kind == RecordKind::kSource && inputs_[index].reader.catalog().text(record.text) == trace::kOrigin;
}

Result<void> Merge::write_gap(InputStream& stream, const Record& first, trace::TraceWriter& writer) {
  const ResourceVersion reached = *stream.continues;
  stream.continues.reset();
  if (first.kind == RecordKind::kList && first.rv == reached) return {};
  Record gap;
  gap.stream = stream.id;
  gap.kind = RecordKind::kGap;
  gap.wall = first.wall;
  gap.gap_from = reached;
  gap.rv = first.rv > reached ? first.rv : 0;
  gap.text = catalog_.string("between two traces: changes in between, if any, were not seen one by one");
  const auto seq = writer.append(gap, "");
  report_.gaps += seq.ok();
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

// Called between two records, when the input's next one has not been read.
Result<void> Merge::spare_names(Input& input, trace::TraceWriter& writer) {
  if (input.reader.forget_names_beyond(kNamesKept)) input.names->clear();
  if (catalog_.memory() <= kMergedNames) return {};
  INQUEST_TRY_VOID(writer.forget_names());
  catalog_ = Catalog();
  for (Input& each : inputs_) each.names->clear();
  return {};
}

Result<void> Merge::write(size_t index, trace::TraceWriter& writer) {
  Input& input = inputs_[index];
  Record record = *std::move(input.head);
  if (skips(index, record)) {
    INQUEST_TRY_VOID(spare_names(input, writer));
    return advance(input);
  }
  InputStream& stream = input.streams[record.stream.value];
  if (stream.continues && record.kind != RecordKind::kSource) INQUEST_TRY_VOID(write_gap(stream, record, writer));
  INQUEST_TRY(const std::string body, input.reader.body(record.seq));
  input.names->move(record);
  record.stream = stream.id;
  for (trace::BindObservation& seen : record.bind.observations) seen.stream = input.streams[seen.stream.value].id;
  if (record.kind == RecordKind::kBindRequest) {
    auto added = std::lower_bound(input.added.begin(), input.added.end(), record.seq,
                                  [](const Added& a, Seq request) { return a.request < request; });
    for (; added != input.added.end() && added->request == record.seq; ++added) {
      record.bind.observations.push_back(added->observation);
    }
  } else if (record.kind == RecordKind::kBindAnswer) {
    const auto request = input.requests.find(record.bind.request);
    record.bind.request = request == input.requests.end() ? 0 : request->second;
    if (request != input.requests.end()) input.requests.erase(request);
  }
  INQUEST_TRY(const Seq seq, writer.append(record, body));
  ++report_.records;
  if (record.kind == RecordKind::kBindRequest) input.requests[record.seq] = seq;
  if (input.requests.size() > kMaxOpen) input.requests.erase(input.requests.begin());
  INQUEST_TRY_VOID(spare_names(input, writer));
  return advance(input);
}

Result<MergeReport> Merge::run(trace::TraceWriter& writer) {
  INQUEST_TRY_VOID(declare(writer));
  INQUEST_TRY_VOID(write_origin(writer));
  for (Input& input : inputs_) {
    input.names.emplace(input.reader.catalog(), catalog_);
    INQUEST_TRY_VOID(advance(input));
  }
  for (;;) {
    std::optional<size_t> first;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].head && (!first || inputs_[i].at < inputs_[*first].at)) first = i;
    }
    if (!first) break;
    INQUEST_TRY_VOID(write(*first, writer));
  }
  tell(writer);
  return report_;
}

void Merge::tell(trace::TraceWriter& writer) {
  for (const Input& input : inputs_) {
    const trace::TraceInfo& info = input.reader.info();
    const auto source = [&](const std::string& name) {
      const auto other = input.renamed.find(name);
      return other == input.renamed.end() ? name : other->second;
    };
    for (const trace::TraceLoss& loss : info.losses) writer.add_loss(source(loss.source), loss.what, loss.count);
    for (const trace::TraceLoss& note : info.all_notes()) writer.add_note(source(note.source), note.what, note.count);
    if (info.state != trace::TraceState::kClosed) {
      writer.add_loss(kNoteSource, "a trace that this was merged from was not closed", 1);
    }
  }
  for (const std::string& warning : report_.warnings) writer.add_note(kNoteSource, warning, 1);
  if (report_.binds_joined > 0) writer.add_note(kNoteSource, "binds that several traces saw", report_.binds_joined);
  if (!too_many_) return;
  const char* const kText = "there are too many binds to find those that several traces saw: they count twice";
  writer.add_note(kNoteSource, kText, 1);
  report_.warnings.emplace_back(kText);
}

// When the first thing in it happened; that of a cut is not its origin.
Result<Time> first_time(trace::TraceReader& reader) {
  for (;;) {
    reader.forget_names_beyond(kNamesKept);
    INQUEST_TRY(const Record* record, reader.next());
    if (record != nullptr && record->kind == RecordKind::kSource) continue;
    const Time first = record == nullptr ? Time::never() : record->wall;
    reader.rewind();
    return first;
  }
}

// Whether they can be traces of one cluster, each once.
Result<void> check_inputs(const std::vector<Input>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const trace::TraceInfo& a = inputs[i].reader.info();
    for (size_t j = 0; j < i; ++j) {
      const trace::TraceInfo& b = inputs[j].reader.info();
      const std::string &path = inputs[i].reader.path(), &other = inputs[j].reader.path();
      if (path == other) return Error{ErrorCode::kUsage, "is given twice", path, "every trace counts once"};
      if (a.uuid == b.uuid) {
        return Error{ErrorCode::kUsage, "is the same trace as " + other + " (uuid " + a.uuid + ")", path,
                     "every trace counts once"};
      }
      if (!a.server.empty() && !b.server.empty() && a.server != b.server) {
        return Error{ErrorCode::kUsage, "is of another cluster than " + other, path, "merge traces of one cluster"};
      }
    }
  }
  return {};
}

}  // namespace

Result<MergeReport> merge_traces(const MergeOptions& options) {
  if (options.inputs.size() < 2) {
    return Error{ErrorCode::kUsage, "one trace alone is not to be merged", "", "name two or more"};
  }
  if (options.inputs.size() > kMaxTraces) {
    return Error{ErrorCode::kUsage, "more than " + std::to_string(kMaxTraces) + " traces at once", "",
                 "merge some of them, then the results"};
  }
  std::vector<Input> inputs;
  std::string scope;
  trace::TraceHeader header;
  for (const std::string& path : options.inputs) {
    INQUEST_TRY(auto reader, trace::TraceReader::open(path));
    INQUEST_TRY_VOID(trace::check_whole(reader, path));
    const trace::TraceInfo& info = reader.info();
    if (header.server.empty()) header.server = info.server;
    if (header.cluster_version.empty()) header.cluster_version = info.cluster_version;
    scope += (scope.empty() ? "merge of " : ", ") + info.uuid + (info.scope.empty() ? "" : " (" + info.scope + ")");
    inputs.emplace_back(std::move(reader));
    INQUEST_TRY(inputs.back().start, first_time(inputs.back().reader));
  }
  header.scope = scope;
  INQUEST_TRY_VOID(check_inputs(inputs));
  std::stable_sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.start < b.start; });
  INQUEST_TRY(auto output, OutputFile::prepare(options.output, options.existing));
  MergeReport report;
  {
    Merge merge(std::move(inputs));
    INQUEST_TRY_VOID(merge.look());
    INQUEST_TRY(auto writer,
                trace::TraceWriter::create(output.temporary(), header, merge.catalog(),
                                           trace::TraceWriter::Existing::kRefuse, trace::WriterOptions::keep()));
    INQUEST_TRY(report, merge.run(writer));
    INQUEST_TRY_VOID(writer.close());
  }
  INQUEST_TRY_VOID(output.finish());
  return report;
}

}  // namespace inquest::recorder
