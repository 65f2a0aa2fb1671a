// What a pod asks of a node: the effective request, the non-zero request for scores, and the host ports
// (kubernetes-facts 9.2 and 9.4). From the spec alone: a resize in place is not looked at.
//
// Plain structs between the decoder and PodShape. Views must outlive the call; sums saturate; amounts below zero are
// the caller's to refuse.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kube/quantity.h"
#include "schema/resources.h"

namespace inquest::kube {

// What the name of a resource means to the scheduler.
enum class ResourceClass : uint8_t {
  kCpu,
  kMemory,
  kEphemeral,
  kPods,    // of a node's allocatable only
  kScalar,  // extended ("nvidia.com/gpu"), hugepages, attachable volumes: counted in units
  kOther,   // malformed, or nothing that is scheduled by ("storage")
};
ResourceClass classify_resource(std::string_view name);

// Memory and storage may be given in thousandths of a byte; they are added up exactly and rounded up once.
struct Amount {
  int64_t units = 0;
  int64_t milli = 0;  // 0…999

  static Amount of(const Quantity& quantity);
  int64_t rounded_up() const;
  friend auto operator<=>(const Amount&, const Amount&) = default;
};

struct NamedRequest {
  std::string_view name;
  int64_t amount = 0;
};

// A map of resources as it stands in a spec. An absent key differs from a zero: the non-zero request and the pod's own
// resources depend on it.
struct ResourceList {
  std::optional<int64_t> cpu_milli;
  std::optional<Amount> memory, ephemeral;
  int64_t pods = 0;                   // of a node's allocatable
  std::vector<NamedRequest> scalars;  // in any order, no name twice
};

struct ContainerPort {
  std::string_view ip;
  Protocol protocol = Protocol::kTcp;
  int64_t host_port = 0;  // 0 and less: none; beyond 65535: ignored, the decoder warns
};

enum class ContainerRole : uint8_t {
  kRegular,
  kInit,     // runs to its end before the regular ones start
  kSidecar,  // an init container with restartPolicy Always: runs along
};

struct Container {
  ContainerRole role = ContainerRole::kRegular;
  ResourceList requests;
  std::vector<ContainerPort> ports;
};

struct PodSpec {
  std::vector<Container> containers;
  std::vector<Container> init_containers;  // in order; roles kInit and kSidecar
  std::optional<ResourceList> pod_level;   // spec.resources.requests; only cpu, memory and hugepages count
  ResourceList overhead;

  void clear();  // keeps memory for the next pod
};

Resources effective_request(const PodSpec& spec);

// All that decides where the pod fits.
PodShape shape_of(const PodSpec& spec);

// Of regular containers and sidecars; sorted, none twice.
std::vector<HostPort> host_ports(const PodSpec& spec);

}  // namespace inquest::kube
