#include "schema/recover.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "schema/batch_decoder.h"
#include "schema/batch_rows.h"
#include "schema/body_reader.h"
#include "schema/copy.h"
#include "schema/file_lock.h"
#include "schema/limits.h"
#include "schema/open.h"
#include "schema/summary.h"

namespace inquest::trace {
namespace {

constexpr size_t kDamageShown = 20;
constexpr const char* kSource = "recover";

class Recovery {
 public:
  explicit Recovery(Database database) : database_(std::move(database)) {}
  Result<void> prepare();
  Result<void> run(const std::string& output);
  const RecoverReport& report() const { return report_; }

 private:
  struct Watch {
    ResourceVersion last = 0;
    bool hole = false;
  };
  struct Shift {
    Seq old_first = 0, old_last = 0, new_first = 0;
  };

  void load_info();
  void load_remains();
  Result<uint64_t> highest_batch();
  Result<void> take_batch(uint64_t id);
  Result<std::optional<Error>> verify(uint64_t id, BatchRow& row);
  Result<void> copy_batch(const BatchRow& row, bool with_bodies);
  Result<void> fill_gap(const Record& record);
  void lost(uint64_t id, Seq first, Seq last, const std::string& why);
  Result<void> forget_names(size_t objects);
  Seq moved(Seq request) const;
  void tell_losses();

  Database database_;
  TraceInfo info_;
  Dictionaries dictionaries_;
  BatchRows rows_;
  std::unique_ptr<BodyReader> bodies_;
  BatchDecoder decoder_;
  Catalog catalog_;
  uint64_t catalog_bytes_ = 0;
  std::optional<TraceWriter> writer_;
  RecoverReport report_;

  Seq last_ = 0;                     // the last old seq that was kept or is known to be lost
  std::optional<std::string> link_;  // the chain as stored with the batch before, if that was kept
  std::string hole_;
  std::vector<Watch> watches_;
  std::vector<Shift> shifts_;  // one wherever numbers begin to differ
};

// Where the summary cannot be loaded: UUID and streams, each for itself.
void Recovery::load_remains() {
  if (auto get = database_.prepare("SELECT value FROM meta WHERE key = 'uuid'"); get.ok()) {
    if (auto row = get->step(); row.ok() && *row) {
      if (const auto uuid = get->text(0, kMaxSummaryText); uuid.ok()) info_.uuid = *uuid;
    }
  }
  auto get = database_.prepare("SELECT name, resource, source, kind FROM stream WHERE id = ?");
  if (!get.ok()) return;
  while (info_.streams.size() < kMaxStreams) {
    get->reset();
    const auto row = get->bind(1, uint64_t{info_.streams.size() + 1}).step();
    if (!row.ok() || !*row) return;
    StreamSummary summary;
    int column = 0;
    for (std::string* text : {&summary.stream.name, &summary.stream.resource, &summary.stream.source}) {
      const auto value = get->text(column++, kMaxIndexText);
      *text = value.ok() ? std::string(*value) : "unknown";
    }
    if (const auto kind = get->natural(3); kind.ok() && *kind <= static_cast<uint64_t>(StreamKind::kAudit)) {
      summary.stream.kind = static_cast<StreamKind>(*kind);
    }
    info_.streams.push_back(std::move(summary));
  }
}

// What is left of the summary.
void Recovery::load_info() {
  auto summary = load_summary(database_);
  report_.summary_was_intact = summary.ok() && summary->info.summary_intact;
  if (summary.ok()) {
    info_ = std::move(summary->info);
    if (!dictionaries_.load(database_, summary->seals.dictionary_sha).ok()) dictionaries_.clear();
  } else {
    load_remains();
  }
  report_.was_open = info_.state == TraceState::kOpen;
}

Result<void> Recovery::prepare() {
  load_info();
  INQUEST_TRY(rows_, BatchRows::open(database_));
  INQUEST_TRY(bodies_, BodyReader::open(database_, dictionaries_));
  return {};
}

// Ids beyond what the file has room for are not believed: a row has more than 64 bytes.
Result<uint64_t> Recovery::highest_batch() {
  uint64_t highest = info_.batches;
  if (auto find = database_.prepare("SELECT id FROM batch ORDER BY id DESC LIMIT 1"); find.ok()) {
    if (auto row = find->step(); row.ok() && *row) {
      if (const auto id = find->natural(0); id.ok()) highest = std::max(highest, *id);
    }
  }
  return std::min(highest, stored_bytes(database_.path()) / 64);
}

void Recovery::lost(uint64_t id, Seq first, Seq last, const std::string& why) {
  ++report_.batches_lost;
  if (report_.damage.size() < kDamageShown) report_.damage.push_back({id, first, last, why});
  link_.reset();
}

// Nothing: the batch may be kept. Otherwise why not.
Result<std::optional<Error>> Recovery::verify(uint64_t id, BatchRow& row) {
  const auto read = rows_.read(id);
  if (!read.ok()) return std::optional(read.error());
  row = read->batch;
  if (row.first_seq <= last_) {
    return std::optional(Error{ErrorCode::kCorrupt, "its records stand before those of an earlier batch", "", ""});
  }
  const auto chain = rows_.chain();
  if (!chain.ok()) return std::optional(chain.error());
  const std::string stored(*chain);
  // With damaged bodies the link cannot be checked; the facts have a CRC of their own.
  const auto sha = bodies_->check(row);
  if (sha.ok() && link_ && chain_next(*link_, row, read->facts, *sha) != stored) {
    return std::optional(Error{ErrorCode::kCorrupt, "the chain breaks here", "", ""});
  }
  const auto loaded = decoder_.load(row, read->facts, dictionaries_, info_.streams.size(), catalog_, catalog_bytes_);
  rows_.reset();
  if (!loaded.ok()) return std::optional(loaded.error());
  link_ = stored;
  return std::optional<Error>();
}

Result<void> Recovery::take_batch(uint64_t id) {
  BatchRow row;
  INQUEST_TRY(const auto why, verify(id, row));
  rows_.reset();
  if (why) {
    lost(id, last_ + 1, row.last_seq > last_ ? row.last_seq : 0, why->text);
    return {};
  }
  if (row.first_seq != last_ + 1) {
    report_.records_lost += row.first_seq - last_ - 1;
    hole_ = "recovered: records @" + std::to_string(last_ + 1) + " to @" + std::to_string(row.first_seq - 1) +
            " of the damaged trace are lost";
    for (Watch& watch : watches_) watch.hole = true;
  }
  const bool with_bodies = row.body_bytes == 0 || bodies_->check(row).ok();
  if (!with_bodies && report_.damage.size() < kDamageShown) {
    report_.damage.push_back({id, row.first_seq, row.last_seq, "the bodies are damaged, the facts are not"});
  }
  return copy_batch(row, with_bodies);
}

// What this watch did not see because of the hole, as far as it can be said.
Result<void> Recovery::fill_gap(const Record& record) {
  Watch& watch = watches_[record.stream.value];
  const bool has_rv = record.rv != 0 && (record.kind == RecordKind::kList || record.kind == RecordKind::kFrame ||
                                         record.kind == RecordKind::kBookmark);
  if (!has_rv) return {};
  if (watch.hole) {
    Record gap;
    gap.stream = record.stream;
    gap.kind = RecordKind::kGap;
    gap.wall = record.wall;
    gap.gap_from = watch.last;
    gap.rv = record.rv;
    gap.text = catalog_.string(hole_);
    INQUEST_TRY_VOID(writer_->append(gap, ""));
    ++report_.gaps;
    watch.hole = false;
  }
  watch.last = record.rv;
  return {};
}

Seq Recovery::moved(Seq request) const {
  const auto after = std::upper_bound(shifts_.begin(), shifts_.end(), request,
                                      [](Seq seq, const Shift& shift) { return seq < shift.old_first; });
  if (after == shifts_.begin()) return 0;
  const Shift& shift = *(after - 1);
  return request <= shift.old_last ? shift.new_first + (request - shift.old_first) : 0;
}

Result<void> Recovery::copy_batch(const BatchRow& row, bool with_bodies) {
  Record record;
  while (!decoder_.at_end()) {
    // A record that does not decode costs the rest of its batch.
    if (auto done = decoder_.next(record); !done.ok()) {
      lost(row.id, record.seq, row.last_seq, done.error().text);
      return {};
    }
    std::string body;
    if (decoder_.body_size() > 0) {
      auto read =
          with_bodies ? bodies_->read(row, decoder_.body_offset(), decoder_.body_size()) : Result<std::string>(Error{});
      if (read.ok()) {
        body = *std::move(read);
      } else {
        ++report_.bodies_lost;
      }
    }
    INQUEST_TRY_VOID(fill_gap(record));
    record.bind.request = moved(record.bind.request);
    const Seq old = record.seq;
    INQUEST_TRY(const Seq seq, writer_->append(record, body));
    if (!shifts_.empty() && shifts_.back().old_last + 1 == old &&
        seq - shifts_.back().new_first == old - shifts_.back().old_first) {
      shifts_.back().old_last = old;
    } else {
      shifts_.push_back({old, old, seq});
    }
    last_ = old;
    ++report_.records_kept;
  }
  ++report_.batches_kept;
  return forget_names(record.objects.size());
}

Result<void> Recovery::forget_names(size_t objects) {
  if (catalog_bytes_ <= names_kept(objects)) return {};
  INQUEST_TRY_VOID(writer_->forget_names());
  catalog_ = Catalog();
  catalog_bytes_ = 0;
  return {};
}

void Recovery::tell_losses() {
  if (info_.records > last_) report_.records_lost += info_.records - last_;
  writer_->add_loss(kSource, "records of damaged batches", report_.records_lost);
  writer_->add_loss(kSource, "bodies of records that were kept", report_.bodies_lost);
  writer_->add_loss(kSource, "the trace had not been closed, its end is not known", report_.was_open ? 1 : 0);
  writer_->add_loss(kSource, "the summary was damaged", report_.summary_was_intact ? 0 : 1);
  writer_->add_loss(kSource, "damaged batches", report_.batches_lost);
}

Result<void> Recovery::run(const std::string& output) {
  INQUEST_TRY(writer_, TraceWriter::create(output, header_of(info_), catalog_, TraceWriter::Existing::kRefuse,
                                           WriterOptions::keep()));
  INQUEST_TRY_VOID(copy_summary(info_, *writer_));
  watches_.resize(info_.streams.size());
  INQUEST_TRY(const uint64_t highest, highest_batch());
  for (uint64_t id = 1; id <= highest; ++id) INQUEST_TRY_VOID(take_batch(id));
  tell_losses();
  return writer_->close(TraceState::kRecovered);
}

Result<void> refuse_whole(const std::string& input) {
  auto reader = TraceReader::open(input);
  if (!reader.ok() || reader->info().state == TraceState::kOpen) return {};
  const auto damage = reader->check_integrity();
  if (!damage.ok() || damage->has_value()) return {};
  return Error{ErrorCode::kUsage, "is whole and closed: there is nothing to recover", input, ""};
}

}  // namespace

Result<RecoverReport> recover(const std::string& input, const std::string& output, OutputFile::Existing existing) {
  INQUEST_TRY(OutputFile file, OutputFile::prepare(output, existing));
  INQUEST_TRY_VOID(FileLock::check_unlocked(input));
  INQUEST_TRY_VOID(refuse_whole(input));
  RecoverReport report;
  {
    INQUEST_TRY(Database database, open_trace(input));
    Recovery recovery(std::move(database));
    INQUEST_TRY_VOID(recovery.prepare());
    INQUEST_TRY_VOID(recovery.run(file.temporary()));
    report = recovery.report();
  }
  INQUEST_TRY_VOID(file.finish());
  return report;
}

}  // namespace inquest::trace
