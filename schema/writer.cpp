#include "schema/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "schema/batch_encoder.h"
#include "schema/compress.h"
#include "schema/integrity.h"
#include "schema/limits.h"
#include "schema/reader.h"
#include "schema/sqlite.h"
#include "schema/summary.h"

namespace inquest::trace {

extern const char* const kTraceSql;  // trace.sql, embedded by embed_sql.cmake

namespace {

// The file held open and locked (flock, which SQLite's own locks do not touch) against a second writer.
class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }

  static Result<FileLock> make(const std::string& path, int flags) {
    FileLock lock;
    lock.file_ = open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644);
    if (lock.file_ < 0 && errno == EEXIST) {
      return Error{ErrorCode::kUsage, "exists already", path, "choose another name, or say that it is to be replaced"};
    }
    if (lock.file_ < 0) {
      return Error{ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(errno), path,
                   "check the name and the permissions of its folder"};
    }
    if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return Error{ErrorCode::kUsage, "is being written by another process", path,
                   "wait until it has finished, or choose another name"};
    }
    return lock;
  }

 private:
  int file_ = -1;
};

void remove_with_companions(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

// An old file goes as a whole, so that nothing of it can shine through.
Result<void> remove_existing(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return {};
  INQUEST_TRY(const FileLock lock, FileLock::make(path, 0));
  remove_with_companions(path);
  return {};
}

Result<void> check_header(const TraceHeader& header, const std::string& path) {
  for (const std::string* text : {&header.cluster_version, &header.server, &header.scope}) {
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
  // A checkpoint every 8192 pages (32 MiB): rarer ones are faster still, but the WAL is disk space, too.
  INQUEST_TRY_VOID(
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                    "PRAGMA wal_autocheckpoint = 8192"));
  INQUEST_TRY_VOID(database.exec("BEGIN IMMEDIATE"));
  INQUEST_TRY_VOID(database.exec(kTraceSql));
  return database;
}

}  // namespace

struct TraceWriter::Impl {
  Impl(FileLock held, Database opened, TraceInfo info, const Catalog& names)
      : lock(std::move(held)),
        database(std::move(opened)),
        catalog(&names),
        summary(std::move(info)),
        chain(chain_start(summary.info().uuid)),
        encoder(names) {}

  // The lock goes last, after the database is closed: closing any descriptor of a file drops SQLite's locks on it.
  FileLock lock;
  Database database;
  Statement put_batch, put_body;
  const Catalog* catalog;
  Summary summary;
  std::string chain;
  Seq next_seq = 1;
  bool closed = false;

  BatchEncoder encoder;
  std::string bodies;       // of the open batch, a line feed after each
  uint64_t body_bytes = 0;  // without the line feeds
  Compressor compressor;
  Buffer stored_facts, stored_bodies;
  bool encoded = false;  // stored_facts holds the open batch

  Result<void> prepare();
  void check(const Record& record) const;
  Result<Seq> append(const Record& record, std::string_view body);
  void add(const Record& record, std::string_view body);
  Result<void> encode();
  Result<void> flush();
  Result<void> commit(bool with_batch, const std::string& new_chain, const BatchRow& row);
  Result<void> close();
  BatchRow row() const;
  void drop_batch() {
    encoder.clear();
    bodies.clear();
    body_bytes = 0;
    encoded = false;
  }
  Error at_path(Error error) const {
    if (error.place.empty()) error.place = database.path();
    return error;
  }
};

Result<void> TraceWriter::Impl::prepare() {
  INQUEST_TRY(put_batch, database.prepare("INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  INQUEST_TRY(put_body, database.prepare("INSERT INTO body VALUES (?, ?)"));
  INQUEST_TRY_VOID(summary.save(database, chain));
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

void TraceWriter::Impl::add(const Record& record, std::string_view body) {
  encoder.add(record, next_seq, body.size());
  body_bytes += body.size();
  if (body.empty()) return;
  bodies.append(body);
  bodies.push_back('\n');
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
  const bool large = body.size() > kBatchBytes || record.objects.size() > kBatchRecords;
  if (large || encoder.records() == kBatchRecords || body_bytes + body.size() > kBatchBytes ||
      encoder.objects() + record.objects.size() > 2 * kBatchRecords) {
    INQUEST_TRY_VOID(flush());
  }
  add(record, body);
  encoded = false;
  if (large) {
    // The one case where facts may exceed their limit: better known now, when the record can still be refused.
    if (auto done = encode(); !done.ok()) {
      drop_batch();
      return at_path(done.error());
    }
  }
  summary.count(record, next_seq, body.size(), *catalog);
  return next_seq++;
}

Result<void> TraceWriter::Impl::encode() {
  if (encoded) return {};
  INQUEST_TRY_VOID(encoder.encode(compressor, stored_facts));
  INQUEST_TRY_VOID(compressor.compress(bodies, stored_bodies));
  encoded = true;
  return {};
}

BatchRow TraceWriter::Impl::row() const {
  BatchRow row;
  row.id = summary.info().batches + 1;
  row.last_seq = next_seq - 1;
  row.first_seq = next_seq - encoder.records();
  for (size_t i = 0; i < encoder.records(); ++i) {
    const Time wall = encoder.record(i).wall;
    if (!wall.known()) continue;
    row.first_wall = row.first_wall == 0 ? wall.ns : std::min(row.first_wall, wall.ns);
    row.last_wall = row.last_wall == 0 ? wall.ns : std::max(row.last_wall, wall.ns);
  }
  row.body_bytes = body_bytes;
  row.body_crc = crc32c(stored_bodies.view());
  row.crc = batch_crc(row, stored_facts.view());
  return row;
}

Result<void> TraceWriter::Impl::flush() {
  const bool with_batch = encoder.records() > 0;
  if (!with_batch && !summary.changed()) return {};
  BatchRow batch;
  std::string new_chain = chain;
  if (with_batch) {
    if (auto done = encode(); !done.ok()) return at_path(done.error());
    batch = row();
    new_chain = chain_next(chain, batch, stored_facts.view(), stored_bodies.view());
    summary.count_batch();
  }
  if (auto done = commit(with_batch, new_chain, batch); !done.ok()) {
    // The batch stays, to be tried again: a disk may have room later.
    if (with_batch) summary.uncount_batch();
    (void)database.exec("ROLLBACK").ok();
    return done.error();
  }
  chain = std::move(new_chain);
  summary.saved();
  drop_batch();
  return {};
}

Result<void> TraceWriter::Impl::commit(bool with_batch, const std::string& new_chain, const BatchRow& batch) {
  INQUEST_TRY_VOID(database.exec("BEGIN IMMEDIATE"));
  if (with_batch) {
    put_batch.bind(1, batch.id).bind(2, batch.first_seq).bind(3, batch.last_seq);
    put_batch.bind(4, batch.first_wall).bind(5, batch.last_wall).bind(6, batch.body_bytes);
    put_batch.bind(7, int64_t{batch.body_crc}).bind(8, int64_t{batch.crc}).bind_blob(9, new_chain);
    INQUEST_TRY_VOID(put_batch.bind_blob(10, stored_facts.view()).run());
    INQUEST_TRY_VOID(put_body.bind(1, batch.id).bind_blob(2, stored_bodies.view()).run());
  }
  INQUEST_TRY_VOID(summary.save(database, new_chain));
  return database.exec("COMMIT");
}

Result<void> TraceWriter::Impl::close() {
  if (closed) return {};
  INQUEST_TRY_VOID(flush());
  summary.close();
  if (auto done = flush(); !done.ok()) {
    summary.reopen();
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
                                        Existing existing) {
  INQUEST_TRY_VOID(check_header(header, path));
  TraceInfo info;
  info.format_version = kFormatVersion;
  INQUEST_TRY(info.uuid, random_uuid());
  info.writer = "inquest " INQUEST_VERSION;
  info.cluster_version = header.cluster_version;
  info.server = header.server;
  info.scope = header.scope;

  if (existing == Existing::kReplace) INQUEST_TRY_VOID(remove_existing(path));
  INQUEST_TRY(FileLock lock, FileLock::make(path, O_CREAT | O_EXCL));
  auto database = create_database(path);
  if (!database.ok()) {
    const Error error = database.error();
    remove_with_companions(path);
    return error;
  }
  auto impl = std::make_unique<Impl>(std::move(lock), *std::move(database), std::move(info), catalog);
  if (auto done = impl->prepare(); !done.ok()) {
    remove_with_companions(path);
    return done.error();
  }
  return TraceWriter(std::move(impl));
}

Result<StreamId> TraceWriter::add_stream(const Stream& stream) {
  const size_t count = impl_->summary.info().streams.size();
  if (count >= kMaxStreams ||
      std::max({stream.name.size(), stream.resource.size(), stream.source.size()}) > kMaxSummaryText) {
    return Error{ErrorCode::kOutOfLimit,
                 "a stream too many, or a stream with a name too long; the limits are " + std::to_string(kMaxStreams) +
                     " streams and " + std::to_string(kMaxSummaryText) + " bytes",
                 impl_->database.path(), ""};
  }
  Stream declared = stream;
  declared.id = {static_cast<uint32_t>(count)};
  impl_->summary.add_stream(declared);
  return declared.id;
}

Result<Seq> TraceWriter::append(const Record& record, std::string_view body) { return impl_->append(record, body); }
Result<void> TraceWriter::flush() { return impl_->flush(); }
void TraceWriter::add_loss(const std::string& source, const std::string& what, uint64_t count) {
  impl_->summary.add_loss(source, what, count);
}
void TraceWriter::add_note(const std::string& source, const std::string& what, uint64_t count) {
  impl_->summary.add_note(source, what, count);
}
Result<void> TraceWriter::close() { return impl_->close(); }

}  // namespace inquest::trace
