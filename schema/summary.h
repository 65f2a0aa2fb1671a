// The summary: what tables meta, stream, counts, bind_count and loss hold, as a TraceInfo. The writer keeps one up to
// date and saves it with every batch; the reader loads it. Private to schema/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/integrity.h"
#include "schema/reader.h"
#include "schema/sqlite.h"

namespace inquest::trace {

// Counts records into a TraceInfo and remembers what has changed since it was last saved.
class Summary {
 public:
  explicit Summary(TraceInfo info) : info_(std::move(info)) {}

  // False: one stream too many, or texts too long.
  bool add_stream(const Stream& stream);
  void count(const Record& record, Seq seq, uint64_t body_bytes, const Catalog& catalog);
  void count_batch() { ++info_.batches; }
  void uncount_batch() { --info_.batches; }
  void add_loss(const std::string& source, const std::string& what, uint64_t count);
  void add_note(const std::string& source, const std::string& what, uint64_t count);
  void set_state(TraceState state) {
    info_.state = state;
    changed_ = true;
  }

  const TraceInfo& info() const { return info_; }
  bool changed() const { return changed_; }
  // All of it, within the caller's transaction. What changed stays so until saved().
  Result<void> save(Database& database, const Seals& seals) const;
  void saved() { changed_ = false; }

 private:
  void add_row(std::vector<TraceLoss>& rows, const std::string& source, const std::string& what, uint64_t count);
  void count_bind(const std::string& scheduler, uint16_t code, bool answered);

  TraceInfo info_;
  std::map<Seq, std::string> unanswered_;  // requests and who sent them
  size_t text_bytes_ = 0;                  // of streams, binds and losses
  bool changed_ = true;
};

struct LoadedSummary {
  TraceInfo info;  // file_bytes is left to the caller
  Seals seals;
};

// Errors: a row is missing or has another type than ours, a limit is exceeded. A digest that does not match is no
// error but info.summary_intact.
Result<LoadedSummary> load_summary(Database& database);

// A row of table loss: to the losses or, if it says so, to the notes.
void add_loss_row(TraceInfo& info, TraceLoss row);

}  // namespace inquest::trace
