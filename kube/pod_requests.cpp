#include "kube/pod_requests.h"

#include <algorithm>

#include "base/time.h"  // saturating_add

namespace inquest::kube {
namespace {

constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemory = int64_t{200} << 20;

// Whether a container that names no cpu or memory counts as the defaults for scores.
enum class Missing : uint8_t { kZero, kDefaults };

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// One part of a qualified name: alphanumeric at both ends, and '-', '_', '.' between.
bool is_name_part(std::string_view part, size_t limit) {
  if (part.empty() || part.size() > limit || !is_alphanumeric(part.front()) || !is_alphanumeric(part.back())) {
    return false;
  }
  return std::all_of(part.begin(), part.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

struct Totals {
  int64_t cpu_milli = 0;
  Amount memory, ephemeral;
  std::vector<NamedRequest> scalars;  // sorted by name
};

Amount sum(const Amount& a, const Amount& b) {
  const int64_t milli = a.milli + b.milli;
  return {saturating_add(saturating_add(a.units, b.units), milli / 1000), milli % 1000};
}

int64_t& scalar(std::vector<NamedRequest>& scalars, std::string_view name) {
  const auto at =
      std::lower_bound(scalars.begin(), scalars.end(), name,
                       [](const NamedRequest& entry, std::string_view wanted) { return entry.name < wanted; });
  if (at != scalars.end() && at->name == name) return at->amount;
  return scalars.insert(at, {name, 0})->amount;
}

void add(Totals& totals, const ResourceList& list, Missing missing) {
  const bool defaults = missing == Missing::kDefaults;
  totals.cpu_milli = saturating_add(totals.cpu_milli, list.cpu_milli.value_or(defaults ? kDefaultCpuMilli : 0));
  totals.memory = sum(totals.memory, list.memory.value_or(Amount{defaults ? kDefaultMemory : 0, 0}));
  totals.ephemeral = sum(totals.ephemeral, list.ephemeral.value_or(Amount{}));
  for (const NamedRequest& request : list.scalars) {
    int64_t& amount = scalar(totals.scalars, request.name);
    amount = saturating_add(amount, request.amount);
  }
}

void raise_to(Totals& totals, const Totals& other) {
  totals.cpu_milli = std::max(totals.cpu_milli, other.cpu_milli);
  totals.memory = std::max(totals.memory, other.memory);
  totals.ephemeral = std::max(totals.ephemeral, other.ephemeral);
  for (const NamedRequest& request : other.scalars) {
    int64_t& amount = scalar(totals.scalars, request.name);
    amount = std::max(amount, request.amount);
  }
}

// The pod's own resources replace what its containers add up to, key by key.
void replace_by(Totals& totals, const ResourceList& list) {
  if (list.cpu_milli) totals.cpu_milli = *list.cpu_milli;
  if (list.memory) totals.memory = *list.memory;
  for (const NamedRequest& request : list.scalars) {
    if (request.name.starts_with("hugepages-")) scalar(totals.scalars, request.name) = request.amount;
  }
}

Totals total(const PodSpec& spec, Missing missing) {
  Totals running;  // everything that runs at the same time in the end
  for (const Container& container : spec.containers) add(running, container.requests, missing);
  if (!spec.init_containers.empty()) {
    Totals sidecars, starting;  // so far; the most that any step of the start needs
    for (const Container& container : spec.init_containers) {
      if (container.role == ContainerRole::kSidecar) {
        add(running, container.requests, missing);
        add(sidecars, container.requests, missing);
        raise_to(starting, sidecars);
      } else {
        Totals step = sidecars;
        add(step, container.requests, missing);
        raise_to(starting, step);
      }
    }
    raise_to(running, starting);
  }
  if (spec.pod_level) replace_by(running, *spec.pod_level);
  add(running, spec.overhead, Missing::kZero);
  return running;
}

Resources rounded(const Totals& totals) {
  Resources resources{totals.cpu_milli, totals.memory.rounded_up(), totals.ephemeral.rounded_up(), {}};
  for (const NamedRequest& request : totals.scalars) {
    // Asking for none is the same as not asking, so both must be one shape.
    if (request.amount > 0) resources.extended.push_back({std::string(request.name), request.amount});
  }
  return resources;
}

void append_ports(std::vector<HostPort>& out, const Container& container) {
  for (const ContainerPort& port : container.ports) {
    if (port.host_port <= 0 || port.host_port > 65535) continue;
    const bool wildcard = port.ip == "0.0.0.0";
    out.push_back(
        {wildcard ? std::string() : std::string(port.ip), port.protocol, static_cast<uint16_t>(port.host_port)});
  }
}

}  // namespace

ResourceClass classify_resource(std::string_view name) {
  if (name == "cpu") return ResourceClass::kCpu;
  if (name == "memory") return ResourceClass::kMemory;
  if (name == "ephemeral-storage") return ResourceClass::kEphemeral;
  if (name == "pods") return ResourceClass::kPods;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    const bool counted = name.starts_with("hugepages-") || name.starts_with("attachable-volumes-");
    return counted && is_name_part(name, 253) ? ResourceClass::kScalar : ResourceClass::kOther;
  }
  const bool valid = is_name_part(name.substr(0, slash), 253) && is_name_part(name.substr(slash + 1), 63) &&
                     !name.starts_with("requests.");
  return valid ? ResourceClass::kScalar : ResourceClass::kOther;
}

Amount Amount::of(const Quantity& quantity) {
  constexpr int64_t kClamped = INT64_MAX;
  if (quantity.milli_value == kClamped) return {quantity.value, 0};
  return {quantity.milli_value / 1000, quantity.milli_value % 1000};
}

int64_t Amount::rounded_up() const { return saturating_add(units, milli > 0 ? 1 : 0); }

void PodSpec::clear() {
  containers.clear();
  init_containers.clear();
  pod_level.reset();
  overhead = {};
}

Resources effective_request(const PodSpec& spec) { return rounded(total(spec, Missing::kZero)); }

std::vector<HostPort> host_ports(const PodSpec& spec) {
  std::vector<HostPort> ports;
  for (const Container& container : spec.containers) append_ports(ports, container);
  for (const Container& container : spec.init_containers) {
    if (container.role == ContainerRole::kSidecar) append_ports(ports, container);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

PodShape shape_of(const PodSpec& spec) {
  const Totals nonzero = total(spec, Missing::kDefaults);
  return {effective_request(spec), nonzero.cpu_milli, nonzero.memory.rounded_up(), host_ports(spec)};
}

}  // namespace inquest::kube
