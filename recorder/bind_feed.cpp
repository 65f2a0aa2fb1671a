#include "recorder/bind_feed.h"

namespace inquest::recorder {

Result<void> BindFeed::write() {
  const BindMoment& moment = binds_->moments()[next_++];
  const JoinedBind& joined = binds_->joined()[moment.bind];
  const SeenBind& first = primary(moment);
  trace::Record out;
  out.stream = streams_[first.input];
  out.kind = moment.answer ? trace::RecordKind::kBindAnswer : trace::RecordKind::kBindRequest;
  out.wall = moment.answer ? first.answered : first.sent;
  out.bind.pod = joined.pod;
  out.bind.node = joined.node;
  out.bind.scheduler = first.scheduler;
  for (const uint32_t index : joined.observations) {  // a bind log knows neither: they are the API server's words
    const SeenBind& seen = binds_->seen()[index];
    if (!out.bind.user.known()) out.bind.user = seen.user;
    if (!out.bind.agent.known()) out.bind.agent = seen.agent;
    if (!moment.answer) out.bind.observations.push_back({streams_[seen.input], seen.sent, seen.answered});
  }
  if (moment.answer) {
    out.bind.request = requests_[moment.bind];
    out.bind.code = first.code;
    out.bind.reason = first.reason;
    out.bind.message = first.message;
  }
  INQUEST_TRY(const std::string body, spool_->get(moment.answer ? first.answer : first.request));
  INQUEST_TRY(const trace::Seq seq, writer_->append(out, redactor_->redact(body)));
  if (!moment.answer) requests_[moment.bind] = seq;
  return {};
}

}  // namespace inquest::recorder
