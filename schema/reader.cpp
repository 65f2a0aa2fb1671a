#include "schema/reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "schema/batch_decoder.h"
#include "schema/batch_rows.h"
#include "schema/body_reader.h"
#include "schema/dictionaries.h"
#include "schema/index.h"
#include "schema/integrity.h"
#include "schema/limits.h"
#include "schema/open.h"
#include "schema/sqlite.h"
#include "schema/summary.h"

namespace inquest::trace {

struct TraceReader::Impl {
  explicit Impl(Database opened) : database(std::move(opened)) {}

  Database database;
  TraceInfo info;
  Seals seals;
  Dictionaries dictionaries;
  Catalog catalog;
  uint64_t catalog_bytes = 0;

  BatchRows batches;
  Statement find_batch;
  std::unique_ptr<BodyReader> bodies;

  BatchDecoder walk;  // for next()
  uint64_t next_batch = 1;
  Record record;
  BatchDecoder out_of_order;  // for record() and body(), so that they do not disturb a walk
  Result<void> load();
  Result<void> load_batch(uint64_t id, BatchDecoder& decoder);
  Result<const Record*> next();
  Result<uint64_t> batch_of(Seq seq);
  Result<void> seek(Seq seq, Record& out);
  Result<std::string> body(Seq seq);
  Result<void> whole_body(Seq seq, const BodyUse& use);
  Result<bool> list(Seq seq, const ListUse& use);
  Result<bool> find_part(Seq list, StreamId stream, Seq& at, Record& out);
  Result<std::optional<BatchDamage>> check_integrity();
  Result<void> check_batch(uint64_t id, Seq expected_first, std::string& link, BatchRow& row);
  Result<void> check_meta();
  Result<void> check_end(const BatchRow& last, const std::string& link);

  Error corrupt(uint64_t batch, const std::string& why) const {
    return {ErrorCode::kCorrupt, why, database.path() + ": batch " + std::to_string(batch), ""};
  }
  Error at_path(Error error) const {
    if (!error.place.starts_with(database.path())) {
      error.place = error.place.empty() ? database.path() : database.path() + ": " + error.place;
    }
    return error;
  }
};

// One transaction, so that the summary is of one instant even while the trace is written.
Result<void> TraceReader::Impl::load() {
  INQUEST_TRY_VOID(database.exec("BEGIN"));
  auto summary = load_summary(database);
  if (!summary.ok()) return summary.error();
  info = std::move(summary->info);
  seals = std::move(summary->seals);
  // A reader that opens before the first small batch never meets a frame that needs one.
  INQUEST_TRY_VOID(dictionaries.load(database, seals.dictionary_sha));
  INQUEST_TRY_VOID(database.exec("COMMIT"));
  info.file_bytes = stored_bytes(database.path());
  INQUEST_TRY(batches, BatchRows::open(database));
  INQUEST_TRY(find_batch, database.prepare("SELECT first_seq, id FROM batch WHERE id <= ? ORDER BY id DESC LIMIT 1"));
  INQUEST_TRY(bodies, BodyReader::open(database, dictionaries));
  return {};
}

Result<void> TraceReader::Impl::load_batch(uint64_t id, BatchDecoder& decoder) {
  const auto read = batches.read(id);
  if (!read.ok()) return at_path(read.error());
  const auto done = decoder.load(read->batch, read->facts, dictionaries, info.streams.size(), catalog, catalog_bytes);
  batches.reset();  // so that no read transaction stays open, which would keep a writer from checkpointing
  if (!done.ok()) return at_path(done.error());
  return {};
}

Result<const Record*> TraceReader::Impl::next() {
  while (walk.at_end()) {
    if (next_batch > info.batches) return static_cast<const Record*>(nullptr);
    const Seq expected = next_batch == 1 ? 1 : walk.row().last_seq + 1;
    INQUEST_TRY_VOID(load_batch(next_batch, walk));
    if (walk.row().first_seq != expected) return corrupt(next_batch, "does not begin at @" + std::to_string(expected));
    ++next_batch;
  }
  if (auto done = walk.next(record); !done.ok()) return at_path(done.error());
  return static_cast<const Record*>(&record);
}

// Batches are numbered without a hole and in the order of their records, so the right one is found by halving. Where a
// damaged trace lacks one, the one before it stands in for it.
Result<uint64_t> TraceReader::Impl::batch_of(Seq seq) {
  const auto find = [&](uint64_t at, uint64_t& id) -> Result<Seq> {
    find_batch.reset();
    INQUEST_TRY(const bool found, find_batch.bind(1, at).step());
    if (!found) return corrupt(at, "is missing");
    INQUEST_TRY(id, find_batch.natural(1));
    return find_batch.natural(0);
  };
  uint64_t low = 1, high = info.batches, id = 0;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    INQUEST_TRY(const Seq first, find(middle, id));
    if (first <= seq) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  INQUEST_TRY_VOID(find(low, id));
  find_batch.reset();
  return id;
}

Result<void> TraceReader::Impl::seek(Seq seq, Record& out) {
  if (seq == 0 || seq > info.records) {
    return Error{ErrorCode::kUsage,
                 "has no record @" + std::to_string(seq) + "; its last is @" + std::to_string(info.records),
                 database.path(), ""};
  }
  if (!out_of_order.holds(seq)) {
    INQUEST_TRY(const uint64_t id, batch_of(seq));
    INQUEST_TRY_VOID(load_batch(id, out_of_order));
    if (!out_of_order.holds(seq)) return corrupt(id, "does not hold record @" + std::to_string(seq));
  }
  if (out_of_order.given() >= seq) out_of_order.rewind();
  do {
    if (auto done = out_of_order.next(out); !done.ok()) return at_path(done.error());
  } while (out.seq != seq);
  return {};
}

Result<std::string> TraceReader::Impl::body(Seq seq) {
  // As a rule it is the body of the record that next() has just given.
  const BatchDecoder* at = walk.given() == seq ? &walk : &out_of_order;
  if (at->given() != seq) {
    Record found;
    INQUEST_TRY_VOID(seek(seq, found));
  }
  if (at->body_size() == 0) return std::string();
  auto bytes = bodies->read(at->row(), at->body_offset(), at->body_size());
  if (!bytes.ok()) return at_path(bytes.error());
  return bytes;
}

// The first part of the list from `at` on; false: there is none.
Result<bool> TraceReader::Impl::find_part(Seq list, StreamId stream, Seq& at, Record& out) {
  for (; at <= info.records; ++at) {
    INQUEST_TRY_VOID(seek(at, out));
    if (out.kind != RecordKind::kSource || out.stream != stream) return false;
    if (catalog.text(out.text) == kPart) return true;
    if (at != list + 1) return false;
  }
  return false;
}

Result<void> TraceReader::Impl::whole_body(Seq seq, const BodyUse& use) {
  {
    INQUEST_TRY(const std::string first, body(seq));
    INQUEST_TRY_VOID(use(first));
  }
  Record part;
  INQUEST_TRY_VOID(seek(seq, part));
  const StreamId stream = part.stream;
  for (Seq at = seq + 1;; ++at) {
    INQUEST_TRY(const bool there, find_part(seq, stream, at, part));
    if (!there) return {};
    INQUEST_TRY(const std::string more, body(at));
    INQUEST_TRY_VOID(use(more));
  }
}

Result<bool> TraceReader::Impl::list(Seq seq, const ListUse& use) {
  Record part;
  INQUEST_TRY_VOID(seek(seq, part));
  const StreamId stream = part.stream;
  const uint64_t more = part.more_objects;
  INQUEST_TRY(Go go, use(part));
  uint64_t found = 0;
  for (Seq at = seq + 1; go == Go::kOn && found < more; ++at) {
    INQUEST_TRY(const bool there, find_part(seq, stream, at, part));
    if (!there) break;
    found += part.objects.size();
    INQUEST_TRY(go, use(part));
  }
  return found == more;
}

// `link` becomes the chain's link after this batch.
Result<void> TraceReader::Impl::check_batch(uint64_t id, Seq expected_first, std::string& link, BatchRow& row) {
  INQUEST_TRY(const BatchRows::Row read, batches.read(id));
  row = read.batch;
  if (row.first_seq != expected_first) return corrupt(id, "does not begin at @" + std::to_string(expected_first));
  INQUEST_TRY(const std::string sha, bodies->check(row));
  link = chain_next(link, row, read.facts, sha);
  INQUEST_TRY(const std::string_view written, batches.chain());
  if (written != link) return corrupt(id, "the chain breaks here");
  return {};
}

// What of meta the digest does not cover, in the formats that we know: the header and the oldest reader have to fit the
// format, and there are no other keys.
Result<void> TraceReader::Impl::check_meta() {
  if (info.format_version > kFormatVersion) return {};
  constexpr int64_t kKeys = 18;
  INQUEST_TRY(Statement meta,
              database.prepare("SELECT count(*), (SELECT value FROM meta WHERE key = 'minimum_reader'), "
                               "(SELECT user_version FROM pragma_user_version) FROM meta"));
  INQUEST_TRY(const bool found, meta.step());
  INQUEST_CHECK(found, "an aggregate always has a row");
  INQUEST_TRY(const int64_t keys, meta.integer(0));
  INQUEST_TRY(const int64_t reader, meta.integer(1));
  INQUEST_TRY(const int64_t format, meta.integer(2));
  if (keys == kKeys && reader == minimum_reader_of(info.format_version) && format == info.format_version) return {};
  return Error{ErrorCode::kCorrupt, "table meta or the header of the file was altered", database.path(), ""};
}

// What lies between the last batch and the summary.
Result<void> TraceReader::Impl::check_end(const BatchRow& last, const std::string& link) {
  const auto damaged = [&](const std::string& why) { return Error{ErrorCode::kCorrupt, why, database.path(), ""}; };
  if (!info.summary_intact) return damaged("the summary does not match its digest");
  INQUEST_TRY_VOID(check_meta());
  if (last.last_seq != info.records) return damaged("the summary counts other records than the batches hold");
  if (to_hex(link) != seals.chain) return damaged("the summary ends in another chain than the batches");
  INQUEST_TRY(const std::string index, index_sha(database));
  if (index != (seals.index == "none" ? empty_index_sha() : seals.index_sha)) {
    return damaged("the index (tables label, pod, bind, gap) is not the one that was written");
  }
  if (info.state == TraceState::kOpen) return {};
  find_batch.reset();
  INQUEST_TRY(const bool found, find_batch.bind(1, std::numeric_limits<int64_t>::max()).step());
  INQUEST_TRY(const uint64_t highest, found ? find_batch.natural(1) : Result<uint64_t>(uint64_t{0}));
  if (highest > info.batches) return damaged("there are more batches than the summary counts");
  return {};
}

Result<std::optional<BatchDamage>> TraceReader::Impl::check_integrity() {
  std::string link = chain_start(info.uuid);
  BatchRow row;
  for (uint64_t id = 1; id <= info.batches; ++id) {
    const Seq expected = row.last_seq + 1;
    BatchRow read;
    const auto done = check_batch(id, expected, link, read);
    batches.reset();
    if (!done.ok()) {
      if (done.error().code == ErrorCode::kIo) return done.error();
      return std::optional<BatchDamage>(
          {id, expected, read.last_seq < expected ? 0 : read.last_seq, done.error().text});
    }
    row = read;
  }
  const auto done = check_end(row, link);
  find_batch.reset();
  if (done.ok()) return std::optional<BatchDamage>();
  if (done.error().code == ErrorCode::kIo) return done.error();
  return std::optional<BatchDamage>({0, 0, 0, done.error().text});
}

TraceReader::TraceReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::string& path) {
  INQUEST_TRY(Database database, open_trace(path));
  auto impl = std::make_unique<Impl>(std::move(database));
  INQUEST_TRY_VOID(impl->load());
  return TraceReader(std::move(impl));
}

const TraceInfo& TraceReader::info() const { return impl_->info; }
const std::string& TraceReader::path() const { return impl_->database.path(); }
const Catalog& TraceReader::catalog() const { return impl_->catalog; }
Catalog& TraceReader::mutable_catalog() { return impl_->catalog; }
Result<const Record*> TraceReader::next() { return impl_->next(); }
bool TraceReader::at_batch_end() const { return impl_->walk.at_end(); }
uint64_t TraceReader::name_bytes() const { return impl_->catalog_bytes; }
void TraceReader::forget_names() {
  INQUEST_CHECK(at_batch_end(), "names are still in use");
  impl_->catalog = Catalog();
  impl_->catalog_bytes = 0;
  impl_->out_of_order = BatchDecoder();
}
bool TraceReader::forget_names_beyond(size_t bytes) {
  if (!at_batch_end() || impl_->catalog.memory() <= bytes) return false;
  forget_names();
  return true;
}
void TraceReader::rewind() {
  impl_->walk = BatchDecoder();
  impl_->next_batch = 1;
}
Result<std::string> TraceReader::body(Seq seq) { return impl_->body(seq); }
Result<void> TraceReader::whole_body(Seq seq, const BodyUse& use) { return impl_->whole_body(seq, use); }
Result<Record> TraceReader::record(Seq seq) {
  Record record;
  INQUEST_TRY_VOID(impl_->seek(seq, record));
  return record;
}
Result<bool> TraceReader::list(Seq seq, const ListUse& use) { return impl_->list(seq, use); }
Result<std::optional<BatchDamage>> TraceReader::check_integrity() { return impl_->check_integrity(); }

}  // namespace inquest::trace
