#include "recorder/value_feed.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "recorder/json_shape.h"
#include "recorder/name_limits.h"
#include "recorder/source.h"
#include "recorder/yaml_json.h"
#include "schema/identity_hash.h"

namespace inquest::recorder {
namespace {

using trace::RecordKind;

constexpr Duration kTick{1000};
constexpr Time kFirst{1'000'000'000};  // where nothing names a time
constexpr std::string_view kUnknown = "objects";

std::string plural(std::string_view kind) {
  std::string out;
  for (const char c : kind.substr(0, 200)) {
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c >= 'a' && c <= 'z' ? c : '-';
  }
  if (out.empty()) return std::string(kUnknown);
  if (out.back() == 'y') return out.substr(0, out.size() - 1) + "ies";
  return out + (out.back() == 's' ? "es" : "s");
}

bool past_time(std::string_view key) {
  const auto ends = [&](std::string_view ending) {
    return key.size() >= ending.size() && key.substr(key.size() - ending.size()) == ending;
  };
  return key != "deletionTimestamp" && (ends("Time") || ends("Timestamp") || ends("time") || ends("At"));
}

// The key before the value at json[at]; empty if it is no field's.
std::string_view key_before(std::string_view json, size_t at) {
  const size_t colon = at == 0 ? std::string_view::npos : json.find_last_not_of(" \t\r\n", at - 1);
  if (colon == std::string_view::npos || json[colon] != ':' || colon == 0) return {};
  const size_t close = json.find_last_not_of(" \t\r\n", colon - 1);
  if (close == std::string_view::npos || json[close] != '"' || close == 0) return {};
  const size_t open = json.rfind('"', close - 1);
  return open == std::string_view::npos ? std::string_view() : json.substr(open + 1, close - open - 1);
}

}  // namespace

Time latest_time(std::string_view json) {
  Time latest;
  for (size_t at = json.find("\"20"); at != std::string_view::npos; at = json.find("\"20", at + 3)) {
    if (at + 20 >= json.size() || json[at + 5] != '-' || json[at + 11] != 'T') continue;
    const size_t close = json.find('"', at + 1);
    if (close == std::string_view::npos) break;
    if (close - at > 40 || !past_time(key_before(json, at))) continue;
    latest = std::max(latest, parse_rfc3339(json.substr(at + 1, close - at - 1)).value_or(Time{}));
  }
  return latest;
}

// Whether the input begins with the frames of a streaming list, which only their end shows.
void ValueFeed::look_ahead() {
  looked_ = true;
  while (ahead_.size() < kMaxReadAhead) {
    const std::optional<Line> line = input_->next(tools_.losses);
    if (!line) return;
    if (line->kind == Line::Kind::kLong) {  // no frame: a list before them
      input_->lose(*line, "a list among watch frames", tools_.losses);
      continue;
    }
    const auto body = tools_.spool.put(line->text);
    if (!body.ok()) return input_->lose(*line, body.error().text, tools_.losses);
    ahead_.push_back({body.value(), line->number, input_->lost()});
    const JsonShape shape = shape_of(line->text);
    if (shape.type == "ADDED") continue;
    streaming_ = shape.type == "BOOKMARK" && line->text.find("k8s.io/initial-events-end") != std::string_view::npos;
    return;
  }
}

std::optional<Line> ValueFeed::next_line() {
  if (!looked_ && input_->kind() == InputKind::kFrames) look_ahead();
  if (ahead_.empty()) {
    std::optional<Line> next = input_->next(tools_.losses);
    lost_ = input_->lost();
    return next;
  }
  auto text = tools_.spool.get(ahead_.front().body);
  Line line;
  line.kind = Line::Kind::kText;
  line.number = ahead_.front().number;
  lost_ = ahead_.front().lost;
  ahead_.pop_front();
  if (!text.ok()) {
    input_->lose(line, text.error().text, tools_.losses);
    return next_line();
  }
  ahead_text_ = *std::move(text);
  line.text = ahead_text_;
  return line;
}

bool ValueFeed::advance() {
  for (;;) {
    std::optional<Line> line = next_line();
    if (!line) return false;
    line_ = *line;
    capture_ = {};
    capture_.body = line_.text;
    value_ = line_.text;
    if (input_->kind() == InputKind::kYaml) {
      auto json = yaml_to_json(line_.text, line_.number);
      if (!json.ok()) {
        const Error& error = json.error();
        input_->lose(line_, error.place.empty() ? error.text : error.text + " in " + error.place, tools_.losses);
        continue;
      }
      if (json->empty()) continue;  // nothing but comments
      json_ = *std::move(json);
      value_ = json_;
    }
    if (line_.kind == Line::Kind::kLong) {
      if (const auto list = long_.list(); !list.ok()) {
        input_->lose(line_, "a long list: " + list.error().text, tools_.losses);
        continue;
      }
    }
    const Time next = at_.known() ? at_ + kTick : kFirst;
    capture_.t = at_ = std::max(next, latest_time(value_));
    ++made_up_;
    return true;
  }
}

// YAML that holds secrets, be it in a comment, is kept as the JSON it says, without them.
void ValueFeed::redact() {
  const std::string_view json = tools_.redactor.redact(value_);
  const bool clean = json.data() == value_.data();
  kept_ = value_ = json;
  if (input_->kind() != InputKind::kYaml) return;
  if (clean && tools_.redactor.redact_text(capture_.body).data() == capture_.body.data()) {
    kept_ = capture_.body;
  } else {
    ++converted_;
  }
}

Result<ValueFeed::State*> ValueFeed::stream_named(std::string_view name) {
  name_ = name;
  capture_.stream = name_;
  INQUEST_TRY(State * state, state_of(name_));
  if (streaming_ && state->streamed_frames == 0 && !ahead_.empty()) state->streaming = true;
  return state;
}

Result<ValueFeed::State*> ValueFeed::stream_of(const ObjectFacts& object) {
  constexpr std::string_view kNames[] = {"", "pods", "nodes", "events"};  // in the order of ObjectFacts
  const auto* other = std::get_if<OtherFacts>(&object);
  return stream_named(other == nullptr ? std::string(kNames[object.index()])
                                       : plural(tools_.catalog.text(other->kind)));
}

Result<void> ValueFeed::undecodable(const std::string& why) {
  INQUEST_TRY(State * state, stream_named(name_.empty() ? std::string(kUnknown) : name_));
  input_->lose(line_, "a value that does not decode, kept as it is: " + why, tools_.losses, Losses::Kept::kAsBytes);
  trace::Record out = record(*state, RecordKind::kUndecodable);
  out.text = tools_.catalog.string(why);
  return append(*state, out);
}

Result<void> ValueFeed::write() {
  input_->used();
  if (line_.kind == Line::Kind::kLong) return write_long_items();
  redact();
  const JsonShape shape = shape_of(value_);
  if (shape.has_items || ends_with_list(shape.kind)) {
    auto list = tools_.decoder.list(value_);
    tell_warnings(list.ok() ? list->left_out : 0);
    if (list.ok()) check_names(list->objects);
    if (!list.ok()) return undecodable(list.error().text);
    if (!list->continue_token.empty()) return undecodable("one page of a longer list; ask for whole lists");
    return write_items(*std::move(list));
  }
  if (shape.has_type && shape.has_object) return write_typed();
  return write_bare(shape);
}

Result<void> ValueFeed::write_typed() {
  using Type = kube::DecodedFrame::Type;
  auto frame = tools_.decoder.frame(value_);
  tell_warnings();
  if (!frame.ok()) return undecodable(frame.error().text);
  if (frame->type <= Type::kDeleted) {
    if (name_too_long(tools_.catalog, frame->object)) return undecodable(kNameTooLong);
    check_created(frame->object);
    INQUEST_TRY(State * state, stream_of(frame->object));
    INQUEST_TRY_VOID(mark_hole(*state));
    return write_object(*state, static_cast<Verb>(frame->type), std::move(frame->object));
  }
  if (frame->type == Type::kError)
    return write_error(frame->code, frame->message.empty() ? frame->reason : frame->message);
  const std::string kind(kind_of_object(value_));
  INQUEST_TRY(State * state, stream_named(kind.empty() && !name_.empty() ? name_ : plural(kind)));
  if (frame->initial_events_end && state->streaming) {
    INQUEST_TRY_VOID(end_streaming(*state, frame->rv));
    streaming_ = false;
  }
  trace::Record out = record(*state, RecordKind::kBookmark);
  out.rv = frame->rv;
  state->book.frame(frame->rv);
  return append(*state, out);
}

// What was passed over may have been frames of any stream: a gap in the first that goes on.
Result<void> ValueFeed::mark_hole(State& state) {
  if (lost_ == marked_) return {};
  marked_ = lost_;
  return write_gap(state, {0, 0, "bytes of the input that are no frame"});
}

Result<void> ValueFeed::write_error(int code, const std::string& text) {
  INQUEST_TRY(State * state, stream_named(name_.empty() ? std::string(kUnknown) : name_));
  lose_streaming(*state);
  state->book.error();
  trace::Record out = record(*state, RecordKind::kError);
  out.status = static_cast<uint16_t>(std::clamp(code, 0, 65535));
  out.text = tools_.catalog.string(text);
  return append(*state, out);
}

bool ValueFeed::first_seen(const State& state, const ObjectFacts& object) {
  const uint64_t key = combine(state.id.value, identity_hash(tools_.catalog, object));
  if (seen_.contains(key)) return false;
  if (seen_.size() < kMaxSeen) {
    seen_[key];
  } else {
    ++not_told_;
  }
  return true;
}

// An object without a type: kubectl's.
Result<void> ValueFeed::write_bare(const JsonShape& shape) {
  if (shape.kind == "Status") {
    const auto status = tools_.decoder.status(value_);
    if (!status.ok()) return undecodable(status.error().text);
    return write_error(status->code, status->message.empty() ? status->reason : status->message);
  }
  if (shape.kind.empty()) return undecodable("neither a watch frame nor an object of a kind");
  auto object = tools_.decoder.object(value_);
  tell_warnings();
  if (!object.ok()) return undecodable(object.error().text);
  if (name_too_long(tools_.catalog, *object)) return undecodable(kNameTooLong);
  check_created(*object);
  INQUEST_TRY(State * state, stream_of(*object));
  ++bare_;
  const bool fresh = first_seen(*state, *object);
  return write_object(*state, fresh ? Verb::kAdded : Verb::kModified, *std::move(object));
}

// A list of one kind is one record; one of several kinds (kubectl get pods,nodes) one for each, the first with the
// body.
Result<void> ValueFeed::write_items(kube::DecodedList list) {
  std::map<std::string, std::vector<ObjectFacts>> streams;
  std::vector<std::string> order;
  if (list.kind != "List" && ends_with_list(list.kind)) {
    order.push_back(plural(std::string_view(list.kind).substr(0, list.kind.size() - 4)));
  }
  for (ObjectFacts& object : list.objects) {
    INQUEST_TRY(State * state, stream_of(object));
    first_seen(*state, object);
    auto& objects = streams[state->name];
    if (std::find(order.begin(), order.end(), state->name) == order.end()) order.push_back(state->name);
    objects.push_back(std::move(object));
  }
  if (order.empty()) order.emplace_back(kUnknown);
  for (const std::string& name : order) {
    INQUEST_TRY(State * state, stream_named(name));
    const WatchBook::Place place = state->book.list(list.rv);
    if (place.gap) INQUEST_TRY_VOID(write_gap(*state, *place.gap));
    trace::Record out = record(*state, RecordKind::kList);
    out.rv = list.rv;
    out.checkpoint = place.checkpoint;
    out.objects = std::move(streams[name]);
    INQUEST_TRY_VOID(append(*state, out));
    kept_ = {};
  }
  return {};
}

// A list too large for a line, of one kind: the body of one of several kinds could not be told apart.
Result<void> ValueFeed::write_long_items() {
  const LongList::List& list = **long_.list();
  if (!list.continue_token.empty() || list.objects == 0) {
    input_->lose(line_, "one page of a longer list; ask for whole lists", tools_.losses);
    return {};
  }
  if (!list.one_kind) {
    input_->lose(line_, "a list of several kinds with more than 8 MiB; ask for one kind at a time", tools_.losses);
    return {};
  }
  State* state = nullptr;
  for (size_t i = 0; state == nullptr; ++i) {  // the first pieces may hold nothing that could be read
    INQUEST_TRY(const LongList::Piece piece, long_.piece(i, tools_.catalog));
    if (piece.objects.empty()) continue;
    INQUEST_TRY(state, stream_of(piece.objects.front()));
  }
  return write_long(*state);
}

void ValueFeed::saw_listed(const State& state, const ObjectFacts& object) {
  CaptureFeed::saw_listed(state, object);
  first_seen(state, object);
}

void ValueFeed::finish() {
  CaptureFeed::finish();
  const std::string source = input_->name();
  if (made_up_ > 0) {
    tools_.writer.add_note(source, kNoteMadeUp, made_up_);
  }
  if (converted_ > 0) {
    tools_.writer.add_note(source, "YAML documents kept as JSON, since something in them was redacted", converted_);
  }
  if (bare_ > 0 && not_told_ > 0) {
    tools_.losses.add(source, input_->path(),
                      "more than " + std::to_string(kMaxSeen) +
                          " objects without event types: every version of those beyond counts as ADDED");
  }
  if (bare_ > 0) {
    tools_.losses.add(source, input_->path(),
                      "no delete information: kubectl printed objects without event types (ask for "
                      "--output-watch-events)");
  }
}

}  // namespace inquest::recorder
