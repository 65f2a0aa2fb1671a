// The parts that all objects share, nodes and events; pods are in decode_pod.cpp.
#include "kube/decode_object.h"

#include <algorithm>
#include <charconv>

#include "base/rfc3339.h"

namespace inquest::kube {
namespace {

ObjectKind classify(std::string_view kind, std::string_view api_version) {
  // Other API groups have a Node too; old lists do not say their version.
  const bool core = api_version == "v1" || api_version.empty();
  if (kind == "Pod" && core) return ObjectKind::kPod;
  if (kind == "Node" && core) return ObjectKind::kNode;
  if (kind == "Event" && (core || api_version.starts_with("events.k8s.io/"))) return ObjectKind::kEvent;
  return ObjectKind::kOther;
}

}  // namespace

void RawPod::clear() {
  spec.clear();
  node = scheduler = {};
  priority = 0;
  phase = PodPhase::kUnknown;
  scheduled = Condition::kAbsent;
  gated = false;
  placement.clear();
  affinity = spread = volumes = claims = nominated = 0;
}

void RawObject::clear() {
  kind = api_version = reason = message = {};
  type = ObjectKind::kOther;
  meta = {};
  pod.clear();
  node = {};
  labels = {};
  event = {};
  code = 0;
}

std::string RawObject::label() const {
  std::string out;
  switch (type) {
    case ObjectKind::kPod:
      out = "pod ";
      break;
    case ObjectKind::kNode:
      out = "node ";
      break;
    case ObjectKind::kEvent:
      out = "event ";
      break;
    case ObjectKind::kOther:
      out = kind.empty() ? "object " : std::string(kind) + " ";
      break;
  }
  if (!meta.ns.empty()) out.append(meta.ns) += '/';
  return out += meta.name.empty() ? std::string_view("(no name)") : meta.name;
}

const RawObject& ObjectReader::read(json::object object, const ItemType& assumed, const Path* parent) {
  raw_.clear();
  raw_.kind = assumed.kind;
  raw_.api_version = assumed.api_version;
  raw_.type = classify(raw_.kind, raw_.api_version);
  typed_ = assumed.known();
  deferred_ = false;
  scalars_ = selector_parts_ = 0;
  bool kind_seen = false;
  bool version_seen = false;
  const size_t mark = walk_.mark();
  const ObjectKind before = raw_.type;
  walk_.each_field(object, [&](Item& item) {
    const Path path = Path::field_of(parent, item.key);
    if (item.key == "kind") {
      set_text(raw_.kind, item, path);
      kind_seen = true;
    } else if (item.key == "apiVersion") {
      set_text(raw_.api_version, item, path);
      version_seen = true;
    } else {
      return read_field(item, path, Pass::kAll);
    }
    if (typed_ || !kind_seen || !version_seen) return;
    raw_.type = classify(raw_.kind, raw_.api_version);
    typed_ = true;
  });
  // The type came late, or is not what the list said: once more for the fields that depend on it.
  const ObjectKind type = classify(raw_.kind, raw_.api_version);
  if (!walk_.broken() && (deferred_ || (typed_ && type != raw_.type) || (!typed_ && type != before))) {
    raw_.pod.clear();
    raw_.node = {};
    raw_.event = {};
    scalars_ = selector_parts_ = 0;
    typed_ = true;
    raw_.type = type;
    bool more = false;
    if (object.reset().get(more) == simdjson::SUCCESS && more && type != ObjectKind::kOther) {
      walk_.each_field(object, [&](Item& item) { read_field(item, Path::field_of(parent, item.key), Pass::kTyped); });
    }
  }
  if (walk_.mark() != mark) walk_.name_warnings(mark, raw_.label());
  return raw_;
}

void ObjectReader::read_field(Item& item, const Path& path, Pass pass) {
  if (read_typed(item, path)) return;
  if (pass == Pass::kTyped) {
    if (item.key == "metadata" && raw_.type == ObjectKind::kNode) read_labels_alone(item, path);
  } else if (item.key == "metadata") {
    read_meta(item, path);
  } else if (item.key == "reason") {
    set_text(raw_.reason, item, path);
  } else if (item.key == "message" && raw_.type == ObjectKind::kOther) {
    set_text(raw_.message, item, path);
  } else if (item.key == "code" && raw_.type == ObjectKind::kOther) {
    raw_.code = walk_.integer(item, path).value_or(0);
  }
}

// Fields whose meaning depends on the type; true if the field is one of them.
bool ObjectReader::read_typed(Item& item, const Path& path) {
  const std::string_view key = item.key;
  const bool spec = key == "spec" || key == "status";
  const bool regarding = key == "regarding" || key == "involvedObject";
  const bool source = key == "source" || key == "deprecatedSource";
  const bool controller = key == "reportingController" || key == "reportingComponent";
  if (!spec && !regarding && !source && !controller) return false;
  if (!typed_) {
    deferred_ = true;
  } else if (raw_.type == ObjectKind::kPod && spec) {
    key == "spec" ? read_pod_spec(item, path) : read_pod_status(item, path);
  } else if (raw_.type == ObjectKind::kNode && spec) {
    key == "spec" ? read_node_spec(item, path) : read_node_status(item, path);
  } else if (raw_.type == ObjectKind::kEvent && regarding) {
    read_regarding(item, path);
  } else if (raw_.type == ObjectKind::kEvent && source) {
    read_source(item, path);
  } else if (raw_.type == ObjectKind::kEvent && controller) {
    set_text(raw_.event.controller, item, path);
  }
  return true;
}

void ObjectReader::read_meta(Item& item, const Path& path) {
  const bool present = walk_.each_field(item, path, [&](Item& field, const Path& at) {
    const std::string_view key = field.key;
    if (key == "name") {
      set_text(raw_.meta.name, field, at);
    } else if (key == "namespace") {
      set_text(raw_.meta.ns, field, at);
    } else if (key == "uid") {
      set_text(raw_.meta.uid, field, at);
    } else if (key == "resourceVersion") {
      raw_.meta.rv = read_rv(field, at);
    } else if (key == "creationTimestamp") {
      raw_.meta.created = read_time(field, at);
    } else if (key == "deletionTimestamp") {
      raw_.meta.deletion = read_time(field, at);
    } else if (key == "continue") {
      set_text(raw_.meta.list_continue, field, at);
    } else if (key == "annotations") {
      read_annotations(field, at);
    } else if (key == "labels") {
      if (!typed_) deferred_ = true;
      if (typed_ && raw_.type == ObjectKind::kNode) read_node_labels(field, at);
    }
  });
  raw_.meta.present = raw_.meta.present || present;
}

// Of an object that turned out to be a node after its metadata was read.
void ObjectReader::read_labels_alone(Item& item, const Path& path) {
  if (item.type != json::json_type::object) return;
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "labels") read_node_labels(field, at);
  });
}

RawMeta ObjectReader::meta(Item& item, const Path& path) {
  raw_.meta = {};
  read_meta(item, path);
  return raw_.meta;
}

void ObjectReader::read_annotations(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "kubernetes.io/config.mirror") raw_.meta.mirror = true;
    if (field.key == "k8s.io/initial-events-end") {
      raw_.meta.initial_events_end = walk_.text(field, at) == "true";
    }
  });
}

void ObjectReader::read_node_spec(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "unschedulable") raw_.node.unschedulable = walk_.boolean(field, at).value_or(false);
    if (field.key == "taints") read_taints(field, at);
  });
}

void ObjectReader::read_node_status(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "allocatable") read_allocatable(field, at);
    if (field.key == "conditions") raw_.node.ready = read_condition(field, at, "Ready");
  });
}

void ObjectReader::read_allocatable(Item& item, const Path& path) {
  ResourceList list;
  read_resource_list(item, path, list);
  Allocatable& out = raw_.node.allocatable;
  out.pods = list.pods;
  // A fraction of a byte on offer is worth nothing, but upstream's Value() rounds it up all the same.
  out.resources = {list.cpu_milli.value_or(0),
                   list.memory.value_or(Amount{}).rounded_up(),
                   list.ephemeral.value_or(Amount{}).rounded_up(),
                   {}};
  std::vector<NamedAmount>& extended = out.resources.extended;
  for (const NamedRequest& scalar : list.scalars) {
    if (scalar.amount > 0) extended.push_back({std::string(scalar.name), scalar.amount});
  }
  std::stable_sort(extended.begin(), extended.end(),
                   [](const NamedAmount& a, const NamedAmount& b) { return a.name < b.name; });
}

void ObjectReader::read_source(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "component") set_text(raw_.event.component, field, at);
  });
}

void ObjectReader::read_regarding(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "kind") set_text(raw_.event.kind, field, at);
    if (field.key == "namespace") set_text(raw_.event.ns, field, at);
    if (field.key == "name") set_text(raw_.event.name, field, at);
    if (field.key == "uid") set_text(raw_.event.uid, field, at);
  });
}

// The status of the condition of the wanted type.
Condition ObjectReader::read_condition(Item& item, const Path& path, std::string_view wanted) {
  Condition found = Condition::kAbsent;
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    std::string_view type, status;
    walk_.each_field(element, at, [&](Item& field, const Path& part) {
      if (field.key == "type") set_text(type, field, part);
      if (field.key == "status") set_text(status, field, part);
    });
    if (type != wanted) return;
    found = status == "True" ? Condition::kTrue : status == "False" ? Condition::kFalse : Condition::kUnknown;
  });
  return found;
}

ResourceVersion ObjectReader::read_rv(Item& item, const Path& path) {
  const std::optional<std::string_view> text = walk_.text_or_number(item, path);
  if (!text || text->empty()) return 0;
  ResourceVersion rv = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), rv);
  if (error == std::errc() && end == text->data() + text->size()) return rv;
  walk_.warn(path, quoted(*text) + " is not plain decimal: the order of writes is not known from it");
  return 0;
}

Time ObjectReader::read_time(Item& item, const Path& path) {
  const std::optional<std::string_view> text = walk_.text(item, path);
  if (!text) return {};
  const std::optional<Time> time = parse_rfc3339(*text);
  if (!time) walk_.warn(path, quoted(*text) + " is no RFC 3339 time");
  return time.value_or(Time{});
}

void ObjectReader::set_text(std::string_view& out, Item& item, const Path& path) {
  out = walk_.text(item, path).value_or(std::string_view());
}

ObjectFacts to_facts(const RawObject& raw, Catalog& catalog) {
  const RawMeta& meta = raw.meta;
  const auto key = [&] { return catalog.key(catalog.string(meta.ns), catalog.string(meta.name)); };
  switch (raw.type) {
    case ObjectKind::kPod: {
      PodFacts pod;
      pod.pod = catalog.pod(key(), catalog.string(meta.uid));
      if (!raw.pod.node.empty()) pod.node = catalog.node(raw.pod.node);
      pod.scheduler = catalog.string(raw.pod.scheduler);
      pod.shape = catalog.shape(shape_of(raw.pod.spec));
      pod.placement = intern(raw.pod.placement, catalog);
      pod.rv = meta.rv;
      pod.created = meta.created;
      pod.deletion = meta.deletion;
      pod.priority = raw.pod.priority;
      pod.phase = raw.pod.phase;
      pod.scheduled = raw.pod.scheduled;
      pod.mirror = meta.mirror;
      pod.gated = raw.pod.gated;
      pod.unmodelled = raw.pod.unmodelled();
      return pod;
    }
    case ObjectKind::kNode: {
      NodeFacts node;
      node.node = catalog.node(meta.name);
      node.uid = catalog.string(meta.uid);
      node.allocatable = catalog.allocatable(raw.node.allocatable);
      node.labels = intern(raw.labels, catalog);
      node.taints = intern(raw.node.taints, catalog);
      node.rv = meta.rv;
      node.created = meta.created;
      node.ready = raw.node.ready;
      node.unschedulable = raw.node.unschedulable;
      return node;
    }
    case ObjectKind::kEvent: {
      const RawEvent& event = raw.event;
      EventFacts facts;
      facts.key = key();
      facts.uid = catalog.string(meta.uid);
      facts.rv = meta.rv;
      facts.reason = catalog.string(raw.reason);
      facts.controller = catalog.string(event.controller.empty() ? event.component : event.controller);
      facts.regarding_kind = catalog.string(event.kind);
      if (!event.name.empty()) facts.regarding = catalog.key(catalog.string(event.ns), catalog.string(event.name));
      facts.regarding_uid = catalog.string(event.uid);
      return facts;
    }
    case ObjectKind::kOther:
      break;
  }
  return OtherFacts{catalog.string(raw.kind), key(), catalog.string(meta.uid), meta.rv};
}

}  // namespace inquest::kube
