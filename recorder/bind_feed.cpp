#include "recorder/bind_feed.h"

#include <algorithm>

namespace inquest::recorder {

std::optional<BindFeed::Moment> BindFeed::next() const {
  std::optional<Moment> first;
  if (next_request_ < binds_->joined().size()) {
    const JoinedBind& bind = binds_->joined()[next_request_];
    first = Moment{binds_->seen()[bind.first].sent, static_cast<uint32_t>(next_request_), false};
  }
  if (next_answer_ == binds_->answered().size()) return first;
  const uint32_t bind = binds_->answered()[next_answer_];
  const Moment answer{binds_->answer_time(binds_->joined()[bind]), bind, true};
  return first ? std::min(*first, answer) : answer;
}

Result<void> BindFeed::write() {
  const Moment moment = *next();
  ++(moment.answer ? next_answer_ : next_request_);
  const JoinedBind& joined = binds_->joined()[moment.bind];
  const SeenBind& first = binds_->seen()[joined.first];
  const auto id = [&](std::string_view text) { return text.empty() ? StringId() : catalog_->string(text); };
  trace::Record out;
  out.stream = streams_[first.input];
  out.kind = moment.answer ? trace::RecordKind::kBindAnswer : trace::RecordKind::kBindRequest;
  out.wall = moment.answer ? first.answered : first.sent;
  std::string kept, body;
  for (const uint32_t index : binds_->observations(joined)) {
    const SeenBind& seen = binds_->seen()[index];
    INQUEST_TRY(const BindWords words, binds_->words(seen, kept));
    if (index == joined.names_uid) {
      out.bind.pod =
          catalog_->pod(catalog_->key(catalog_->string(words.ns), catalog_->string(words.name)), id(words.uid));
    }
    if (index == joined.names_node && !words.node.empty()) out.bind.node = catalog_->node(words.node);
    // A bind log knows neither: they are the API server's words.
    if (!out.bind.user.known()) out.bind.user = id(words.user);
    if (!out.bind.agent.known()) out.bind.agent = id(words.agent);
    if (!moment.answer) out.bind.observations.push_back({streams_[seen.input], seen.sent, seen.answered});
    if (index != joined.first) continue;
    out.bind.scheduler = id(words.scheduler);
    body = moment.answer ? words.answer : words.request;
    if (!moment.answer) continue;
    out.bind.request = requests_[moment.bind];
    out.bind.code = first.code;
    out.bind.reason = id(words.reason);
    out.bind.message = id(words.message);
  }
  INQUEST_TRY(const trace::Seq seq, writer_->append(out, redactor_->redact(body)));
  if (!moment.answer) requests_[moment.bind] = seq;
  return {};
}

}  // namespace inquest::recorder
