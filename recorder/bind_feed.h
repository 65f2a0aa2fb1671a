// BindFeed: the joined binds of all bind inputs as records, requests and answers each at their own time.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "base/result.h"
#include "recorder/bind_set.h"
#include "recorder/redact.h"
#include "schema/writer.h"

namespace inquest::recorder {

class BindFeed {
 public:
  // `streams`: by input; of inputs that hold binds. All references must outlive the feed.
  BindFeed(const BindSet& binds, std::vector<trace::StreamId> streams, Catalog& catalog, trace::TraceWriter& writer,
           Redactor& redactor)
      : binds_(&binds),
        streams_(std::move(streams)),
        catalog_(&catalog),
        writer_(&writer),
        redactor_(&redactor),
        requests_(binds.joined().size(), 0) {}

  bool done() const { return !next().has_value(); }
  Time at() const { return next()->at; }
  // The input that the next record comes from.
  uint32_t input() const { return binds_->seen()[binds_->joined()[next()->bind].first].input; }
  // Writes the next record.
  Result<void> write();

 private:
  struct Moment {
    Time at;
    uint32_t bind = 0;  // index into BindSet::joined()
    bool answer = false;
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };
  // Requests by the time they were sent, answers by the time they came.
  std::optional<Moment> next() const;

  const BindSet* binds_;
  std::vector<trace::StreamId> streams_;
  Catalog* catalog_;
  trace::TraceWriter* writer_;
  Redactor* redactor_;
  std::vector<trace::Seq> requests_;  // by joined bind
  size_t next_request_ = 0, next_answer_ = 0;
};

}  // namespace inquest::recorder
