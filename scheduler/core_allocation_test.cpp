// In steady state a step of the core allocates nothing: what a replay of a hundred million events costs hangs on it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "scheduler/core.h"
#include "scheduler/test_world.h"

namespace {
size_t allocations = 0;
}

// Of this whole test binary: they count and do what the library's do. Not inlined, so that gcc does not see malloc and
// operator delete as a mismatched pair.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// The one std::stable_sort takes its buffer from.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace inquest::scheduler {
namespace {

// Pods come, are bound, confirmed, run and go, again and again.
struct Churn {
  static constexpr size_t kPods = 64;

  World world;
  NodeFacts node = world.node("n1", 1'000'000);
  std::vector<PodFacts> pods;
  Core core;
  Watch queued, scheduled;

  explicit Churn(const Policy& policy)
      : core(world.catalog, world.config(policy)),
        queued(policy.watches == Watches::kOne ? Watch::kAll : Watch::kQueued),
        scheduled(policy.watches == Watches::kOne ? Watch::kAll : Watch::kScheduled) {
    for (size_t i = 0; i < kPods; ++i) pods.push_back(world.pod(numbered("p", i), "uid", world.shape(1, 1)));
    core.step(at(0), NodeChanged{Verb::kAdded, node});
  }

  void give(Time now, const Input& input) {
    core.step(now, input);
    core.clear_touched();
  }
  void round(Time now) {
    while (core.next_wake() <= now) give(core.next_wake(), TimeReached{});
    for (const PodFacts& pod : pods) {
      const PodFacts bound = World::on(pod, node.node);
      give(now, PodChanged{queued, Verb::kAdded, pod});
      give(now, DecideAs{pod.pod, node.node});
      give(now, BindAnswered{pod.pod, node.node, BindAnswered::Outcome::kBound});
      if (queued == Watch::kQueued) give(now, PodChanged{queued, Verb::kDeleted, pod});
      give(now, PodChanged{scheduled, Verb::kModified, bound});
      give(now, PodChanged{scheduled, Verb::kModified, bound});
      give(now, PodChanged{scheduled, Verb::kDeleted, bound});
    }
  }
};

TEST(CoreAllocation, NoneInSteadyState) {
  for (const Policy& policy : presets()) {
    SCOPED_TRACE(policy.name);
    Churn churn(policy);
    Time now = kStart;
    const auto rounds = [&](int count) {
      for (int i = 0; i < count; ++i) churn.round(now = now + Duration::seconds(1));
    };
    rounds(200);  // tables and heaps grow to what they need
    const size_t before = allocations;
    rounds(200);
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace inquest::scheduler
