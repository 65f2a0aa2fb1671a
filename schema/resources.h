// What a pod asks of a node and what a node offers, in exact integers.
//
// cpu is in millicores, memory and ephemeral storage in bytes, extended resources and hugepages in units
// (kubernetes-facts 9.1: MilliValue and Value, both rounded away from zero).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/strong_id.h"

namespace inquest {

struct NamedAmount {
  std::string name;  // "nvidia.com/gpu", "hugepages-2Mi"
  int64_t amount = 0;
  friend auto operator<=>(const NamedAmount&, const NamedAmount&) = default;
};

struct Resources {
  int64_t cpu_milli = 0;
  int64_t memory = 0;
  int64_t ephemeral = 0;
  std::vector<NamedAmount> extended;  // sorted by name, no name twice
  friend auto operator<=>(const Resources&, const Resources&) = default;
};

enum class Protocol : uint8_t { kTcp, kUdp, kSctp };

// A port of the node that a container takes. An empty address means every address (0.0.0.0).
struct HostPort {
  std::string ip;
  Protocol protocol = Protocol::kTcp;
  uint16_t port = 0;

  // Upstream's rule (NodePorts): same protocol and port, and the same address or a wildcard on either side.
  bool conflicts_with(const HostPort& other) const {
    return protocol == other.protocol && port == other.port && (ip.empty() || other.ip.empty() || ip == other.ip);
  }
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// The part of a pod that decides where it fits; thousands of pods share one.
struct PodShape {
  Resources requests;             // the effective request (kubernetes-facts 9.2)
  int64_t nonzero_cpu_milli = 0;  // for scores only: a container that asks for nothing counts as 100m …
  int64_t nonzero_memory = 0;     // … and 200 MiB
  std::vector<HostPort> ports;    // sorted
  friend auto operator<=>(const PodShape&, const PodShape&) = default;
};

// status.allocatable of a node.
struct Allocatable {
  Resources resources;
  int64_t pods = 0;
  friend auto operator<=>(const Allocatable&, const Allocatable&) = default;
};

uint64_t hash_of(const PodShape& shape);
uint64_t hash_of(const Allocatable& allocatable);

}  // namespace inquest
