// TraceReader: opens a trace and walks its records in order.
//
// A trace may come from a stranger: every count and size in it is checked against a limit before memory is taken, and
// no input makes the reader crash or hang. A trace from a newer writer is an Error of code kNewer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/record.h"

namespace inquest::trace {

// What a walk's catalog may take before it is emptied: most of what names that come once can cost a verb.
inline constexpr size_t kWalkNames = size_t{12} << 20;

inline constexpr int kFormatVersion = 3;
inline constexpr int kMinimumReader = 3;  // the oldest reader that understands what we write
// … and what was written in an older format.
constexpr int minimum_reader_of(int format) { return format < 3 ? 1 : kMinimumReader; }
inline constexpr int kFirstWithPlacements = 2;  // PodFacts.placement and unmodelled, NodeFacts.labels and taints

enum class TraceState : uint8_t { kOpen, kClosed, kRecovered };

struct TraceLoss {
  std::string source;
  std::string what;
  uint64_t count = 0;
};

struct BindCount {  // requests by scheduler and answer
  std::string scheduler;
  uint16_t code = 0;  // 0: no answer seen, or a transport error
  uint64_t count = 0;
};

struct StreamSummary {
  Stream stream;
  // `lists` opened a watch, `checkpoints` are the others; `observations` are those by this stream, of whichever bind.
  uint64_t lists = 0, checkpoints = 0, added = 0, modified = 0, deleted = 0, bookmarks = 0, errors = 0;
  uint64_t opens = 0, closes = 0, gaps = 0, undecodable = 0, bind_requests = 0, bind_answers = 0, observations = 0;
  Seq first = 0, last = 0;  // of its records; 0 if it has none
  Seq closed_at = 0;        // the kClose after which the stream was not opened again; 0: none
};

// What is known of a trace without reading its records (written with every batch, so also true of an open trace).
struct TraceInfo {
  int format_version = 0;
  std::string uuid;
  std::string writer;  // "inquest 0.1.0"
  std::string cluster_version, server, scope;
  TraceState state = TraceState::kOpen;
  Time start, end;  // wall times of the earliest and latest record
  uint64_t records = 0, batches = 0, body_bytes = 0, file_bytes = 0;
  std::vector<StreamSummary> streams;
  std::vector<BindCount> binds;   // ordered by scheduler, code
  std::vector<TraceLoss> losses;  // ordered by source, what
  std::vector<TraceLoss> notes;   // likewise; worth knowing, and nothing is missing by it: redactions, made-up times
  bool summary_intact = true;     // false: what stands here does not match its digest; see check_integrity()

  // The notes, and what its format could not hold: for whoever shows them, and for a trace that is made of this one.
  std::vector<TraceLoss> all_notes() const;
  bool complete() const;  // closed, no gap, no loss, nothing undecodable: otherwise verdicts exit 3
};

struct BatchDamage {
  uint64_t batch = 0;  // 1, 2, 3, …; 0: the summary, what TraceInfo says
  Seq first = 0, last = 0;
  std::string why;
};

// Not thread-safe; several readers may read one file, also while it is written.
class TraceReader {
 public:
  static Result<TraceReader> open(const std::string& path);

  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  const TraceInfo& info() const;
  const std::string& path() const;

  // The ordinals of all records read so far, in order of first appearance. Reading interns; the reference stays valid
  // for the reader's lifetime.
  const Catalog& catalog() const;
  // For what is not from the trace but must share its ordinals (a plan's node names, say).
  Catalog& mutable_catalog();

  // The next record, or nullptr after the last; rewind() starts again. The pointer is valid until the next call.
  Result<const Record*> next();
  void rewind();

  // For long walks in bounded memory: at the end of a batch, the catalog may be emptied. Ordinals given before mean
  // nothing afterwards.
  bool at_batch_end() const;
  uint64_t name_bytes() const;  // text in the catalog
  void forget_names();
  // The same, if it is the end of a batch and the catalog takes more memory than that. Says whether it was emptied.
  bool forget_names_beyond(size_t bytes);

  // One body, or one record, out of order (≤ 5 ms: one batch is decompressed). A body that was too large for one record
  // (a LIST of 100 MB) goes on in those that follow: body() gives what the record itself holds, whole_body() hands all
  // of it to `use`, piece by piece, so that memory holds one; between two calls names may be forgotten.
  Result<std::string> body(Seq seq);
  using BodyUse = std::function<Result<void>(std::string_view)>;
  Result<void> whole_body(Seq seq, const BodyUse& use);
  Result<Record> record(Seq seq);
  // A LIST may go on in the records behind it, too: this hands the list to `use`, then each of its parts in turn; their
  // objects, one after the other, are the list's. Stops early when told to. Says whether none is missing: they may be
  // in a trace that was not closed, or that was recovered. Between two calls names may be forgotten. Disturbs no walk.
  enum class Go : uint8_t { kOn, kNoFurther };
  using ListUse = std::function<Result<Go>(const Record&)>;
  Result<bool> list(Seq seq, const ListUse& use);

  // Checks every batch's CRC and the chain without interning anything; the first damaged batch, or nothing.
  Result<std::optional<BatchDamage>> check_integrity();

 private:
  struct Impl;
  explicit TraceReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::trace
