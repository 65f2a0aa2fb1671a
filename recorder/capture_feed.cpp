#include "recorder/capture_feed.h"

#include <algorithm>

namespace inquest::recorder {
namespace {

using trace::RecordKind;

std::string_view resource_of(const ObjectFacts& object) {
  constexpr std::string_view kNames[] = {"", "pods", "nodes", "events"};  // in the order of ObjectFacts
  return kNames[object.index()];
}

bool usable_name(std::string_view name) {
  return name.size() <= kMaxStreamName &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

}  // namespace

bool CaptureFeed::advance() {
  for (;;) {
    std::optional<Line> line = input_->next(*losses_);
    if (!line) return false;
    auto capture = input_->parser().capture(*line);
    if (!capture.ok()) {
      input_->lose(*line, capture.error().text, *losses_);
      continue;
    }
    if (!usable_name(capture->stream)) {
      input_->lose(*line, "a stream name that is too long or holds control characters", *losses_);
      continue;
    }
    if (streams_.size() >= kMaxStreams && streams_.find(capture->stream) == streams_.end()) {
      input_->lose(*line, "more than " + std::to_string(kMaxStreams) + " streams in one input", *losses_);
      continue;
    }
    line_ = std::move(*line);
    capture_ = *capture;
    at_ = std::max(at_, capture_.t);
    return true;
  }
}

Result<void> CaptureFeed::write() {
  input_->used();
  switch (capture_.kind) {
    case CaptureLine::Kind::kList:
      return write_list();
    case CaptureLine::Kind::kOpen:
      return write_open();
    case CaptureLine::Kind::kFrame:
      return write_frame();
    case CaptureLine::Kind::kClose:
      break;
  }
  INQUEST_TRY(State * state, state_of(""));
  state->book.close();
  trace::Record closed = record(*state, RecordKind::kClose);
  if (!capture_.reason.empty()) closed.text = catalog_->string(capture_.reason);
  INQUEST_TRY(const auto seq, writer_->append(closed, capture_.body));
  static_cast<void>(seq);
  return {};
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
  INQUEST_TRY(state.id, writer_->add_stream(stream));
  return &streams_.emplace(stream.name, std::move(state)).first->second;
}

trace::Record CaptureFeed::record(const State& state, RecordKind kind) const {
  trace::Record out;
  out.stream = state.id;
  out.kind = kind;
  out.wall = capture_.t;
  out.status = capture_.status;
  if (!capture_.path.empty()) out.path = catalog_->string(capture_.path);
  return out;
}

Result<void> CaptureFeed::write_gap(const State& state, const Gap& gap) {
  trace::Record out = record(state, RecordKind::kGap);
  out.status = 0;
  out.path = {};
  out.gap_from = gap.from;
  out.rv = gap.to;
  out.text = catalog_->string(gap.text);
  const auto seq = writer_->append(out, "");
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

Result<void> CaptureFeed::write_list() {
  if (capture_.status >= 300) {
    INQUEST_TRY(State * state, state_of(""));
    return write_failure(*state);
  }
  auto list = decoder_->list(capture_.body);
  if (!list.ok()) return write_undecodable(list.error().text);
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
  const auto seq = writer_->append(out, capture_.body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

Result<void> CaptureFeed::write_open() {
  INQUEST_TRY(State * state, state_of(""));
  if (capture_.status >= 300) return write_failure(*state);
  const ResourceVersion rv = parse_watch_path(capture_.path).rv;
  if (const auto gap = state->book.open(rv)) INQUEST_TRY_VOID(write_gap(*state, *gap));
  trace::Record out = record(*state, RecordKind::kOpen);
  out.rv = rv;
  const auto seq = writer_->append(out, capture_.body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

// A list or watch that the server refused.
Result<void> CaptureFeed::write_failure(State& state) {
  trace::Record out = record(state, RecordKind::kError);
  const auto status = decoder_->status(capture_.body);
  out.text = catalog_->string(status.ok() && !status.value().message.empty() ? status.value().message
                                                                             : "refused by the server");
  const auto seq = writer_->append(out, capture_.body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

Result<void> CaptureFeed::write_undecodable(const std::string& why) {
  INQUEST_TRY(State * state, state_of(""));
  input_->lose(line_,
               "a " + std::string(capture_.kind == CaptureLine::Kind::kList ? "list" : "frame") +
                   " that does not decode, kept as it is: " + why,
               *losses_, Losses::Kept::kAsBytes);
  trace::Record out = record(*state, RecordKind::kUndecodable);
  out.text = catalog_->string(why);
  const auto seq = writer_->append(out, capture_.body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

Result<void> CaptureFeed::write_frame() {
  using Type = kube::DecodedFrame::Type;
  auto frame = decoder_->frame(capture_.body);
  if (!frame.ok()) return write_undecodable(frame.error().text);
  const bool object = frame->type <= Type::kDeleted;
  INQUEST_TRY(State * state, state_of(object ? resource_of(frame->object) : ""));
  trace::Record out = record(*state, RecordKind::kFrame);
  if (object) {
    out.verb = static_cast<Verb>(frame->type);
    out.objects.push_back(std::move(frame->object));
  } else if (frame->type == Type::kBookmark) {
    out.kind = RecordKind::kBookmark;
  } else {
    out.kind = RecordKind::kError;
    out.status = static_cast<uint16_t>(std::clamp(frame->code, 0, 65535));
    out.text = catalog_->string(frame->message.empty() ? frame->reason : frame->message);
  }
  out.rv = frame->rv;
  if (out.kind == RecordKind::kError) {
    state->book.error();
  } else {
    state->book.frame(frame->rv);
  }
  const auto seq = writer_->append(out, capture_.body);
  return seq.ok() ? Result<void>() : Result<void>(seq.error());
}

}  // namespace inquest::recorder
