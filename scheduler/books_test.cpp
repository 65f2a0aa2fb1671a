#include "scheduler/books.h"

#include <gtest/gtest.h>

#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using Kind = Misfit::Kind;

// Upstream's node of fit_test.go: 10m cpu, 20 bytes, 32 pods, 5 of example.com/a, 20 ephemeral, 5 hugepages.
Allocatable upstream_node() {
  Allocatable room;
  room.resources = {10, 20, 20, {{"example.com/a", 5}, {"hugepages-2Mi", 5}}};
  room.pods = 32;
  return room;
}

PodShape asks(int64_t cpu, int64_t memory, int64_t ephemeral = 0, std::vector<NamedAmount> extended = {}) {
  PodShape shape;
  shape.requests = {cpu, memory, ephemeral, std::move(extended)};
  return shape;
}

struct BooksTest : testing::Test {
  World world;
  NodeBooks books{world.catalog};
  NodeId n1 = world.catalog.node("n1");
  PodId holder = world.id("holder", "1"), asking = world.id("asking", "2");

  Misfit fit(const PodShape& shape) { return books.fit(world.catalog.shape(shape), n1, asking, ShapeId::none()); }
};

TEST_F(BooksTest, ResourcesFitByUpstreamsTable) {
  struct Row {
    const char* what;
    PodShape asked, used;
    Kind kind;
  };
  const Row rows[] = {
      {"G1: nothing fits a full node", asks(0, 0), asks(10, 20), Kind::kFits},
      {"G3: cpu", asks(3, 1), asks(8, 19), Kind::kCpu},
      {"G4: memory", asks(1, 3), asks(9, 19), Kind::kMemory},
      {"G5: equality fits", asks(5, 1), asks(5, 19), Kind::kFits},
      {"one more than equality", asks(5, 2), asks(5, 19), Kind::kMemory},
      {"cpu is named before memory", asks(6, 2), asks(5, 19), Kind::kCpu},
      {"G7: a resource the node does not have", asks(0, 0, 0, {{"example.com/b", 1}}), asks(0, 0), Kind::kExtended},
      {"none of a resource the node does not have", asks(0, 0, 0, {{"example.com/b", 0}}), asks(0, 0), Kind::kFits},
      {"extended, equal", asks(0, 0, 0, {{"example.com/a", 2}}), asks(0, 0, 0, {{"example.com/a", 3}}), Kind::kFits},
      {"extended, over", asks(0, 0, 0, {{"example.com/a", 3}}), asks(0, 0, 0, {{"example.com/a", 3}}), Kind::kExtended},
      {"hugepages do not count as another resource", asks(0, 0, 0, {{"hugepages-2Mi", 5}}),
       asks(0, 0, 0, {{"example.com/a", 5}}), Kind::kFits},
      {"G8: memory with overhead", asks(2, 16), asks(5, 5), Kind::kMemory},
      {"G10: ephemeral over", asks(0, 0, 25), asks(0, 0), Kind::kEphemeral},
      {"G10: ephemeral", asks(0, 0, 10), asks(0, 0), Kind::kFits},
      {"a node that is over in cpu takes who asks for none", asks(0, 1), asks(11, 0), Kind::kFits},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    NodeBooks fresh(world.catalog);
    fresh.set_node(world.node("n1", upstream_node()));
    fresh.charge(n1, world.catalog.shape(row.used), holder);
    EXPECT_EQ(fresh.fit(world.catalog.shape(row.asked), n1, asking, ShapeId::none()).kind, row.kind);
  }
}

TEST_F(BooksTest, AMisfitNamesTheResourceThatLacks) {
  books.set_node(world.node("n1", upstream_node()));
  const Misfit misfit = fit(asks(0, 0, 0, {{"example.com/a", 1}, {"hugepages-2Mi", 6}}));
  EXPECT_EQ(misfit.kind, Kind::kExtended);
  EXPECT_EQ(misfit.resource, "hugepages-2Mi");
  books.charge(n1, world.catalog.shape(asks(0, 0, 0, {{"example.com/a", 1}, {"example.com/b", 1}})), holder);
  EXPECT_EQ(books.overcommit(n1).resource, "example.com/b");
}

TEST_F(BooksTest, PodsAreCountedEvenIfTheyAskForNothing) {
  books.set_node(world.node("n1", 1000, 1000, 2));
  books.charge(n1, world.nothing(), holder);
  EXPECT_TRUE(fit(asks(0, 0)).fits());
  books.charge(n1, world.nothing(), world.id("third", "3"));
  EXPECT_EQ(fit(asks(0, 0)).kind, Kind::kPods);
}

TEST_F(BooksTest, PortsConflictByUpstreamsTable) {
  struct Row {
    const char* what;
    std::vector<HostPort> wanted, held;
    Kind kind;
    uint32_t index;
  };
  const auto tcp = Protocol::kTcp;
  const auto udp = Protocol::kUdp;
  const Row rows[] = {
      {"P1", {}, {port(8080)}, Kind::kFits, 0},
      {"P2: other protocol", {port(8080, "127.0.0.1", udp)}, {port(8080, "127.0.0.1", tcp)}, Kind::kFits, 0},
      {"P3: other address", {port(8080, "127.0.0.1")}, {port(8080, "127.0.0.2")}, Kind::kFits, 0},
      {"the same", {port(8080, "127.0.0.1")}, {port(8080, "127.0.0.1")}, Kind::kPort, 0},
      {"wildcard wanted", {port(8080)}, {port(8080, "127.0.0.1")}, Kind::kPort, 0},
      {"wildcard held", {port(8080, "127.0.0.1")}, {port(8080)}, Kind::kPort, 0},
      {"P6: the second of several", {port(80), port(8080)}, {port(8080), port(81)}, Kind::kPort, 1},
      {"P8: 80", {port(80)}, {port(80, "127.0.0.1")}, Kind::kPort, 0},
      {"P8: 81", {port(81)}, {port(80, "127.0.0.1")}, Kind::kFits, 0},
      {":: is an address as any other", {port(80, "::")}, {port(80, "10.0.0.1")}, Kind::kFits, 0},
      {"sctp is its own", {port(80, "", Protocol::kSctp)}, {port(80, "", tcp), port(80, "", udp)}, Kind::kFits, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    NodeBooks fresh(world.catalog);
    fresh.set_node(world.node("n1"));
    fresh.charge(n1, world.shape(1, 0, row.held), holder);
    const Misfit misfit = fresh.fit(world.shape(1, 0, row.wanted), n1, asking, ShapeId::none());
    EXPECT_EQ(misfit.kind, row.kind);
    if (row.kind != Kind::kPort) continue;
    ASSERT_NE(misfit.port, nullptr);
    EXPECT_EQ(*misfit.port, row.wanted[row.index]);
    EXPECT_EQ(misfit.holder, holder);
  }
}

TEST_F(BooksTest, PortsAreCheckedBeforeResources) {
  books.set_node(world.node("n1", 10, 10));
  books.charge(n1, world.shape(10, 0, {port(80)}), holder);
  EXPECT_EQ(books.fit(world.shape(10, 0, {port(80)}), n1, asking, ShapeId::none()).kind, Kind::kPort);
}

TEST_F(BooksTest, NothingFitsANodeThatIsNotKnown) {
  EXPECT_EQ(fit(asks(0, 0)).kind, Kind::kNoSuchNode);
  books.set_node(world.node("n1"));
  EXPECT_TRUE(fit(asks(0, 0)).fits());
  books.remove_node(n1);
  EXPECT_EQ(fit(asks(0, 0)).kind, Kind::kNoSuchNode);
  EXPECT_EQ(books.fit(world.nothing(), NodeId::none(), asking, ShapeId::none()).kind, Kind::kNoSuchNode);
}

TEST_F(BooksTest, ChargesStayWhileTheNodeIsAway) {
  const ShapeId half = world.shape(2000, 0, {port(80)});
  books.charge(n1, half, holder);
  books.set_node(world.node("n1", 3000));
  EXPECT_EQ(books.fit(world.shape(1001), n1, asking, ShapeId::none()).kind, Kind::kCpu);
  books.remove_node(n1);
  EXPECT_EQ(books.book(n1).pods, 1);
  books.discharge(n1, half, holder);
  books.set_node(world.node("n1", 3000));
  EXPECT_TRUE(books.fit(world.shape(3000, 0, {port(80)}), n1, asking, ShapeId::none()).fits());
}

TEST_F(BooksTest, APodDoesNotStandInItsOwnWay) {
  books.set_node(world.node("n1", 1000, 1000, 1));
  const ShapeId all = world.shape(1000, 1000, {port(80)});
  books.charge(n1, all, asking);
  EXPECT_TRUE(books.fit(all, n1, asking, all).fits());
  EXPECT_EQ(books.fit(all, n1, holder, ShapeId::none()).holder, asking);
  EXPECT_EQ(books.fit(world.nothing(), n1, holder, ShapeId::none()).kind, Kind::kPods);
  // Grown beyond the node it stands in nobody's way and does not fit.
  EXPECT_EQ(books.fit(world.shape(1001, 1000), n1, asking, all).kind, Kind::kCpu);
}

TEST_F(BooksTest, ChargingAndTakingBackIsExactWhateverAPodAsks) {
  const int64_t huge = INT64_MAX;
  const PodShape monster{{huge, huge, huge, {{"example.com/a", huge}}}, huge, huge, {port(80), port(80, "10.0.0.1")}};
  const ShapeId asked = world.catalog.shape(monster), small = world.shape(7, 11);
  books.set_node(world.node("n1", upstream_node()));
  books.charge(n1, small, holder);
  for (int i = 0; i < 5; ++i) books.charge(n1, asked, asking);
  EXPECT_TRUE(books.book(n1).cpu_milli == Int128{5} * huge + 7);
  EXPECT_TRUE(books.book(n1).extended[0].amount == Int128{5} * huge);
  EXPECT_EQ(fit(asks(1, 0)).kind, Kind::kCpu);
  EXPECT_EQ(fit(asks(huge, 0)).kind, Kind::kCpu);
  for (int i = 0; i < 5; ++i) books.discharge(n1, asked, asking);
  const NodeBook& book = books.book(n1);
  EXPECT_TRUE(book.cpu_milli == 7 && book.memory == 11 && book.ephemeral == 0);
  EXPECT_TRUE(book.nonzero_cpu_milli == 7 && book.nonzero_memory == 11);
  EXPECT_TRUE(book.extended.empty());
  EXPECT_TRUE(book.ports.empty());
  EXPECT_EQ(book.pods, 1);
}

TEST_F(BooksTest, TakingBackTakesTheHoldersOwnPort) {
  const ShapeId wants = world.shape(1, 0, {port(80)});
  books.set_node(world.node("n1"));
  books.charge(n1, wants, holder);
  books.charge(n1, wants, asking);
  books.discharge(n1, wants, holder);
  ASSERT_EQ(books.book(n1).ports.size(), 1U);
  EXPECT_EQ(books.book(n1).ports[0].holder, asking);
}

TEST_F(BooksTest, TakingBackWhatWasNeverChargedIsABug) {
  const ShapeId wants = world.shape(1, 0, {port(80)});
  EXPECT_DEATH(books.discharge(n1, wants, holder), "a charge below zero");
  books.charge(n1, wants, asking);
  EXPECT_DEATH(books.discharge(n1, wants, holder), "a port that was never charged");
}

TEST_F(BooksTest, OvercommitNamesWhatExceeds) {
  struct Row {
    const char* what;
    PodShape first, second;
    Kind kind;
  };
  PodShape with_port = asks(1, 1);
  with_port.ports = {port(80)};
  const Row rows[] = {
      {"full is not over", asks(5, 10, 10, {{"example.com/a", 5}}), asks(5, 10, 10), Kind::kFits},
      {"cpu", asks(5, 0), asks(6, 0), Kind::kCpu},
      {"memory", asks(0, 20), asks(0, 1), Kind::kMemory},
      {"ephemeral", asks(0, 0, 20), asks(0, 0, 1), Kind::kEphemeral},
      {"extended", asks(0, 0, 0, {{"example.com/a", 5}}), asks(0, 0, 0, {{"example.com/a", 1}}), Kind::kExtended},
      {"two holders of one port", with_port, with_port, Kind::kPort},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    NodeBooks fresh(world.catalog);
    fresh.charge(n1, world.catalog.shape(row.first), holder);
    fresh.charge(n1, world.catalog.shape(row.second), asking);
    EXPECT_TRUE(fresh.overcommit(n1).fits()) << "a node that nobody knows";
    fresh.set_node(world.node("n1", upstream_node()));
    EXPECT_EQ(fresh.overcommit(n1).kind, row.kind);
    fresh.discharge(n1, world.catalog.shape(row.second), asking);
    EXPECT_TRUE(fresh.overcommit(n1).fits());
  }
  books.set_node(world.node("n1", 10, 10, 1));
  books.charge(n1, world.nothing(), holder);
  books.charge(n1, world.nothing(), asking);
  EXPECT_EQ(books.overcommit(n1).kind, Kind::kPods);
}

TEST_F(BooksTest, APodWithOnePortTwiceIsNoOvercommit) {
  books.set_node(world.node("n1"));
  books.charge(n1, world.shape(1, 0, {port(80), port(80, "10.0.0.1")}), holder);
  EXPECT_TRUE(books.overcommit(n1).fits());
}

TEST_F(BooksTest, WhoChargedAPortFirstIsNamed) {
  books.set_node(world.node("n1"));
  books.charge(n1, world.shape(1, 0, {port(90), port(80)}), holder);
  books.charge(n1, world.shape(1, 0, {port(70), port(80), port(90)}), asking);
  EXPECT_EQ(books.overcommit(n1).holder, holder);
  EXPECT_EQ(books.fit(world.shape(1, 0, {port(80)}), n1, world.id("third", "3"), ShapeId::none()).holder, holder);
  books.discharge(n1, world.shape(1, 0, {port(90), port(80)}), holder);
  EXPECT_TRUE(books.overcommit(n1).fits());
  EXPECT_EQ(books.fit(world.shape(1, 0, {port(80)}), n1, world.id("third", "3"), ShapeId::none()).holder, asking);
}

TEST_F(BooksTest, OneShapeChargedTwiceIsTakenBackOnce) {
  books.set_node(world.node("n1"));
  const ShapeId wants = world.shape(1, 0, {port(80), port(81)});
  books.charge(n1, wants, holder);
  books.charge(n1, wants, holder);
  books.discharge(n1, wants, holder);
  EXPECT_EQ(books.book(n1).ports.size(), 2U);
  books.discharge(n1, wants, holder);
  EXPECT_TRUE(books.book(n1).ports.empty());
}

// Compared each with each, these would be 10^11 comparisons.
TEST_F(BooksTest, ThousandsOfPortsEndAtOnce) {
  books.set_node(world.node("n1"));
  std::vector<HostPort> ports;
  for (uint16_t number = 1; number <= 20'000; ++number) ports.push_back(port(number));
  const ShapeId wants = world.shape(1, 0, ports);
  for (size_t i = 0; i < 20; ++i) {
    books.charge(n1, wants, world.id(numbered("p", i), numbered("u", i)));
    EXPECT_EQ(books.overcommit(n1).fits(), i == 0);
    EXPECT_EQ(books.fit(wants, n1, asking, ShapeId::none()).kind, Kind::kPort);
  }
  for (size_t i = 0; i < 20; ++i) books.discharge(n1, wants, world.id(numbered("p", i), numbered("u", i)));
  EXPECT_TRUE(books.book(n1).ports.empty());
}

}  // namespace
}  // namespace inquest::scheduler
