// BindFeed: the joined binds of all bind inputs as records, requests and answers each at their own time.
#pragma once

#include <vector>

#include "base/result.h"
#include "recorder/bind_set.h"
#include "recorder/redact.h"
#include "schema/writer.h"

namespace inquest::recorder {

class BindFeed {
 public:
  // `streams`: by input; of inputs that hold binds. All references must outlive the feed.
  BindFeed(const BindSet& binds, BodySpool& spool, std::vector<trace::StreamId> streams, trace::TraceWriter& writer,
           Redactor& redactor)
      : binds_(&binds),
        spool_(&spool),
        streams_(std::move(streams)),
        writer_(&writer),
        redactor_(&redactor),
        requests_(binds.joined().size(), 0) {}

  bool done() const { return next_ == binds_->moments().size(); }
  Time at() const { return binds_->moments()[next_].at; }
  // The input that the next record comes from.
  uint32_t input() const { return primary(binds_->moments()[next_]).input; }
  // Writes the next record.
  Result<void> write();

 private:
  const SeenBind& primary(const BindMoment& moment) const {
    return binds_->seen()[binds_->joined()[moment.bind].observations.front()];
  }

  const BindSet* binds_;
  BodySpool* spool_;
  std::vector<trace::StreamId> streams_;
  trace::TraceWriter* writer_;
  Redactor* redactor_;
  std::vector<trace::Seq> requests_;  // by joined bind
  size_t next_ = 0;
};

}  // namespace inquest::recorder
