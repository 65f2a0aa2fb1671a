// Decisions on a large cluster: 5,000 nodes of which hardly two offer the same, 50,000 pods with 1,024 different
// requests, every node considered each time. Beside it, in the same run, the naive scan that gives the same answers.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "scheduler/core.h"
#include "scheduler/naive_choice.h"

namespace inquest::bench {
namespace {

using namespace scheduler;

constexpr uint32_t kNodes = 5'000, kPods = 50'000, kKinds = 1'024, kNaivePods = 500;

struct Cluster {
  Catalog catalog;
  std::vector<NodeFacts> nodes;
  std::vector<PodFacts> pods;
  StringId ours = catalog.string("default-scheduler");

  Cluster() {
    for (uint32_t i = 0; i < kNodes; ++i) {
      Allocatable room;
      room.resources.cpu_milli = 16'000 << (i % 3);
      room.resources.memory = (int64_t{64} << (30 + i % 3)) - static_cast<int64_t>(mix(i) % 4096) * 4096;
      room.pods = 110;
      NodeFacts node;
      node.node = catalog.node("node-" + std::to_string(i));
      node.allocatable = catalog.allocatable(room);
      node.ready = Condition::kTrue;
      nodes.push_back(node);
    }
    for (uint32_t i = 0; i < kPods; ++i) {
      const auto kind = static_cast<int64_t>(mix(i) % kKinds);
      PodShape shape;
      shape.requests.cpu_milli = shape.nonzero_cpu_milli = 50 + kind % 32 * 50;
      shape.requests.memory = shape.nonzero_memory = (64 + kind / 32 * 128) << 20;
      PodFacts pod;
      pod.pod = catalog.pod(catalog.key(catalog.string("bench"), catalog.string("pod-" + std::to_string(i))), ours);
      pod.scheduler = ours;
      pod.shape = catalog.shape(shape);
      pod.phase = PodPhase::kPending;
      pods.push_back(pod);
    }
  }
};

const Cluster& cluster() {
  static const Cluster made;
  return made;
}

Policy deciding(Scoring scoring) {
  Policy policy = *preset(kDefaultPolicy);
  policy.relist.period.reset();
  policy.score = scoring;
  return policy;
}

// Each pod comes, is decided, bound and confirmed.
void decide(benchmark::State& state, Scoring scoring) {
  const Cluster& given = cluster();
  for (auto _ : state) {
    state.PauseTiming();
    Core core(given.catalog, {deciding(scoring), {}, {given.ours}, 0});
    for (const NodeFacts& node : given.nodes) core.step({}, NodeChanged{Verb::kAdded, node});
    state.ResumeTiming();
    for (const PodFacts& pod : given.pods) {
      core.step({}, PodChanged{Watch::kQueued, Verb::kAdded, pod});
      const auto effects = core.step({}, Decide{});
      INQUEST_CHECK(effects.size() == 1 && std::get_if<BindPod>(&effects[0]) != nullptr, "a pod found no node");
      PodFacts bound = pod;
      bound.node = std::get_if<BindPod>(&effects[0])->node;
      core.step({}, BindAnswered{pod.pod, bound.node});
      core.step({}, PodChanged{Watch::kScheduled, Verb::kAdded, bound});
      core.clear_touched();
    }
    benchmark::DoNotOptimize(core.chain());
  }
  state.counters["decisions/s"] =
      benchmark::Counter(kPods * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetLabel("target 20,000 decisions/s; kube-scheduler's own floor 680 to 810 pods/s, with API calls");
}
BENCHMARK_CAPTURE(decide, least, Scoring::kLeast)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, least_balanced, Scoring::kLeastAndBalanced)->Unit(benchmark::kMillisecond);

void decide_naive(benchmark::State& state) {
  const Cluster& given = cluster();
  const Filters filters(given.catalog, Readiness::kCondition);
  for (auto _ : state) {
    NodeBooks books(given.catalog);
    for (const NodeFacts& node : given.nodes) books.set_node(node);
    for (uint32_t i = 0; i < kNaivePods; ++i) {
      const PodFacts& pod = given.pods[i];
      const NodeId node = naive_choice(given.catalog, books, filters, Scoring::kLeast, kind_of(pod), mix(i));
      books.charge(node, pod.shape, pod.pod);
    }
    benchmark::DoNotOptimize(books.size());
  }
  state.counters["decisions/s"] =
      benchmark::Counter(kNaivePods * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetLabel("the baseline of decide: every node asked anew, the choice alone");
}
BENCHMARK(decide_naive)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inquest::bench
