// The summary: what tables meta, stream, counts, bind_count and loss hold, as a TraceInfo. The writer keeps one up to
// date and saves it with every batch; the reader loads it. Private to schema/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/reader.h"
#include "schema/sqlite.h"

namespace inquest::trace {

// Counts records into a TraceInfo and remembers what has changed since it was last saved.
class Summary {
 public:
  explicit Summary(TraceInfo info) : info_(std::move(info)) {}

  void add_stream(const Stream& stream);
  void count(const Record& record, Seq seq, uint64_t body_bytes, const Catalog& catalog);
  void count_batch() { ++info_.batches; }
  void uncount_batch() { --info_.batches; }
  void add_loss(const std::string& source, const std::string& what, uint64_t count);
  void add_note(const std::string& source, const std::string& what, uint64_t count);
  void close() { set_state(TraceState::kClosed); }
  void reopen() { set_state(TraceState::kOpen); }

  const TraceInfo& info() const { return info_; }
  bool changed() const { return changed_; }
  // All of it, within the caller's transaction; `chain` is the last batch's. What changed stays so until saved().
  Result<void> save(Database& database, std::string_view chain) const;
  void saved() { changed_ = false; }

 private:
  void set_state(TraceState state) {
    info_.state = state;
    changed_ = true;
  }
  void add_row(std::vector<TraceLoss>& rows, const std::string& source, const std::string& what, uint64_t count);
  void count_bind(const std::string& scheduler, uint16_t code, bool answered);

  TraceInfo info_;
  std::map<Seq, std::string> unanswered_;  // requests and who sent them
  bool changed_ = true;
};

struct LoadedSummary {
  TraceInfo info;     // file_bytes is left to the caller
  std::string chain;  // of the last batch, in hexadecimal
};

// Errors: a row is missing or has another type than ours, a limit is exceeded. A digest that does not match is no
// error but info.summary_intact.
Result<LoadedSummary> load_summary(Database& database);

}  // namespace inquest::trace
