#include "schema/summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "schema/integrity.h"
#include "schema/limits.h"

namespace inquest::trace {
namespace {

constexpr const char* kStateNames[] = {"open", "closed", "recovered"};

// What stands for names that would exceed the limit of rows.
constexpr const char* kOthers = "(others)";

// What tells a note from a loss in table loss.
constexpr std::string_view kNote = "note: ";

// A text may come from the input; what is too long for the summary is cut.
std::string within_limit(std::string_view text) { return std::string(text.substr(0, kMaxSummaryText - kNote.size())); }

// The columns of table counts after stream, in their order.
std::array<const uint64_t*, 17> columns(const StreamSummary& s) {
  return {&s.lists,        &s.checkpoints,  &s.added,  &s.modified, &s.deleted,     &s.bookmarks,
          &s.errors,       &s.opens,        &s.closes, &s.gaps,     &s.undecodable, &s.bind_requests,
          &s.bind_answers, &s.observations, &s.first,  &s.last,     &s.closed_at};
}

void count_record(const Record& record, Seq seq, StreamSummary& s) {
  if (s.first == 0) s.first = seq;
  s.last = seq;
  switch (record.kind) {
    case RecordKind::kList:
      ++(record.checkpoint ? s.checkpoints : s.lists);
      break;
    case RecordKind::kFrame:
      ++(record.verb == Verb::kAdded ? s.added : record.verb == Verb::kModified ? s.modified : s.deleted);
      break;
    case RecordKind::kBookmark:
      ++s.bookmarks;
      break;
    case RecordKind::kError:
      ++s.errors;
      break;
    case RecordKind::kOpen:
      ++s.opens;
      s.closed_at = 0;
      break;
    case RecordKind::kClose:
      ++s.closes;
      s.closed_at = seq;
      break;
    case RecordKind::kBindRequest:
      ++s.bind_requests;
      break;
    case RecordKind::kBindAnswer:
      ++s.bind_answers;
      break;
    case RecordKind::kGap:
      ++s.gaps;
      break;
    case RecordKind::kUndecodable:
      ++s.undecodable;
      break;
    case RecordKind::kSource:
      break;
  }
}

}  // namespace

std::vector<TraceLoss> TraceInfo::all_notes() const {
  std::vector<TraceLoss> out = notes;
  if (format_version < kFirstWithPlacements) {
    out.push_back({"format " + std::to_string(format_version),
                   "selectors, tolerations, labels and taints are not among the facts; export and import has them", 1});
  }
  return out;
}

bool TraceInfo::complete() const {
  return state == TraceState::kClosed && losses.empty() && summary_intact &&
         std::all_of(streams.begin(), streams.end(),
                     [](const StreamSummary& s) { return s.gaps == 0 && s.undecodable == 0; });
}

bool Summary::add_stream(const Stream& stream) {
  const size_t texts = stream.name.size() + stream.resource.size() + stream.source.size();
  if (info_.streams.size() >= kMaxStreams || texts > kMaxSummaryText || text_bytes_ + texts > kMaxSummaryBytes / 2) {
    return false;
  }
  text_bytes_ += texts;
  StreamSummary summary;
  summary.stream = stream;
  info_.streams.push_back(std::move(summary));
  return changed_ = true;
}

// Rows stay sorted by scheduler and code. There are as many as schedulers have names, so inserting is cheap.
void Summary::count_bind(const std::string& scheduler, uint16_t code, bool answered) {
  const auto row_of = [&](uint16_t wanted) -> BindCount& {
    const auto find = [&](const std::string& name) {
      return std::lower_bound(
          info_.binds.begin(), info_.binds.end(), std::tie(name, wanted),
          [](const BindCount& row, const auto& key) { return std::tie(row.scheduler, row.code) < key; });
    };
    const auto is = [&](auto at, const std::string& name) {
      return at != info_.binds.end() && at->scheduler == name && at->code == wanted;
    };
    auto at = find(scheduler);
    if (is(at, scheduler)) return *at;
    // Room for the others' codes stays.
    const bool full = info_.binds.size() + 1'000 > kMaxSummaryRows || text_bytes_ > kMaxSummaryBytes / 2;
    const std::string& name = full ? std::string(kOthers) : scheduler;
    if (full) at = find(name);
    if (full && is(at, name)) return *at;
    text_bytes_ += name.size();
    return *info_.binds.insert(at, BindCount{name, wanted, 0});
  };
  if (answered) {
    BindCount& open = row_of(0);
    if (open.count > 0) --open.count;
    if (open.count == 0) info_.binds.erase(info_.binds.begin() + (&open - info_.binds.data()));
  }
  ++row_of(code).count;
}

void Summary::count(const Record& record, Seq seq, uint64_t body_bytes, const Catalog& catalog) {
  changed_ = true;
  ++info_.records;
  info_.body_bytes += body_bytes;
  if (record.wall.known()) {
    if (!info_.start.known() || record.wall < info_.start) info_.start = record.wall;
    if (!info_.end.known() || record.wall > info_.end) info_.end = record.wall;
  }
  count_record(record, seq, info_.streams[record.stream.value]);
  for (const BindObservation& observation : record.bind.observations) {
    ++info_.streams[observation.stream.value].observations;
  }
  if (record.kind == RecordKind::kBindRequest) {
    std::string scheduler = within_limit(catalog.text(record.bind.scheduler));
    count_bind(scheduler, 0, false);
    if (unanswered_.size() >= kMaxUnanswered) unanswered_.erase(unanswered_.begin());
    unanswered_.emplace(seq, std::move(scheduler));
  }
  if (record.kind == RecordKind::kBindAnswer) {
    const auto request = unanswered_.find(record.bind.request);
    if (request == unanswered_.end()) return;
    if (record.bind.code != 0) count_bind(request->second, record.bind.code, true);
    unanswered_.erase(request);
  }
}

void Summary::add_loss(const std::string& source, const std::string& what, uint64_t count) {
  add_row(info_.losses, source, what, count);
}

void Summary::add_note(const std::string& source, const std::string& what, uint64_t count) {
  add_row(info_.notes, source, what, count);
}

void Summary::add_row(std::vector<TraceLoss>& rows, const std::string& source, const std::string& what,
                      uint64_t count) {
  if (count == 0) return;
  changed_ = true;
  std::string from = within_limit(source), kind = within_limit(what);
  const auto find = [&] {
    return std::lower_bound(rows.begin(), rows.end(), std::tie(from, kind),
                            [](const TraceLoss& row, const auto& key) { return std::tie(row.source, row.what) < key; });
  };
  const auto is = [&](auto at) { return at != rows.end() && at->source == from && at->what == kind; };
  auto at = find();
  const bool full =
      info_.losses.size() + info_.notes.size() + 2 >= kMaxSummaryRows || text_bytes_ > kMaxSummaryBytes / 2;
  if (!is(at) && full) {
    from = kind = kOthers;
    at = find();
  }
  if (!is(at)) {
    text_bytes_ += from.size() + kind.size();
    at = rows.insert(at, TraceLoss{from, kind, 0});
  }
  at->count += count;
}

namespace {

Result<void> save_meta(Database& database, const TraceInfo& info, const Seals& seals) {
  INQUEST_TRY(Statement put, database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)"));
  const std::pair<const char*, uint64_t> numbers[] = {{"format", static_cast<uint64_t>(info.format_version)},
                                                      {"minimum_reader", static_cast<uint64_t>(kMinimumReader)},
                                                      {"start", static_cast<uint64_t>(info.start.ns)},
                                                      {"end", static_cast<uint64_t>(info.end.ns)},
                                                      {"records", info.records},
                                                      {"batches", info.batches},
                                                      {"body_bytes", info.body_bytes}};
  for (const auto& [key, value] : numbers) INQUEST_TRY_VOID(put.bind_text(1, key).bind(2, value).run());
  const std::pair<const char*, std::string_view> texts[] = {
      {"uuid", info.uuid},     {"writer", info.writer},        {"cluster_version", info.cluster_version},
      {"server", info.server}, {"scope", info.scope},          {"state", kStateNames[static_cast<size_t>(info.state)]},
      {"index", seals.index},  {"index_sha", seals.index_sha}, {"dictionary_sha", seals.dictionary_sha},
      {"chain", seals.chain}};
  for (const auto& [key, value] : texts) INQUEST_TRY_VOID(put.bind_text(1, key).bind_text(2, value).run());
  const std::string digest = to_hex(summary_digest(info, seals));
  return put.bind_text(1, "digest").bind_text(2, digest).run();
}

Result<void> save_streams(Database& database, const TraceInfo& info) {
  INQUEST_TRY(Statement put_stream, database.prepare("INSERT OR REPLACE INTO stream VALUES (?, ?, ?, ?, ?)"));
  INQUEST_TRY(Statement put_counts, database.prepare("INSERT OR REPLACE INTO counts VALUES "
                                                     "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  int64_t id = 0;
  for (const StreamSummary& summary : info.streams) {
    const Stream& stream = summary.stream;
    put_stream.bind(1, ++id).bind(2, static_cast<int64_t>(stream.kind)).bind_text(3, stream.name);
    INQUEST_TRY_VOID(put_stream.bind_text(4, stream.resource).bind_text(5, stream.source).run());
    int parameter = 1;
    put_counts.bind(parameter, id);
    for (const uint64_t* value : columns(summary)) put_counts.bind(++parameter, *value);
    INQUEST_TRY_VOID(put_counts.run());
  }
  return {};
}

}  // namespace

Result<void> Summary::save(Database& database, const Seals& seals) const {
  INQUEST_TRY_VOID(save_meta(database, info_, seals));
  INQUEST_TRY_VOID(save_streams(database, info_));
  INQUEST_TRY_VOID(database.exec("DELETE FROM bind_count"));
  INQUEST_TRY(Statement put_bind, database.prepare("INSERT INTO bind_count VALUES (?, ?, ?)"));
  for (const BindCount& bind : info_.binds) {
    INQUEST_TRY_VOID(put_bind.bind_text(1, bind.scheduler).bind(2, int64_t{bind.code}).bind(3, bind.count).run());
  }
  INQUEST_TRY(Statement put_loss, database.prepare("INSERT OR REPLACE INTO loss VALUES (?, ?, ?)"));
  for (const TraceLoss& loss : info_.losses) {
    INQUEST_TRY_VOID(put_loss.bind_text(1, loss.source).bind_text(2, loss.what).bind(3, loss.count).run());
  }
  for (const TraceLoss& note : info_.notes) {
    const std::string what = std::string(kNote) + note.what;
    INQUEST_TRY_VOID(put_loss.bind_text(1, note.source).bind_text(2, what).bind(3, note.count).run());
  }
  return {};
}

namespace {

// Of all texts of streams, binds and losses.
class TextBudget {
 public:
  bool take(size_t bytes) {
    used_ += bytes;
    return used_ <= kMaxSummaryBytes;
  }

 private:
  size_t used_ = 0;
};

Error missing(const Database& database, const std::string& what) {
  return {ErrorCode::kCorrupt, "the summary " + what, database.path(), ""};
}

// meta, by key.
class Meta {
 public:
  static Result<Meta> load(Database& database) {
    Meta meta(database);
    INQUEST_TRY(meta.get_, database.prepare("SELECT value FROM meta WHERE key = ?"));
    return meta;
  }
  Result<int64_t> integer(const char* key) {
    INQUEST_TRY_VOID(find(key));
    return get_.integer(0);
  }
  Result<uint64_t> natural(const char* key) {
    INQUEST_TRY_VOID(find(key));
    return get_.natural(0);
  }
  Result<std::string> text(const char* key) {
    INQUEST_TRY_VOID(find(key));
    INQUEST_TRY(const std::string_view value, get_.text(0, kMaxSummaryText));
    return std::string(value);
  }

 private:
  explicit Meta(Database& database) : database_(&database) {}
  Result<void> find(const char* key) {
    get_.reset();
    INQUEST_TRY(const bool found, get_.bind_text(1, key).step());
    if (!found) return missing(*database_, std::string("has no ") + key);
    return {};
  }
  Database* database_;
  Statement get_;
};

Result<void> load_meta(Database& database, LoadedSummary& out, std::string& digest) {
  INQUEST_TRY(Meta meta, Meta::load(database));
  TraceInfo& info = out.info;
  INQUEST_TRY(const uint64_t format, meta.natural("format"));
  if (format > 1'000'000) return missing(database, "names an impossible format");
  info.format_version = static_cast<int>(format);
  INQUEST_TRY(info.uuid, meta.text("uuid"));
  INQUEST_TRY(info.writer, meta.text("writer"));
  INQUEST_TRY(info.cluster_version, meta.text("cluster_version"));
  INQUEST_TRY(info.server, meta.text("server"));
  INQUEST_TRY(info.scope, meta.text("scope"));
  INQUEST_TRY(info.start.ns, meta.integer("start"));
  INQUEST_TRY(info.end.ns, meta.integer("end"));
  INQUEST_TRY(info.records, meta.natural("records"));
  INQUEST_TRY(info.batches, meta.natural("batches"));
  INQUEST_TRY(info.body_bytes, meta.natural("body_bytes"));
  INQUEST_TRY(out.seals.chain, meta.text("chain"));
  INQUEST_TRY(out.seals.dictionary_sha, meta.text("dictionary_sha"));
  INQUEST_TRY(out.seals.index_sha, meta.text("index_sha"));
  INQUEST_TRY(out.seals.index, meta.text("index"));
  INQUEST_TRY(digest, meta.text("digest"));
  INQUEST_TRY(const std::string state, meta.text("state"));
  for (size_t i = 0; i < std::size(kStateNames); ++i) {
    if (state != kStateNames[i]) continue;
    info.state = static_cast<TraceState>(i);
    return {};
  }
  return missing(database, "names an unknown state");
}

Result<void> load_streams(Database& database, TraceInfo& info, TextBudget& budget) {
  INQUEST_TRY(Statement streams, database.prepare("SELECT id, kind, name, resource, source FROM stream ORDER BY id"));
  INQUEST_TRY(Statement counts,
              database.prepare("SELECT lists, checkpoints, added, modified, deleted, bookmarks, errors, opens, closes, "
                               "gaps, undecodable, bind_requests, bind_answers, observations, first_seq, last_seq, "
                               "closed_at FROM counts WHERE stream = ?"));
  while (true) {
    INQUEST_TRY(const bool row, streams.step());
    if (!row) return {};
    StreamSummary summary;
    INQUEST_TRY(const uint64_t id, streams.natural(0));
    INQUEST_TRY(const uint64_t kind, streams.natural(1));
    if (id != info.streams.size() + 1 || id > kMaxStreams) return missing(database, "has a hole among its streams");
    if (kind > static_cast<uint64_t>(StreamKind::kAudit)) return missing(database, "has a stream of unknown kind");
    summary.stream.id = {static_cast<uint32_t>(id - 1)};
    summary.stream.kind = static_cast<StreamKind>(kind);
    int column = 2;
    for (std::string* text : {&summary.stream.name, &summary.stream.resource, &summary.stream.source}) {
      INQUEST_TRY(*text, streams.text(column++, kMaxSummaryText));
      if (!budget.take(text->size())) return missing(database, "has more text than a summary may have");
    }
    counts.reset();
    INQUEST_TRY(const bool counted, counts.bind(1, id).step());
    if (!counted) return missing(database, "lacks the counts of stream " + std::to_string(id));
    column = 0;
    for (const uint64_t* value : columns(summary)) {
      INQUEST_TRY(*const_cast<uint64_t*>(value), counts.natural(column++));
    }
    info.streams.push_back(std::move(summary));
  }
}

Result<void> load_binds(Database& database, TraceInfo& info, TextBudget& budget) {
  INQUEST_TRY(Statement rows,
              database.prepare("SELECT scheduler, code, count FROM bind_count ORDER BY scheduler, code"));
  while (true) {
    INQUEST_TRY(const bool row, rows.step());
    if (!row) return {};
    if (info.binds.size() >= kMaxSummaryRows) return missing(database, "has too many rows in bind_count");
    BindCount bind;
    INQUEST_TRY(bind.scheduler, rows.text(0, kMaxSummaryText));
    if (!budget.take(bind.scheduler.size())) return missing(database, "has more text than a summary may have");
    INQUEST_TRY(const uint64_t code, rows.natural(1));
    if (code > std::numeric_limits<uint16_t>::max()) return missing(database, "names an impossible HTTP status");
    bind.code = static_cast<uint16_t>(code);
    INQUEST_TRY(bind.count, rows.natural(2));
    info.binds.push_back(std::move(bind));
  }
}

Result<void> load_losses(Database& database, TraceInfo& info, TextBudget& budget) {
  INQUEST_TRY(Statement rows, database.prepare("SELECT source, what, count FROM loss ORDER BY source, what"));
  while (true) {
    INQUEST_TRY(const bool row, rows.step());
    if (!row) return {};
    if (info.losses.size() + info.notes.size() >= kMaxSummaryRows)
      return missing(database, "has too many rows in loss");
    TraceLoss loss;
    INQUEST_TRY(loss.source, rows.text(0, kMaxSummaryText));
    INQUEST_TRY(loss.what, rows.text(1, kMaxSummaryText));
    if (!budget.take(loss.source.size() + loss.what.size())) {
      return missing(database, "has more text than a summary may have");
    }
    INQUEST_TRY(loss.count, rows.natural(2));
    add_loss_row(info, std::move(loss));
  }
}

}  // namespace

void add_loss_row(TraceInfo& info, TraceLoss row) {
  const bool note = row.what.starts_with(kNote);
  if (note) row.what.erase(0, kNote.size());
  (note ? info.notes : info.losses).push_back(std::move(row));
}

Result<LoadedSummary> load_summary(Database& database) {
  LoadedSummary out;
  std::string digest;
  TextBudget budget;
  INQUEST_TRY_VOID(load_meta(database, out, digest));
  INQUEST_TRY_VOID(load_streams(database, out.info, budget));
  INQUEST_TRY_VOID(load_binds(database, out.info, budget));
  INQUEST_TRY_VOID(load_losses(database, out.info, budget));
  out.info.summary_intact = digest == to_hex(summary_digest(out.info, out.seals));
  return out;
}

}  // namespace inquest::trace
