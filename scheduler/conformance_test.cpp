// What upstream's own tests and its scheduler cache do, a row each: kubernetes-facts 2.3 (the table of operations) and
// 10.1, 10.3 (cases by their id). Cases of the snapshot's order and of blocked Pops have nothing here to stand for.
#include <gtest/gtest.h>

#include <functional>

#include "scheduler/core.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using Outcome = BindAnswered::Outcome;

// A core that knows n1 and n2, told of pods by one watch. Short names as in kubernetes-facts 10.1.
struct Cache {
  World world;
  NodeFacts n1 = world.node("n1", 4000), n2 = world.node("n2", 4000);
  PodFacts pod = world.pod("p", "uid-p", world.shape(100, 500, {port(80)}));
  Driver d;

  explicit Cache(std::string_view policy, const char* ttl = "10s") : d(world.catalog, config_of(policy, ttl)) {
    d.add(at(0), n1);
    d.add(at(0), n2);
    d.add(at(0), pod);
  }
  CoreConfig config_of(std::string_view policy, const char* ttl) { return world.config(with(policy, {{"ttl", ttl}})); }

  void assume(int64_t ms, const NodeFacts& node) { d.step(at(ms), DecideAs{pod.pod, node.node}); }
  void finish(int64_t ms, const NodeFacts& node, Outcome outcome = Outcome::kBound) {
    d.answer(at(ms), pod.pod, node.node, outcome);
  }
  void cleanup(int64_t ms) { d.run_to(at(ms)); }
  void add(int64_t ms, const NodeFacts& node) { d.add(at(ms), World::on(pod, node.node)); }
  void update(int64_t ms, const NodeFacts& node, ShapeId shape) {
    PodFacts version = World::on(pod, node.node);
    version.shape = shape;
    d.modify(at(ms), version);
  }
  void remove(int64_t ms, const NodeFacts& node) { d.remove(at(ms), World::on(pod, node.node)); }

  int64_t on(const NodeFacts& node) const { return static_cast<int64_t>(d.core.books().book(node.node).cpu_milli); }
  // cpu on n1 and n2, then the store: A assumed, S scheduled, - none.
  std::string state() const {
    const char* store = d.assumed(pod.pod) ? "A" : d.scheduled(pod.pod) ? "S" : "-";
    std::string out = std::to_string(on(n1));
    return out.append(" ").append(std::to_string(on(n2))).append(" ").append(store);
  }
};

struct Row {
  const char* what;
  std::function<void(Cache&)> steps;
  const char* expected;  // Cache::state()
};

void expect_rows(std::string_view policy, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Cache cache(policy);
    row.steps(cache);
    EXPECT_EQ(cache.state(), row.expected);
  }
}

// Both caches are the same but for the TTL and what a broken watch makes of them.
TEST(Conformance, OperationsOfTheSchedulerCache) {
  const std::vector<Row> rows = {
      {"AssumePod: unknown", [](Cache& c) { c.assume(1, c.n1); }, "100 0 A"},
      {"AssumePod: assumed already is an error",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.assume(2, c.n2);
       },
       "100 0 A"},
      {"AssumePod: added already is an error",
       [](Cache& c) {
         c.add(1, c.n1);
         c.assume(2, c.n2);
       },
       "100 0 S"},
      {"AddPod: assumed on this node",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.add(2, c.n1);
       },
       "100 0 S"},
      {"AddPod: assumed on another node, the API wins",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.add(2, c.n2);
       },
       "0 100 S"},
      {"AddPod: unknown, somebody else bound it", [](Cache& c) { c.add(1, c.n2); }, "0 100 S"},
      {"AddPod: added already",
       [](Cache& c) {
         c.add(1, c.n1);
         c.add(2, c.n1);
       },
       "100 0 S"},
      {"UpdatePod: what the watch had not shown is an add", [](Cache& c) { c.update(1, c.n1, c.world.shape(300)); },
       "300 0 S"},
      {"ForgetPod: assumed",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.finish(2, c.n1, Outcome::kRefused);
       },
       "0 0 -"},
      {"C15 ForgetPod: added is an error",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.add(2, c.n1);
         c.finish(3, c.n1, Outcome::kRefused);
       },
       "100 0 S"},
      {"C15 ForgetPod: forgotten already",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.finish(2, c.n1, Outcome::kRefused);
         c.finish(3, c.n1, Outcome::kRefused);
       },
       "0 0 -"},
      {"FinishBinding: not assumed any more",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.remove(2, c.n1);
         c.finish(3, c.n1);
       },
       "0 0 -"},
      {"FinishBinding: confirmed already",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.add(2, c.n1);
         c.finish(3, c.n1);
         c.cleanup(60'000);
       },
       "100 0 S"},
      {"cleanup: an open bind is skipped, whatever its age",
       [](Cache& c) {
         c.assume(1, c.n1);
         c.cleanup(3'600'000);
       },
       "100 0 A"},
      {"C4 cleanup: after the TTL",
       [](Cache& c) {
         c.assume(0, c.n1);
         c.finish(0, c.n1);
         c.cleanup(20'000);
       },
       "0 0 -"},
      {"cleanup: not yet",
       [](Cache& c) {
         c.assume(0, c.n1);
         c.finish(0, c.n1);
         c.cleanup(10'000);  // the deadline; it must have passed
       },
       "100 0 A"},
      {"C8 AddPod: after the expiry it is counted as any other",
       [](Cache& c) {
         c.assume(0, c.n1);
         c.finish(0, c.n1);
         c.cleanup(20'000);
         c.add(20'001, c.n1);
       },
       "100 0 S"},
      {"C9 AddPod, then updates after the expiry",
       [](Cache& c) {
         c.assume(0, c.n1);
         c.finish(0, c.n1);
         c.cleanup(20'000);
         c.add(20'001, c.n1);
         c.update(20'002, c.n1, c.world.shape(200));
         c.update(20'003, c.n1, c.world.shape(250));
       },
       "250 0 S"},
      {"kubernetes#22189: after a late add, the delete is heard",
       [](Cache& c) {
         c.assume(0, c.n1);
         c.finish(0, c.n1);
         c.cleanup(20'000);
         c.add(40'000, c.n1);
         c.remove(50'000, c.n1);
       },
       "0 0 -"},
      {"C12 UpdatePod: there and back, no residue",
       [](Cache& c) {
         c.add(1, c.n1);
         c.update(2, c.n1, c.world.shape(200, 1024, {port(8080)}));
         c.update(3, c.n1, c.pod.shape);
       },
       "100 0 S"},
      {"RemovePod: unknown", [](Cache& c) { c.remove(1, c.n1); }, "0 0 -"},
      {"RemovePod: added",
       [](Cache& c) {
         c.add(1, c.n1);
         c.remove(2, c.n1);
       },
       "0 0 -"},
      {"C24 RemovePod: the version shown has no node, it leaves the node it is on",
       [](Cache& c) {
         c.add(1, c.n1);
         c.d.remove(at(2), c.pod);
       },
       "0 0 -"},
      {"RemovePod: the version shown is on another node",
       [](Cache& c) {
         c.add(1, c.n1);
         c.remove(2, c.n2);
       },
       "0 0 -"},
      {"RemoveNode: its pods stay until they leave",
       [](Cache& c) {
         c.add(1, c.n1);
         c.d.step(at(2), NodeChanged{Verb::kDeleted, c.n1});
       },
       "100 0 S"},
      {"AssumePod: on a node that is not known",
       [](Cache& c) {
         c.d.step(at(1), NodeChanged{Verb::kDeleted, c.n1});
         c.assume(2, c.n1);
       },
       "100 0 A"},
  };
  for (const char* policy : {"upstream-2016", "upstream-now"}) expect_rows(policy, rows);
}

// O had it an error, so that the pod stays for its TTL; since then it is allowed. The preset allows it, the parameter
// does not.
TEST(Conformance, RemovePodOfAnAssumedPod) {
  for (const char* to : {"both", "scheduled"}) {
    World world;
    const NodeFacts n1 = world.node("n1");
    const PodFacts pod = world.pod("p");
    Driver d(world.catalog, world.config(with("upstream-2016", {{"deletes-to", to}})));
    d.add(at(0), n1);
    d.add(at(0), pod);
    d.step(at(1), DecideAs{pod.pod, n1.node});
    d.answer(at(2), pod.pod, n1.node);
    d.remove(at(3), World::on(pod, n1.node));
    EXPECT_EQ(d.assumed(pod.pod), std::string_view(to) == "scheduled");
    d.run_to(at(60'000));
    EXPECT_FALSE(d.assumed(pod.pod));
  }
}

TEST(Conformance, C12PortsFollowAnUpdate) {
  Cache cache("upstream-now");
  cache.add(1, cache.n1);
  for (const uint16_t number : std::initializer_list<uint16_t>{8080, 80}) {
    cache.update(2, cache.n1, cache.world.shape(100, 500, {port(number)}));
    const NodeBook& book = cache.d.core.books().book(cache.n1.node);
    ASSERT_EQ(book.ports.size(), 1U);
    EXPECT_EQ(book.ports[0].port->port, number);
    EXPECT_TRUE(book.memory == 500 && book.pods == 1);
  }
}

TEST(Conformance, C17EphemeralStorageComesAndGoes) {
  Cache cache("upstream-now");
  PodShape shape;
  shape.requests.ephemeral = 500;
  cache.pod.shape = cache.world.catalog.shape(shape);
  cache.add(1, cache.n1);
  EXPECT_TRUE(cache.d.core.books().book(cache.n1.node).ephemeral == 500);
  cache.remove(2, cache.n1);
  EXPECT_TRUE(cache.d.core.books().book(cache.n1.node).ephemeral == 0);
}

// Upstream ends the process; here the effect says so, and the latest is believed.
TEST(Conformance, C25AnAddedPodThatChangesItsNode) {
  for (const Policy& policy : presets()) {
    SCOPED_TRACE(policy.name);
    World world;
    const PodFacts pod = world.pod("p");
    const NodeFacts n1 = world.node("n1"), n2 = world.node("n2");
    Driver d(world.catalog, world.config(policy));
    d.add(at(1), World::on(pod, n1.node));
    EXPECT_EQ(d.effect<NodeNameChanged>(), nullptr);
    d.modify(at(2), World::on(pod, n1.node));
    EXPECT_EQ(d.effect<NodeNameChanged>(), nullptr);
    d.modify(at(3), World::on(pod, n2.node));
    const auto* changed = d.effect<NodeNameChanged>();
    ASSERT_NE(changed, nullptr);
    EXPECT_EQ(changed->pod, pod.pod);
    EXPECT_EQ(changed->was, n1.node);
    EXPECT_EQ(changed->is, n2.node);
    EXPECT_EQ(d.core.scheduled().find(pod.pod)->node, n2.node);
    d.modify(at(4), pod);
    ASSERT_NE(d.effect<NodeNameChanged>(), nullptr);
    EXPECT_FALSE(d.effect<NodeNameChanged>()->is.known());
    EXPECT_FALSE(d.scheduled(pod.pod));
    EXPECT_TRUE(d.queued(pod.pod));
  }
}

// --- SimpleModeler and its TTL store (kubernetes-facts 1.3, 1.8)

TEST(Conformance, AssumingAgainRefreshesTheTtlOf2015) {
  World world;
  const NodeFacts n1 = world.node("n1"), n2 = world.node("n2");
  const PodFacts pod = world.pod("p");
  Driver d(world.catalog, world.config(with("ttl-only", {{"ttl", "10s"}})));
  d.add(at(0), pod, Watch::kQueued);
  for (const auto& [ms, node] : {std::pair{1000, n1}, std::pair{5000, n2}}) {
    d.step(at(ms), DecideAs{pod.pod, node.node});
    d.answer(at(ms), pod.pod, node.node);
  }
  EXPECT_EQ(d.core.assumed().find(pod.pod)->node, n2.node);
  EXPECT_EQ(d.core.next_wake(), at(15'000));
}

TEST(Conformance, T4OnlyWhatNeverExpiresIsListed) {
  World world;
  AssumedStore store(Slots(world.catalog, PodKey::kName));
  const PodId first = world.id("a", "1"), middle = world.id("b", "2"), last = world.id("c", "3");
  const NodeId node = world.catalog.node("n1");
  store.put(first, node, world.nothing(), at(1));
  store.put(middle, node, world.nothing(), Time::never());
  store.put(last, node, world.nothing(), at(1));
  while (const PodId due = store.due(at(1))) store.take(due);
  EXPECT_EQ(store.pods(), std::vector{middle});
}

// --- FIFO

struct Fifo {
  World world;
  Driver d{world.catalog, world.config("naive")};

  Fifo() { d.add(at(0), world.node("n1", 1'000'000, 1 << 30, 10'000)); }
  void add(const PodFacts& pod) { d.add(at(1), pod, Watch::kQueued); }
  // Whom the next decision takes; its bind is refused, so that it does not stand in the way.
  PodId pop() {
    d.decide(at(1));
    const BindPod* bind = d.effect<BindPod>();
    if (bind == nullptr) return PodId::none();
    const BindPod taken = *bind;
    d.answer(at(1), taken.pod, taken.node, Outcome::kRefused);
    return taken.pod;
  }
};

TEST(Conformance, F1TheOrderOfEachProducerIsKept) {
  Fifo fifo;
  std::vector<PodId> added, popped;
  for (size_t i = 0; i < 500; ++i) {
    for (const char* producer : {"a", "b"}) {
      const PodFacts pod = fifo.world.pod(numbered(producer, i));
      added.push_back(pod.pod);
      fifo.add(pod);
    }
  }
  while (const PodId pod = fifo.pop()) popped.push_back(pod);
  EXPECT_EQ(popped, added);
}

TEST(Conformance, F2AnUpdateKeepsThePlaceAndIsWhatIsPopped) {
  Fifo fifo;
  const PodFacts first = fifo.world.pod("foo", "10", fifo.world.nothing());
  const PodFacts second = fifo.world.pod("foo", "15", fifo.world.nothing());
  fifo.add(first);
  fifo.add(fifo.world.pod("bar"));
  fifo.add(second);
  EXPECT_EQ(fifo.pop(), second.pod);
  EXPECT_EQ(fifo.pop(), fifo.world.id("bar", "uid-bar"));
  EXPECT_FALSE(fifo.pop().known());
}

TEST(Conformance, F3AListReplacesWhatIsQueued) {
  Fifo fifo;
  fifo.add(fifo.world.pod("foo", "10", fifo.world.nothing()));
  fifo.add(fifo.world.pod("bar"));
  const std::vector<PodFacts> listed = {fifo.world.pod("foo", "15", fifo.world.nothing())};
  fifo.d.step(at(1), PodsListed{Watch::kQueued, listed});
  EXPECT_EQ(fifo.pop(), listed[0].pod);
  EXPECT_FALSE(fifo.pop().known());
}

TEST(Conformance, F4WhatWasDeletedAndAddedAgainDoesNotJumpTheLine) {
  Fifo fifo;
  const PodFacts foo = fifo.world.pod("foo"), bar = fifo.world.pod("bar");
  fifo.add(foo);
  fifo.add(bar);
  fifo.d.remove(at(1), foo, Watch::kQueued);
  fifo.add(foo);
  EXPECT_EQ(fifo.pop(), bar.pod);
  EXPECT_EQ(fifo.pop(), foo.pod);
}

}  // namespace
}  // namespace inquest::scheduler
