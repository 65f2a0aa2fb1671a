#include "report/trace_report.h"

#include <fmt/format.h>

#include "base/rfc3339.h"
#include "report/table.h"
#include "report/text.h"
#include "report/trace_totals.h"

namespace inquest::report {
namespace {

Duration length(const trace::TraceInfo& info) { return info.end - info.start; }

std::string gaps_text(const TraceTotals& totals) { return totals.gaps == 0 ? "no gaps" : counted(totals.gaps, "gap"); }

std::string frames_text(const TraceTotals& totals) {
  std::string out;
  for (const FrameCount& frame : totals.frames) {
    add_part(out, fmt::format("{}: {} ADDED, {} MODIFIED, {} DELETED",
                              counted(frame.all(), singular(frame.resource) + " frame"), count(frame.added),
                              count(frame.modified), count(frame.deleted)));
  }
  if (totals.bookmarks > 0) add_part(out, counted(totals.bookmarks, "bookmark"));
  if (totals.errors > 0) add_part(out, counted(totals.errors, "ERROR frame"));
  return out.empty() ? "none" : out;
}

// "kube-scheduler 19 × 201, 1 × 409 · toy 1 × 201, 19 × 409"
std::string binds_text(const trace::TraceInfo& info, const TraceTotals& totals) {
  if (totals.bind_requests == 0) return "none recorded";
  std::string out =
      fmt::format("{}, {}", counted(totals.bind_requests, "request"), counted(totals.observations, "observation"));
  for (size_t i = 0; i < info.binds.size(); ++i) {
    const trace::BindCount& bind = info.binds[i];
    const bool first = i == 0 || info.binds[i - 1].scheduler != bind.scheduler;
    const std::string answer = bind.code == 0 ? "unanswered" : std::to_string(bind.code);
    const std::string counts = fmt::format("{} × {}", count(bind.count), answer);
    if (first) {
      add_part(out, printable(bind.scheduler) + " " + counts);
    } else {
      out += ", " + counts;
    }
  }
  return out;
}

std::string streams_table(const trace::TraceInfo& info) {
  const auto cell = [](uint64_t n) { return n == 0 ? std::string("-") : count(n); };
  std::vector<Align> align(13, Align::kRight);
  align[0] = align[1] = align[12] = Align::kLeft;
  Table table({"stream", "kind", "lists", "checkpoints", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "binds",
               "seen", "gaps", "from"},
              align);
  for (const trace::StreamSummary& s : info.streams) {
    table.add({printable(s.stream.name), std::string(name_of(s.stream.kind)), cell(s.lists), cell(s.checkpoints),
               cell(s.added), cell(s.modified), cell(s.deleted), cell(s.bookmarks), cell(s.errors),
               cell(s.bind_requests), cell(s.observations), cell(s.gaps), printable(s.stream.source)});
  }
  return table.text();
}

void add_stream(JsonWriter& json, const trace::StreamSummary& s) {
  json.begin_object();
  json.field("name", s.stream.name).field("kind", name_of(s.stream.kind)).field("resource", s.stream.resource);
  json.field("source", s.stream.source).field("lists", s.lists).field("checkpoints", s.checkpoints);
  json.field("added", s.added).field("modified", s.modified).field("deleted", s.deleted);
  json.field("bookmarks", s.bookmarks).field("errors", s.errors).field("opens", s.opens).field("closes", s.closes);
  json.field("gaps", s.gaps).field("undecodable", s.undecodable).field("bind_requests", s.bind_requests);
  json.field("bind_answers", s.bind_answers).field("observations", s.observations);
  json.field("first_seq", s.first).field("last_seq", s.last).field("closed_at", s.closed_at);
  json.end_object();
}

std::string damage_text(const trace::BatchDamage& damage) {
  if (damage.batch == 0) return printable(damage.why);
  std::string records = damage.first > 0 ? fmt::format(" (records @{}", damage.first) : "";
  if (!records.empty()) records += damage.last > 0 ? fmt::format(" to @{})", damage.last) : " and on)";
  return fmt::format("batch {}{}: {}", damage.batch, records, printable(damage.why));
}

}  // namespace

std::string incomplete_because(const trace::TraceInfo& info) {
  const TraceTotals totals(info);
  std::string out;
  const auto add = [&](const std::string& reason) { out += (out.empty() ? "" : ", ") + reason; };
  if (info.state == trace::TraceState::kOpen) add("never closed by its recorder");
  if (info.state == trace::TraceState::kRecovered) add("recovered after a crash");
  if (totals.gaps > 0) add(counted(totals.gaps, "gap"));
  if (totals.undecodable > 0) add(counted(totals.undecodable, "undecodable record"));
  if (totals.lost > 0) add(counted(totals.lost, "loss", "losses") + " at import");
  if (!info.summary_intact) add("its summary does not match its digest");
  return out;
}

std::string checkpoints_text(const replayer::CheckpointReport& report, Style style) {
  if (report.checkpoints == 0) return "no checkpoints";
  std::string out = counted(report.checkpoints, "checkpoint");
  if (report.equal == report.checkpoints) return out + ", all agree with the watch";
  out += ", " + count(report.equal) + " agree with the watch";
  if (report.not_compared > 0) out += ", " + count(report.not_compared) + " not compared";
  if (report.differences > 0) {
    out +=
        ", " + style.bad(fmt::format("{} DIFFER in {}", count(report.checkpoints - report.equal - report.not_compared),
                                     counted(report.differences, "object")));
  }
  return out;
}

std::string import_line(const std::string& file, const trace::TraceInfo& info,
                        const replayer::CheckpointReport& checkpoints, Style style) {
  const TraceTotals totals(info);
  std::string frames;
  const auto list = [&](const std::string& part) { frames += (frames.empty() ? "" : ", ") + part; };
  for (const FrameCount& frame : totals.frames) list(counted(frame.all(), singular(frame.resource) + " frame"));
  if (totals.bookmarks > 0) list(counted(totals.bookmarks, "bookmark"));
  if (totals.errors > 0) list(counted(totals.errors, "ERROR frame"));
  if (totals.bind_requests > 0) {
    const std::string binds = counted(totals.bind_requests, "bind");
    list(totals.observations == totals.bind_requests ? binds : binds + " seen " + counted(totals.observations, "time"));
  }
  std::vector<std::string> parts{span(length(info)), frames, checkpoints_text(checkpoints, style), gaps_text(totals)};
  if (totals.lost + totals.undecodable > 0) {
    parts.push_back(style.bad(counted(totals.lost + totals.undecodable, "line") + " not understood"));
  }
  parts.push_back(size(info.file_bytes));
  const std::string name = printable(file);
  return style.strong(name) + "  " + wrapped_parts(parts, width(name) + 2) + "\n";
}

std::string info_text(const std::string& file, const trace::TraceInfo& info, const std::optional<PodCounts>& pods,
                      Style style) {
  const TraceTotals totals(info);
  std::string out;
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("{:<8} {}\n", label, text);
  };
  line("trace", fmt::format("{} · format {} · {} · {} · {} of bodies", style.strong(printable(file)),
                            info.format_version, name_of(info.state), size(info.file_bytes), size(info.body_bytes)));
  line("made", fmt::format("by {} · uuid {}", printable(info.writer), printable(info.uuid)));
  std::string cluster;
  add_part(cluster, printable(info.cluster_version));
  add_part(cluster, printable(info.server));
  add_part(cluster, printable(info.scope));
  if (!cluster.empty()) line("cluster", cluster);
  if (info.records > 0) {
    line("span", fmt::format("{} → {} · {}", format_rfc3339(info.start), format_rfc3339(info.end), span(length(info))));
  }
  if (info.state == trace::TraceState::kOpen) {
    line("end", "not closed: still being recorded, or cut off; a live recorder commits every 250 ms at the latest");
  }
  line("records", fmt::format("{} in {}", count(info.records), counted(info.batches, "batch", "batches")));
  line("pods", pods ? fmt::format("{}{} ({})", pods->at_least ? "at least " : "", count(pods->pods),
                                  counted(pods->names, "name"))
                    : "not counted, the trace is long; --pods counts them");
  line("frames", frames_text(totals));
  line("lists", fmt::format("{}, {}", counted(totals.lists, "baseline"), counted(totals.checkpoints, "checkpoint")));
  line("binds", binds_text(info, totals));
  line("gaps", totals.gaps == 0 ? "none" : style.bad(count(totals.gaps)));
  line("losses", totals.lost + totals.undecodable == 0 ? "none" : style.bad(count(totals.lost + totals.undecodable)));
  for (const trace::TraceLoss& loss : info.losses) {
    line("", fmt::format("{} × {}: {}", count(loss.count), printable(loss.source), printable(loss.what)));
  }
  const std::vector<trace::TraceLoss> notes = info.all_notes();
  for (size_t i = 0; i < notes.size(); ++i) {
    const trace::TraceLoss& note = notes[i];
    const std::string source = note.source.empty() ? "" : printable(note.source) + ": ";
    line(i == 0 ? "notes" : "", fmt::format("{} × {}{}", count(note.count), source, printable(note.what)));
  }
  if (!info.summary_intact) line("damage", style.bad("what stands here does not match its digest: see inquest verify"));
  out += "\n" + streams_table(info);
  return out;
}

void add_trace(JsonWriter& json, const std::string& file, const trace::TraceInfo& info) {
  json.key("trace").begin_object();
  json.field("file", file).field("uuid", info.uuid).field("format", info.format_version).field("writer", info.writer);
  json.field("state", name_of(info.state)).field("complete", info.complete());
  json.instant("start", info.start, info.start).instant("end", info.end, info.start);
  json.field("records", info.records);
  json.end_object();
}

std::string info_json(const std::string& file, const trace::TraceInfo& info, const std::optional<PodCounts>& pods) {
  const TraceTotals totals(info);
  JsonWriter json("info");
  add_trace(json, file, info);
  json.field("cluster_version", info.cluster_version).field("server", info.server).field("scope", info.scope);
  json.field("batches", info.batches).field("body_bytes", info.body_bytes).field("file_bytes", info.file_bytes);
  json.field("summary_intact", info.summary_intact);
  if (pods) {
    json.field("pods", pods->pods).field("pod_names", pods->names).field("pods_at_least", pods->at_least);
  } else {
    json.nothing("pods").nothing("pod_names");
  }
  json.key("frames").begin_array();
  for (const FrameCount& frame : totals.frames) {
    json.begin_object().field("resource", frame.resource).field("added", frame.added);
    json.field("modified", frame.modified).field("deleted", frame.deleted).end_object();
  }
  json.end_array();
  json.field("bookmarks", totals.bookmarks).field("errors", totals.errors).field("baselines", totals.lists);
  json.field("checkpoints", totals.checkpoints).field("gaps", totals.gaps).field("undecodable", totals.undecodable);
  json.field("bind_requests", totals.bind_requests).field("bind_observations", totals.observations);
  json.key("binds").begin_array();
  for (const trace::BindCount& bind : info.binds) {
    json.begin_object().field("scheduler", bind.scheduler).field("code", bind.code).field("count", bind.count);
    json.end_object();
  }
  json.end_array().key("losses").begin_array();
  for (const trace::TraceLoss& loss : info.losses) {
    json.begin_object().field("source", loss.source).field("what", loss.what).field("count", loss.count).end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const trace::TraceLoss& note : info.all_notes()) {
    json.begin_object().field("source", note.source).field("what", note.what).field("count", note.count).end_object();
  }
  json.end_array().key("streams").begin_array();
  for (const trace::StreamSummary& stream : info.streams) add_stream(json, stream);
  json.end_array();
  return json.finish();
}

namespace {

std::string verify_checkpoints(const replayer::CheckpointReport& checkpoints, Style style) {
  const bool differ = checkpoints.differences > 0;
  const bool all = checkpoints.not_compared == 0;
  std::string out = "checkpoints  " +
                    (differ ? style.bad("differ")
                     : all  ? style.good("ok")
                            : style.unsure("in part")) +
                    std::string(kDot) + checkpoints_text(checkpoints, style) + "\n";
  for (const replayer::CheckpointDifference& difference : checkpoints.first) {
    out += fmt::format("  @{} {}  {}  {}\n", difference.seq, printable(difference.stream), printable(difference.object),
                       printable(difference.what));
  }
  if (checkpoints.differences > checkpoints.first.size()) {
    out += fmt::format("  and {} more\n", count(checkpoints.differences - checkpoints.first.size()));
  }
  return out;
}

std::string verify_promises(const replayer::PromiseReport& promises, Style style) {
  if (promises.total() == 0) {
    return "promises     " + style.good("ok") + std::string(kDot) +
           fmt::format("{}: in order, none twice, none of an unknown object, no time travel, no hole\n",
                       counted(promises.frames, "frame"));
  }
  std::string out = "promises     " + style.bad("broken");
  for (size_t i = 0; i < replayer::kPromises; ++i) {
    if (promises.broken[i] == 0) continue;
    out += fmt::format("{}{} {}", kDot, count(promises.broken[i]), name_of(static_cast<replayer::Promise>(i)));
  }
  out += "\n";
  for (const replayer::BrokenPromise& broken : promises.first) {
    out += fmt::format("  @{} {}  {}: {}{}\n", broken.seq, printable(broken.stream), name_of(broken.promise),
                       broken.object.empty() ? "" : printable(broken.object) + " ", printable(broken.what));
  }
  if (promises.total() > promises.first.size()) {
    out += fmt::format("  and {} more\n", count(promises.total() - promises.first.size()));
  }
  return out;
}

// More objects than memory is spent on.
std::string unchecked_text(const Verification& found) {
  std::string out;
  const uint64_t versions = found.checkpoints->not_kept + found.promises->not_kept;
  if (versions > 0) {
    out += counted(versions, "version") + " of objects beyond the first " + count(replayer::kMaxRemembered);
  }
  if (found.promises->forgotten > 0) {
    if (!out.empty()) out += kDot;
    out += counted(found.promises->forgotten, "deleted object") + " forgotten: that they came back would not be seen";
  }
  return out;
}

}  // namespace

std::string verify_text(const std::string& file, const trace::TraceInfo& info, const Verification& found, Style style) {
  std::string out = fmt::format("trace        {} · {} · {} in {}\n", style.strong(printable(file)), span(length(info)),
                                counted(info.records, "record"), counted(info.batches, "batch", "batches"));
  out += "integrity    ";
  out += found.damage ? style.bad("damaged") + " · " + damage_text(*found.damage)
                      : style.good("ok") + " · every checksum, and the chain over all batches";
  out += "\n";
  if (!found.checkpoints || !found.promises) {
    return out + "checkpoints  not compared, because the trace is damaged\n";
  }
  out += verify_checkpoints(*found.checkpoints, style) + verify_promises(*found.promises, style);
  if (found.partial()) out += "unchecked    " + style.unsure(unchecked_text(found)) + "\n";
  if (const std::string why = incomplete_because(info); !why.empty()) {
    out += "incomplete   " + style.unsure(why) + "\n";
  }
  return out;
}

void add_checkpoints(JsonWriter& json, const replayer::CheckpointReport& checkpoints) {
  json.key("checkpoints").begin_object();
  json.field("all", checkpoints.checkpoints).field("equal", checkpoints.equal);
  json.field("not_compared", checkpoints.not_compared).field("not_kept", checkpoints.not_kept);
  json.field("differences", checkpoints.differences);
  json.key("first_differences").begin_array();
  for (const replayer::CheckpointDifference& difference : checkpoints.first) {
    json.begin_object().field("seq", difference.seq).field("stream", difference.stream);
    json.field("object", difference.object).field("what", difference.what).end_object();
  }
  json.end_array().end_object();
}

namespace {

void add_promises(JsonWriter& json, const replayer::PromiseReport& promises) {
  json.key("promises").begin_object().field("frames", promises.frames).field("not_kept", promises.not_kept);
  json.field("forgotten", promises.forgotten).key("broken").begin_object();
  for (size_t i = 0; i < replayer::kPromises; ++i) {
    json.field(name_of(static_cast<replayer::Promise>(i)), promises.broken[i]);
  }
  json.end_object().key("first_broken").begin_array();
  for (const replayer::BrokenPromise& broken : promises.first) {
    json.begin_object().field("promise", name_of(broken.promise)).field("seq", broken.seq);
    json.field("stream", broken.stream).field("object", broken.object).field("what", broken.what).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string verify_json(const std::string& file, const trace::TraceInfo& info, const Verification& found) {
  JsonWriter json("verify");
  add_trace(json, file, info);
  if (found.damage) {
    json.key("damage").begin_object().field("batch", found.damage->batch).field("first_seq", found.damage->first);
    json.field("last_seq", found.damage->last).field("why", found.damage->why).end_object();
  } else {
    json.nothing("damage");
  }
  if (found.checkpoints) {
    add_checkpoints(json, *found.checkpoints);
  } else {
    json.nothing("checkpoints");
  }
  if (found.promises) {
    add_promises(json, *found.promises);
  } else {
    json.nothing("promises");
  }
  return json.finish();
}

}  // namespace inquest::report
