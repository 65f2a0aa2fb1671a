// What the watches and lists tell a core, and what it makes of it.
#include "scheduler/core.h"

#include <gtest/gtest.h>

#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

struct CoreTest : testing::Test {
  World world;
  NodeFacts n1 = world.node("n1"), n2 = world.node("n2");
  PodFacts a = world.pod("a"), b = world.pod("b");

  Driver make(const Policy& policy, uint64_t seed = 0) { return {world.catalog, world.config(policy, seed)}; }
  Driver make(std::string_view preset_name) { return make(*preset(preset_name)); }
  static int64_t charged(const Driver& driver, const NodeFacts& node) {
    return static_cast<int64_t>(driver.core.books().book(node.node).cpu_milli);
  }
};

TEST_F(CoreTest, OneWatchLeadsAPodFromTheQueueToItsNodeAndAway) {
  Driver d = make(with("combined", {{"watches", "one"}}));
  const uint64_t empty = d.core.stores_hash();
  d.add(at(0), a);
  EXPECT_TRUE(d.queued(a.pod));
  EXPECT_FALSE(d.scheduled(a.pod));
  d.modify(at(1), World::on(a, n1.node));
  EXPECT_FALSE(d.queued(a.pod));
  EXPECT_TRUE(d.scheduled(a.pod));
  EXPECT_EQ(charged(d, n1), 100);
  d.remove(at(2), World::on(a, n1.node));
  EXPECT_FALSE(d.scheduled(a.pod));
  EXPECT_EQ(charged(d, n1), 0);
  EXPECT_EQ(d.core.stores_hash(), empty);
}

TEST_F(CoreTest, OfTwoWatchesEachSpeaksForItsOwnStore) {
  Driver d = make("combined");
  const PodFacts bound = World::on(a, n1.node);
  d.add(at(0), a, Watch::kQueued);
  d.remove(at(1), a, Watch::kScheduled);
  EXPECT_TRUE(d.queued(a.pod)) << "not the queue's watch";
  d.add(at(2), bound, Watch::kScheduled);
  EXPECT_TRUE(d.scheduled(a.pod));
  EXPECT_TRUE(d.queued(a.pod)) << "only its own watch takes it out of the queue";
  d.remove(at(3), a, Watch::kQueued);
  EXPECT_FALSE(d.queued(a.pod));
  EXPECT_TRUE(d.scheduled(a.pod)) << "a DELETED of the queue's watch is no deletion";
  d.remove(at(4), bound, Watch::kScheduled);
  EXPECT_FALSE(d.scheduled(a.pod));
  EXPECT_EQ(charged(d, n1), 0);
}

// kubernetes#106102: the body of a DELETED may be older than the bind.
TEST_F(CoreTest, ADeletedThatShowsAnUnboundPodEmptiesBothStores) {
  Driver d = make(with("combined", {{"watches", "one"}}));
  d.add(at(0), World::on(a, n1.node));
  d.remove(at(1), a);
  EXPECT_FALSE(d.scheduled(a.pod));
  EXPECT_EQ(charged(d, n1), 0);
  d.add(at(2), b);
  d.remove(at(3), World::on(b, n1.node));
  EXPECT_TRUE(d.core.queued().pods().empty());
}

TEST_F(CoreTest, TerminalPodsLeaveAndDoNotEnter) {
  Driver d = make(with("combined", {{"watches", "one"}}));
  PodFacts done = World::on(a, n1.node);
  d.add(at(0), done);
  for (const PodPhase phase : {PodPhase::kSucceeded, PodPhase::kFailed}) {
    done.phase = phase;
    d.modify(at(1), done);
    EXPECT_FALSE(d.scheduled(a.pod));
    EXPECT_EQ(charged(d, n1), 0);
  }
  PodFacts unbound = b;
  unbound.phase = PodPhase::kFailed;
  d.add(at(2), unbound);
  EXPECT_TRUE(d.core.queued().pods().empty());
}

TEST_F(CoreTest, GatedAndForeignPodsAreNotQueued) {
  Driver d = make("combined");
  PodFacts gated = a;
  gated.gated = true;
  d.add(at(0), gated, Watch::kQueued);
  EXPECT_FALSE(d.queued(a.pod));
  d.modify(at(1), a, Watch::kQueued);
  EXPECT_TRUE(d.queued(a.pod)) << "the gates are gone";

  PodFacts foreign = b;
  foreign.scheduler = world.catalog.string("another");
  d.add(at(2), foreign, Watch::kQueued);
  EXPECT_FALSE(d.queued(b.pod));
  d.add(at(3), World::on(foreign, n1.node), Watch::kScheduled);
  EXPECT_EQ(charged(d, n1), 100) << "but it uses room, whoever bound it";
}

TEST_F(CoreTest, AnUpdateMovesTheChargeAndLeavesNoResidue) {
  Driver d = make(with("combined", {{"watches", "one"}}));
  const PodFacts small = world.pod("a", "uid-a", world.shape(100, 500, {port(80)}), "n1");
  const PodFacts large = world.pod("a", "uid-a", world.shape(200, 1024, {port(8080)}), "n1");
  const PodFacts moved = world.pod("a", "uid-a", world.shape(200, 1024, {port(8080)}), "n2");
  for (const PodFacts& version : {small, large, small, moved, small}) {  // C12, and a move
    d.modify(at(0), version);
    const NodeBook& book = d.core.books().book(version.node);
    EXPECT_TRUE(book.cpu_milli == world.catalog.shape(version.shape).requests.cpu_milli);
    ASSERT_EQ(book.ports.size(), 1U);
    EXPECT_EQ(book.ports[0].port, world.catalog.shape(version.shape).ports.data());
    EXPECT_EQ(book.pods, 1);
  }
  EXPECT_EQ(d.core.books().book(n2.node).pods, 0);
  EXPECT_TRUE(d.core.books().book(n2.node).ports.empty());
}

TEST_F(CoreTest, ByNameALaterLifeReplacesAndAnOldDeleteEmptiesTheSlot) {
  const PodFacts first = world.pod("a", "1", world.shape(100), "n1");
  const PodFacts second = world.pod("a", "2", world.shape(300), "n2");
  for (const char* key : {"name", "uid"}) {
    SCOPED_TRACE(key);
    const bool by_name = std::string_view(key) == "name";
    Driver d = make(with("combined", {{"watches", "one"}, {"key", key}}));
    d.add(at(0), first);
    d.add(at(1), second);
    EXPECT_FALSE(d.scheduled(first.pod));
    EXPECT_TRUE(d.scheduled(second.pod));
    EXPECT_EQ(charged(d, n1), 0);
    EXPECT_EQ(charged(d, n2), 300);
    d.remove(at(2), first);
    EXPECT_EQ(d.scheduled(second.pod), !by_name);
    EXPECT_EQ(charged(d, n2), by_name ? 0 : 300);
  }
}

TEST_F(CoreTest, AStaleDeletedDoesNotTurnTheFactsBack) {
  Driver d = make(with("delete-both", {{"watches", "one"}}));
  const PodFacts old = world.pod("a", "1", world.shape(100));
  const PodFacts grown = world.pod("a", "1", world.shape(700));
  d.add(at(0), old);
  d.modify(at(1), grown);
  d.remove(at(2), old);
  d.step(at(3), DecideAs{old.pod, n1.node});
  d.answer(at(4), old.pod, n1.node);
  EXPECT_EQ(charged(d, n1), 700);
}

TEST_F(CoreTest, ADeletedOfAPodNeverSeenIsHarmless) {
  for (const Policy& policy : presets()) {
    Driver d = make(policy);
    for (const Watch watch : {Watch::kQueued, Watch::kScheduled, Watch::kAll}) d.remove(at(0), a, watch);
    EXPECT_EQ(d.core.stores_hash(), 0U);
    EXPECT_TRUE(d.core.seen(a.pod)) << "it was there until this DELETED";
    EXPECT_FALSE(d.core.seen(b.pod));
  }
}

TEST_F(CoreTest, NodesComeChangeAndGo) {
  Driver d = make("combined");
  d.add(at(0), n1);
  EXPECT_TRUE(d.core.books().book(n1.node).known);
  const uint64_t with_n1 = d.core.stores_hash();
  NodeFacts cordoned = n1;
  cordoned.unschedulable = true;
  d.step(at(1), NodeChanged{Verb::kModified, cordoned});
  EXPECT_NE(d.core.stores_hash(), with_n1);
  d.step(at(2), NodeChanged{Verb::kModified, n1});
  EXPECT_EQ(d.core.stores_hash(), with_n1);
  d.step(at(3), NodeChanged{Verb::kDeleted, n1});
  EXPECT_FALSE(d.core.books().book(n1.node).known);
  EXPECT_EQ(d.core.stores_hash(), 0U);
  d.step(at(4), NodeChanged{Verb::kDeleted, n2});  // never known
  EXPECT_EQ(d.core.stores_hash(), 0U);
}

// --- Lists

// Everything is listed, then nothing is.
void list_twice(Driver& d, std::span<const NodeFacts> nodes, std::span<const PodFacts> pods, ListKind second) {
  d.step(at(0), NodesListed{nodes});
  d.step(at(0), PodsListed{Watch::kQueued, pods});
  d.step(at(0), PodsListed{Watch::kScheduled, pods});
  d.step(at(1), NodesListed{{}, second});
  d.step(at(1), PodsListed{Watch::kQueued, {}, second});
  d.step(at(1), PodsListed{Watch::kScheduled, {}, second});
}

TEST_F(CoreTest, APeriodicListCorrectsOnlyWhereThePolicySaysSo) {
  const std::vector<PodFacts> pods = {World::on(a, n1.node), b};
  const std::vector<NodeFacts> nodes = {n1};
  for (const Policy& policy : presets()) {
    SCOPED_TRACE(policy.name);
    Driver d = make(policy);
    list_twice(d, nodes, pods, ListKind::kPeriodic);
    EXPECT_EQ(d.scheduled(a.pod), !policy.relist.scheduled);
    EXPECT_EQ(d.queued(b.pod), !policy.relist.queued);
    EXPECT_EQ(d.core.books().book(n1.node).known, !policy.relist.nodes);
  }
}

TEST_F(CoreTest, AWatchsOwnListIsTheTruthUnderEveryPolicy) {
  const std::vector<PodFacts> pods = {World::on(a, n1.node), b};
  const std::vector<NodeFacts> nodes = {n1};
  for (const Policy& policy : presets()) {
    SCOPED_TRACE(policy.name);
    Driver d = make(policy);
    list_twice(d, nodes, pods, ListKind::kOwn);
    EXPECT_FALSE(d.scheduled(a.pod));
    EXPECT_FALSE(d.queued(b.pod));
    EXPECT_FALSE(d.core.books().book(n1.node).known);
  }
}

TEST_F(CoreTest, ARelistCorrectsTheStoresThatThePolicyNames) {
  for (const char* store : {"scheduled", "queued", "nodes", "assumed", "none"}) {
    SCOPED_TRACE(store);
    const std::string_view chosen = store;
    Driver d = make(with("combined", {{"relist-stores", store}}));
    const PodFacts c = world.pod("c");
    d.step(at(0), NodesListed{});
    d.step(at(0), PodsListed{Watch::kQueued, {}});
    d.step(at(0), PodsListed{Watch::kScheduled, {}});
    d.add(at(0), n1);
    d.add(at(0), World::on(a, n1.node), Watch::kScheduled);
    d.add(at(0), c, Watch::kQueued);
    EXPECT_EQ(d.decide(at(1)), n1.node);
    d.answer(at(2), c.pod, n1.node);
    d.add(at(2), b, Watch::kQueued);
    ASSERT_TRUE(d.assumed(c.pod));
    const std::vector<PodFacts> nothing;
    d.step(at(3), PodsListed{Watch::kQueued, nothing, ListKind::kPeriodic});
    d.step(at(3), PodsListed{Watch::kScheduled, nothing, ListKind::kPeriodic});
    d.step(at(3), NodesListed{{}, ListKind::kPeriodic});
    EXPECT_EQ(d.scheduled(a.pod), chosen != "scheduled");
    EXPECT_EQ(d.queued(b.pod), chosen != "queued");
    EXPECT_EQ(d.core.books().book(n1.node).known, chosen != "nodes");
    EXPECT_EQ(d.assumed(c.pod), chosen != "assumed");
  }
}

TEST_F(CoreTest, AListEntersWhatTheWatchMissed) {
  for (const Watch watch : {Watch::kAll, Watch::kScheduled}) {
    Driver d = make("combined");
    d.step(at(0), PodsListed{watch, {}});
    d.step(at(0), PodsListed{Watch::kQueued, {}});
    d.add(at(0), b, Watch::kQueued);
    PodFacts done = world.pod("done", "1", world.shape(100), "n1");
    done.phase = PodPhase::kSucceeded;
    const std::vector<PodFacts> pods = {World::on(a, n1.node), World::on(b, n2.node), done, world.pod("c")};
    d.step(at(1), PodsListed{watch, pods});
    EXPECT_TRUE(d.scheduled(a.pod));
    EXPECT_TRUE(d.scheduled(b.pod));
    EXPECT_FALSE(d.scheduled(done.pod));
    EXPECT_EQ(d.queued(b.pod), watch == Watch::kScheduled) << "a list of bound pods says nothing of the queue";
    EXPECT_EQ(d.queued(pods[3].pod), watch == Watch::kAll);
  }
}

TEST_F(CoreTest, AListThatStillShowsAPodPendingDoesNotQueueWhatIsAssumed) {
  Driver d = make("combined");
  d.add(at(0), n1);
  d.add(at(0), a, Watch::kQueued);
  d.decide(at(1));
  const std::vector<PodFacts> pods = {a};
  d.step(at(2), PodsListed{Watch::kQueued, pods});
  EXPECT_FALSE(d.queued(a.pod)) << "its bind is open";
  d.answer(at(3), a.pod, n1.node);
  d.step(at(4), PodsListed{Watch::kQueued, pods});
  EXPECT_FALSE(d.queued(a.pod));
  EXPECT_TRUE(d.assumed(a.pod));
}

TEST_F(CoreTest, RelistsStandOnAGridFromTheOrigin) {
  Driver d = make("combined");
  std::vector<int64_t> asked;
  const auto wake = [&](Time now) {
    d.step(now, TimeReached{});
    if (d.effect<RelistNow>() != nullptr) asked.push_back((now - kStart).ns / 1'000'000);
  };
  EXPECT_EQ(d.core.next_wake(), at(60'000));
  wake(at(59'999));
  wake(at(60'000));
  EXPECT_EQ(d.core.next_wake(), at(120'000));
  wake(at(305'000));  // late: one re-list, and back to the grid
  EXPECT_EQ(d.core.next_wake(), at(360'000));
  wake(at(360'000));
  EXPECT_EQ(asked, (std::vector<int64_t>{60'000, 305'000, 360'000}));
  EXPECT_EQ(make("naive").core.next_wake(), Time::never());
}

// --- Sameness

TEST_F(CoreTest, TheChainTellsApartWhateverDiffers) {
  const auto run = [&](const Policy& policy, Time second, const PodFacts& first_pod, const PodFacts& second_pod) {
    Driver d = make(policy);
    d.add(at(0), n1);
    d.add(at(1), first_pod, Watch::kQueued);
    d.add(second, second_pod, Watch::kQueued);
    d.decide(at(10));
    d.answer(at(20), first_pod.pod, n1.node);
    return d.core.chain();
  };
  const Policy combined = *preset("combined");
  const uint64_t chain = run(combined, at(2), a, b);
  EXPECT_EQ(run(combined, at(2), a, b), chain);
  EXPECT_NE(run(combined, at(3), a, b), chain) << "another instant";
  EXPECT_NE(run(combined, at(2), b, a), chain) << "another order";
  EXPECT_NE(run(with("combined", {{"ttl", "31s"}}), at(2), a, b), chain) << "another deadline";
  EXPECT_NE(run(*preset("no-assume"), at(2), a, b), chain) << "another policy";
}

TEST_F(CoreTest, EqualNodesAreChosenBySeedAlone) {
  const auto choose = [&](uint64_t seed, const PodFacts& pod) {
    Driver d = make(*preset("combined"), seed);
    for (int i = 0; i < 8; ++i) d.add(at(0), world.node(numbered("m", static_cast<size_t>(i))));
    d.add(at(0), pod, Watch::kQueued);
    return d.decide(at(1));
  };
  std::vector<NodeId> chosen;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    const NodeId node = choose(seed, a);
    EXPECT_EQ(choose(seed, a), node);
    if (std::find(chosen.begin(), chosen.end(), node) == chosen.end()) chosen.push_back(node);
  }
  EXPECT_EQ(chosen.size(), 8U);
}

// Whatever was done, undone: the hash is that of an empty core.
TEST_F(CoreTest, TheHashReturnsWhenAllIsUndone) {
  for (const char* name : {"no-assume", "delete-both", "combined"}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      SplitMix random(seed);
      Driver d = make(with(name, {{"relist", "never"}, {"ttl", "never"}, {"watches", "one"}, {"binds", "4"}}));
      std::vector<PodFacts> pods;
      for (size_t i = 0; i < 8; ++i) pods.push_back(world.pod(numbered("p", i)));
      std::vector<BindPod> open;
      Time now = kStart;
      for (int step = 0; step < 200; ++step) {
        now = now + Duration::milliseconds(random.below(400));
        d.run_to(now);
        const PodFacts& pod = pods[random.below(8)];
        const NodeFacts& node = random.one_in(2) ? n1 : n2;
        switch (random.below(6)) {
          case 0:
            d.add(now, pod);
            break;
          case 1:
            d.modify(now, World::on(pod, node.node));
            break;
          case 2:
            d.remove(now, pod);
            break;
          case 3:
            d.add(now, node);
            break;
          case 4:
            d.step(now, Decide{});
            if (const BindPod* bind = d.effect<BindPod>()) open.push_back(*bind);
            break;
          case 5:
            if (open.empty()) break;
            d.answer(now, open.back().pod, open.back().node,
                     random.one_in(2) ? BindAnswered::Outcome::kBound : BindAnswered::Outcome::kRefused);
            open.pop_back();
        }
      }
      for (const BindPod& bind : open) d.answer(now, bind.pod, bind.node);
      for (const PodFacts& pod : pods) d.remove(now, pod);
      for (const NodeFacts& node : {n1, n2}) d.step(now, NodeChanged{Verb::kDeleted, node});
      EXPECT_EQ(d.core.stores_hash(), 0U);
      EXPECT_EQ(d.core.books().book(n1.node).pods + d.core.books().book(n2.node).pods, 0);
    }
  }
}

}  // namespace
}  // namespace inquest::scheduler
