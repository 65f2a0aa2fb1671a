#include "kube/pod_requests.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace inquest::kube {
namespace {

constexpr int64_t kMi = int64_t{1} << 20;
constexpr int64_t kGi = int64_t{1} << 30;

ResourceList cpu(int64_t milli) {
  ResourceList list;
  list.cpu_milli = milli;
  return list;
}

ResourceList both(int64_t milli, int64_t bytes) {
  ResourceList list = cpu(milli);
  list.memory = Amount{bytes, 0};
  return list;
}

ResourceList scalar(std::string_view name, int64_t amount) {
  ResourceList list;
  list.scalars = {{name, amount}};
  return list;
}

Container of(ResourceList requests, ContainerRole role = ContainerRole::kRegular) {
  return {role, std::move(requests), {}};
}
Container init(ResourceList requests) { return of(std::move(requests), ContainerRole::kInit); }
Container sidecar(ResourceList requests) { return of(std::move(requests), ContainerRole::kSidecar); }

PodSpec pod(std::vector<Container> containers, std::vector<Container> init_containers = {}) {
  PodSpec spec;
  spec.containers = std::move(containers);
  spec.init_containers = std::move(init_containers);
  return spec;
}

// The rows E1, E2 and E5 of the conformance data, and orders of sidecars around them.
TEST(PodRequests, InitContainersAndSidecars) {
  const struct {
    const char* what;
    PodSpec spec;
    int64_t cpu_milli;
  } kCases[] = {
      {"E1: init 4, container 1", pod({of(cpu(1))}, {init(cpu(4))}), 4},
      {"E2: init 2, containers 2+3", pod({of(cpu(2)), of(cpu(3))}, {init(cpu(2))}), 5},
      {"E5: sidecar 10; init 200; container 100", pod({of(cpu(100))}, {sidecar(cpu(10)), init(cpu(200))}), 210},
      {"a sidecar after the init does not run with it", pod({of(cpu(100))}, {init(cpu(200)), sidecar(cpu(10))}), 200},
      {"the largest init counts, not their sum", pod({of(cpu(1))}, {init(cpu(5)), init(cpu(7)), init(cpu(6))}), 7},
      {"sidecars add up before an init",
       pod({of(cpu(1))}, {sidecar(cpu(2)), sidecar(cpu(3)), init(cpu(10)), sidecar(cpu(4))}), 15},
      {"containers and all sidecars", pod({of(cpu(8))}, {sidecar(cpu(2)), init(cpu(1)), sidecar(cpu(3))}), 13},
      {"nothing", pod({}), 0},
      {"only sidecars", pod({}, {sidecar(cpu(2)), sidecar(cpu(3))}), 5},
  };
  for (const auto& c : kCases) EXPECT_EQ(effective_request(c.spec).cpu_milli, c.cpu_milli) << c.what;
}

// E2's second half.
TEST(PodRequests, OverheadIsAddedOnTop) {
  PodSpec spec = pod({of(cpu(2)), of(cpu(3))}, {init(cpu(2))});
  spec.overhead = cpu(1);
  EXPECT_EQ(effective_request(spec).cpu_milli, 6);
  PodSpec bare = pod({of({})});
  bare.overhead.memory = Amount{kGi, 0};
  EXPECT_EQ(effective_request(bare).memory, kGi);
}

TEST(PodRequests, EachResourceForItself) {
  const Resources request = effective_request(pod({of(both(100, 50))}, {init(both(10, 500))}));
  EXPECT_EQ(request.cpu_milli, 100);
  EXPECT_EQ(request.memory, 500);
}

// E6.
TEST(PodRequests, PodLevelReplacesWhatItNames) {
  PodSpec spec = pod({of(both(2, 3 * kMi))}, {sidecar(both(4, 5 * kMi)), init(both(8, 6 * kMi))});
  EXPECT_EQ(effective_request(spec).cpu_milli, 12);
  EXPECT_EQ(effective_request(spec).memory, 11 * kMi);
  spec.pod_level = both(18, 15 * kMi);
  EXPECT_EQ(effective_request(spec).cpu_milli, 18);
  EXPECT_EQ(effective_request(spec).memory, 15 * kMi);
  spec.pod_level = cpu(18);
  EXPECT_EQ(effective_request(spec).memory, 11 * kMi);
  spec.overhead = cpu(1);
  EXPECT_EQ(effective_request(spec).cpu_milli, 19);
}

// E7: storage, and extended resources, are no business of the pod level.
TEST(PodRequests, PodLevelKnowsCpuMemoryAndHugepagesOnly) {
  ResourceList storage;
  storage.ephemeral = Amount{3 * kMi, 0};
  PodSpec spec = pod({of(storage), of(scalar("example.com/gpu", 1)), of(scalar("hugepages-2Mi", 2))});
  spec.pod_level = ResourceList{};
  spec.pod_level->ephemeral = Amount{9 * kMi, 0};
  spec.pod_level->scalars = {{"example.com/gpu", 7}, {"hugepages-2Mi", 8}};
  const Resources request = effective_request(spec);
  EXPECT_EQ(request.ephemeral, 3 * kMi);
  EXPECT_EQ(request.extended, (std::vector<NamedAmount>{{"example.com/gpu", 1}, {"hugepages-2Mi", 8}}));
}

// C3, with the names in any order; none asked is the same as not asking.
TEST(PodRequests, ScalarsAddUpSortedWithoutZeros) {
  const PodSpec spec =
      pod({of(scalar("b.com/x", 3)), of(scalar("a.com/x", 1)), of(scalar("b.com/x", 5)), of(scalar("c.com/x", 0))},
          {init(scalar("a.com/x", 4))});
  EXPECT_EQ(effective_request(spec).extended, (std::vector<NamedAmount>{{"a.com/x", 4}, {"b.com/x", 8}}));
}

TEST(PodRequests, FractionsOfAByteAreRoundedOnceForTheWholePod) {
  ResourceList fraction;
  fraction.memory = Amount::of(*parse_quantity("2254857830400m"));
  EXPECT_EQ(effective_request(pod({of(fraction)})).memory, 2'254'857'831);
  EXPECT_EQ(effective_request(pod({of(fraction), of(fraction)})).memory, 4'509'715'661);  // 4509715660.8
}

TEST(PodRequests, SumsSaturate) {
  ResourceList huge = both(INT64_MAX, 0);
  huge.memory = Amount::of(*parse_quantity("7Ei"));
  huge.scalars = {{"a.com/x", INT64_MAX}};
  EXPECT_EQ(huge.memory->units, 8'070'450'532'247'928'832);
  const Resources request = effective_request(pod({of(huge), of(huge)}));
  EXPECT_EQ(request.cpu_milli, INT64_MAX);
  EXPECT_EQ(request.memory, INT64_MAX);
  EXPECT_EQ(request.extended[0].amount, INT64_MAX);
}

// C2 and facts 9.2: the default stands for an absent key only.
TEST(PodRequests, NonZeroForScores) {
  const struct {
    const char* what;
    PodSpec spec;
    int64_t cpu_milli, memory;
  } kCases[] = {
      {"no requests", pod({of({})}), 100, 200 * kMi},
      {"no containers", pod({}), 0, 0},
      {"explicit zero", pod({of(both(0, 0))}), 0, 0},
      {"cpu only", pod({of(cpu(250))}), 250, 200 * kMi},
      {"two containers, one empty", pod({of(both(250, kMi)), of({})}), 350, 201 * kMi},
      {"an empty init", pod({of(both(50, kMi))}, {init({})}), 100, 200 * kMi},
      {"an empty sidecar runs along", pod({of(both(50, kMi))}, {sidecar({})}), 150, 201 * kMi},
  };
  for (const auto& c : kCases) {
    const PodShape shape = shape_of(c.spec);
    EXPECT_EQ(shape.nonzero_cpu_milli, c.cpu_milli) << c.what;
    EXPECT_EQ(shape.nonzero_memory, c.memory) << c.what;
  }
  EXPECT_EQ(shape_of(pod({of({})})).requests, Resources{});
}

TEST(PodRequests, HostPortsOfWhatKeepsRunning) {
  PodSpec spec = pod({of({})}, {init({}), sidecar({})});
  spec.containers[0].ports = {
      {"", Protocol::kTcp, 8080}, {"0.0.0.0", Protocol::kUdp, 53}, {"127.0.0.1", Protocol::kTcp, 80}};
  spec.init_containers[0].ports = {{"", Protocol::kTcp, 1}};
  spec.init_containers[1].ports = {{"", Protocol::kSctp, 2}};
  EXPECT_EQ(host_ports(spec), (std::vector<HostPort>{{"", Protocol::kTcp, 8080},
                                                     {"", Protocol::kUdp, 53},
                                                     {"", Protocol::kSctp, 2},
                                                     {"127.0.0.1", Protocol::kTcp, 80}}));
}

// P9: ports 0 and less are none, and one port taken twice is taken once.
TEST(PodRequests, HostPortsOutOfRangeAndTwice) {
  PodSpec spec = pod({of({}), of({})});
  spec.containers[0].ports = {{"", Protocol::kTcp, 0},          {"", Protocol::kTcp, -1},
                              {"", Protocol::kTcp, 65536},      {"", Protocol::kTcp, 8080},
                              {"", Protocol::kTcp, 65535},      {"", Protocol::kTcp, INT64_MAX},
                              {"0.0.0.0", Protocol::kTcp, 8080}};
  spec.containers[1].ports = {{"", Protocol::kTcp, 8080}};
  EXPECT_EQ(host_ports(spec), (std::vector<HostPort>{{"", Protocol::kTcp, 8080}, {"", Protocol::kTcp, 65535}}));
}

TEST(PodRequests, NamesOfResources) {
  const struct {
    const char* name;
    ResourceClass resource;
  } kCases[] = {
      {"cpu", ResourceClass::kCpu},
      {"memory", ResourceClass::kMemory},
      {"ephemeral-storage", ResourceClass::kEphemeral},
      {"pods", ResourceClass::kPods},
      {"nvidia.com/gpu", ResourceClass::kScalar},
      {"hugepages-2Mi", ResourceClass::kScalar},
      {"attachable-volumes-csi-x", ResourceClass::kScalar},
      {"storage", ResourceClass::kOther},
      {"gpu", ResourceClass::kOther},
      {"", ResourceClass::kOther},
      {"/", ResourceClass::kOther},
      {"a.com/", ResourceClass::kOther},
      {"/x", ResourceClass::kOther},
      {"a.com/x/y", ResourceClass::kOther},
      {"a.com/x y", ResourceClass::kOther},
      {"requests.a.com/x", ResourceClass::kOther},
  };
  for (const auto& c : kCases) EXPECT_EQ(classify_resource(c.name), c.resource) << c.name;
}

TEST(PodRequests, ClearLeavesNothingBehind) {
  PodSpec spec = pod({of(cpu(1))}, {init(cpu(4))});
  spec.overhead = cpu(1);
  spec.pod_level = cpu(9);
  spec.clear();
  EXPECT_EQ(shape_of(spec), PodShape{});
}

}  // namespace
}  // namespace inquest::kube
