#include "recorder/live_stream.h"

#include <algorithm>
#include <utility>

#include "kube/client/query.h"
#include "kube/client/status.h"
#include "recorder/json_shape.h"
#include "recorder/name_limits.h"
#include "recorder/source.h"

namespace inquest::recorder {
namespace {

using trace::RecordKind;

constexpr uint32_t kPageSize = 500;
constexpr size_t kMaxPage = size_t{256} << 20;

reflector::Config reflector_config(const LiveStreamConfig& config) {
  reflector::Config out;
  out.most_recent = true;
  out.page_size = kPageSize;
  out.seed = config.seed;
  return out;
}

}  // namespace

// A list as its pages come; the bodies of several are put together into one.
struct LiveStream::Pages {
  explicit Pages(const std::string& folder) : spool(folder) {}

  std::string path, body;  // of the first
  int status = 0;
  ResourceVersion rv = 0;
  std::vector<ObjectFacts> objects;
  uint64_t left_out = 0;
  BodySpool spool;
  std::optional<ListBody> joined;
};

// A LIST beside the watch, page by page.
class LiveStream::Checkpoint : public kube::Receiver {
 public:
  explicit Checkpoint(LiveStream& stream) : stream_(&stream) {}
  ~Checkpoint() override { stream_->tools_.api.cancel(id_); }

  void head(const kube::HttpHead& head) override { head_ = head; }
  bool bytes(std::string_view piece) override {
    if (body_.size() + piece.size() <= kMaxPage) body_ += piece;
    return true;
  }
  void end(const kube::HttpEnd& end) override {
    id_ = 0;
    if (end.kind != kube::HttpEnd::Kind::kDone || head_.status != 200) return give_up();
    const auto list = stream_->tools_.decoder.list(body_);
    if (!list.ok()) return give_up();
    const std::string more = list->continue_token;
    stream_->add_page(pages_, {path_, body_, head_.status, &*list, pages_ == nullptr, more.empty()});
    if (!more.empty()) {
      if (!ask(more)) give_up();
      return;
    }
    LiveStream& stream = *stream_;
    std::unique_ptr<Pages> pages = std::move(pages_);
    const std::unique_ptr<Checkpoint> self = std::move(stream.checkpoint_);
    stream.checkpoint_done(std::move(pages));
  }

  // For the page that `more` names; "": the first. Whether it could be asked for.
  bool ask(const std::string& more) {
    const LiveStreamConfig& config = stream_->config_;
    path_ = config.path + "?" + config.selectors + (config.selectors.empty() ? "" : "&") +
            "limit=" + std::to_string(kPageSize);
    if (!more.empty()) path_.append("&continue=").append(kube::encode_query(more));
    body_.clear();
    head_ = {};
    kube::ApiRequest request;
    request.path = path_;
    request.silence = Duration::seconds(60);
    const auto sent = stream_->tools_.api.send(std::move(request), *this);
    if (sent.ok()) id_ = *sent;
    return sent.ok();
  }

 private:
  // The next one may do better.
  void give_up() { const std::unique_ptr<Checkpoint> self = std::move(stream_->checkpoint_); }

  LiveStream* stream_;
  kube::Api::Id id_ = 0;
  std::string path_, body_;
  kube::HttpHead head_;
  std::unique_ptr<Pages> pages_;
};

LiveStream::LiveStream(const LiveTools& tools, const LiveStreamConfig& config)
    : tools_(tools),
      config_(config),
      watch_(tools.api, tools.clock, tools.catalog, tools.decoder, *this,
             {config.path, config.selectors, reflector_config(config)}) {}
LiveStream::~LiveStream() = default;

Result<void> LiveStream::start() {
  trace::Stream stream;
  stream.kind = trace::StreamKind::kWatch;
  stream.name = config_.name;
  stream.resource = config_.resource;
  stream.source = "live";
  INQUEST_TRY(id_, tools_.writer.add_stream(stream));
  watch_.start();
  return {};
}

void LiveStream::stop() {
  checkpoint_.reset();
  watch_.stop();
}

void LiveStream::tick() {
  watch_.tick();
  const Time now = tools_.clock.monotonic();
  if (now >= owed_until_) check_silence();
  if (now < checkpoint_at_) return;
  checkpoint_at_ = now + config_.checkpoint;
  if (!watch_.watching() || checkpoint_ != nullptr) return;
  checkpoint_ = std::make_unique<Checkpoint>(*this);
  if (!checkpoint_->ask("")) checkpoint_.reset();
}

Time LiveStream::next_wake() const { return std::min({watch_.next_wake(), checkpoint_at_, owed_until_}); }

// --- what the watch says
// ----------------------------------------------------------------------------------------------

// The recorder follows the conversation and holds no store: to the reflector all objects are one.
reflector::Object LiveStream::object_of(const ObjectFacts& facts) {
  return {0, 0, 0, reflector::Rv::number(rv_of(facts))};
}

trace::Record LiveStream::record(RecordKind kind) const {
  trace::Record out;
  out.stream = id_;
  out.kind = kind;
  out.wall = tools_.clock.wall();
  out.monotonic = tools_.clock.monotonic();
  return out;
}

void LiveStream::append(const trace::Record& record, std::string_view body) {
  if (failed_) return;
  if (!tools_.counts.oldest.known()) tools_.counts.oldest = tools_.clock.monotonic();
  tools_.counts.bytes += body.size();
  const auto seq = tools_.writer.append(record, body);
  if (seq.ok()) return;
  if (seq.error().code != ErrorCode::kOutOfLimit) return fail(seq.error());
  ++tools_.counts.left_out;
  tools_.writer.add_loss(config_.name, seq.error().text, 1);
}

void LiveStream::opened(std::string_view path, int status) {
  refusal_.clear();
  const ResourceVersion rv = parse_watch_path(path).rv;
  if (const auto gap = book_.open(rv)) write_gap(*gap);
  trace::Record out = record(RecordKind::kOpen);
  out.status = static_cast<uint16_t>(status);
  out.path = tools_.catalog.string(path);
  out.rv = rv;
  append(out, "");
  if (config_.checkpoint.ns > 0 && checkpoint_at_ == Time::never()) {
    checkpoint_at_ = tools_.clock.monotonic() + config_.checkpoint;
  }
}

void LiveStream::framed(std::string_view bytes, const kube::DecodedFrame& frame) {
  using Type = kube::DecodedFrame::Type;
  ++tools_.counts.frames;
  const bool object = frame.type <= Type::kDeleted;
  if (object && name_too_long(tools_.catalog, frame.object)) return undecodable(bytes, kNameTooLong);
  trace::Record out = record(RecordKind::kFrame);
  out.rv = frame.rv;
  if (object) {
    out.verb = static_cast<Verb>(frame.type);
    out.objects.push_back(frame.object);
  } else if (frame.type == Type::kBookmark) {
    out.kind = RecordKind::kBookmark;
  } else {
    out.kind = RecordKind::kError;
    out.status = static_cast<uint16_t>(std::clamp(frame.code, 0, 65535));
    out.text = tools_.catalog.string(frame.message.empty() ? frame.reason : frame.message);
  }
  if (frame.type == Type::kError) {
    book_.error();
  } else {
    book_.frame(frame.rv);
    seen_ = std::max(seen_, frame.rv);
    if (seen_ >= owed_) owed_until_ = Time::never();
  }
  append(out, tools_.redactor.redact(bytes));
}

void LiveStream::undecodable(std::string_view bytes, const std::string& why) {
  ++tools_.counts.undecodable;
  trace::Record out = record(RecordKind::kUndecodable);
  out.text = tools_.catalog.string(why);
  append(out, tools_.redactor.redact(bytes));
}

void LiveStream::closed(const std::string& why) {
  book_.close();
  owed_until_ = Time::never();
  trace::Record out = record(RecordKind::kClose);
  out.text = tools_.catalog.string(why);
  append(out, "");
}

void LiveStream::refused(std::string_view path, int status, const kube::DecodedStatus& answer, const std::string& why) {
  ++tools_.counts.refusals;
  refusal_ = why;
  trace::Record out = record(RecordKind::kError);
  out.status = static_cast<uint16_t>(std::clamp(answer.code != 0 ? answer.code : status, 0, 65535));
  out.path = tools_.catalog.string(path);
  out.text = tools_.catalog.string(why);
  append(out, "");
}

// --- lists
// ------------------------------------------------------------------------------------------------------------

void LiveStream::listed(const kube::ListAnswer& answer) {
  refusal_.clear();
  add_page(pages_, answer);
  if (!answer.last) return;
  seen_ = std::max(seen_, pages_->rv);
  const std::unique_ptr<Pages> pages = std::move(pages_);
  write_list(*pages, false);
}

void LiveStream::add_page(std::unique_ptr<Pages>& pages, const kube::ListAnswer& answer) {
  if (answer.first) {
    pages = std::make_unique<Pages>(tools_.folder);
    pages->path = answer.path;
    pages->status = answer.status;
    pages->rv = answer.list->rv;
    if (answer.last) pages->body = tools_.redactor.redact(answer.body);
  }
  pages->left_out += answer.list->left_out;
  for (const ObjectFacts& object : answer.list->objects) {
    if (name_too_long(tools_.catalog, object)) {
      ++pages->left_out;
    } else {
      pages->objects.push_back(object);
    }
  }
  if (answer.first && answer.last) return;
  if (!pages->joined)
    pages->joined.emplace(shape_of(answer.body).api_version, answer.list->kind, pages->rv, pages->spool);
  for (const std::string_view item : items_of(answer.body)) {
    const auto added = pages->joined->add(tools_.redactor.redact_items(item));
    if (!added.ok()) return fail(added.error());
  }
}

void LiveStream::write_list(Pages& pages, bool checkpoint) {
  ++(checkpoint ? tools_.counts.checkpoints : tools_.counts.lists);
  const WatchBook::Place place = book_.list(pages.rv);
  if (place.gap) write_gap(*place.gap);
  trace::Record out = record(RecordKind::kList);
  out.status = static_cast<uint16_t>(pages.status);
  out.path = tools_.catalog.string(pages.path);
  out.rv = pages.rv;
  out.checkpoint = place.checkpoint;
  out.objects = std::move(pages.objects);
  if (pages.left_out > 0) {
    tools_.counts.left_out += pages.left_out;
    tools_.writer.add_loss(config_.name, "items of lists that are no objects or have too long a name", pages.left_out);
  }
  if (!pages.joined) return append(out, pages.body);
  write_pieces(pages, out);
}

// A list of several pages, in records small enough: each has its part of the body and of the objects.
void LiveStream::write_pieces(Pages& pages, trace::Record& list) {
  const auto pieces = pages.joined->finish();
  if (!pieces.ok()) return fail(pieces.error());
  const std::vector<ObjectFacts> objects = std::move(list.objects);
  trace::Record out = list;
  auto next = objects.begin();
  for (const ListBody::Piece& piece : *pieces) {
    const auto body = pages.spool.get(piece.body);
    if (!body.ok()) return fail(body.error());
    const auto end = next + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(piece.items), objects.end() - next);
    out.objects.assign(next, end);
    next = end;
    if (out.kind == RecordKind::kList) {
      out.more_objects = static_cast<uint64_t>(objects.end() - next);
    } else if (!out.objects.empty()) {
      out.wall = list.wall;
      out.rv = list.rv;
    }
    append(out, *body);
    out = trace::Record();
    out.stream = id_;
    out.kind = RecordKind::kSource;
    out.text = tools_.catalog.string(kSourcePart);
  }
}

void LiveStream::write_gap(const Gap& gap) {
  ++tools_.counts.gaps;
  trace::Record out = record(RecordKind::kGap);
  out.gap_from = gap.from;
  out.rv = gap.to;
  out.text = tools_.catalog.string(gap.text);
  append(out, "");
}

// Without a watch beside it, it would count as the beginning of one.
void LiveStream::checkpoint_done(std::unique_ptr<Pages> pages) {
  if (!watch_.watching()) return;
  ResourceVersion newest = 0;
  for (const ObjectFacts& object : pages->objects) newest = std::max(newest, rv_of(object));
  write_list(*pages, true);
  if (newest <= seen_ || owed_until_ != Time::never()) return;
  owed_ = newest;
  owed_until_ = tools_.clock.monotonic() + config_.patience;
}

void LiveStream::check_silence() {
  owed_until_ = Time::never();
  if (!watch_.watching() || seen_ >= owed_) return;
  watch_.reconnect("silent: a list beside the watch showed more than it said, up to rv " + std::to_string(owed_));
}

}  // namespace inquest::recorder
