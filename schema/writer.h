// TraceWriter: makes a trace, batch by batch.
//
// A batch is one SQLite transaction of at most so many records or bytes of bodies as the options say, so that a crash
// loses at most the open batch. Facts are written as one Cap'n Proto message a batch, bodies compressed together, both
// covered by a CRC32C and by a SHA-256 chain over the batches (docs/trace-format.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/reader.h"
#include "schema/record.h"

namespace inquest::trace {

struct TraceHeader {
  std::string cluster_version;  // "" if not known
  std::string server;           // the API server's address; "" if not known
  std::string scope;            // what was recorded, in words; "" if everything
  std::string uuid = {};        // of the trace that this one is a copy of; "": a new one
};

// The defaults suit a recorder: a batch is soon full, and small ones, flushed after 250 ms, share a dictionary.
struct WriterOptions {
  size_t batch_records = 1000;           // at most limits.h's kMaxBatchRecords
  size_t batch_bytes = size_t{4} << 20;  // of bodies; at most kMaxSharedBodies. A larger record is a batch of its own
  enum class Purpose : uint8_t {
    kRecord,  // learn a dictionary for small batches
    kKeep,    // compress over whole large batches
  } purpose = Purpose::kRecord;

  // For files that are made in one go, where nothing is lost by a crash: smaller, and one body is still reached soon.
  static WriterOptions keep() { return {8192, size_t{12} << 20, Purpose::kKeep}; }
};

// Not thread-safe. The file is locked against a second writer while this object lives.
class TraceWriter {
 public:
  // Makes the file; an existing one is an error of code kUsage unless `replace`. The trace is in state `open` until
  // close() is called: a reader of an unclosed file says so. Catalog: the one whose ordinals the records use; must
  // outlive the writer.
  enum class Existing : uint8_t { kRefuse, kReplace };
  static Result<TraceWriter> create(const std::string& path, const TraceHeader& header, const Catalog& catalog,
                                    Existing existing = Existing::kRefuse, const WriterOptions& options = {});

  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();  // an unclosed trace keeps its committed batches and stays `open`

  // Streams are declared before their first record. The id in `stream` is ignored.
  Result<StreamId> add_stream(const Stream& stream);

  // Gives the record its seq (the one in `record` is ignored) and keeps the body byte for byte. For kBindRequest the
  // seq returned is what the answer's bind.request must name. A frame has exactly one object, a bind request a pod,
  // pods a shape and nodes an allocatable, and streams are declared: anything else is a bug of the caller.
  // Errors: kOutOfLimit, the record is beyond limits.h and was not taken, the writer goes on; otherwise a full batch
  // before it could not be committed: the batch is kept, nothing was taken, and the call may be repeated.
  Result<Seq> append(const Record& record, std::string_view body);

  // Commits the open batch.
  Result<void> flush();

  // Something of the input could not be kept: counted, shown by `info`, and turns exit codes to 3.
  void add_loss(const std::string& source, const std::string& what, uint64_t count);

  // Something of the input is not as it came, without anything being missing: shown, and no exit code follows.
  void add_note(const std::string& source, const std::string& what, uint64_t count);

  // Flushes, and lets the caller empty the catalog; there will be no index, whose names would have been lost.
  Result<void> forget_names();

  // Flushes, writes index and summary, marks the trace closed, checkpoints the WAL so that one file remains. Another
  // state is for copies of traces that have it. After an error it may be called again.
  Result<void> close(TraceState state = TraceState::kClosed);

 private:
  struct Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::trace
