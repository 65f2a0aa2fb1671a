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
#include "schema/remains.h"
#include "schema/salvage.h"
#include "schema/summary.h"

namespace inquest::trace {
namespace {

constexpr size_t kShown = 20;  // of what a report lists
constexpr uint64_t kNotes = 100;
constexpr const char* kSource = "recover";
const Error kNoBody{ErrorCode::kCorrupt, "", "", ""};

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

  Result<void> load_info();
  Result<void> take_batch(uint64_t id);
  Result<std::optional<Error>> verify(uint64_t id, BatchRow& row, bool& bodies_hold);
  Result<void> copy_batch(const BatchRow& row, bool with_bodies);
  Result<void> fill_gap(const Record& record);
  void lost(uint64_t id, Seq first, Seq last, const std::string& why);
  void count_lost(uint64_t before);
  Result<void> forget_names(size_t objects);
  Seq moved(Seq request) const;
  void tell_losses();
  void tell_renumbered();
  void check_end();

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

  uint64_t last_id_ = 0;             // the last batch that was kept
  uint64_t failed_ = 0;              // batches after it that were not
  std::string last_link_;            // the chain's, as the summary says, if that is intact
  Seq last_ = 0;                     // the last old seq that was kept or is known to be lost
  std::optional<std::string> link_;  // the chain as stored with the batch before, if that was kept
  std::string hole_;
  std::vector<Watch> watches_;
  std::vector<Shift> shifts_;  // one wherever numbers begin to differ
};

Result<void> Recovery::load_info() {
  auto summary = load_summary(database_);
  if (!summary.ok() && summary.error().code == ErrorCode::kIo) return summary.error();
  report_.summary_was_intact = summary.ok() && summary->info.summary_intact;
  std::string dictionary_sha;
  if (report_.summary_was_intact) {
    info_ = std::move(summary->info);
    dictionary_sha = summary->seals.dictionary_sha;
    last_link_ = summary->seals.chain;
    link_ = chain_start(info_.uuid);
    report_.was_open = info_.state == TraceState::kOpen;
  } else {
    Remains remains = load_remains(database_);
    info_ = std::move(remains.info);
    dictionary_sha = remains.dictionary_sha;
    report_.was_open = remains.says_open;
  }
  // Without its hash a dictionary cannot be verified, and a wrong one would give other bytes than were recorded.
  if (!dictionaries_.load(database_, dictionary_sha).ok()) dictionaries_.clear();
  return {};
}

Result<void> Recovery::prepare() {
  INQUEST_TRY_VOID(load_info());
  INQUEST_TRY(rows_, BatchRows::open(database_));
  INQUEST_TRY(bodies_, BodyReader::open(database_, dictionaries_));
  if (!report_.summary_was_intact) {
    report_.streams_lost = stand_in_for_streams(rows_, dictionaries_, info_.streams);
  }
  return {};
}

// Known to have been there, but not kept.
void Recovery::lost(uint64_t id, Seq first, Seq last, const std::string& why) {
  ++failed_;
  if (report_.damage.size() < kShown) report_.damage.push_back({id, first, last, why});
  link_.reset();
}

// Batches are numbered without a hole: of those between two that hold, as many are lost as there are numbers. Ids of
// batches that do not hold are not believed.
void Recovery::count_lost(uint64_t before) {
  const uint64_t lost = before > last_id_ + 1 ? before - last_id_ - 1 : 0;
  if (lost > failed_ && report_.damage.size() < kShown) {
    const std::string many = lost - failed_ == 1 ? "" : ", and more up to batch " + std::to_string(before - 1);
    report_.damage.push_back({last_id_ + 1, last_ + 1, 0, "is missing" + many});
  }
  report_.batches_lost += std::max(lost, failed_);
  failed_ = 0;
}

// Nothing: the batch may be kept. Otherwise why not. An Error: the disk does not let us know.
Result<std::optional<Error>> Recovery::verify(uint64_t id, BatchRow& row, bool& bodies_hold) {
  if (id != last_id_ + 1) link_.reset();
  const auto read = rows_.read(id);
  if (!read.ok() && read.error().code == ErrorCode::kIo) return read.error();
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
  if (!sha.ok() && sha.error().code == ErrorCode::kIo) return sha.error();
  bodies_hold = sha.ok() || row.body_bytes == 0;
  if (sha.ok() && link_ && chain_next(*link_, row, read->facts, *sha) != stored) {
    return std::optional(Error{ErrorCode::kCorrupt, "the chain breaks here", "", ""});
  }
  if (const unsigned number = dictionary_of(read->facts); !dictionaries_.find(number).ok()) {
    ++report_.batches_without_dictionary;
    return std::optional(Error{ErrorCode::kCorrupt, "what it was compressed with, a dictionary, is lost", "", ""});
  }
  const auto loaded = decoder_.load(row, read->facts, dictionaries_, info_.streams.size(), catalog_, catalog_bytes_);
  rows_.reset();
  if (!loaded.ok()) return std::optional(loaded.error());
  link_ = stored;
  return std::optional<Error>();
}

Result<void> Recovery::take_batch(uint64_t id) {
  BatchRow row;
  bool with_bodies = false;
  INQUEST_TRY(const auto why, verify(id, row, with_bodies));
  rows_.reset();
  if (why) {
    lost(id, last_ + 1, row.last_seq > last_ ? row.last_seq : 0, why->text);
    return {};
  }
  count_lost(id);
  last_id_ = id;
  if (row.first_seq != last_ + 1) {
    report_.records_lost += row.first_seq - last_ - 1;
    hole_ = "recovered: records @" + std::to_string(last_ + 1) + " to @" + std::to_string(row.first_seq - 1) +
            " of the damaged trace are lost";
    for (Watch& watch : watches_) watch.hole = true;
  }
  if (!with_bodies && report_.damage.size() < kShown) {
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
          with_bodies ? bodies_->read(row, decoder_.body_offset(), decoder_.body_size()) : Result<std::string>(kNoBody);
      if (!read.ok() && read.error().code == ErrorCode::kIo) return read.error();
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

// Numbers that are as they were need no word.
void Recovery::tell_renumbered() {
  uint64_t told = 0, untold = 0;
  for (const Shift& shift : shifts_) {
    const uint64_t count = shift.old_last - shift.old_first + 1;
    const Seq new_last = shift.new_first + count - 1;
    if (shift.new_first == shift.old_first) continue;
    if (report_.renumbered.size() < kShown) {
      report_.renumbered.push_back({shift.new_first, new_last, shift.old_first});
    }
    const auto range = [](Seq first, Seq last) { return "@" + std::to_string(first) + " to @" + std::to_string(last); };
    if (told++ < kNotes) {
      writer_->add_note(kSource,
                        range(shift.new_first, new_last) + " were " + range(shift.old_first, shift.old_last) +
                            " in the damaged trace",
                        count);
    } else {
      untold += count;
    }
  }
  writer_->add_note(kSource, "more records that had other numbers in the damaged trace", untold);
}

void Recovery::tell_losses() {
  if (report_.summary_was_intact && info_.records > last_) report_.records_lost += info_.records - last_;
  writer_->add_loss(kSource, "records of damaged batches", report_.records_lost);
  writer_->add_loss(kSource, "bodies of records that were kept", report_.bodies_lost);
  writer_->add_loss(kSource, "the trace had not been closed, its end is not known", report_.was_open ? 1 : 0);
  writer_->add_loss(kSource, "the summary was damaged", report_.summary_was_intact ? 0 : 1);
  writer_->add_loss(kSource, "damaged batches", report_.batches_lost);
  writer_->add_loss(kSource, "batches whose dictionary was lost", report_.batches_without_dictionary);
  writer_->add_loss(kSource, "names of streams", report_.streams_lost);
  tell_renumbered();
}

// If every batch was kept and yet the chain ends elsewhere, the summary is that of another trace.
void Recovery::check_end() {
  if (!report_.nothing_lost() || (link_ && to_hex(*link_) == last_link_)) return;
  report_.summary_was_intact = false;
}

Result<void> Recovery::run(const std::string& output) {
  INQUEST_TRY(writer_, TraceWriter::create(output, header_of(info_), catalog_, TraceWriter::Existing::kRefuse,
                                           WriterOptions::keep()));
  INQUEST_TRY_VOID(copy_summary(info_, *writer_));
  watches_.resize(info_.streams.size());
  uint64_t id = 0;
  while (true) {
    INQUEST_TRY(id, rows_.next_id(id));
    if (id == 0) break;
    INQUEST_TRY_VOID(take_batch(id));
  }
  count_lost(report_.summary_was_intact ? info_.batches + 1 : 0);
  check_end();
  tell_losses();
  return writer_->close(report_.nothing_lost() ? info_.state : TraceState::kRecovered);
}

// The trace as a database that can be read: the file itself or, if SQLite cannot walk all of it, what is left of its
// rows in a new file, `scratch`.
Result<Database> readable(const std::string& input, const std::string& scratch, bool& by_pages) {
  Error why;
  {
    auto reader = TraceReader::open(input);
    if (reader.ok()) {
      const auto damage = reader->check_integrity();
      const bool whole = damage.ok() && !damage->has_value();
      if (whole && reader->info().state == TraceState::kOpen) return open_trace(input);
      if (whole) return Error{ErrorCode::kUsage, "is whole and closed: there is nothing to recover", input, ""};
      if (reader->info().format_version > kFormatVersion) {
        return Error{ErrorCode::kNewer, "is damaged, and was made in a newer format", input, "use a newer inquest"};
      }
    } else {
      why = reader.error();
      if (why.code == ErrorCode::kIo || why.code == ErrorCode::kNewer) return why;
    }
  }
  INQUEST_TRY(const uint64_t batches, salvage(input, scratch));
  if (batches == 0 && !why.text.empty()) {
    return Error{why.code, why.text + ", and no batch of it is left", why.place, ""};
  }
  by_pages = true;
  return open_trace(scratch);
}

}  // namespace

Result<RecoverReport> recover(const std::string& input, const std::string& output, OutputFile::Existing existing) {
  INQUEST_TRY(OutputFile file, OutputFile::prepare(output, existing));
  INQUEST_TRY(const OutputFile scratch, OutputFile::prepare(output + ".rows", OutputFile::Existing::kReplace));
  INQUEST_TRY_VOID(FileLock::check_unlocked(input));
  RecoverReport report;
  {
    bool by_pages = false;
    INQUEST_TRY(Database database, readable(input, scratch.temporary(), by_pages));
    Recovery recovery(std::move(database));
    INQUEST_TRY_VOID(recovery.prepare());
    INQUEST_TRY_VOID(recovery.run(file.temporary()));
    report = recovery.report();
    report.by_pages = by_pages;
  }
  INQUEST_TRY_VOID(file.finish());
  return report;
}

}  // namespace inquest::trace
