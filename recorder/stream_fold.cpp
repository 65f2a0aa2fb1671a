#include "recorder/stream_fold.h"

#include <algorithm>
#include <tuple>

#include "kube/decode.h"
#include "recorder/json_shape.h"
#include "recorder/list_body.h"
#include "recorder/source.h"
#include "recorder/watch_book.h"
#include "schema/identity_hash.h"
#include "schema/limits.h"

namespace inquest::recorder {
namespace {

using trace::Record;
using trace::RecordKind;
using trace::Seq;

constexpr size_t kMaxParts = 500'000;
constexpr size_t kMaxNames = size_t{64} << 20;
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

Result<Record> FoldTools::record(Seq seq) const {
  if (reader.catalog().memory() > trace::kWalkNames) {
    reader.forget_names();
    names.clear();
  }
  INQUEST_TRY(Record record, reader.record(seq));
  names.move(record);
  return record;
}

Result<void> StreamFold::take(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                              size_t& folded) {
  const auto text = [&] { return record.text ? catalog.text(record.text) : std::string_view(); };
  if (record.kind == RecordKind::kSource) return take_source(record, text());
  list_ = 0;
  begun_ = begun_ || record.kind == RecordKind::kFrame;
  switch (record.kind) {
    case RecordKind::kList:
      return record.checkpoint ? Result<void>() : take_list(record, catalog, filter, folded);
    case RecordKind::kFrame: {
      if (record.objects.empty()) return {};
      const ObjectFacts& object = record.objects.front();
      if (record.verb != Verb::kAdded) unordered_ = false;
      reached_ = std::max(reached_, rv_of(object));
      if (!filter.keeps(catalog, object)) return {};
      if (record.verb != Verb::kDeleted) return put(record, kNo, catalog, folded);
      folded -= objects_.erase(identity_hash(catalog, object)) ? 1 : 0;
      return {};
    }
    case RecordKind::kBookmark:
      reached_ = std::max(reached_, record.rv);
      unordered_ = false;
      return {};
    case RecordKind::kGap:
      gap_ = true;
      gap_from_ = record.gap_from;
      gap_to_ = record.rv;
      gap_text_ = text();
      return {};
    case RecordKind::kOpen:
      watch_ = Watch::kOpen;
      watch_path_ = record.path ? catalog.text(record.path) : "";
      unordered_ = parse_watch_path(watch_path_).rv == 0;
      streamed_.clear();
      return {};
    case RecordKind::kError:  // of the watch, or of a list beside it that was refused
      watch_ = Watch::kUnknown;
      streamed_.clear();
      return {};
    case RecordKind::kClose:
      watch_ = Watch::kClosed;
      closed_because_ = text();
      streamed_.clear();
      return {};
    default:
      return {};
  }
}

Result<void> StreamFold::put(const Record& record, uint32_t item, const Catalog& catalog, size_t& folded) {
  const ObjectFacts& facts = record.objects[item == kNo ? 0 : item];
  const uint64_t identity = identity_hash(catalog, facts);
  Object object{record.seq, 0, item, false};
  if (const auto* pod = std::get_if<PodFacts>(&facts)) {
    const KeyId key = catalog.key_of(pod->pod);
    object.name = name_hash(catalog.ns(key), catalog.name(key));
    object.bound = pod->bound();
  }
  if (Object* known = objects_.find(identity); known != nullptr) {
    *known = object;
    return {};
  }
  if (folded == kMaxFolded) {
    return Error{ErrorCode::kOutOfLimit,
                 "more than " + std::to_string(kMaxFolded) + " objects live at @" + std::to_string(record.seq) +
                     ", before the span",
                 "", "cut fewer objects: --namespace, --name"};
  }
  objects_[identity] = object;
  ++folded;
  return {};
}

Result<void> StreamFold::take_source(const Record& record, std::string_view text) {
  const bool part = text == kSourcePart && list_ != 0;
  if (!part && text != kSourceStreamed) return {};
  std::vector<Seq>& seqs = part ? lists_[list_].parts : streamed_;
  if (seqs.size() == kMaxParts) {
    return Error{ErrorCode::kOutOfLimit,
                 "a list in more than " + std::to_string(kMaxParts) + " parts, at @" + std::to_string(record.seq), "",
                 ""};
  }
  seqs.push_back(record.seq);
  return {};
}

Result<void> StreamFold::take_list(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                                   size_t& folded) {
  folded -= objects_.size();
  objects_.clear();
  lists_.clear();
  list_ = record.seq;
  lists_[list_].streamed = std::exchange(streamed_, {});
  for (uint32_t i = 0; i < record.objects.size(); ++i) {
    if (filter.keeps(catalog, record.objects[i])) INQUEST_TRY_VOID(put(record, i, catalog, folded));
  }
  reached_ = record.rv;
  begun_ = true;
  gap_ = false;
  if (record.path) list_path_ = catalog.text(record.path);
  return {};
}

// In the order of the trace.
std::vector<StreamFold::Wanted> StreamFold::wanted() const {
  std::vector<Wanted> out;
  out.reserve(objects_.size());
  objects_.for_each([&](uint64_t identity, const Object& object) { out.push_back({object, identity}); });
  std::sort(out.begin(), out.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.object.seq, a.object.item) < std::tie(b.object.seq, b.object.item);
  });
  return out;
}

Result<std::vector<ObjectFacts>> StreamFold::facts(const std::vector<Wanted>& wanted, const FoldTools& tools) const {
  const size_t before = tools.catalog.memory();
  std::vector<ObjectFacts> out;
  out.reserve(wanted.size());
  Record record;
  for (const Wanted& want : wanted) {
    if (record.seq != want.object.seq) {
      INQUEST_TRY(record, tools.record(want.object.seq));
    }
    out.push_back(record.objects.at(want.object.item == kNo ? 0 : want.object.item));
    if (tools.catalog.memory() - before > kMaxNames) {
      return Error{ErrorCode::kOutOfLimit, "names of objects at the start of the span take more than 64 MiB", "",
                   "cut fewer objects: --namespace, --name"};
    }
  }
  return out;
}

Result<StreamFold::Made> StreamFold::write(const trace::Stream& stream, Time at, const FoldTools& tools) const {
  Catalog& catalog = tools.catalog;
  if (objects_.size() > trace::kMaxBatchObjects) {
    return Error{ErrorCode::kOutOfLimit,
                 std::to_string(objects_.size()) + " objects of " + stream.name +
                     " live at the start of the span, a list may have " + std::to_string(trace::kMaxBatchObjects),
                 "", "cut fewer objects: --namespace, --name"};
  }
  const std::vector<Wanted> kept = wanted();
  std::vector<BodySpool::Ref> pieces;
  INQUEST_TRY(const bool with_bodies, collect(kept, stream, tools, pieces));
  Record record;
  record.stream = stream.id;
  record.kind = RecordKind::kList;
  record.wall = at;
  record.status = 200;
  record.rv = reached_;
  record.text = catalog.string(kMadeList);
  if (!list_path_.empty()) record.path = catalog.string(list_path_);
  INQUEST_TRY(record.objects, facts(kept, tools));
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
  Catalog& catalog = tools.catalog;
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
Result<bool> StreamFold::collect(std::span<const Wanted> wanted, const trace::Stream& stream, const FoldTools& tools,
                                 std::vector<BodySpool::Ref>& pieces) const {
  std::pair<std::string, std::string> kind = list_kind(stream.resource);
  if (!lists_.empty()) {
    INQUEST_TRY(const std::string text, tools.reader.body(lists_.begin()->first));
    std::string json;
    const JsonShape shape = shape_of(json_of(text, json));
    if (ends_with_list(shape.kind)) kind = {shape.api_version, shape.kind};
  }
  if (kind.second.empty() && !wanted.empty() && wanted.back().object.item == kNo) {
    INQUEST_TRY(const std::string text, tools.reader.body(wanted.back().object.seq));
    std::string json;
    const JsonShape shape = shape_of(object_in(json_of(text, json)));
    if (!shape.kind.empty()) kind = {shape.api_version, shape.kind + "List"};
  }
  if (kind.second.empty()) return false;
  ListBody body(kind.first, kind.second, reached_, tools.spool);
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto last =
        std::find_if(first, wanted.end(), [&](const Wanted& want) { return want.object.seq != first->object.seq; });
    INQUEST_TRY(const bool there, add_items({first, last}, tools, body));
    if (!there) return false;
    first = last;
  }
  INQUEST_TRY(pieces, body.finish());
  return true;
}

// Those that one record holds.
Result<bool> StreamFold::add_items(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const {
  const Seq seq = wanted.front().object.seq;
  INQUEST_TRY(std::string text, tools.reader.body(seq));
  std::string kept;
  if (wanted.front().object.item == kNo) {
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
    for (; next < wanted.size() && wanted[next].object.item - passed < items.size(); ++next) {
      INQUEST_TRY_VOID(body.add(items[wanted[next].object.item - passed]));
    }
    passed += items.size();
    if (part == parts.parts.size()) break;
    INQUEST_TRY(const std::string more, tools.reader.body(parts.parts[part]));
    text = as_list(more);
  }
  INQUEST_TRY(const Record list, tools.record(seq));
  return next == wanted.size() && passed == list.objects.size();
}

// A streaming list's objects stand in the frames before it.
Result<bool> StreamFold::add_streamed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const {
  Catalog catalog;
  kube::Decoder decoder(catalog);
  HashMap<Seq> frames;
  for (const Seq seq : lists_.at(wanted.front().object.seq).streamed) {
    if (catalog.memory() > trace::kWalkNames) catalog = Catalog();
    INQUEST_TRY(const std::string text, tools.reader.body(seq));
    std::string kept;
    const auto frame = decoder.frame(json_of(text, kept));
    if (frame.ok()) frames[identity_hash(catalog, frame->object)] = seq;
  }
  for (const Wanted& want : wanted) {
    const Seq* frame = frames.find(want.identity);
    if (frame == nullptr) return false;
    INQUEST_TRY(const std::string text, tools.reader.body(*frame));
    std::string kept;
    INQUEST_TRY_VOID(body.add(object_in(json_of(text, kept))));
  }
  return true;
}

}  // namespace inquest::recorder
