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
  spare_read_names();
  INQUEST_TRY(Record record, reader.record(seq));
  names.move(record);
  return record;
}

Result<std::string> FoldTools::body(Seq seq) const {
  spare_read_names();
  return reader.body(seq);
}

Result<void> StreamFold::take(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                              size_t& folded) {
  const auto text = [&] { return record.text ? catalog.text(record.text) : std::string_view(); };
  if (record.kind == RecordKind::kSource) return take_source(record, catalog, filter, folded);
  listing_ = false;
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

Result<void> StreamFold::take_source(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                                     size_t& folded) {
  const std::string_view text = record.text ? catalog.text(record.text) : std::string_view();
  const bool part = text == kSourcePart && listing_;
  if (!part && text != kSourceStreamed) return {};
  if (std::max(list_.parts.size(), streamed_.size()) == kMaxParts) {
    return Error{ErrorCode::kOutOfLimit,
                 "a list in more than " + std::to_string(kMaxParts) + " parts, at @" + std::to_string(record.seq), "",
                 ""};
  }
  if (!part) {
    streamed_.push_back(record.seq);
    return {};
  }
  list_.parts.push_back({record.seq, list_.objects});
  return take_items(record, catalog, filter, folded);
}

Result<void> StreamFold::take_list(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                                   size_t& folded) {
  folded -= objects_.size();
  objects_.clear();
  list_ = {};
  list_.seq = record.seq;
  list_.streamed = std::exchange(streamed_, {});
  listing_ = true;
  INQUEST_TRY_VOID(take_items(record, catalog, filter, folded));
  reached_ = record.rv;
  begun_ = true;
  gap_ = false;
  if (record.path) list_path_ = catalog.text(record.path);
  return {};
}

// Of a list, or a part of one.
Result<void> StreamFold::take_items(const Record& record, const Catalog& catalog, const ObjectFilter& filter,
                                    size_t& folded) {
  list_.objects += record.objects.size();
  for (uint32_t i = 0; i < record.objects.size(); ++i) {
    if (filter.keeps(catalog, record.objects[i])) INQUEST_TRY_VOID(put(record, i, catalog, folded));
  }
  return {};
}

// In the order of the trace.
std::vector<StreamFold::Wanted> StreamFold::wanted() const {
  std::vector<Wanted> out;
  out.reserve(objects_.size());
  objects_.for_each([&](uint64_t identity, const Object& object) {
    out.push_back({object.seq, identity, object.item});
  });
  std::sort(out.begin(), out.end(),
            [](const Wanted& a, const Wanted& b) { return std::tie(a.seq, a.item) < std::tie(b.seq, b.item); });
  return out;
}

Result<std::vector<ObjectFacts>> StreamFold::facts(std::span<const Wanted> wanted, const FoldTools& tools) const {
  std::vector<ObjectFacts> out;
  out.reserve(wanted.size());
  Record record;
  for (const Wanted& want : wanted) {
    if (record.seq != want.seq) {
      INQUEST_TRY(record, tools.record(want.seq));
    }
    out.push_back(record.objects.at(want.item == kNo ? 0 : want.item));
  }
  return out;
}

Result<StreamFold::Made> StreamFold::write(const trace::Stream& stream, Time at, const FoldTools& tools) {
  if (objects_.size() > kMaxListedOnce) {
    return Error{ErrorCode::kOutOfLimit,
                 std::to_string(objects_.size()) + " objects of " + stream.name +
                     " live at the start of the span, the limit is " + std::to_string(kMaxListedOnce),
                 "", "cut fewer objects: --namespace, --name"};
  }
  const std::vector<Wanted> kept = wanted();
  objects_.clear();
  std::vector<ListBody::Piece> pieces;
  INQUEST_TRY(const bool with_bodies, collect(kept, stream, tools, pieces));
  if (!with_bodies) {
    pieces.clear();
    for (size_t at_object = 0; at_object < kept.size() || pieces.empty(); at_object += kObjectsOfAPart) {
      pieces.push_back({{}, std::min(kObjectsOfAPart, kept.size() - at_object)});
    }
  }
  Record record;
  record.stream = stream.id;
  record.wall = at;
  INQUEST_TRY_VOID(write_list(kept, pieces, record, tools));
  INQUEST_TRY_VOID(write_watch(std::move(record), tools));
  return Made{kept.size(), with_bodies};
}

Result<void> StreamFold::write_list(std::span<const Wanted> wanted, std::span<const ListBody::Piece> pieces,
                                    Record record, const FoldTools& tools) const {
  Catalog& catalog = tools.catalog;
  record.kind = RecordKind::kList;
  record.status = 200;
  record.rv = reached_;
  size_t done = 0;
  for (const ListBody::Piece& piece : pieces) {
    INQUEST_TRY_VOID(tools.spare_names());
    const bool first = record.kind == RecordKind::kList;
    record.text = catalog.string(first ? std::string_view(kMadeList) : kSourcePart);
    record.path = first && !list_path_.empty() ? catalog.string(list_path_) : StringId::none();
    INQUEST_TRY(record.objects, facts(wanted.subspan(done, piece.items), tools));
    done += piece.items;
    record.more_objects = first ? wanted.size() - done : 0;
    INQUEST_TRY(const std::string body, tools.spool.get(piece.body));
    const auto seq = tools.writer.append(record, body);
    if (!seq.ok()) return seq.error();
    record.kind = RecordKind::kSource;
    record.status = 0;
  }
  return {};
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
                                 std::vector<ListBody::Piece>& pieces) const {
  std::pair<std::string, std::string> kind = list_kind(stream.resource);
  if (list_.seq != 0) {
    INQUEST_TRY(const std::string text, tools.body(list_.seq));
    std::string json;
    const JsonShape shape = shape_of(json_of(text, json));
    if (ends_with_list(shape.kind)) kind = {shape.api_version, shape.kind};
  }
  if (kind.second.empty() && !wanted.empty() && wanted.back().item == kNo) {
    INQUEST_TRY(const std::string text, tools.body(wanted.back().seq));
    std::string json;
    const JsonShape shape = shape_of(object_in(json_of(text, json)));
    if (!shape.kind.empty()) kind = {shape.api_version, shape.kind + "List"};
  }
  if (kind.second.empty()) return false;
  ListBody body(kind.first, kind.second, reached_, tools.spool);
  const auto frames = std::find_if(wanted.begin(), wanted.end(), [](const Wanted& want) { return want.item == kNo; });
  INQUEST_TRY(const bool listed, add_listed({wanted.begin(), frames}, tools, body));
  if (!listed) return false;
  for (auto frame = frames; frame != wanted.end(); ++frame) {
    INQUEST_TRY(const std::string text, tools.body(frame->seq));
    std::string kept;
    const std::string_view object = object_in(json_of(text, kept));
    if (object.empty()) return false;
    INQUEST_TRY_VOID(body.add(object));
  }
  INQUEST_TRY(pieces, body.finish());
  return true;
}

// Which of the list's items it is.
uint64_t StreamFold::place_in_list(const Wanted& wanted) const {
  if (wanted.seq == list_.seq) return wanted.item;
  const auto part = std::lower_bound(list_.parts.begin(), list_.parts.end(), wanted.seq,
                                     [](const Part& a, Seq seq) { return a.seq < seq; });
  return part->first + wanted.item;
}

// Those that stand in the list.
Result<bool> StreamFold::add_listed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const {
  if (wanted.empty()) return true;
  if (!list_.streamed.empty()) return add_streamed(wanted, tools, body);
  INQUEST_TRY(std::string text, tools.body(list_.seq));
  std::string kept;
  size_t next = 0;
  uint64_t passed = 0;
  for (size_t part = 0;; ++part) {
    const std::vector<std::string_view> items = items_of(json_of(text, kept));
    for (; next < wanted.size(); ++next) {
      const uint64_t item = place_in_list(wanted[next]) - passed;
      if (item >= items.size()) break;
      INQUEST_TRY_VOID(body.add(items[item]));
    }
    passed += items.size();
    if (part == list_.parts.size()) break;
    INQUEST_TRY(text, tools.body(list_.parts[part].seq));
    text.insert(0, as_list(""));
  }
  return next == wanted.size() && passed == list_.objects;
}

// A streaming list's objects stand in the frames before it.
Result<bool> StreamFold::add_streamed(std::span<const Wanted> wanted, const FoldTools& tools, ListBody& body) const {
  Catalog catalog;
  kube::Decoder decoder(catalog);
  HashMap<Seq> frames;
  for (const Seq seq : list_.streamed) {
    if (catalog.memory() > trace::kWalkNames) catalog = Catalog();
    INQUEST_TRY(const std::string text, tools.body(seq));
    std::string kept;
    const auto frame = decoder.frame(json_of(text, kept));
    if (frame.ok()) frames[identity_hash(catalog, frame->object)] = seq;
  }
  for (const Wanted& want : wanted) {
    const Seq* frame = frames.find(want.identity);
    if (frame == nullptr) return false;
    INQUEST_TRY(const std::string text, tools.body(*frame));
    std::string kept;
    INQUEST_TRY_VOID(body.add(object_in(json_of(text, kept))));
  }
  return true;
}

}  // namespace inquest::recorder
