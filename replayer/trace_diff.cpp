#include "replayer/trace_diff.h"

#include <tuple>

namespace inquest::replayer {
namespace {

using trace::Record;
using trace::TraceReader;

std::string stream_name(const TraceReader& reader, trace::StreamId id) {
  for (const trace::StreamSummary& summary : reader.info().streams) {
    if (summary.stream.id == id) return summary.stream.name;
  }
  return "";
}

auto what_it_is(const TraceReader& reader, const Record& record) {
  const Catalog& names = reader.catalog();
  return std::tuple(record.kind, record.verb, record.checkpoint, record.status, record.wall, record.rv, record.gap_from,
                    names.text(record.path), names.text(record.text), record.objects.size(), record.more_objects);
}

auto which_bind(const TraceReader& reader, const trace::Bind& bind) {
  const Catalog& names = reader.catalog();
  const KeyId key = bind.pod ? names.key_of(bind.pod) : KeyId::none();
  const auto part = [&](auto text) { return key ? text() : std::string_view{}; };
  return std::tuple(part([&] { return names.ns(key); }), part([&] { return names.name(key); }),
                    part([&] { return names.uid(bind.pod); }), names.node_name(bind.node), names.text(bind.scheduler),
                    bind.code, bind.request, names.text(bind.reason), names.text(bind.message));
}

Result<std::optional<RecordSeen>> next(TraceReader& reader) {
  INQUEST_TRY(const Record* record, reader.next());
  if (record == nullptr) return std::optional<RecordSeen>{};
  RecordSeen out{*record, stream_name(reader, record->stream), ""};
  INQUEST_TRY(out.body, reader.body(out.record.seq));
  return std::optional(std::move(out));
}

}  // namespace

Result<TraceDifference> first_difference(TraceReader& a, TraceReader& b) {
  a.rewind();
  b.rewind();
  TraceDifference out;
  for (;; ++out.same) {
    INQUEST_TRY(out.a, next(a));
    INQUEST_TRY(out.b, next(b));
    if (!out.a || !out.b) return out;
    const bool equal = what_it_is(a, out.a->record) == what_it_is(b, out.b->record) &&
                       which_bind(a, out.a->record.bind) == which_bind(b, out.b->record.bind) &&
                       out.a->stream == out.b->stream && out.a->body == out.b->body;
    if (!equal) return out;
  }
}

}  // namespace inquest::replayer
