// A pod's spec and status, and the maps of resources that nodes share with it.
#include <algorithm>

#include "kube/decode_object.h"

namespace inquest::kube {
namespace {

constexpr size_t kMaxScalars = 256;  // named resources of one object; real ones have a handful

PodPhase phase_of(std::string_view text) {
  if (text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

}  // namespace

void ObjectReader::read_pod_spec(Item& item, const Path& path) {
  RawPod& pod = raw_.pod;
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    const std::string_view key = field.key;
    if (key == "nodeName") {
      set_text(pod.node, field, at);
    } else if (key == "schedulerName") {
      set_text(pod.scheduler, field, at);
    } else if (key == "containers") {
      read_containers(field, at, pod.spec.containers, ContainerRole::kRegular);
    } else if (key == "initContainers") {
      read_containers(field, at, pod.spec.init_containers, ContainerRole::kInit);
    } else if (key == "priority") {
      const int64_t priority = walk_.integer(field, at).value_or(0);
      pod.priority = static_cast<int32_t>(std::clamp<int64_t>(priority, INT32_MIN, INT32_MAX));
      if (pod.priority != priority) walk_.warn(at, std::to_string(priority) + " is no integer of 32 bits");
    } else if (key == "overhead") {
      pod.spec.overhead = {};
      read_resource_list(field, at, pod.spec.overhead);
    } else if (key == "resources") {
      ResourceList requests;
      read_requests(field, at, requests);
      pod.spec.pod_level = std::move(requests);
    } else if (key == "schedulingGates") {
      pod.gated = not_empty(field, at);
    } else if (key == "nodeSelector" || key == "affinity" || key == "tolerations") {
      read_placement(field, at);
    } else if (key == "topologySpreadConstraints") {
      read_topology_spread(field, at);
    } else if (key == "volumes") {
      read_volumes(field, at);
    } else if (key == "resourceClaims") {
      pod.claims = not_empty(field, at) ? kResourceClaims : 0;
    }
  });
}

void ObjectReader::read_pod_status(Item& item, const Path& path) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "phase") {
      const std::string_view text = walk_.text(field, at).value_or(std::string_view());
      raw_.pod.phase = phase_of(text);
      if (raw_.pod.phase == PodPhase::kUnknown && !text.empty() && text != "Unknown") {
        walk_.warn(at, quoted(text) + " is no phase of a pod");
      }
    } else if (field.key == "conditions") {
      raw_.pod.scheduled = read_condition(field, at, "PodScheduled");
    } else if (field.key == "nominatedNodeName") {
      const bool nominated = !walk_.text(field, at).value_or(std::string_view()).empty();
      raw_.pod.nominated = nominated ? kNominated : 0;
    }
  });
}

void ObjectReader::read_containers(Item& item, const Path& path, std::vector<Container>& out, ContainerRole role) {
  out.clear();
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    Container& container = out.emplace_back();
    container.role = role;
    read_container(element, at, container);
  });
}

void ObjectReader::read_container(Item& item, const Path& path, Container& out) {
  std::string_view name;
  const size_t mark = walk_.mark();
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    const std::string_view key = field.key;
    if (key == "name") {
      set_text(name, field, at);
    } else if (key == "resources") {
      out.requests = {};
      read_requests(field, at, out.requests);
    } else if (key == "ports") {
      read_ports(field, at, out);
    } else if (key == "restartPolicy" && out.role != ContainerRole::kRegular) {
      out.role = walk_.text(field, at) == "Always" ? ContainerRole::kSidecar : ContainerRole::kInit;
    }
  });
  if (walk_.mark() != mark && !name.empty()) walk_.extend_warnings(mark, " (container " + quoted(name) + ")");
}

void ObjectReader::read_ports(Item& item, const Path& path, Container& out) {
  out.ports.clear();
  walk_.each_element(item, path, [&](Item& element, const Path& at) {
    const ContainerPort port = read_port(element, at);
    if (port.host_port > 0) out.ports.push_back(port);
  });
}

ContainerPort ObjectReader::read_port(Item& item, const Path& path) {
  ContainerPort port;
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "hostPort") {
      port.host_port = walk_.integer(field, at).value_or(0);
      if (port.host_port > 65535) {
        walk_.warn(at, std::to_string(port.host_port) + " is no port");
        port.host_port = 0;
      }
    } else if (field.key == "hostIP") {
      set_text(port.ip, field, at);
    } else if (field.key == "protocol") {
      const std::string_view text = walk_.text(field, at).value_or(std::string_view());
      port.protocol = text == "UDP" ? Protocol::kUdp : text == "SCTP" ? Protocol::kSctp : Protocol::kTcp;
      if (port.protocol == Protocol::kTcp && text != "TCP" && !text.empty()) {
        walk_.warn(at, quoted(text) + " is no protocol; taken as TCP");
      }
    }
  });
  return port;
}

// {"requests": {…}, "limits": …}: the API server has already set requests that only limits name.
void ObjectReader::read_requests(Item& item, const Path& path, ResourceList& out) {
  walk_.each_field(item, path, [&](Item& field, const Path& at) {
    if (field.key == "requests") read_resource_list(field, at, out);
  });
}

void ObjectReader::read_resource_list(Item& item, const Path& path, ResourceList& out) {
  out = {};
  walk_.each_field(item, path, [&](Item& field, const Path& at) { read_resource(field, at, out); });
}

// One entry of a map of resources. Null is zero, as upstream reads it.
void ObjectReader::read_resource(Item& item, const Path& path, ResourceList& out) {
  const ResourceClass resource = classify_resource(item.key);
  if (resource == ResourceClass::kOther) return walk_.warn(path, "no resource that pods are scheduled by; ignored");
  const bool null = item.type == json::json_type::null;
  std::optional<Quantity> quantity = null ? Quantity{} : walk_.quantity(item, path);
  if (!quantity) return;
  if (quantity->milli_value < 0) {
    walk_.warn(path, "an amount below zero; taken as zero");
    quantity = Quantity{};
  }
  switch (resource) {
    case ResourceClass::kCpu:
      out.cpu_milli = quantity->milli_value;
      break;
    case ResourceClass::kMemory:
      out.memory = Amount::of(*quantity);
      break;
    case ResourceClass::kEphemeral:
      out.ephemeral = Amount::of(*quantity);
      break;
    case ResourceClass::kPods:
      out.pods = quantity->value;
      break;
    case ResourceClass::kScalar: {
      if (++scalars_ > kMaxScalars) return walk_.warn(path, "more than 256 named resources; ignored");
      const auto same = [&](const NamedRequest& entry) { return entry.name == item.key; };
      const auto at = std::find_if(out.scalars.begin(), out.scalars.end(), same);
      if (at == out.scalars.end()) {
        out.scalars.push_back({item.key, quantity->value});
      } else {
        at->amount = quantity->value;  // a key given twice: the last counts
      }
      break;
    }
    case ResourceClass::kOther:
      break;
  }
}

}  // namespace inquest::kube
