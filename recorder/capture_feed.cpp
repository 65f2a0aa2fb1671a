#include "recorder/capture_feed.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "recorder/envelope.h"
#include "recorder/name_limits.h"
#include "recorder/source.h"
#include "schema/limits.h"

namespace inquest::recorder {
namespace {

using trace::RecordKind;

std::string_view resource_of(const ObjectFacts& object) {
  constexpr std::string_view kNames[] = {"", "pods", "nodes", "events"};  // in the order of ObjectFacts
  return kNames[object.index()];
}

// Kubernetes is younger.
constexpr Duration kDecades = Duration::seconds(int64_t{20} * 365 * 86'400);

bool far_away(Time a, Time b) { return a.known() && b.known() && (a < b ? b - a : a - b) > kDecades; }

bool usable_name(std::string_view name) {
  return name.size() <= kMaxStreamName &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

}  // namespace

std::pair<uint64_t, uint64_t> identity_of(const ObjectFacts& object) {
  if (const auto* pod = std::get_if<PodFacts>(&object)) return {pod->pod.value, 0};
  if (const auto* node = std::get_if<NodeFacts>(&object)) return {node->node.value, node->uid.value};
  if (const auto* event = std::get_if<EventFacts>(&object)) return {event->key.value, event->uid.value};
  const auto& other = std::get<OtherFacts>(object);
  return {other.key.value, other.uid.value};
}

bool CaptureFeed::advance() {
  for (;;) {
    std::optional<Line> line = input_->next(tools_.losses);
    if (!line) return false;
    auto capture = parse(*line);
    if (!capture.ok()) {
      input_->lose(*line, capture.error().text, tools_.losses);
      continue;
    }
    if (!usable_name(capture->stream)) {
      input_->lose(*line, "a stream name that is too long or holds control characters", tools_.losses);
      continue;
    }
    if (streams_.size() >= kMaxStreams && streams_.find(capture->stream) == streams_.end()) {
      input_->lose(*line, "more than " + std::to_string(kMaxStreams) + " streams in one input", tools_.losses);
      continue;
    }
    line_ = std::move(*line);
    capture_ = *capture;
    if (const std::string_view name = tools_.redactor.redact_text(capture_.stream); name != capture_.stream) {
      capture_.stream = stream_ = name;
    }
    check_time(capture_.t);
    at_ = std::max(at_, capture_.t);
    return true;
  }
}

void CaptureFeed::check_time(Time t) {
  if (!far_away(t, usual_)) {
    usual_ = t;
    return;
  }
  tools_.warnings.add(input_->place(line_),
                      "its time, " + format_rfc3339(t) + ", is decades away from the lines before");
  if (odd_.known() && !far_away(t, odd_)) usual_ = t;  // it is the first line that was odd
  odd_ = t;
}

void CaptureFeed::check_created(const ObjectFacts& object) {
  const auto* pod = std::get_if<PodFacts>(&object);
  const auto* node = std::get_if<NodeFacts>(&object);
  for (const Time t : {pod != nullptr ? pod->created : Time(), pod != nullptr ? pod->deletion : Time(),
                       node != nullptr ? node->created : Time()}) {
    if (!far_away(t, capture_.t)) continue;
    tools_.warnings.add(input_->place(line_), "an object of " + format_rfc3339(t) +
                                                  ", decades away from the line's time, " + format_rfc3339(capture_.t));
  }
}

void CaptureFeed::check_names(std::vector<ObjectFacts>& objects) {
  std::erase_if(objects, [&](const ObjectFacts& object) {
    check_created(object);
    if (!name_too_long(tools_.catalog, object)) return false;
    input_->lose(line_, std::string("an item of a list, left out: ") + kNameTooLong, tools_.losses);
    return true;
  });
}

void CaptureFeed::tell_warnings(kube::Decoder& decoder, uint64_t& warned, uint64_t left_out) {
  for (uint64_t i = 0; i < left_out; ++i) {
    input_->lose(line_, "an item of a list that is no object or has no metadata, left out", tools_.losses);
  }
  const std::string place = input_->place(line_);
  const uint64_t all = decoder.warning_count();
  if (all == warned) return;
  uint64_t untold = all - warned;
  warned = all;
  for (const kube::Warning& warning : decoder.take_warnings()) {
    const uint64_t count = untold > 0 ? 1 : 0;
    untold -= count;
    tools_.warnings.add(place, warning.object + ": " + warning.field + ": " + warning.text, count);
  }
  tools_.warnings.count_more(untold);
}

bool CaptureFeed::holds_names() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return !entry.second.streamed.empty(); });
}

void CaptureFeed::let_go_of_names() {
  for (auto& entry : streams_) {
    if (!entry.second.streamed.empty()) lose_streaming(entry.second, "whose names take too much memory");
  }
}

// A line that is not UTF-8 is read as if every byte beyond ASCII were a '?'; its body keeps the bytes that came.
Result<CaptureLine> CaptureFeed::parse(const Line& line) {
  if (line.kind == Line::Kind::kLong) {
    const auto list = long_.list();
    if (!list.ok()) return Error{ErrorCode::kInput, "a long list: " + list.error().text, "", ""};
    return long_.line();
  }
  auto capture = input_->parser().capture(line);
  if (capture.ok() || capture.error().text != kNotUtf8) return capture;
  ascii_.assign(line.text).resize(line.text.size() + kLinePadding, ' ');
  for (char& c : ascii_) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
  Line copy = line;
  copy.text = std::string_view(ascii_).substr(0, line.text.size());
  capture = input_->parser().capture(copy);
  if (!capture.ok() || capture->written.empty()) return capture;
  capture->written =
      line.text.substr(static_cast<size_t>(capture->written.data() - ascii_.data()), capture->written.size());
  bytes_.clear();
  unescape(capture->written, bytes_);
  capture->body = capture->raw ? capture->written : std::string_view(bytes_);
  return capture;
}

Result<void> CaptureFeed::write() {
  input_->used();
  kept_ = tools_.redactor.redact(capture_.body);
  switch (capture_.kind) {
    case CaptureLine::Kind::kList:
      return write_list();
    case CaptureLine::Kind::kOpen:
      return write_open();
    case CaptureLine::Kind::kFrame:
      return write_frame();
    case CaptureLine::Kind::kOrigin:
      return write_origin();
    case CaptureLine::Kind::kClose:
      break;
  }
  INQUEST_TRY(State * state, state_of(""));
  lose_streaming(*state);
  state->book.close();
  trace::Record closed = record(*state, RecordKind::kClose);
  if (!capture_.reason.empty()) closed.text = tools_.catalog.string(tools_.redactor.redact_text(capture_.reason));
  return append(*state, closed);
}

Result<void> CaptureFeed::write_origin() {
  INQUEST_TRY(State * state, state_of(""));
  trace::Record out = source_record(*state, trace::kOrigin);
  out.wall = capture_.t;
  const auto seq = tools_.writer.append(out, "");
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

// The stream of the line, declared at its first record. `resource`: what it carries, as far as the line shows.
Result<CaptureFeed::State*> CaptureFeed::state_of(std::string_view resource) {
  if (const auto found = streams_.find(capture_.stream); found != streams_.end()) return &found->second;
  trace::Stream stream;
  stream.kind = trace::StreamKind::kWatch;
  stream.name = std::string(capture_.stream);
  stream.resource = parse_watch_path(capture_.path).resource;
  if (stream.resource.empty()) stream.resource = std::string(resource.empty() ? capture_.stream : resource);
  stream.source = input_->name();
  State state;
  state.name = stream.name;
  INQUEST_TRY(state.id, tools_.writer.add_stream(stream));
  return &streams_.emplace(stream.name, std::move(state)).first->second;
}

trace::Record CaptureFeed::record(const State& state, RecordKind kind) const {
  trace::Record out;
  out.stream = state.id;
  out.kind = kind;
  out.wall = capture_.t;
  out.status = capture_.status;
  if (!capture_.path.empty()) out.path = tools_.catalog.string(tools_.redactor.redact_text(capture_.path));
  return out;
}

Result<void> CaptureFeed::write_gap(const State& state, const Gap& gap) {
  trace::Record out = record(state, RecordKind::kGap);
  out.status = 0;
  out.path = {};
  out.gap_from = gap.from;
  out.rv = gap.to;
  out.text = tools_.catalog.string(gap.text);
  const auto seq = tools_.writer.append(out, "");
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

// A list in pieces: its record with the first, the others behind it.
Result<void> CaptureFeed::write_long(State& state) {
  const LongList::List& list = **long_.list();
  tell_warnings(long_.decoder(), warned_of_long_, list.left_out);
  for (uint64_t i = 0; i < list.too_long; ++i) {
    input_->lose(line_, std::string("an item of a list, left out: ") + kNameTooLong, tools_.losses);
  }
  const WatchBook::Place place = state.book.list(list.rv);
  if (place.gap) INQUEST_TRY_VOID(write_gap(state, *place.gap));
  for (size_t i = 0; i < long_.pieces(); ++i) {
    INQUEST_TRY_VOID(tools_.spare_names());
    INQUEST_TRY(LongList::Piece piece, long_.piece(i, tools_.catalog));
    for (const ObjectFacts& object : piece.objects) saw_listed(state, object);
    trace::Record out = record(state, RecordKind::kList);
    if (i > 0) {
      out = source_record(state, kSourcePart);
      out.wall = piece.objects.empty() ? Time() : capture_.t;
    }
    out.rv = i > 0 && piece.objects.empty() ? 0 : list.rv;
    out.checkpoint = i == 0 && place.checkpoint;
    out.more_objects = i > 0 ? 0 : list.objects - piece.objects.size();
    out.objects = std::move(piece.objects);
    INQUEST_TRY_VOID(put(out, piece.body));
    if (i == 0) INQUEST_TRY_VOID(put_long_form(state));
  }
  return {};
}

Result<void> CaptureFeed::put_long_form(const State& state) {
  if (long_.envelope().empty()) return {};
  trace::Record form = source_record(state, kSourceEnvelope);
  size_t hole = long_.hole();
  const std::string_view text = tools_.redactor.redact_form(long_.envelope(), hole);
  form.rv = hole;
  return text.empty() ? Result<void>() : put(form, text);
}

Result<void> CaptureFeed::put(const trace::Record& record, std::string_view body) {
  const auto seq = tools_.writer.append(record, body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

trace::Record CaptureFeed::source_record(const State& state, std::string_view what) {
  trace::Record out;
  out.stream = state.id;
  out.kind = RecordKind::kSource;
  out.text = tools_.catalog.string(what);
  return out;
}

Result<void> CaptureFeed::write_list() {
  if (line_.kind == Line::Kind::kLong) {
    const LongList::List& list = **long_.list();
    if (!list.continue_token.empty() || capture_.path.find("continue=") != std::string_view::npos) {
      input_->lose(line_, "one page of a longer list; record whole lists", tools_.losses);
      return {};
    }
    INQUEST_TRY(const LongList::Piece first, long_.piece(0, tools_.catalog));
    INQUEST_TRY(State * state, state_of(first.objects.empty() ? "" : resource_of(first.objects.front())));
    return write_long(*state);
  }
  if (capture_.status >= 300) {
    INQUEST_TRY(State * state, state_of(""));
    return write_failure(*state);
  }
  auto list = tools_.decoder.list(kept_);
  tell_warnings(list.ok() ? list->left_out : 0);
  if (!list.ok()) return write_undecodable(list.error().text);
  check_names(list->objects);
  // Taken for a whole list, a page would say that everything on the other pages is gone.
  if (!list->continue_token.empty() || capture_.path.find("continue=") != std::string_view::npos) {
    return write_undecodable("one page of a longer list; record whole lists");
  }
  INQUEST_TRY(State * state, state_of(list->objects.empty() ? "" : resource_of(list->objects.front())));
  const WatchBook::Place place = state->book.list(list->rv);
  if (place.gap) INQUEST_TRY_VOID(write_gap(*state, *place.gap));
  trace::Record out = record(*state, RecordKind::kList);
  out.rv = list->rv;
  out.checkpoint = place.checkpoint;
  out.objects = std::move(list->objects);
  return append(*state, out);
}

Result<void> CaptureFeed::write_open() {
  INQUEST_TRY(State * state, state_of(""));
  lose_streaming(*state);
  if (capture_.status >= 300) return write_failure(*state);
  const ResourceVersion rv = parse_watch_path(capture_.path).rv;
  state->streaming = capture_.path.find("sendInitialEvents=true") != std::string_view::npos;
  if (state->streaming) {
    state->book.close();  // what its frames add up to is a baseline
  } else if (const auto gap = state->book.open(rv)) {
    INQUEST_TRY_VOID(write_gap(*state, *gap));
  }
  trace::Record out = record(*state, RecordKind::kOpen);
  out.rv = rv;
  return append(*state, out);
}

// A list or watch that the server refused.
Result<void> CaptureFeed::write_failure(State& state) {
  trace::Record out = record(state, RecordKind::kError);
  const auto status = tools_.decoder.status(kept_);
  out.text = tools_.catalog.string(status.ok() && !status.value().message.empty() ? status.value().message
                                                                                  : "refused by the server");
  return append(state, out);
}

Result<void> CaptureFeed::write_undecodable(const std::string& why) {
  INQUEST_TRY(State * state, state_of(""));
  input_->lose(line_,
               "a " + std::string(capture_.kind == CaptureLine::Kind::kList ? "list" : "frame") +
                   " that does not decode, kept as it is: " + why,
               tools_.losses, Losses::Kept::kAsBytes);
  trace::Record out = record(*state, RecordKind::kUndecodable);
  out.text = tools_.catalog.string(why);
  return append(*state, out);
}

Result<void> CaptureFeed::write_frame() {
  using Type = kube::DecodedFrame::Type;
  auto frame = tools_.decoder.frame(kept_);
  tell_warnings();
  if (!frame.ok()) return write_undecodable(frame.error().text);
  const bool object = frame->type <= Type::kDeleted;
  if (object && name_too_long(tools_.catalog, frame->object)) return write_undecodable(kNameTooLong);
  if (object) check_created(frame->object);
  INQUEST_TRY(State * state, state_of(object ? resource_of(frame->object) : ""));
  if (object) return write_object(*state, static_cast<Verb>(frame->type), std::move(frame->object));
  trace::Record out = record(*state, RecordKind::kBookmark);
  out.rv = frame->rv;
  if (frame->type == Type::kBookmark) {
    if (frame->initial_events_end && state->streaming) INQUEST_TRY_VOID(end_streaming(*state, frame->rv));
    state->book.frame(frame->rv);
  } else {
    out.kind = RecordKind::kError;
    out.status = static_cast<uint16_t>(std::clamp(frame->code, 0, 65535));
    out.text = tools_.catalog.string(frame->message.empty() ? frame->reason : frame->message);
    lose_streaming(*state);
    state->book.error();
  }
  return append(*state, out);
}

Result<void> CaptureFeed::write_object(State& state, Verb verb, ObjectFacts object) {
  if (state.streaming) return write_streamed(state, verb, std::move(object));
  trace::Record out = record(state, RecordKind::kFrame);
  out.verb = verb;
  out.rv = rv_of(object);
  out.objects.push_back(std::move(object));
  state.book.frame(out.rv);
  return append(state, out);
}

Result<void> CaptureFeed::write_streamed(State& state, Verb verb, ObjectFacts object) {
  trace::Record out = record(state, RecordKind::kSource);
  out.verb = verb;
  out.text = tools_.catalog.string(kSourceStreamed);
  out.rv = rv_of(object);
  ++state.streamed_frames;
  if (verb == Verb::kDeleted) {
    state.streamed.erase(identity_of(object));
  } else {
    state.streamed.insert_or_assign(identity_of(object), std::move(object));
  }
  if (state.streamed.size() > trace::kMaxBatchObjects) lose_streaming(state, "with more objects than a list may have");
  return append(state, out);
}

// The frames of a streaming list are complete: the list they add up to.
Result<void> CaptureFeed::end_streaming(State& state, ResourceVersion rv) {
  state.streaming = false;
  const WatchBook::Place place = state.book.list(rv);
  if (place.gap) INQUEST_TRY_VOID(write_gap(state, *place.gap));
  const Time wall = capture_.t;
  uint64_t left = state.streamed.size();
  auto next = state.streamed.begin();
  for (bool first = true; first || left > 0; first = false) {
    trace::Record out = first ? record(state, RecordKind::kList) : source_record(state, kSourcePart);
    out.wall = wall;
    out.rv = rv;
    out.status = 0;
    for (; left > 0 && out.objects.size() < kObjectsOfAPart; --left) out.objects.push_back(std::move((next++)->second));
    out.more_objects = first ? left : 0;
    INQUEST_TRY_VOID(put(out, ""));
  }
  state.streamed.clear();
  state.streamed_frames = 0;
  return {};
}

void CaptureFeed::lose_streaming(State& state, const std::string& why) {
  if (!state.streaming) return;
  state.streaming = false;
  input_->lose(
      line_,
      "a streaming list " + why + ": its " + std::to_string(state.streamed_frames) + " frames are kept and are no list",
      tools_.losses);
  state.streamed.clear();
  state.streamed_frames = 0;
}

void CaptureFeed::finish() {
  for (auto& entry : streams_) lose_streaming(entry.second);
}

Result<void> CaptureFeed::append(const State& state, const trace::Record& record) {
  const auto seq = tools_.writer.append(record, kept_);
  if (!seq.ok() && seq.error().code == ErrorCode::kOutOfLimit) {
    input_->lose(line_, seq.error().text, tools_.losses);
    return {};
  }
  if (!seq.ok()) return seq.error();
  return keep_form(state, record);
}

// What export needs beyond the record to write the very line again.
Result<void> CaptureFeed::keep_form(const State& state, const trace::Record& record) {
  const bool redacted = kept_.data() != capture_.body.data();
  Envelope envelope;
  const Form form = form_of(line_.text, capture_.written, capture_.body, capture_.raw,
                            fields_of(record, state.name, tools_.catalog), envelope);
  if (form == Form::kUsual) return {};
  if (form == Form::kUnknown && redacted) return {};  // the line holds what the body must not
  trace::Record out = source_record(state, form == Form::kEnvelope ? kSourceEnvelope : kSourceWhole);
  std::string_view text = line_.text;
  if (form == Form::kEnvelope) {
    text = tools_.redactor.redact_form(envelope.text, envelope.hole);
    out.rv = envelope.hole;
    out.status = static_cast<uint16_t>(envelope.style);
  } else {
    text = tools_.redactor.redact(text);
  }
  if (text.empty()) return {};
  const auto seq = tools_.writer.append(out, text);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

}  // namespace inquest::recorder
