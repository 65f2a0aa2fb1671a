#include "schema/writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/crc32c.h"
#include "schema/batch_encoder.h"
#include "schema/compress.h"
#include "schema/dictionaries.h"
#include "schema/file_lock.h"
#include "schema/index.h"
#include "schema/integrity.h"
#include "schema/limits.h"
#include "schema/sqlite.h"
#include "schema/summary.h"

namespace inquest::trace {

extern const char* const kTraceSql;  // trace.sql, embedded by embed_sql.cmake

namespace {

Result<void> check_header(const TraceHeader& header, const std::string& path) {
  for (const std::string* text : {&header.cluster_version, &header.server, &header.scope, &header.uuid}) {
    if (text->size() <= kMaxSummaryText) continue;
    return Error{ErrorCode::kOutOfLimit,
                 "the header has a text of " + std::to_string(text->size()) + " bytes, the limit is " +
                     std::to_string(kMaxSummaryText),
                 path, ""};
  }
  return {};
}

Result<Database> create_database(const std::string& path) {
  INQUEST_TRY(Database database, Database::open(path, Database::Mode::kWrite));
  // Pages of 4 KiB are SQLite's default; recover relies on them, see page_scan.h.
  INQUEST_TRY_VOID(database.exec("PRAGMA page_size = 4096"));
  // A checkpoint every 8192 pages (32 MiB): rarer ones are faster still, but the WAL is disk space, too.
  INQUEST_TRY_VOID(
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                    "PRAGMA wal_autocheckpoint = 8192"));
  INQUEST_TRY_VOID(database.exec("BEGIN IMMEDIATE"));
  INQUEST_TRY_VOID(database.exec(kTraceSql));
  return database;
}

}  // namespace

namespace {

// Batches with more bytes of bodies do without a dictionary: they repeat enough in themselves.
constexpr size_t kDictionaryBelow = size_t{160} << 10;
// A batch ends when texts that come without a body, such as messages of binds, reach this.
constexpr size_t kTextsPerBatch = size_t{4} << 20;
// Likewise when its objects have this many parts (kMaxBatchParts), each object's counted.
constexpr size_t kPartsPerBatch = size_t{512} << 10;

size_t parts_of(const std::vector<Requirement>& requirements) {
  size_t parts = requirements.size();
  for (const Requirement& requirement : requirements) parts += requirement.values.size();
  return parts;
}

size_t parts_of(const Resources& resources) {
  size_t parts = resources.extended.size();
  for (const NamedAmount& extended : resources.extended) parts += text_parts(extended.name);
  return parts;
}

size_t parts_of(const PodShape& shape) {
  size_t parts = parts_of(shape.requests) + shape.ports.size();
  for (const HostPort& port : shape.ports) parts += text_parts(port.ip);
  return parts;
}

size_t parts_of(const Placement& placement) {
  size_t parts = placement.node_selector.size() + placement.terms.size() + placement.tolerations.size();
  for (const SelectorTerm& term : placement.terms) parts += parts_of(term.expressions) + parts_of(term.fields);
  return parts;
}

size_t parts_of(const ObjectFacts& object, const Catalog& catalog) {
  size_t parts = 0;
  if (const auto* pod = std::get_if<PodFacts>(&object)) {
    parts = parts_of(catalog.shape(pod->shape));
    if (pod->placement) parts += parts_of(catalog.placement(pod->placement));
  } else if (const auto* node = std::get_if<NodeFacts>(&object)) {
    parts = parts_of(catalog.allocatable(node->allocatable).resources);
    if (node->labels) parts += catalog.labels(node->labels).size();
    if (node->taints) parts += catalog.taints(node->taints).size();
  }
  return parts;
}

// Figures in docs/trace-format.md: with the whole batch in sight, the fastest level finds more than level 3 does.
Compressor::Settings body_settings(WriterOptions::Purpose purpose) {
  if (purpose == WriterOptions::Purpose::kKeep) return {1, kWindowLog};
  return {};
}

}  // namespace

struct TraceWriter::Impl {
  Impl(FileLock held, Database opened, TraceInfo info, const Catalog& names, const WriterOptions& how)
      : lock(std::move(held)),
        database(std::move(opened)),
        catalog(&names),
        options(how),
        summary(std::move(info)),
        chain(chain_start(summary.info().uuid)),
        encoder(names),
        body_compressor(body_settings(how.purpose)),
        facts_compressor(Compressor::Settings{}) {
    seals.chain = to_hex(chain);
  }

  // The lock goes last, after the database is closed: closing any descriptor of a file drops SQLite's locks on it.
  FileLock lock;
  Database database;
  Statement put_batch, put_body;
  const Catalog* catalog;
  WriterOptions options;
  Summary summary;
  Index index;
  std::string chain;
  Seals seals;
  Seq next_seq = 1;
  bool closed = false, has_index = true;

  BatchEncoder encoder;
  std::string bodies;       // of the open batch, a line feed after each
  uint64_t body_bytes = 0;  // without the line feeds
  size_t text_bytes = 0;
  size_t parts = 0;
  Compressor body_compressor, facts_compressor;
  std::string stored_facts;

  Dictionaries dictionaries;
  bool dictionaries_stored = false, learnt = false;
  DictionaryTrainer body_samples, facts_samples;

  using Pieces = std::span<const std::string_view>;
  Result<void> prepare();
  void check(const Record& record) const;
  size_t texts_of(const Record& record) const;
  Result<Seq> append(const Record& record, std::string_view body);
  Result<void> append_large(const Record& record, std::string_view body);
  Result<void> flush();
  Result<void> commit(Pieces pieces, Seq last);
  Result<void> put(Pieces pieces, Seq last, std::string& new_chain, Seals& new_seals);
  Result<void> encode();
  Result<void> put_bodies(Pieces pieces, BatchRow& row, std::string& sha);
  const Dictionary* dictionary(DictionaryOf what) const {
    return body_bytes < kDictionaryBelow ? dictionaries.get(what) : nullptr;
  }
  void learn(Pieces pieces);
  Result<void> put_end(TraceState state);
  Result<void> close(TraceState state);
  BatchRow row(Seq last) const;
  void drop_batch() {
    encoder.clear();
    bodies.clear();
    body_bytes = 0;
    text_bytes = 0;
    parts = 0;
  }
  Error at_path(Error error) const {
    if (error.place.empty()) error.place = database.path();
    return error;
  }
};

Result<void> TraceWriter::Impl::prepare() {
  INQUEST_TRY(put_batch, database.prepare("INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  INQUEST_TRY(put_body, database.prepare("INSERT INTO body VALUES (?, ?)"));
  INQUEST_TRY_VOID(summary.save(database, seals));
  INQUEST_TRY_VOID(database.exec("COMMIT"));
  summary.saved();
  return {};
}

// What the reader refuses, the writer must not write; a caller that asks for it has a bug.
void TraceWriter::Impl::check(const Record& record) const {
  INQUEST_CHECK(!closed, "append after close");
  INQUEST_CHECK(record.stream.value < summary.info().streams.size(), record.stream.value);
  INQUEST_CHECK(record.kind != RecordKind::kFrame || record.objects.size() == 1, record.objects.size());
  INQUEST_CHECK(record.kind != RecordKind::kBindRequest || record.bind.pod.known(), "a bind request without a pod");
  INQUEST_CHECK(record.bind.request < next_seq, record.bind.request, next_seq);
  for (const BindObservation& observation : record.bind.observations) {
    INQUEST_CHECK(observation.stream.value < summary.info().streams.size(), observation.stream.value);
  }
  for (const ObjectFacts& object : record.objects) {
    if (const auto* pod = std::get_if<PodFacts>(&object)) {
      INQUEST_CHECK(pod->pod.known() && pod->shape.known(), pod->pod.value, pod->shape.value);
    }
    if (const auto* node = std::get_if<NodeFacts>(&object)) {
      INQUEST_CHECK(node->node.known() && node->allocatable.known(), node->node.value, node->allocatable.value);
    }
  }
}

// Texts that a body does not bound.
size_t TraceWriter::Impl::texts_of(const Record& record) const {
  const Bind& bind = record.bind;
  size_t bytes = 0;
  for (const StringId id : {record.path, record.text, bind.user, bind.agent, bind.reason, bind.message}) {
    bytes += catalog->text(id).size();
  }
  return bytes;
}

Result<Seq> TraceWriter::Impl::append(const Record& record, std::string_view body) {
  check(record);
  if (body.size() >= kMaxBodiesBytes || record.objects.size() > kMaxBatchObjects) {
    return Error{ErrorCode::kOutOfLimit,
                 "a record has " + std::to_string(body.size()) + " bytes and " + std::to_string(record.objects.size()) +
                     " objects, the limits are " + std::to_string(kMaxBodiesBytes - 1) + " and " +
                     std::to_string(kMaxBatchObjects),
                 database.path(), ""};
  }
  const size_t texts = texts_of(record);
  size_t more_parts = 0;
  for (const ObjectFacts& object : record.objects) more_parts += parts_of(object, *catalog);
  const bool large = body.size() > options.batch_bytes || record.objects.size() > options.batch_records ||
                     texts > kTextsPerBatch || more_parts > kPartsPerBatch;
  if (large || encoder.records() == options.batch_records || body_bytes + body.size() > options.batch_bytes ||
      encoder.objects() + record.objects.size() > 2 * options.batch_records || text_bytes + texts > kTextsPerBatch ||
      parts + more_parts > kPartsPerBatch) {
    INQUEST_TRY_VOID(flush());
  }
  if (large) {
    INQUEST_TRY_VOID(append_large(record, body));
  } else {
    encoder.add(record, next_seq, body.size());
    body_bytes += body.size();
    text_bytes += texts;
    parts += more_parts;
    if (!body.empty()) bodies.append(body).push_back('\n');
    summary.count(record, next_seq, body.size(), *catalog);
  }
  if (has_index) index.add(record, next_seq);
  return next_seq++;
}

// A batch of its own, written at once, straight from the caller's memory.
Result<void> TraceWriter::Impl::append_large(const Record& record, std::string_view body) {
  const Summary before = summary;
  encoder.add(record, next_seq, body.size());
  body_bytes = body.size();
  summary.count(record, next_seq, body.size(), *catalog);
  const std::string_view pieces[] = {body, "\n"};
  auto done = commit(body.empty() ? Pieces() : Pieces(pieces), next_seq);
  if (!done.ok()) summary = before;
  drop_batch();
  return done;
}

Result<void> TraceWriter::Impl::encode() {
  return encoder.encode([&](Pieces pieces) -> Result<void> {
    if (options.purpose == WriterOptions::Purpose::kRecord && !learnt && body_bytes < kDictionaryBelow) {
      std::string whole;
      for (const std::string_view piece : pieces) whole.append(piece);
      facts_samples.add(whole);
    }
    stored_facts.clear();
    return facts_compressor.compress(pieces, dictionary(DictionaryOf::kFacts), [&](std::string_view part) {
      stored_facts.append(part);
      return Result<void>();
    });
  });
}

BatchRow TraceWriter::Impl::row(Seq last) const {
  BatchRow row;
  row.id = summary.info().batches + 1;
  row.last_seq = last;
  row.first_seq = last + 1 - encoder.records();
  for (size_t i = 0; i < encoder.records(); ++i) {
    const Time wall = encoder.record(i).wall;
    if (!wall.known()) continue;
    row.first_wall = row.first_wall == 0 ? wall.ns : std::min(row.first_wall, wall.ns);
    row.last_wall = row.last_wall == 0 ? wall.ns : std::max(row.last_wall, wall.ns);
  }
  row.body_bytes = body_bytes;
  return row;
}

Result<void> TraceWriter::Impl::put_bodies(Pieces pieces, BatchRow& row, std::string& sha) {
  Sha256 hash;
  uint64_t part = 0;
  INQUEST_TRY_VOID(
      body_compressor.compress(pieces, dictionary(DictionaryOf::kBodies), [&](std::string_view bytes) -> Result<void> {
        INQUEST_CHECK(part < kMaxParts, part);
        row.body_crc = crc32c(bytes, row.body_crc);
        hash.add(bytes);
        return put_body.bind(1, row.id * kMaxParts + part++).bind_blob(2, bytes).run();
      }));
  sha = hash.finish();
  return {};
}

// Within a transaction. `pieces`: the bodies of the open batch.
Result<void> TraceWriter::Impl::put(Pieces pieces, Seq last, std::string& new_chain, Seals& new_seals) {
  if (!dictionaries_stored && !dictionaries.empty()) {
    INQUEST_TRY_VOID(dictionaries.save(database));
    new_seals.dictionary_sha = dictionaries.sha();
  }
  if (encoder.records() > 0) {
    BatchRow batch = row(last);
    std::string sha;
    INQUEST_TRY_VOID(put_bodies(pieces, batch, sha));
    batch.crc = batch_crc(batch, stored_facts);
    new_chain = chain_next(chain, batch, stored_facts, sha);
    put_batch.bind(1, batch.id).bind(2, batch.first_seq).bind(3, batch.last_seq);
    put_batch.bind(4, batch.first_wall).bind(5, batch.last_wall).bind(6, batch.body_bytes);
    put_batch.bind(7, int64_t{batch.body_crc}).bind(8, int64_t{batch.crc}).bind_blob(9, new_chain);
    INQUEST_TRY_VOID(put_batch.bind_blob(10, stored_facts).run());
    new_seals.chain = to_hex(new_chain);
  }
  if (encoder.records() == 0) return summary.save(database, new_seals);
  summary.count_batch();
  auto done = summary.save(database, new_seals);
  summary.uncount_batch();  // until it is committed
  return done;
}

// After an error nothing has changed.
Result<void> TraceWriter::Impl::commit(Pieces pieces, Seq last) {
  if (encoder.records() > 0) {
    if (auto done = encode(); !done.ok()) return at_path(done.error());
  }
  std::string new_chain = chain;
  Seals new_seals = seals;
  INQUEST_TRY_VOID(database.exec("BEGIN IMMEDIATE"));
  auto done = put(pieces, last, new_chain, new_seals);
  if (done.ok()) done = database.exec("COMMIT");
  if (!done.ok()) {
    (void)database.exec("ROLLBACK").ok();
    return at_path(done.error());
  }
  chain = std::move(new_chain);
  seals = std::move(new_seals);
  dictionaries_stored = !dictionaries.empty();
  if (encoder.records() > 0) summary.count_batch();
  summary.saved();
  learn(pieces);
  return {};
}

// From the first batches that are small, for those to come.
void TraceWriter::Impl::learn(Pieces pieces) {
  if (learnt || options.purpose != WriterOptions::Purpose::kRecord) return;
  size_t at = 0;
  for (const std::string_view piece : pieces) {
    for (; at < piece.size() && !body_samples.enough();) {
      const size_t end = std::min(piece.find('\n', at), piece.size());
      body_samples.add(piece.substr(at, end - at));
      at = end + 1;
    }
    at = 0;
  }
  if (!body_samples.enough() || body_bytes >= kDictionaryBelow) return;
  learnt = true;
  dictionaries.set(DictionaryOf::kBodies, body_samples.train(DictionaryOf::kBodies));
  dictionaries.set(DictionaryOf::kFacts, facts_samples.train(DictionaryOf::kFacts));
}

Result<void> TraceWriter::Impl::flush() {
  if (encoder.records() == 0 && !summary.changed()) return {};
  const std::string_view piece = bodies;
  INQUEST_TRY_VOID(commit(bodies.empty() ? Pieces() : Pieces(&piece, 1), next_seq - 1));  // else the batch stays
  drop_batch();
  return {};
}

Result<void> TraceWriter::Impl::put_end(TraceState state) {
  Seals sealed = seals;
  if (has_index) {
    INQUEST_TRY_VOID(index.save(database, *catalog, summary.info().start, sealed));
  }
  Summary ended = summary;
  ended.set_state(state);
  INQUEST_TRY_VOID(ended.save(database, sealed));
  return database.exec("COMMIT");
}

Result<void> TraceWriter::Impl::close(TraceState state) {
  if (closed) return {};
  INQUEST_TRY_VOID(flush());
  INQUEST_TRY_VOID(database.exec("BEGIN IMMEDIATE"));
  if (const auto done = put_end(state); !done.ok()) {
    (void)database.exec("ROLLBACK").ok();
    return done.error();
  }
  closed = true;
  put_batch = {};
  put_body = {};
  // From here on the trace is whole. With a reader connected, SQLite cannot leave WAL mode; the reader's closing then
  // leaves a file that still opens (see open.cpp), so that is no error.
  const auto ignore_busy = [](const Result<void>& done) -> Result<void> {
    if (done.ok() || done.error().text.find("SQLITE_BUSY") != std::string::npos ||
        done.error().text.find("SQLITE_LOCKED") != std::string::npos) {
      return {};
    }
    return done.error();
  };
  INQUEST_TRY_VOID(ignore_busy(database.exec("PRAGMA wal_checkpoint(TRUNCATE)")));
  return ignore_busy(database.exec("PRAGMA journal_mode = DELETE"));
}

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::string& path, const TraceHeader& header, const Catalog& catalog,
                                        Existing existing, const WriterOptions& options) {
  INQUEST_CHECK(options.batch_records >= 1 && options.batch_records <= kMaxBatchRecords, options.batch_records);
  INQUEST_CHECK(options.batch_bytes <= kMaxSharedBodies, options.batch_bytes);
  INQUEST_TRY_VOID(check_header(header, path));
  TraceInfo info;
  info.format_version = kFormatVersion;
  info.uuid = header.uuid;
  if (info.uuid.empty()) {
    INQUEST_TRY(info.uuid, random_uuid());
  }
  info.writer = "inquest " INQUEST_VERSION;
  info.cluster_version = header.cluster_version;
  info.server = header.server;
  info.scope = header.scope;

  if (existing == Existing::kReplace) INQUEST_TRY_VOID(remove_existing(path));
  INQUEST_TRY(FileLock lock, FileLock::create(path));
  auto database = create_database(path);
  if (!database.ok()) {
    remove_with_companions(path);
    return database.error();
  }
  auto impl = std::make_unique<Impl>(std::move(lock), *std::move(database), std::move(info), catalog, options);
  if (auto done = impl->prepare(); !done.ok()) {
    remove_with_companions(path);
    return done.error();
  }
  return TraceWriter(std::move(impl));
}

Result<StreamId> TraceWriter::add_stream(const Stream& stream) {
  Stream declared = stream;
  declared.id = {static_cast<uint32_t>(impl_->summary.info().streams.size())};
  if (impl_->summary.add_stream(declared)) return declared.id;
  return Error{ErrorCode::kOutOfLimit,
               "a stream too many, or a stream with a name too long; the limits are " + std::to_string(kMaxStreams) +
                   " streams and " + std::to_string(kMaxSummaryText) + " bytes",
               impl_->database.path(), ""};
}

namespace {

// What a full disk means depends on what is written: a recording keeps what it has; a file that is made in one go is
// given up (OutputFile).
template <typename T>
Result<T> told(Result<T> done, WriterOptions::Purpose purpose) {
  if (done.ok() || done.error().next != kFreeSpace) return done;
  Error error = done.error();
  error.next +=
      purpose == WriterOptions::Purpose::kRecord ? "; what was committed is kept" : "; the unfinished file is removed";
  return error;
}

}  // namespace

Result<Seq> TraceWriter::append(const Record& record, std::string_view body) {
  return told(impl_->append(record, body), impl_->options.purpose);
}
Result<void> TraceWriter::flush() { return told(impl_->flush(), impl_->options.purpose); }
Result<void> TraceWriter::forget_names() {
  INQUEST_TRY_VOID(flush());
  impl_->has_index = false;
  impl_->index = Index();
  return {};
}
void TraceWriter::add_loss(const std::string& source, const std::string& what, uint64_t count) {
  impl_->summary.add_loss(source, what, count);
}
void TraceWriter::add_note(const std::string& source, const std::string& what, uint64_t count) {
  impl_->summary.add_note(source, what, count);
}
Result<void> TraceWriter::close(TraceState state) { return told(impl_->close(state), impl_->options.purpose); }

}  // namespace inquest::trace
