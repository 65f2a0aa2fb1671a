#include "kube/client/list_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/client/query.h"
#include "kube/client/status.h"

namespace inquest::kube {
namespace {

// client-go's default: QPS 5, burst 10.
constexpr size_t kBurst = 10;
constexpr Duration kBurstLasts = Duration::seconds(2);

constexpr size_t kMaxList = size_t{256} << 20;  // what the decoder reads at most
constexpr size_t kMaxAnswer = size_t{1} << 20;  // that is no success

reflector::FrameType type_of(const DecodedFrame& frame) {
  switch (frame.type) {
    case DecodedFrame::Type::kAdded:
      return reflector::FrameType::kAdded;
    case DecodedFrame::Type::kModified:
      return reflector::FrameType::kModified;
    case DecodedFrame::Type::kDeleted:
      return reflector::FrameType::kDeleted;
    case DecodedFrame::Type::kBookmark:
    case DecodedFrame::Type::kError:
      break;
  }
  return frame.initial_events_end ? reflector::FrameType::kInitialEventsEnd : reflector::FrameType::kBookmark;
}

std::string why_closed(const HttpEnd& end, bool within_a_frame) {
  std::string out;
  switch (end.kind) {
    case HttpEnd::Kind::kDone:
      out = "end of the stream";
      break;
    case HttpEnd::Kind::kCut:
      out = "the connection was cut";
      break;
    case HttpEnd::Kind::kTimeOut:
      out = "time-out";
      break;
    case HttpEnd::Kind::kNotReached:
    case HttpEnd::Kind::kTls:
    case HttpEnd::Kind::kBroken:
      out = end.text;
      break;
  }
  if (within_a_frame) out += ", within a frame";
  return out;
}

}  // namespace

ListWatch::ListWatch(Api& api, const Clock& clock, Catalog& catalog, Decoder& decoder, WatchObserver& observer,
                     Config config)
    : api_(&api),
      clock_(&clock),
      catalog_(&catalog),
      decoder_(&decoder),
      observer_(&observer),
      config_(std::move(config)),
      reflector_(config_.reflector) {}

ListWatch::~ListWatch() { forget_request(); }

Time ListWatch::now() const { return clock_->monotonic(); }

void ListWatch::start() { step(reflector::Start{}); }
void ListWatch::stop() {
  const bool open = std::exchange(open_, false);
  step(reflector::Stop{});
  if (open) observer_->closed("stopped");
}

void ListWatch::tick() {
  if (waiting_to_send_) {
    send_if_allowed();
  } else if (now() >= reflector_.next_wake()) {
    step(reflector::TimeReached{});
  }
}

Time ListWatch::next_wake() const {
  if (!waiting_to_send_) return reflector_.next_wake();
  return sent_.size() < kBurst ? now() : sent_.front() + kBurstLasts;
}

void ListWatch::reconnect(const std::string& why) {
  if (!open_) return;
  forget_request();
  observer_->closed(why);
  step(reflector::WatchClosed{});
}

// --- what the reflector asks for
// --------------------------------------------------------------------------------------

template <typename Input>
void ListWatch::step(const Input& input) {
  for (const reflector::Output& output : reflector_.step(now(), input)) {
    if (const auto* list = std::get_if<reflector::ListRequest>(&output)) {
      first_page_ = list->more == StringId::none();
      queue(list_path(*list), Asked::kList);
    } else if (const auto* watch = std::get_if<reflector::WatchRequest>(&output)) {
      queue(watch_path(*watch), Asked::kWatch);
    } else if (std::holds_alternative<reflector::Cancel>(output)) {
      forget_request();
    } else {
      observer_->became(output);
    }
  }
  if (waiting_to_send_) send_if_allowed();
}

void ListWatch::queue(std::string path, Asked asked) {
  path_ = std::move(path);
  asked_ = asked;
  waiting_to_send_ = true;
}

void ListWatch::forget_request() {
  api_->cancel(id_);
  id_ = 0;
  asked_ = Asked::kNothing;
  waiting_to_send_ = open_ = false;
}

void ListWatch::send_if_allowed() {
  const bool page = asked_ == Asked::kList && !first_page_;  // the server sets their pace
  if (!page && sent_.size() == kBurst && now() < sent_.front() + kBurstLasts) return;
  if (!page) {
    if (sent_.size() == kBurst) sent_.pop_front();
    sent_.push_back(now());
  }
  waiting_to_send_ = open_ = too_large_ = false;
  head_ = {};
  body_.clear();
  splitter_ = FrameSplitter();
  ApiRequest request;
  request.path = path_;
  request.head_within = config_.head_within;
  if (asked_ == Asked::kList) request.silence = config_.list_silence;  // a watch may be silent while nothing happens
  const Result<Api::Id> sent = api_->send(std::move(request), *this);
  if (sent.ok()) {
    id_ = *sent;
    return;
  }
  observer_->refused(path_, 0, {}, sent.error().message());
  if (std::exchange(asked_, Asked::kNothing) == Asked::kList) {
    step(reflector::ListRefused{});
  } else {
    step(reflector::WatchRefused{});
  }
}

std::string ListWatch::list_path(const reflector::ListRequest& request) {
  std::string query;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) query.append(query.empty() ? "?" : "&").append(text);
  };
  add(config_.selectors);
  if (request.limit != 0) add("limit=" + std::to_string(request.limit));
  if (request.more != StringId::none()) {
    add("continue=" + encode_query(catalog_->text(request.more)));
  } else if (request.rv.set()) {
    add("resourceVersion=" + encode_query(request.rv.to_string(*catalog_)));
  }
  return config_.path + query;
}

std::string ListWatch::watch_path(const reflector::WatchRequest& request) {
  std::string out = config_.path + "?";
  if (!config_.selectors.empty()) out += config_.selectors + "&";
  out += "watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(request.timeout_s);
  if (request.initial_events == reflector::InitialEvents::kSend) {
    out += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  }
  if (request.rv.set()) out += "&resourceVersion=" + encode_query(request.rv.to_string(*catalog_));
  return out;
}

// --- what the server says
// ---------------------------------------------------------------------------------------------

void ListWatch::head(const HttpHead& head) {
  head_ = head;
  if (asked_ != Asked::kWatch || head.status != 200) return;
  open_ = true;
  observer_->opened(path_, head.status);
  step(reflector::WatchOpened{});
}

bool ListWatch::bytes(std::string_view piece) {
  if (open_) {
    splitter_.add(piece);
    take_frames();
  } else if (body_.size() + piece.size() <= (head_.status == 200 ? kMaxList : kMaxAnswer)) {
    body_ += piece;
  } else {
    too_large_ = true;
  }
  return true;
}

void ListWatch::end(const HttpEnd& end) {
  id_ = 0;
  if (open_) {
    watch_ended(end);
  } else if (end.kind == HttpEnd::Kind::kDone && asked_ == Asked::kList && head_.status == 200) {
    list_ended();
  } else {
    refuse(end);
  }
}

void ListWatch::list_ended() {
  asked_ = Asked::kNothing;
  const std::string body = std::exchange(body_, {});
  if (too_large_) {
    observer_->refused(path_, head_.status, {}, "the list is larger than 256 MiB");
    return step(reflector::ListRefused{});
  }
  const Result<DecodedList> list = decoder_->list(body);
  if (!list.ok()) {
    observer_->undecodable(body, list.error().text);
    return step(reflector::ListRefused{});
  }
  std::vector<reflector::Object> objects;
  objects.reserve(list->objects.size());
  for (const ObjectFacts& facts : list->objects) objects.push_back(observer_->object_of(facts));
  observer_->listed({path_, body, head_.status, &*list, first_page_, list->continue_token.empty()});
  const StringId more = list->continue_token.empty() ? StringId::none() : catalog_->string(list->continue_token);
  step(reflector::ListPage{objects, reflector::Rv::number(list->rv), more});
}

void ListWatch::watch_ended(const HttpEnd& end) {
  take_frames();
  if (!open_) return;  // its last bytes were an error, and the reflector has gone on
  const bool within = splitter_.finish().kind != SplitFrame::Kind::kNone;
  open_ = false;
  asked_ = Asked::kNothing;
  observer_->closed(why_closed(end, within));
  step(reflector::WatchClosed{});
}

// What was asked for did not come.
void ListWatch::refuse(const HttpEnd& end) {
  const Asked asked = std::exchange(asked_, Asked::kNothing);
  const std::string body = std::exchange(body_, {});
  const bool answered = head_.status != 0 && end.kind == HttpEnd::Kind::kDone;
  reflector::Refusal refusal;
  if (answered) {
    const RefusedAnswer answer = read_refusal(head_.status, head_.content_type, head_.retry_after_s, body);
    refusal = answer.refusal;
    observer_->refused(path_, head_.status, answer.status, answer.text);
  } else {
    if (end.refused) refusal.why = reflector::Refusal::Why::kConnectionRefused;
    observer_->refused(path_, head_.status, {}, end.text.empty() ? why_closed(end, false) : end.text);
  }
  if (asked == Asked::kList) return step(reflector::ListRefused{refusal});
  const bool no_answer = end.kind == HttpEnd::Kind::kCut || end.kind == HttpEnd::Kind::kTimeOut;
  if (no_answer) return step(reflector::WatchClosed{});
  step(reflector::WatchRefused{refusal});
}

void ListWatch::take_frames() {
  // A frame may end the watch: the reflector cancels it, and asks anew.
  while (open_) {
    const SplitFrame split = splitter_.next();
    if (split.kind == SplitFrame::Kind::kNone) return;
    take_frame(split);
  }
}

void ListWatch::take_frame(const SplitFrame& split) {
  if (split.kind == SplitFrame::Kind::kGarbage) return broken_frame(split.text, "no watch frame");
  if (split.kind == SplitFrame::Kind::kTooLong) return broken_frame(split.text, "a frame larger than 8 MiB");
  const Result<DecodedFrame> frame = decoder_->frame(split.text);
  if (!frame.ok()) return broken_frame(split.text, frame.error().text);
  observer_->framed(split.text, *frame);
  if (frame->type == DecodedFrame::Type::kError) {
    reflector::Status status;
    status.code = static_cast<uint16_t>(std::clamp(frame->code, 0, 999));
    status.reason = frame->reason;
    status.message = frame->message;
    open_ = false;
    observer_->closed("an ERROR frame");
    return step(reflector::ErrorFrame{reflector::refusal_of(status)});
  }
  reflector::Frame out{type_of(*frame), {}};
  out.object = observer_->object_of(frame->object);
  out.object.rv = reflector::Rv::number(frame->rv);
  step(out);
}

void ListWatch::broken_frame(std::string_view bytes, const std::string& why) {
  open_ = false;
  observer_->undecodable(bytes, why);
  observer_->closed(why);
  step(reflector::ErrorFrame{{reflector::Refusal::Why::kInternalError, std::nullopt}});
}

}  // namespace inquest::kube
