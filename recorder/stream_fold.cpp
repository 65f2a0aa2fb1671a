#include "recorder/stream_fold.h"

#include <algorithm>
#include <tuple>

#include "kube/decode.h"
#include "recorder/capture_feed.h"
#include "recorder/json_shape.h"
#include "recorder/list_body.h"
#include "recorder/source.h"
#include "recorder/watch_book.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

constexpr const char* kMadeList = "made by cut: what this stream had shown by then";
constexpr const char* kMadeOpen = "made by cut: the watch was open";

// "v1", "PodList", where the trace itself does not say.
std::pair<std::string, std::string> list_kind(std::string_view resource) {
  if (resource == "pods") return {"v1", "PodList"};
  if (resource == "nodes") return {"v1", "NodeList"};
  if (resource == "events") return {"v1", "EventList"};
  return {};
}

// The path of a watch that goes on from `rv`.
std::string path_from(std::string path, ResourceVersion rv) {
  constexpr std::string_view kKey = "resourceVersion=";
  const std::string value = std::to_string(rv);
  for (size_t at = path.find(kKey); at != std::string::npos; at = path.find(kKey, at + 1)) {
    if (at == 0 || (path[at - 1] != '?' && path[at - 1] != '&')) continue;
    const size_t begin = at + kKey.size();
    const size_t end = std::min(path.find('&', begin), path.size());
    return path.replace(begin, end - begin, value);
  }
  if (path.empty()) return path;
  return path + (path.find('?') == std::string::npos ? "?" : "&") + std::string(kKey) + value;
}

}  // namespace

void StreamFold::take(const Record& record, const Catalog& catalog) {
  const auto text = [&] { return record.text ? catalog.text(record.text) : std::string_view(); };
  if (record.kind == RecordKind::kSource) return take_source(record, text());
  list_ = 0;
  begun_ = begun_ || record.kind == RecordKind::kFrame;
  switch (record.kind) {
    case RecordKind::kList:
      if (!record.checkpoint) take_list(record, catalog);
      return;
    case RecordKind::kFrame: {
      if (record.objects.empty()) return;
      const ObjectFacts& object = record.objects.front();
      if (record.verb == Verb::kDeleted) {
        objects_.erase(identity_of(object));
      } else {
        objects_.insert_or_assign(identity_of(object), Object{object, record.seq, kNo});
      }
      if (record.verb != Verb::kAdded) unordered_ = false;
      reached_ = std::max(reached_, rv_of(object));
      return;
    }
    case RecordKind::kBookmark:
      reached_ = std::max(reached_, record.rv);
      unordered_ = false;
      return;
    case RecordKind::kGap:
      gap_ = true;
      gap_from_ = record.gap_from;
      gap_to_ = record.rv;
      gap_text_ = text();
      return;
    case RecordKind::kOpen:
      watch_ = Watch::kOpen;
      watch_path_ = record.path ? catalog.text(record.path) : "";
      unordered_ = parse_watch_path(watch_path_).rv == 0;
      streamed_.clear();
      return;
    case RecordKind::kError:  // of the watch, or of a list beside it that was refused
      watch_ = Watch::kUnknown;
      streamed_.clear();
      return;
    case RecordKind::kClose:
      watch_ = Watch::kClosed;
      closed_because_ = text();
      streamed_.clear();
      return;
    default:
      return;
  }
}

void StreamFold::take_source(const Record& record, std::string_view text) {
  if (text == kSourcePart && list_ != 0) lists_[list_].parts.push_back(record.seq);
  if (text == kSourceStreamed) streamed_.push_back(record.seq);
}

void StreamFold::take_list(const Record& record, const Catalog& catalog) {
  objects_.clear();
  lists_.clear();
  list_ = record.seq;
  lists_[list_].streamed = std::exchange(streamed_, {});
  for (uint32_t i = 0; i < record.objects.size(); ++i) {
    objects_.insert_or_assign(identity_of(record.objects[i]), Object{record.objects[i], record.seq, i});
  }
  reached_ = record.rv;
  begun_ = true;
  gap_ = false;
  if (record.path) list_path_ = catalog.text(record.path);
}

StreamFold::Wanted StreamFold::wanted(const ObjectFilter& filter, const Catalog& catalog) const {
  Wanted out;
  for (const auto& [identity, object] : objects_) {
    if (filter.keeps(catalog, object.facts)) out.push_back(&object);
  }
  std::sort(out.begin(), out.end(),
            [](const Object* a, const Object* b) { return std::tie(a->seq, a->item) < std::tie(b->seq, b->item); });
  return out;
}

Result<StreamFold::Made> StreamFold::write(const trace::Stream& stream, Time at, const ObjectFilter& filter,
                                           const FoldTools& tools) const {
  Catalog& catalog = tools.reader.mutable_catalog();
  const Wanted kept = wanted(filter, catalog);
  std::vector<BodySpool::Ref> pieces;
  INQUEST_TRY(const bool with_bodies, collect(kept, stream, tools, pieces));
  Record list;
  list.stream = stream.id;
  list.kind = RecordKind::kList;
  list.wall = at;
  list.status = 200;
  list.rv = reached_;
  list.text = catalog.string(kMadeList);
  if (!list_path_.empty()) list.path = catalog.string(list_path_);
  for (const Object* object : kept) list.objects.push_back(object->facts);
  Record record = std::move(list);
  if (!with_bodies) pieces.assign(1, {});
  for (const BodySpool::Ref piece : pieces) {
    INQUEST_TRY(const std::string body, with_bodies ? tools.spool.get(piece) : Result<std::string>(std::string()));
    const auto seq = tools.writer.append(record, body);
    if (!seq.ok()) return seq.error();
    record = Record();
    record.stream = stream.id;
    record.kind = RecordKind::kSource;
    record.text = catalog.string(kSourcePart);
  }
  record = Record();
  record.stream = stream.id;
  record.wall = at;
  INQUEST_TRY_VOID(write_watch(std::move(record), tools));
  return Made{kept.size(), with_bodies};
}

Result<void> StreamFold::write_watch(Record record, const FoldTools& tools) const {
  Catalog& catalog = tools.reader.mutable_catalog();
  const auto put = [&](const Record& what) -> Result<void> {
    const auto seq = tools.writer.append(what, "");
    return seq.ok() ? Result<void>() : Result<void>(seq.error());
  };
  if (gap_) {
    Record gap = record;
    gap.kind = RecordKind::kGap;
    gap.gap_from = gap_from_;
    gap.rv = gap_to_;
    gap.text = catalog.string(gap_text_);
    INQUEST_TRY_VOID(put(gap));
  }
  if (watch_ == Watch::kUnknown) return {};
  if (watch_ == Watch::kClosed) {
    record.kind = RecordKind::kClose;
    record.text = catalog.string("made by cut: the watch was not open" +
                                 (closed_because_.empty() ? "" : ", because: " + closed_because_));
    return put(record);
  }
  record.kind = RecordKind::kOpen;
  record.status = 200;
  const std::string path = unordered_ ? watch_path_ : path_from(watch_path_, reached_);
  record.rv = parse_watch_path(path).rv;
  if (!path.empty()) record.path = catalog.string(path);
  record.text = catalog.string(kMadeOpen);
  return put(record);
}

// The bodies of these objects as that of one list, in pieces; false if one of them is not in the trace.
Result<bool> StreamFold::collect(const Wanted& wanted, const trace::Stream& stream, const FoldTools& tools,
                                 std::vector<BodySpool::Ref>& pieces) const {
  std::pair<std::string, std::string> kind = list_kind(stream.resource);
  if (!lists_.empty()) {
    INQUEST_TRY(const std::string text, tools.reader.body(lists_.begin()->first));
    std::string json;
    const JsonShape shape = shape_of(json_of(text, json));
    if (ends_with_list(shape.kind)) kind = {shape.api_version, shape.kind};
  }
  if (kind.second.empty() && !wanted.empty() && wanted.back()->item == kNo) {
    INQUEST_TRY(const std::string text, tools.reader.body(wanted.back()->seq));
    std::string json;
    const JsonShape shape = shape_of(object_in(json_of(text, json)));
    if (!shape.kind.empty()) kind = {shape.api_version, shape.kind + "List"};
  }
  if (kind.second.empty()) return false;
  ListBody body(kind.first, kind.second, reached_, tools.spool);
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto last = std::find_if(first, wanted.end(), [&](const Object* o) { return o->seq != (*first)->seq; });
    INQUEST_TRY(const bool there, add_items(Wanted(first, last), tools, body));
    if (!there) return false;
    first = last;
  }
  INQUEST_TRY(pieces, body.finish());
  return true;
}

// Those that one record holds.
Result<bool> StreamFold::add_items(const Wanted& wanted, const FoldTools& tools, ListBody& body) const {
  const Seq seq = wanted.front()->seq;
  INQUEST_TRY(std::string text, tools.reader.body(seq));
  std::string kept;
  if (wanted.front()->item == kNo) {
    const std::string_view object = object_in(json_of(text, kept));
    if (object.empty()) return false;
    INQUEST_TRY_VOID(body.add(object));
    return true;
  }
  const Parts& parts = lists_.at(seq);
  if (!parts.streamed.empty()) return add_streamed(wanted, tools, body);
  size_t next = 0, passed = 0;
  for (size_t part = 0;; ++part) {
    const std::vector<std::string_view> items = items_of(json_of(text, kept));
    for (; next < wanted.size() && wanted[next]->item - passed < items.size(); ++next) {
      INQUEST_TRY_VOID(body.add(items[wanted[next]->item - passed]));
    }
    passed += items.size();
    if (part == parts.parts.size()) break;
    INQUEST_TRY(const std::string more, tools.reader.body(parts.parts[part]));
    text = as_list(more);
  }
  INQUEST_TRY(const Record list, tools.reader.record(seq));
  return next == wanted.size() && passed == list.objects.size();
}

// A streaming list's objects stand in the frames before it.
Result<bool> StreamFold::add_streamed(const Wanted& wanted, const FoldTools& tools, ListBody& body) const {
  kube::Decoder decoder(tools.reader.mutable_catalog());
  std::map<std::pair<uint64_t, uint64_t>, Seq> frames;
  for (const Seq seq : lists_.at(wanted.front()->seq).streamed) {
    INQUEST_TRY(const std::string text, tools.reader.body(seq));
    std::string kept;
    const auto frame = decoder.frame(json_of(text, kept));
    if (frame.ok()) frames[identity_of(frame->object)] = seq;
  }
  for (const Object* object : wanted) {
    const auto frame = frames.find(identity_of(object->facts));
    if (frame == frames.end()) return false;
    INQUEST_TRY(const std::string text, tools.reader.body(frame->second));
    std::string kept;
    INQUEST_TRY_VOID(body.add(object_in(json_of(text, kept))));
  }
  return true;
}

}  // namespace inquest::recorder
