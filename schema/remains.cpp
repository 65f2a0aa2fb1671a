#include "schema/remains.h"

#include <algorithm>
#include <map>

#include "schema/limits.h"
#include "schema/summary.h"

namespace inquest::trace {
namespace {

// What a lost stream's records say about it.
struct Traits {
  bool watch = false, audit = false;
  std::string resource;
};

std::string meta_text(Database& database, const char* key) {
  auto get = database.prepare("SELECT value FROM meta WHERE key = ?");
  if (!get.ok()) return "";
  const auto row = get->bind_text(1, key).step();
  if (!row.ok() || !*row) return "";
  const auto text = get->text(0, kMaxSummaryText);
  return text.ok() ? std::string(*text) : "";
}

// In the order of their ids; one that is lost among them is left without an id.
void load_streams(Database& database, std::vector<StreamSummary>& streams) {
  auto get = database.prepare("SELECT id, kind, name, resource, source FROM stream ORDER BY id");
  if (!get.ok()) return;
  for (auto row = get->step(); row.ok() && *row; row = get->step()) {
    const auto id = get->natural(0), kind = get->natural(1);
    if (!id.ok() || *id == 0 || *id > kMaxStreams) continue;
    if (!kind.ok() || *kind > static_cast<uint64_t>(StreamKind::kAudit)) continue;
    Stream stream;
    stream.kind = static_cast<StreamKind>(*kind);
    int column = 2;
    bool whole = true;
    for (std::string* text : {&stream.name, &stream.resource, &stream.source}) {
      const auto value = get->text(column++, kMaxIndexText);
      whole = whole && value.ok();
      if (value.ok()) *text = *value;
    }
    if (!whole) continue;
    stream.id = {static_cast<uint32_t>(*id - 1)};
    streams.resize(*id);
    streams.back().stream = std::move(stream);
  }
}

void load_losses(Database& database, TraceInfo& info) {
  auto get = database.prepare("SELECT source, what, count FROM loss ORDER BY source, what");
  if (!get.ok()) return;
  for (auto row = get->step(); row.ok() && *row; row = get->step()) {
    const auto source = get->text(0, kMaxIndexText), what = get->text(1, kMaxIndexText);
    const auto count = get->natural(2);
    if (!source.ok() || !what.ok() || !count.ok()) continue;
    if (info.losses.size() + info.notes.size() >= kMaxSummaryRows) return;
    add_loss_row(info, {std::string(*source), std::string(*what), *count});
  }
}

void look_at(const Record& record, Traits& traits) {
  traits.watch = traits.watch || !(record.kind == RecordKind::kBindRequest || record.kind == RecordKind::kBindAnswer ||
                                   record.kind == RecordKind::kSource);
  traits.audit = traits.audit || record.bind.user.known();
  if (!traits.resource.empty() || record.objects.empty()) return;
  const ObjectFacts& object = record.objects.front();
  if (std::holds_alternative<PodFacts>(object)) traits.resource = "pods";
  if (std::holds_alternative<NodeFacts>(object)) traits.resource = "nodes";
  if (std::holds_alternative<EventFacts>(object)) traits.resource = "events";
}

Stream stand_in(const Traits& traits, size_t number) {
  Stream stream;
  stream.name = "lost-" + std::to_string(number);
  stream.source = "lost";
  stream.resource = traits.resource;
  if (!traits.watch) stream.kind = traits.audit ? StreamKind::kAudit : StreamKind::kBindLog;
  return stream;
}

}  // namespace

Remains load_remains(Database& database) {
  Remains out;
  out.info.uuid = meta_text(database, "uuid");
  out.info.cluster_version = meta_text(database, "cluster_version");
  out.info.server = meta_text(database, "server");
  out.info.scope = meta_text(database, "scope");
  out.dictionary_sha = meta_text(database, "dictionary_sha");
  out.says_open = meta_text(database, "state") == "open";
  load_streams(database, out.info.streams);
  load_losses(database, out.info);
  return out;
}

uint64_t stand_in_for_streams(BatchRows& rows, const Dictionaries& dictionaries, std::vector<StreamSummary>& streams) {
  std::map<uint32_t, Traits> seen;
  for (auto id = rows.next_id(0); id.ok() && *id != 0; id = rows.next_id(*id)) {
    const auto read = rows.read(*id);
    Catalog names;
    uint64_t name_bytes = 0;
    BatchDecoder decoder;
    if (!read.ok() || !decoder.load(read->batch, read->facts, dictionaries, kMaxStreams, names, name_bytes).ok())
      continue;
    Record record;
    while (!decoder.at_end() && decoder.next(record).ok()) look_at(record, seen[record.stream.value]);
  }
  rows.reset();
  if (!seen.empty()) streams.resize(std::max(streams.size(), size_t{seen.rbegin()->first} + 1));
  uint64_t lost = 0;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].stream.id.known()) continue;
    streams[i].stream = stand_in(seen[static_cast<uint32_t>(i)], i + 1);
    ++lost;
  }
  return lost;
}

}  // namespace inquest::trace
