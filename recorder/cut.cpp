#include "recorder/cut.h"

#include <algorithm>
#include <map>

#include "base/rfc3339.h"
#include "kube/decode.h"
#include "recorder/json_shape.h"
#include "recorder/line_parser.h"
#include "recorder/list_body.h"
#include "recorder/source.h"
#include "recorder/stream_fold.h"
#include "schema/identity_hash.h"
#include "schema/whole.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

constexpr const char* kNoteSource = "cut";
constexpr size_t kNamesKept = size_t{32} << 20;
constexpr size_t kMaxPending = 200'000;  // binds that something may still become of

std::string text_of(const CutEdge& edge) {
  return edge.seq ? "@" + std::to_string(*edge.seq) : edge.time ? format_rfc3339(*edge.time) : std::string();
}

// What was cut, in words.
std::string scope_of(const trace::TraceInfo& info, const CutOptions& options) {
  std::string out = info.scope.empty() ? "" : info.scope + "; ";
  out += "cut of " + info.uuid;
  if (options.from.given()) out += " from " + text_of(options.from);
  if (options.to.given()) out += " to " + text_of(options.to);
  const ObjectFilter& objects = options.objects;
  if (!objects.ns.empty()) out += ", namespace " + objects.ns;
  if (!objects.name.empty()) out += ", name " + objects.name;
  if (!objects.uid.empty()) out += ", uid " + objects.uid;
  return out;
}

class Cut {
 public:
  // The tools' reader is for what lies behind the walk of `reader`.
  Cut(const CutOptions& options, trace::TraceReader& reader, const FoldTools& tools)
      : options_(&options),
        reader_(&reader),
        tools_(tools),
        names_(reader.catalog(), tools.catalog),
        streams_(reader.info().streams.size()),
        decoder_(streamed_) {
    tools_.spare_names = [this] { return spare_written_names(); };
  }

  Result<CutReport> run();

 private:
  enum class Phase : uint8_t { kBefore, kInside, kBehind };
  struct Stream {
    StreamFold fold;              // up to the span
    ResourceVersion reached = 0;  // in the original
    ResourceVersion shown = 0;    // in the cut
  };
  struct PodThen {  // at the start of the span
    uint64_t identity = 0;
    bool bound = false;
  };
  struct Pending {  // a bind from before the span
    uint64_t name = 0, identity = 0;
    bool has_uid = false;
    Seq answer = 0;
    uint16_t code = 0;
  };

  Result<void> declare();
  Result<void> take(const Record& record);
  Result<void> take_before(const Record& record);
  Result<void> begin(const Record& first);
  HashMap<PodThen> pods_of_binds() const;
  Result<void> make_lists(Time at);
  Result<void> carry_binds(HashMap<PodThen> pods);
  Result<void> take_inside(Record record);
  Result<void> take_list(Record record);
  Result<uint64_t> count_unwanted(const Record& list);
  void drop_unwanted(Record& record);
  Result<void> take_open(const Record& record);
  Result<void> take_bind(const Record& record);
  Result<void> put_bind(Seq old, Record moved, std::string_view body);
  Result<void> take_source(const Record& record, std::string_view text);
  Result<void> take_line(const Record& record);
  bool line_is_inside(const trace::Stream& stream, std::string_view body);
  bool bind_is_inside(const trace::Stream& stream, std::string_view text);
  void advance(const Record& record);
  bool stands_before(const CutEdge& edge, const Record& record) const {
    return edge.seq ? record.seq < *edge.seq : now_ < *edge.time;
  }
  void reach(const Record& record, bool kept);
  Result<void> copy(const Record& record);
  Result<void> append(Record record, std::string_view body);
  Result<void> forget_names();
  Result<void> spare_written_names();
  void tell();

  const ObjectFilter& filter() const { return options_->objects; }
  const Catalog& catalog() const { return reader_->catalog(); }
  std::string_view text(StringId id) const { return id ? catalog().text(id) : std::string_view(); }
  const trace::Stream& stream(const Record& record) const {
    return reader_->info().streams[record.stream.value].stream;
  }

  const CutOptions* options_;
  trace::TraceReader* reader_;
  FoldTools tools_;
  Names names_;  // the reader's in the cut's catalog
  std::vector<Stream> streams_;
  Catalog streamed_;  // of frames of streaming lists, which are decoded again
  kube::Decoder decoder_;
  LineParser parser_;
  CutReport report_;
  Phase phase_ = Phase::kBefore;
  bool started_ = false, cut_before_ = false;
  Time now_, origin_, from_, to_ = Time::never();
  uint64_t before_ = 0;
  size_t folded_ = 0;
  std::map<Seq, Pending> pending_;
  std::map<Seq, Seq> requests_;  // in the original: in the cut
  // Of the record copied last, for the source records behind it.
  bool kept_ = false, changed_ = false;
  std::optional<ItemFilter> items_;
};

Result<CutReport> Cut::run() {
  INQUEST_TRY_VOID(declare());
  for (;;) {
    INQUEST_TRY(const Record* next, reader_->next());
    if (next == nullptr) break;
    const Record record = *next;  // reading a body moves the reader's own
    INQUEST_TRY_VOID(take(record));
    INQUEST_TRY_VOID(forget_names());
  }
  if (phase_ == Phase::kBefore || (report_.records == 0 && report_.lists_made == 0)) {
    return Error{ErrorCode::kUsage, "nothing lies in that span", options_->input, "inquest info says what it spans"};
  }
  tell();
  return report_;
}

Result<void> Cut::declare() {
  for (const trace::StreamSummary& summary : reader_->info().streams) {
    INQUEST_TRY(const trace::StreamId id, tools_.writer.add_stream(summary.stream));
    INQUEST_CHECK(id == summary.stream.id, id.value);
  }
  return {};
}

// The replay's time: never backwards, moved by what happened alone.
void Cut::advance(const Record& record) {
  if (started_) {
    now_ = std::max(now_, record.wall);
    return;
  }
  now_ = std::max(record.wall, Time{1});
  if (!cut_before_) origin_ = now_;
  started_ = true;
}

Result<void> Cut::take(const Record& record) {
  if (record.kind == RecordKind::kSource) {
    const std::string_view what = text(record.text);
    if (what == trace::kOrigin) {
      if (!started_) origin_ = record.wall;
      cut_before_ = cut_before_ || !started_;
      return {};
    }
    if (what == trace::kLine) return take_line(record);
    if (phase_ == Phase::kBefore) return take_before(record);
    return phase_ == Phase::kInside ? take_source(record, what) : Result<void>();
  }
  advance(record);
  if (phase_ == Phase::kBefore) {
    if (options_->from.given() && stands_before(options_->from, record)) return take_before(record);
    phase_ = Phase::kInside;
    if (!options_->to.given() || stands_before(options_->to, record)) INQUEST_TRY_VOID(begin(record));
  }
  if (phase_ == Phase::kInside && options_->to.given() && !stands_before(options_->to, record)) {
    phase_ = Phase::kBehind;
    to_ = options_->to.time.value_or(now_);
  }
  if (phase_ == Phase::kInside) return take_inside(record);
  report_.binds_unanswered += record.kind == RecordKind::kBindAnswer && requests_.erase(record.bind.request) > 0;
  return {};
}

Result<void> Cut::take_before(const Record& record) {
  ++before_;
  if (record.kind == RecordKind::kBindRequest) {
    const KeyId key = catalog().key_of(record.bind.pod);
    const uint64_t name = name_hash(catalog().ns(key), catalog().name(key));
    const std::string_view uid = catalog().uid(record.bind.pod);
    if (filter().active() && !filter().keeps(catalog(), record.bind.pod)) return {};
    pending_[record.seq] = {name, identity_hash(name, uid), !uid.empty(), 0, 0};
    if (pending_.size() > kMaxPending) {
      report_.binds_forgotten += pending_.begin()->second.answer == 0;
      pending_.erase(pending_.begin());
    }
  } else if (record.kind == RecordKind::kBindAnswer) {
    const auto request = pending_.find(record.bind.request);
    if (request == pending_.end()) return {};
    request->second.answer = record.seq;
    request->second.code = record.bind.code;
    if (record.bind.code != 201) pending_.erase(request);
  } else {
    return streams_[record.stream.value].fold.take(record, catalog(), filter(), folded_);
  }
  return {};
}

// The start of the span.
Result<void> Cut::begin(const Record& first) {
  from_ = options_->from.time.value_or(now_);
  if (!options_->from.given()) from_ = origin_;
  if (before_ > 0 || cut_before_) {
    Record origin;
    origin.stream = first.stream;
    for (const trace::StreamSummary& summary : reader_->info().streams) {
      if (!streams_[summary.stream.id.value].fold.begun()) continue;
      origin.stream = summary.stream.id;
      break;
    }
    origin.kind = RecordKind::kSource;
    origin.wall = origin_;
    origin.text = tools_.catalog.string(trace::kOrigin);
    const auto seq = tools_.writer.append(origin, "");
    if (!seq.ok()) return seq.error();
  }
  HashMap<PodThen> pods = pods_of_binds();  // the lists take the folds' objects
  INQUEST_TRY_VOID(make_lists(from_));
  INQUEST_TRY_VOID(carry_binds(std::move(pods)));
  for (Stream& stream : streams_) {
    stream.reached = stream.shown = stream.fold.reached();
    stream.fold = StreamFold();
  }
  return {};
}

Result<void> Cut::make_lists(Time at) {
  for (const trace::StreamSummary& summary : reader_->info().streams) {
    StreamFold& fold = streams_[summary.stream.id.value].fold;
    if (summary.stream.kind != trace::StreamKind::kWatch || !fold.begun()) continue;
    INQUEST_TRY(const StreamFold::Made made, fold.write(summary.stream, at, tools_));
    ++report_.lists_made;
    report_.objects_listed += made.objects;
    report_.lists_bodiless += !made.with_bodies;
    tools_.writer.add_note(kNoteSource,
                           "list of " + summary.stream.name +
                               " made of what the stream had shown by the "
                               "start of the span",
                           1);
  }
  return {};
}

// By name.
HashMap<Cut::PodThen> Cut::pods_of_binds() const {
  HashMap<PodThen> pods;
  for (const auto& [request, bind] : pending_) pods[bind.name];
  for (const Stream& stream : streams_) {
    stream.fold.objects().for_each([&](uint64_t identity, const StreamFold::Object& object) {
      if (PodThen* pod = object.name == 0 ? nullptr : pods.find(object.name)) *pod = {identity, object.bound};
    });
  }
  return pods;
}

// Binds whose answer is still to come, and those that no frame has confirmed yet.
Result<void> Cut::carry_binds(HashMap<PodThen> pods) {
  bool know_pods = false;
  for (const trace::StreamSummary& summary : reader_->info().streams) {
    know_pods = know_pods || (summary.stream.resource == "pods" && streams_[summary.stream.id.value].fold.begun());
  }
  for (const auto& [request, bind] : std::exchange(pending_, {})) {
    const PodThen& pod = pods[bind.name];
    const bool alive = pod.identity != 0 && (pod.identity == bind.identity || !bind.has_uid);
    if (know_pods ? !alive || (bind.answer != 0 && pod.bound) : bind.answer != 0) continue;
    for (const Seq seq : {request, bind.answer}) {
      if (seq == 0) continue;
      INQUEST_TRY(Record record, tools_.record(seq));
      INQUEST_TRY(const std::string body, tools_.body(seq));
      INQUEST_TRY_VOID(put_bind(seq, std::move(record), body));
      --report_.records;
    }
    ++report_.binds_carried;
  }
  return {};
}

Result<void> Cut::take_inside(Record record) {
  kept_ = true;
  changed_ = false;
  items_.reset();
  switch (record.kind) {
    case RecordKind::kList:
      reach(record, true);
      return take_list(std::move(record));
    case RecordKind::kFrame:
      kept_ = record.objects.empty() || filter().keeps(catalog(), record.objects.front());
      reach(record, kept_);
      return kept_ ? copy(record) : Result<void>();
    case RecordKind::kBookmark:
      reach(record, true);
      return copy(record);
    case RecordKind::kOpen:
      return take_open(record);
    case RecordKind::kBindRequest:
    case RecordKind::kBindAnswer:
      return take_bind(record);
    default:
      return copy(record);
  }
}

void Cut::reach(const Record& record, bool kept) {
  if (record.kind == RecordKind::kList && record.checkpoint) return;
  Stream& stream = streams_[record.stream.value];
  stream.reached = std::max(stream.reached, record.rv);
  if (kept) stream.shown = std::max(stream.shown, record.rv);
}

// A list without the objects that are not wanted.
Result<void> Cut::take_list(Record record) {
  INQUEST_TRY(const uint64_t unwanted, count_unwanted(record));
  if (unwanted == 0) return copy(record);
  changed_ = true;
  items_.emplace();
  const size_t before = record.objects.size();
  drop_unwanted(record);
  record.more_objects -= unwanted - (before - record.objects.size());  // the parts follow
  INQUEST_TRY(const std::string text, reader_->body(record.seq));
  std::string converted, body;
  if (!text.empty()) body = items_->next(json_of(text, converted), ItemFilter::Piece::kFirst);
  report_.lists_bodiless += !items_->fits();
  return append(record, body);
}

// Of a list and its parts.
Result<uint64_t> Cut::count_unwanted(const Record& list) {
  using Go = trace::TraceReader::Go;
  uint64_t unwanted = 0;
  if (!filter().active()) return unwanted;
  const auto count = [&](const Record& part, const Catalog& names) {
    for (const ObjectFacts& object : part.objects) unwanted += !filter().keeps(names, object);
  };
  if (list.more_objects == 0) {
    count(list, catalog());
    return unwanted;
  }
  INQUEST_TRY_VOID(tools_.reader.list(list.seq, [&](const Record& part) -> Result<Go> {
    count(part, tools_.reader.catalog());
    tools_.spare_read_names();
    return Go::kOn;
  }));
  return unwanted;
}

// From a list or a part of one, whose body is then to be filtered.
void Cut::drop_unwanted(Record& record) {
  std::erase_if(record.objects, [&](const ObjectFacts& object) {
    const bool keep = filter().keeps(catalog(), object);
    items_->expect(keep);
    return !keep;
  });
}

// Where the watch goes on from a frame that is not wanted, a bookmark says what it had reached.
Result<void> Cut::take_open(const Record& record) {
  Stream& stream = streams_[record.stream.value];
  if (record.rv > stream.shown && record.rv <= stream.reached) {
    Record bookmark;
    bookmark.stream = record.stream;
    bookmark.kind = RecordKind::kBookmark;
    bookmark.wall = record.wall;
    bookmark.rv = stream.shown = stream.reached;
    bookmark.text = tools_.catalog.string("made by cut: the frames up to here are of objects left out");
    const auto seq = tools_.writer.append(bookmark, "");
    if (!seq.ok()) return seq.error();
  }
  return copy(record);
}

Result<void> Cut::take_bind(const Record& record) {
  kept_ = false;
  if (record.kind == RecordKind::kBindRequest && filter().active() && !filter().keeps(catalog(), record.bind.pod)) {
    return {};
  }
  INQUEST_TRY(const std::string body, reader_->body(record.seq));
  Record moved = record;
  names_.move(moved);
  return put_bind(record.seq, std::move(moved), body);
}

// `old`: its number in the original.
Result<void> Cut::put_bind(Seq old, Record record, std::string_view body) {
  if (record.kind == RecordKind::kBindAnswer) {
    const auto request = requests_.find(record.bind.request);
    if (request == requests_.end()) return {};
    record.bind.request = request->second;
    requests_.erase(request);
  }
  kept_ = true;
  INQUEST_TRY(const Seq seq, tools_.writer.append(record, body));
  ++report_.records;
  if (record.kind == RecordKind::kBindRequest) requests_[old] = seq;
  if (requests_.size() > kMaxPending) requests_.erase(requests_.begin());
  return {};
}

Result<void> Cut::take_source(const Record& record, std::string_view what) {
  if (what == kSourceStreamed) {
    kept_ = true;
    items_.reset();
    if (!filter().active()) return copy(record);
    INQUEST_TRY(const std::string text, reader_->body(record.seq));
    std::string converted;
    if (streamed_.memory() > trace::kWalkNames) streamed_ = Catalog();
    const auto frame = decoder_.frame(json_of(text, converted));
    kept_ = !frame.ok() || filter().keeps(streamed_, frame->object);
    return kept_ ? append(record, text) : Result<void>();
  }
  const bool bodiless = items_ && !items_->fits();
  if (what == kSourcePart && items_) {
    Record part = record;
    drop_unwanted(part);
    INQUEST_TRY(const std::string text, reader_->body(record.seq));
    return append(part, bodiless ? "" : items_->next(text, ItemFilter::Piece::kPart));
  }
  return !kept_ || bodiless || (what == kSourceWhole && changed_) ? Result<void>() : copy(record);
}

// A line of an audit or bind log. These stand behind everything else.
Result<void> Cut::take_line(const Record& record) {
  INQUEST_TRY(const std::string text, reader_->body(record.seq));
  if (phase_ != Phase::kBefore && line_is_inside(stream(record), text)) return append(record, text);
  ++report_.lines_left_out;
  return {};
}

bool Cut::line_is_inside(const trace::Stream& stream, std::string_view body) {
  if (!options_->from.given() && !options_->to.given() && !filter().active()) return true;
  if (stream.kind != trace::StreamKind::kAudit || body.find("\"EventList\"") == std::string_view::npos) {
    return bind_is_inside(stream, body);
  }
  const std::vector<std::string_view> events = items_of(body);
  return std::any_of(events.begin(), events.end(), [&](std::string_view e) { return bind_is_inside(stream, e); });
}

bool Cut::bind_is_inside(const trace::Stream& stream, std::string_view text) {
  std::string padded(text);
  padded.append(kLinePadding, ' ');
  Line line;
  line.kind = Line::Kind::kText;
  line.text = std::string_view(padded).substr(0, text.size());
  BindLine bind;
  if (stream.kind == trace::StreamKind::kAudit) {
    const auto event = parser_.audit(line);
    if (!event.ok() || !event->has_value()) return false;
    bind = **event;
  } else {
    const auto logged = parser_.bind_log(line);
    if (!logged.ok()) return false;
    bind = *logged;
  }
  const Time end = bind.answered.known() ? bind.answered : bind.sent;
  return bind.sent < to_ && end >= from_ && (!filter().active() || filter().keeps(bind.ns, bind.name, bind.uid));
}

Result<void> Cut::copy(const Record& record) {
  INQUEST_TRY(const std::string body, reader_->body(record.seq));
  return append(record, body);
}

Result<void> Cut::append(Record record, std::string_view body) {
  ++report_.records;
  names_.move(record);
  const auto seq = tools_.writer.append(record, body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

Result<void> Cut::forget_names() {
  if (reader_->forget_names_beyond(trace::kWalkNames)) names_.clear();
  return spare_written_names();
}

Result<void> Cut::spare_written_names() {
  if (tools_.catalog.memory() <= kNamesKept) return {};
  INQUEST_TRY_VOID(tools_.writer.forget_names());
  tools_.catalog = Catalog();
  names_.clear();
  tools_.names.clear();
  return {};
}

void Cut::tell() {
  const trace::TraceInfo& info = reader_->info();
  for (const trace::TraceLoss& loss : info.losses) tools_.writer.add_loss(loss.source, loss.what, loss.count);
  for (const trace::TraceLoss& note : info.all_notes()) tools_.writer.add_note(note.source, note.what, note.count);
  if (info.state != trace::TraceState::kClosed) {
    tools_.writer.add_loss(kNoteSource, "the trace that this was cut out of was not closed", 1);
  }
  const auto note = [&](const char* what, uint64_t count) {
    if (count > 0) tools_.writer.add_note(kNoteSource, what, count);
  };
  note("lists without bodies, since the body of an object in them is not known", report_.lists_bodiless);
  note("binds from before the span, kept for what became of them inside", report_.binds_carried);
  note("binds whose answer comes after the span", report_.binds_unanswered);
  note("binds without an answer from long before the span, left out", report_.binds_forgotten);
  note("lines of audit and bind logs left out", report_.lines_left_out);
}

}  // namespace

Result<CutReport> cut_trace(const CutOptions& options) {
  INQUEST_TRY(auto reader, trace::TraceReader::open(options.input));
  INQUEST_TRY_VOID(trace::check_whole(reader, options.input));
  INQUEST_TRY(auto output, OutputFile::prepare(options.output, options.existing));
  const trace::TraceInfo& info = reader.info();
  const trace::TraceHeader header{info.cluster_version, info.server, scope_of(info, options)};
  INQUEST_TRY(auto past, trace::TraceReader::open(options.input));
  BodySpool spool(output.folder());
  Catalog catalog;
  Names past_names(past.catalog(), catalog);
  CutReport report;
  {
    INQUEST_TRY(auto writer,
                trace::TraceWriter::create(output.temporary(), header, catalog, trace::TraceWriter::Existing::kRefuse,
                                           trace::WriterOptions::keep()));
    INQUEST_TRY(report, Cut(options, reader, {past, past_names, catalog, writer, spool, {}}).run());
    INQUEST_TRY_VOID(writer.close());
  }
  INQUEST_TRY_VOID(output.finish());
  return report;
}

}  // namespace inquest::recorder
