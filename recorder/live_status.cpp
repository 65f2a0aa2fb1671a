#include "recorder/live_status.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>

namespace inquest::recorder {
namespace {

constexpr Duration kTurnsWithin = Duration::seconds(30);
constexpr const char* kText = "text/plain; charset=utf-8";

prometheus::MetricFamily counter(const char* name, const char* help, uint64_t value) {
  prometheus::ClientMetric metric;
  metric.counter.value = static_cast<double>(value);
  return {name, help, prometheus::MetricType::Counter, {metric}};
}

std::string metrics(const LiveStatus::Snapshot& now) {
  const LiveCounts& counts = now.counts;
  std::vector<prometheus::MetricFamily> families{
      counter("inquest_record_frames_total", "Watch frames recorded, bookmarks and errors too", counts.frames),
      counter("inquest_record_body_bytes_total", "Bytes of objects recorded, before compression", counts.bytes),
      counter("inquest_record_lists_total", "Lists that began a watch", counts.lists),
      counter("inquest_record_checkpoints_total", "Lists beside an open watch", counts.checkpoints),
      counter("inquest_record_gaps_total", "Ranges of resourceVersions that were not seen", counts.gaps),
      counter("inquest_record_refusals_total", "Lists and watches that the server did not give", counts.refusals),
      counter("inquest_record_undecodable_total", "Answers that were no frame or list, kept as bytes",
              counts.undecodable),
  };
  prometheus::MetricFamily watching{
      "inquest_record_watching", "1 while the resource is watched", prometheus::MetricType::Gauge, {}};
  for (const auto& [name, open] : now.streams) {
    prometheus::ClientMetric metric;
    metric.label = {{"resource", name}};
    metric.gauge.value = open ? 1 : 0;
    watching.metric.push_back(metric);
  }
  families.push_back(std::move(watching));
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace

void LiveStatus::set(Snapshot snapshot) {
  const std::lock_guard lock(mutex_);
  last_ = std::move(snapshot);
}

http::Answer LiveStatus::answer(const std::string& path) const {
  Snapshot now;
  {
    const std::lock_guard lock(mutex_);
    now = last_;
  }
  if (path == "/metrics") return {200, "text/plain; version=0.0.4; charset=utf-8", metrics(now)};
  if (path == "/healthz") {
    const bool turns = now.turned.known() && clock_->monotonic() - now.turned < kTurnsWithin;
    return turns ? http::Answer{200, kText, "ok\n"} : http::Answer{503, kText, "the recorder stands still\n"};
  }
  if (path == "/readyz") {
    std::string missing;
    for (const auto& [name, open] : now.streams) {
      if (!open) missing.append(missing.empty() ? "" : ", ").append(name);
    }
    if (!now.streams.empty() && missing.empty()) return {200, kText, "ok\n"};
    return {503, kText, "not watched: " + (missing.empty() ? "anything yet" : missing) + "\n"};
  }
  return {404, kText, "there are /metrics, /healthz and /readyz\n"};
}

}  // namespace inquest::recorder
