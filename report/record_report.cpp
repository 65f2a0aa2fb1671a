#include "report/record_report.h"

#include <fmt/format.h>

#include <array>

#include "base/duration.h"
#include "kube/json_diff.h"
#include "report/placement_json.h"
#include "report/text.h"

namespace inquest::report {

using trace::Record;
using trace::RecordKind;

namespace {

struct KindName {
  RecordKind kind;
  std::string_view name;
};
constexpr std::array kKinds = {
    KindName{RecordKind::kList, "list"},         KindName{RecordKind::kFrame, "frame"},
    KindName{RecordKind::kBookmark, "bookmark"}, KindName{RecordKind::kError, "error"},
    KindName{RecordKind::kOpen, "open"},         KindName{RecordKind::kClose, "close"},
    KindName{RecordKind::kBindRequest, "bind"},  KindName{RecordKind::kBindAnswer, "answer"},
    KindName{RecordKind::kGap, "gap"},           KindName{RecordKind::kUndecodable, "undecodable"},
    KindName{RecordKind::kSource, "source"},
};

constexpr std::array<std::string_view, 5> kPhases = {"Unknown", "Pending", "Running", "Succeeded", "Failed"};

std::string object_text(const Catalog& catalog, const ObjectFacts& object) {
  if (const auto* pod = std::get_if<PodFacts>(&object)) {
    std::string out = fmt::format("{} ({})", pod_name(catalog, pod->pod), short_uid(catalog.uid(pod->pod)));
    if (pod->bound()) out += " on " + printable(catalog.node_name(pod->node));
    out.append(", ").append(kPhases[static_cast<size_t>(pod->phase)]);
    if (pod->scheduled == Condition::kFalse) out += ", not schedulable";
    if (pod->deletion.known()) out += ", being deleted";
    return out;
  }
  if (const auto* node = std::get_if<NodeFacts>(&object)) {
    std::string out = printable(catalog.node_name(node->node));
    if (node->ready != Condition::kTrue) out += ", not ready";
    if (node->unschedulable) out += ", unschedulable";
    return out;
  }
  const auto named = [&](KeyId key) {
    const std::string_view ns = catalog.ns(key);
    return (ns.empty() ? "" : printable(ns) + "/") + printable(catalog.name(key));
  };
  if (const auto* event = std::get_if<EventFacts>(&object)) {
    return fmt::format("{} of {} {}", printable(catalog.text(event->reason)),
                       printable(catalog.text(event->regarding_kind)),
                       event->regarding.known() ? named(event->regarding) : "nothing");
  }
  const auto& other = std::get<OtherFacts>(object);
  return printable(catalog.text(other.kind)) + " " + (other.key.known() ? named(other.key) : "");
}

std::string bind_text(const Catalog& catalog, const Record& record) {
  const trace::Bind& bind = record.bind;
  std::string out = bind.pod ? fmt::format("{} ({})", pod_name(catalog, bind.pod), short_uid(catalog.uid(bind.pod)))
                             : std::string("?");
  out += " to " + printable(catalog.node_name(bind.node)) + " by " + printable(catalog.text(bind.scheduler));
  if (record.kind == RecordKind::kBindRequest) {
    return bind.observations.size() > 1 ? out + fmt::format(", seen {} times", bind.observations.size()) : out;
  }
  const std::string message = printable(catalog.text(bind.message));
  return fmt::format("{}: {}{}{}", out, bind.code == 0 ? std::string("no answer") : std::to_string(bind.code),
                     message.empty() ? "" : ", ", message);
}

// What the record says besides its stream, its kind and its rv.
std::string content(const Catalog& catalog, const Record& record) {
  switch (record.kind) {
    case RecordKind::kList:
      return counted(record.objects.size() + record.more_objects, "object") +
             (record.checkpoint ? ", a checkpoint" : ", a baseline");
    case RecordKind::kFrame:
      return record.objects.empty() ? "" : object_text(catalog, record.objects.front());
    case RecordKind::kBindRequest:
    case RecordKind::kBindAnswer:
      return bind_text(catalog, record);
    case RecordKind::kOpen:
      return fmt::format("{} {}", record.status, printable(catalog.text(record.path)));
    case RecordKind::kGap:
      return fmt::format("after rv {}: {}", record.gap_from, printable(catalog.text(record.text)));
    default:
      return (record.status == 0 ? "" : std::to_string(record.status) + " ") + printable(catalog.text(record.text));
  }
}

std::string value_text(const std::optional<std::string>& value) { return value ? printable(*value) : "-"; }

void add_object(JsonWriter& json, const Catalog& catalog, const ObjectFacts& object) {
  json.begin_object();
  if (const auto* pod = std::get_if<PodFacts>(&object)) {
    const KeyId key = catalog.key_of(pod->pod);
    json.field("kind", "Pod").field("namespace", catalog.ns(key)).field("name", catalog.name(key));
    json.field("uid", catalog.uid(pod->pod)).field("rv", pod->rv).field("node", catalog.node_name(pod->node));
    json.field("phase", kPhases[static_cast<size_t>(pod->phase)]).field("deleting", pod->deletion.known());
    add_placement(json, catalog, *pod);
  } else if (const auto* node = std::get_if<NodeFacts>(&object)) {
    json.field("kind", "Node").field("name", catalog.node_name(node->node)).field("uid", catalog.text(node->uid));
    json.field("rv", node->rv).field("unschedulable", node->unschedulable);
    add_labels_and_taints(json, catalog, *node);
  } else if (const auto* event = std::get_if<EventFacts>(&object)) {
    json.field("kind", "Event").field("namespace", catalog.ns(event->key)).field("name", catalog.name(event->key));
    json.field("uid", catalog.text(event->uid)).field("rv", event->rv).field("reason", catalog.text(event->reason));
  } else {
    const auto& other = std::get<OtherFacts>(object);
    json.field("kind", catalog.text(other.kind)).field("namespace", catalog.ns(other.key));
    json.field("name", catalog.name(other.key)).field("uid", catalog.text(other.uid)).field("rv", other.rv);
  }
  json.end_object();
}

}  // namespace

std::string_view name_of(RecordKind kind) {
  for (const KindName& entry : kKinds) {
    if (entry.kind == kind) return entry.name;
  }
  return "other";
}

std::optional<RecordKind> record_kind(std::string_view name) {
  for (const KindName& entry : kKinds) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

std::string record_line(const Catalog& catalog, const Record& record, std::string_view stream, Time origin) {
  const std::string_view what = record.kind == RecordKind::kFrame ? name_of(record.verb) : name_of(record.kind);
  std::string out = fmt::format("@{:<6} {:>11}  {:<10}  {:<8}", record.seq, format_offset(record.wall, origin),
                                printable(stream), what);
  if (record.rv != 0) out += fmt::format("  rv {}", record.rv);
  if (const std::string rest = content(catalog, record); !rest.empty()) out += "  " + rest;
  return out + "\n";
}

std::string changes_text(const std::vector<kube::JsonChange>& changes) {
  std::string out;
  for (const kube::JsonChange& change : changes) {
    out +=
        fmt::format("    {}  {} → {}\n", printable(change.path), value_text(change.before), value_text(change.after));
  }
  return out;
}

void begin_record(JsonWriter& json, const Catalog& catalog, const Record& record, std::string_view stream,
                  Time origin) {
  json.begin_object().field("seq", record.seq).field("stream", stream).field("kind", name_of(record.kind));
  json.instant("at", record.wall, origin);
  if (record.kind == RecordKind::kFrame) json.field("verb", name_of(record.verb));
  if (record.kind == RecordKind::kList) json.field("checkpoint", record.checkpoint);
  if (record.rv != 0) json.field("rv", record.rv);
  if (record.kind == RecordKind::kGap) json.field("after_rv", record.gap_from);
  if (record.status != 0) json.field("status", record.status);
  if (record.path.known()) json.field("path", catalog.text(record.path));
  if (record.text.known()) json.field("text", catalog.text(record.text));
  if (record.kind == RecordKind::kBindRequest || record.kind == RecordKind::kBindAnswer) {
    const trace::Bind& bind = record.bind;
    json.key("bind").begin_object().field("scheduler", catalog.text(bind.scheduler));
    if (bind.pod) {
      const KeyId key = catalog.key_of(bind.pod);
      json.field("namespace", catalog.ns(key)).field("name", catalog.name(key)).field("uid", catalog.uid(bind.pod));
    }
    json.field("node", catalog.node_name(bind.node)).field("code", bind.code).field("request", bind.request);
    json.field("message", catalog.text(bind.message)).end_object();
  }
  json.key("objects").begin_array();
}

void add_objects(JsonWriter& json, const Catalog& catalog, std::span<const ObjectFacts> objects) {
  for (const ObjectFacts& object : objects) add_object(json, catalog, object);
}

}  // namespace inquest::report
