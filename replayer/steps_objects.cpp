#include "replayer/steps_objects.h"

#include <algorithm>

#include "base/hash.h"
#include "base/rfc3339.h"

namespace inquest::replayer {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::string out;
  (out.append(std::string_view(parts)), ...);
  return out;
}

std::string text(std::string_view value) { return joined("\"", escaped(value), "\""); }
std::string field(std::string_view key, std::string_view value) { return joined("\"", key, "\":", text(value)); }
// Kubernetes cuts its timestamps to the second.
std::string stamp(Time time) { return text(format_rfc3339({time.ns - time.ns % kSecond})); }

std::string_view setting(const ApiObject& object, std::string_view key, std::string_view otherwise) {
  for (const auto& [name, value] : object.settings) {
    if (name == key) return value;
  }
  return otherwise;
}

// Calls visit(rest, value) for each setting of a family: "label." gives ("app", "web").
template <typename Visit>
void each_of(const ApiObject& object, std::string_view family, Visit&& visit) {
  for (const auto& [name, value] : object.settings) {
    if (name.starts_with(family)) visit(std::string_view(name).substr(family.size()), std::string_view(value));
  }
}

// What is added, with commas between.
class Members {
 public:
  void add(std::string_view part) { out_.append(out_.empty() ? "" : ",").append(part); }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

std::string map_of(const ApiObject& object, std::string_view family, std::string_view first = "") {
  Members out;
  if (!first.empty()) out.add(first);
  each_of(object, family, [&](std::string_view key, std::string_view value) { out.add(field(key, value)); });
  return joined("{", out.str(), "}");
}

// What is not in the table of settings but a resource of a vendor's.
bool is_extended(std::string_view key) {
  const size_t slash = key.find('/');
  const bool family = key.starts_with("label.") || key.starts_with("selector.") || key.starts_with("tolerates.") ||
                      key.starts_with("taint.");
  return slash != std::string_view::npos && !family;
}

std::string resources(const ApiObject& object, std::string_view cpu, std::string_view memory) {
  Members out;
  out.add(field("cpu", setting(object, "cpu", cpu)));
  out.add(field("memory", setting(object, "memory", memory)));
  if (const auto storage = setting(object, "ephemeral-storage", ""); !storage.empty()) {
    out.add(field("ephemeral-storage", storage));
  }
  for (const auto& [key, value] : object.settings) {
    if (is_extended(key)) out.add(field(key, value));
  }
  return out.str();
}

std::string metadata(const ApiObject& object, const std::string& labels) {
  Members out;
  out.add(field("name", object.name));
  if (!object.ns.empty()) out.add(field("namespace", object.ns));
  out.add(field("uid", object.uid));
  out.add(field("resourceVersion", std::to_string(object.rv)));
  out.add(joined("\"creationTimestamp\":", stamp(object.created)));
  if (object.deletion.known()) {
    out.add(joined("\"deletionTimestamp\":", stamp(object.deletion), ",\"deletionGracePeriodSeconds\":30"));
  }
  if (labels != "{}") out.add(joined("\"labels\":", labels));
  return joined("{", out.str(), "}");
}

std::string_view next_item(std::string_view& list) {
  const size_t comma = list.find(',');
  const std::string_view item = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return item;
}

// "8080,53/UDP"
std::string ports(std::string_view list) {
  Members out;
  while (!list.empty()) {
    const std::string_view port = next_item(list);
    const std::string_view number = port.substr(0, port.find('/'));
    const std::string_view protocol = port.ends_with("/UDP") ? "UDP" : "TCP";
    out.add(joined("{\"hostPort\":", number, ",\"containerPort\":", number, ",", field("protocol", protocol), "}"));
  }
  return out.str();
}

// VALUE:EFFECT, or EFFECT alone.
std::pair<std::string_view, std::string_view> value_and_effect(std::string_view both) {
  const size_t colon = both.rfind(':');
  if (colon == std::string_view::npos) return {"", both};
  return {both.substr(0, colon), both.substr(colon + 1)};
}

std::string tolerations(const ApiObject& pod) {
  Members out;
  each_of(pod, "tolerates.", [&](std::string_view key, std::string_view both) {
    const auto [value, effect] = value_and_effect(both);
    const std::string match =
        value.empty() ? field("operator", "Exists") : joined(field("operator", "Equal"), ",", field("value", value));
    out.add(joined("{", field("key", key), ",", match, ",", field("effect", effect), "}"));
  });
  return out.str();
}

std::string container(const ApiObject& pod) {
  Members out;
  out.add(field("name", "main"));
  out.add(field("image", "registry.k8s.io/pause:3.9"));
  if (const auto list = setting(pod, "hostPort", ""); !list.empty()) out.add(joined("\"ports\":[", ports(list), "]"));
  out.add(joined("\"resources\":{\"requests\":{", resources(pod, "100m", "128Mi"), "}}"));
  return joined("{", out.str(), "}");
}

std::string pod_spec(const ApiObject& pod) {
  Members out;
  out.add(joined("\"containers\":[", container(pod), "]"));
  out.add(field("restartPolicy", "Always"));
  if (const std::string selector = map_of(pod, "selector."); selector != "{}") {
    out.add(joined("\"nodeSelector\":", selector));
  }
  if (!pod.node.empty()) out.add(field("nodeName", pod.node));
  out.add(field("schedulerName", setting(pod, "scheduler", "default-scheduler")));
  if (const std::string tolerated = tolerations(pod); !tolerated.empty()) {
    out.add(joined("\"tolerations\":[", tolerated, "]"));
  }
  if (setting(pod, "gated", "") == "true") out.add(R"("schedulingGates":[{"name":"steps"}])");
  out.add(joined("\"priority\":", setting(pod, "priority", "0")));
  return joined("{", out.str(), "}");
}

std::string pod_status(const ApiObject& pod) {
  Members out;
  out.add(field("phase", pod.phase));
  if (pod.bound.known()) {
    out.add(joined(R"("conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":)",
                   stamp(pod.bound), "}]"));
  }
  out.add(field("qosClass", "Burstable"));
  return joined("{", out.str(), "}");
}

std::string taints(const ApiObject& node) {
  Members out;
  each_of(node, "taint.", [&](std::string_view key, std::string_view both) {
    const auto [value, effect] = value_and_effect(both);
    const std::string valued = value.empty() ? "" : joined(field("value", value), ",");
    out.add(joined("{", field("key", key), ",", valued, field("effect", effect), "}"));
  });
  return out.str();
}

std::string_view ready(const ApiObject& node) {
  const std::string_view said = setting(node, "ready", "true");
  return said == "true" ? "True" : said == "false" ? "False" : "Unknown";
}

std::string status_json(uint16_t code, std::string_view reason, std::string_view message, std::string_view details) {
  Members out;
  out.add(R"("kind":"Status","apiVersion":"v1","metadata":{})");
  out.add(field("status", code < 300 ? "Success" : "Failure"));
  if (code >= 300) {
    out.add(field("message", message));
    out.add(field("reason", reason));
    if (!details.empty()) out.add(joined("\"details\":", details));
  }
  out.add(joined("\"code\":", std::to_string(code)));
  return joined("{", out.str(), "}");
}

std::string reason_of(uint16_t code) {
  switch (code) {
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return code < 500 ? "BadRequest" : "InternalError";
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    c == '\n' ? out.append("\\n") : out.append(1, c);
  }
  return out;
}

std::string uid_of(std::string_view kind, std::string_view ns, std::string_view name, uint64_t life) {
  const std::string key = joined(kind, "/", ns, "/", name, "/", std::to_string(life));
  const std::string digits = joined(hex(hash_bytes(key)), hex(hash_bytes(joined(key, "/"))));
  const std::string_view all = digits;
  return joined(all.substr(0, 8), "-", all.substr(8, 4), "-4", all.substr(13, 3), "-8", all.substr(17, 3), "-",
                all.substr(20, 12));
}

std::string pod_json(const ApiObject& pod) {
  return joined(R"({"kind":"Pod","apiVersion":"v1","metadata":)", metadata(pod, map_of(pod, "label.")),
                ",\"spec\":", pod_spec(pod), ",\"status\":", pod_status(pod), "}");
}

std::string node_json(const ApiObject& node) {
  Members spec;
  if (const std::string tainted = taints(node); !tainted.empty()) spec.add(joined("\"taints\":[", tainted, "]"));
  if (setting(node, "unschedulable", "") == "true") spec.add("\"unschedulable\":true");
  const std::string room =
      joined("{", resources(node, "4", "8Gi"), ",", field("pods", setting(node, "pods", "110")), "}");
  const std::string labels = map_of(node, "label.", field("kubernetes.io/hostname", node.name));
  return joined(R"({"kind":"Node","apiVersion":"v1","metadata":)", metadata(node, labels), ",\"spec\":{", spec.str(),
                "},\"status\":{\"capacity\":", room, ",\"allocatable\":", room, R"(,"conditions":[{"type":"Ready",)",
                field("status", ready(node)), "}]}}");
}

std::string event_json(const FailedEvent& event, const ApiObject& pod) {
  Members out;
  out.add(R"("kind":"Event","apiVersion":"events.k8s.io/v1")");
  out.add(joined("\"metadata\":{", field("name", event.name), ",", field("namespace", pod.ns), ",",
                 field("uid", event.uid), ",", field("resourceVersion", std::to_string(event.rv)),
                 ",\"creationTimestamp\":", stamp(event.at), "}"));
  out.add(field("eventTime", format_rfc3339(event.at)));
  out.add(field("reportingController", event.scheduler));
  out.add(field("reportingInstance", joined(event.scheduler, "-1")));
  out.add(R"("action":"Scheduling","reason":"FailedScheduling")");
  out.add(joined(R"("regarding":{"kind":"Pod",)", field("namespace", pod.ns), ",", field("name", pod.name), ",",
                 field("uid", pod.uid), R"(,"apiVersion":"v1",)", field("resourceVersion", std::to_string(pod.rv)),
                 "}"));
  out.add(R"("note":"no node fits","type":"Warning")");
  return joined("{", out.str(), "}");
}

std::string frame_json(std::string_view type, std::string_view object) {
  return joined("{", field("type", type), ",\"object\":", object, "}");
}

std::string bookmark_json(std::string_view kind, std::string_view api_version, ResourceVersion rv) {
  return frame_json("BOOKMARK", joined("{", field("kind", kind), ",", field("apiVersion", api_version),
                                       ",\"metadata\":{", field("resourceVersion", std::to_string(rv)),
                                       R"(,"creationTimestamp":null},"spec":{},"status":{}})"));
}

std::string gone_json(ResourceVersion asked, ResourceVersion now) {
  const std::string message =
      joined("too old resource version: ", std::to_string(asked), " (", std::to_string(now), ")");
  return frame_json("ERROR", status_json(410, "Expired", message, ""));
}

std::string binding_json(std::string_view ns, std::string_view name, std::string_view uid, std::string_view node) {
  Members meta;
  meta.add(field("name", name));
  meta.add(field("namespace", ns));
  if (!uid.empty()) meta.add(field("uid", uid));
  return joined(R"({"apiVersion":"v1","kind":"Binding","metadata":{)", meta.str(), R"(},"target":{"kind":"Node",)",
                field("name", node), "}}");
}

BindStatus bind_status(uint16_t code, std::string_view ns, std::string_view name, std::string_view asked_uid,
                       const ApiObject* pod) {
  if (code < 300) return {"", "", status_json(code, "", "", "")};
  BindStatus out;
  out.reason = reason_of(code);
  std::string_view kind = "pods";
  if (code == 404) {
    out.message = joined("pods \"", name, "\" not found");
  } else if (code == 409 && pod != nullptr && !asked_uid.empty() && pod->uid != asked_uid) {
    out.message =
        joined("Operation cannot be fulfilled on pods \"", name,
               "\": StorageError: invalid object, Code: 4, Key: /registry/pods/", ns, "/", name,
               ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ", asked_uid,
               ", UID in object meta: ", pod->uid);
  } else if (code == 409) {
    kind = "pods/binding";
    const std::string why = pod != nullptr && pod->deletion.known() ? " is being deleted, cannot be assigned to a host"
                            : pod != nullptr && !pod->node.empty()
                                ? joined(" is already assigned to node \"", pod->node, "\"")
                                : " has non-empty .spec.schedulingGates";
    out.message = joined("Operation cannot be fulfilled on pods/binding \"", name, "\": pod ", name, why);
  } else {
    out.message = code == 504 ? "request did not complete within the allotted timeout" : "the server said no";
  }
  const std::string details = joined("{", field("name", name), ",", field("kind", kind), "}");
  out.json = status_json(code, out.reason, out.message, details);
  return out;
}

}  // namespace inquest::replayer
