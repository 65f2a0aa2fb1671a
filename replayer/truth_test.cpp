#include "replayer/truth.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Kind = Truth::PodChange::Kind;

struct TruthTest : testing::Test {
  TestTrace trace;  // for its catalog
  Truth truth{trace.catalog()};
  NodeId n1 = trace.catalog().node("n1"), n2 = trace.catalog().node("n2");

  PodFacts a(ResourceVersion rv, std::string_view node = "") {
    PodFacts out = trace.pod("a");
    if (!node.empty()) out = trace.on(out, node);
    out.rv = rv;
    return out;
  }
  PodId id() { return trace.pod("a").pod; }
  int64_t pods_on(NodeId node) const { return truth.books().book(node).pods; }
};

TEST_F(TruthTest, AVersionIsTrueFromItsFirstArrival) {
  EXPECT_FALSE(truth.exists(id()));
  const auto added = truth.apply(Verb::kAdded, a(1));
  EXPECT_EQ(added.kind, Kind::kApplied);
  EXPECT_FALSE(added.existed);
  EXPECT_TRUE(truth.holds(id()));
  const auto bound = truth.apply(Verb::kModified, a(2, "n1"));
  EXPECT_EQ(bound.kind, Kind::kApplied);
  EXPECT_TRUE(bound.existed);
  EXPECT_EQ(bound.before.rv, 1U);
  EXPECT_EQ(truth.node_of(id()), n1);
  EXPECT_EQ(pods_on(n1), 1);
  // The same version on another stream is no news.
  EXPECT_EQ(truth.apply(Verb::kModified, a(2, "n1")).kind, Kind::kStale);
  EXPECT_EQ(truth.apply(Verb::kAdded, a(2, "n1")).kind, Kind::kStale);
  EXPECT_EQ(pods_on(n1), 1);
}

TEST_F(TruthTest, AnOlderVersionIsTimeTravelAndChangesNothing) {
  truth.apply(Verb::kAdded, a(5, "n1"));
  EXPECT_EQ(truth.apply(Verb::kModified, a(3)).kind, Kind::kTimeTravel);
  EXPECT_EQ(truth.node_of(id()), n1);
  EXPECT_EQ(truth.facts(id()).rv, 5U);
}

TEST_F(TruthTest, ADeletedPodStaysDeleted) {
  truth.apply(Verb::kAdded, a(5, "n1"));
  EXPECT_EQ(truth.apply(Verb::kDeleted, a(7, "n1")).kind, Kind::kApplied);
  EXPECT_FALSE(truth.exists(id()));
  EXPECT_EQ(pods_on(n1), 0);
  EXPECT_EQ(truth.apply(Verb::kDeleted, a(7, "n1")).kind, Kind::kStale);
  EXPECT_EQ(truth.apply(Verb::kModified, a(6, "n1"), Truth::By::kOther).kind, Kind::kStale) << "it comes later there";
  EXPECT_EQ(truth.apply(Verb::kModified, a(6, "n1")).kind, Kind::kTimeTravel) << "the stream goes back";
  EXPECT_EQ(truth.apply(Verb::kAdded, a(9)).kind, Kind::kTimeTravel) << "a uid never comes back";
  EXPECT_FALSE(truth.exists(id()));
}

TEST_F(TruthTest, ADeletedForAPodNeverSeenIsKept) {
  EXPECT_EQ(truth.apply(Verb::kDeleted, a(7, "n1")).kind, Kind::kApplied);
  EXPECT_FALSE(truth.exists(id()));
  EXPECT_EQ(truth.apply(Verb::kAdded, a(6), Truth::By::kOther).kind, Kind::kStale);
  EXPECT_EQ(pods_on(n1), 0);
}

TEST_F(TruthTest, VersionsWithoutANumberAreTakenAsTheyCome) {
  truth.apply(Verb::kAdded, a(0));
  EXPECT_EQ(truth.apply(Verb::kModified, a(0, "n1")).kind, Kind::kApplied);
  EXPECT_EQ(truth.node_of(id()), n1);
}

TEST_F(TruthTest, TerminalPodsAreNotHeldAndTakeNoRoom) {
  truth.apply(Verb::kAdded, a(1, "n1"));
  PodFacts done = a(2, "n1");
  done.phase = PodPhase::kFailed;
  truth.apply(Verb::kModified, done);
  EXPECT_TRUE(truth.exists(id()));
  EXPECT_FALSE(truth.holds(id()));
  EXPECT_FALSE(truth.node_of(id()));
  EXPECT_EQ(pods_on(n1), 0);
}

TEST_F(TruthTest, AnAcceptedBindIsTrueBeforeItsFrame) {
  truth.apply(Verb::kAdded, a(1));
  EXPECT_TRUE(truth.accept_bind(id(), n1));
  EXPECT_EQ(truth.node_of(id()), n1);
  EXPECT_EQ(pods_on(n1), 1);
  ASSERT_EQ(truth.pods().size(), 1U);
  EXPECT_EQ(truth.pods()[0].node, n1) << "a list shows it";
  EXPECT_FALSE(truth.facts(id()).node) << "a watch has not yet";
  truth.apply(Verb::kModified, a(2, "n1"));
  EXPECT_EQ(pods_on(n1), 1) << "once";
  EXPECT_FALSE(truth.accept_bind(id(), n2)) << "a second 201 for one uid";
  EXPECT_EQ(truth.node_of(id()), n1);
}

TEST_F(TruthTest, ABindAcceptedBeforeThePodsFirstFrameCounts) {
  EXPECT_TRUE(truth.accept_bind(id(), n1));
  EXPECT_FALSE(truth.node_of(id()));
  truth.apply(Verb::kAdded, a(1));
  EXPECT_EQ(truth.node_of(id()), n1);
  EXPECT_EQ(pods_on(n1), 1);
  truth.apply(Verb::kDeleted, a(3));
  EXPECT_EQ(pods_on(n1), 0);
}

TEST_F(TruthTest, AnOlderFrameDoesNotUndoAnAcceptedBind) {
  truth.apply(Verb::kAdded, a(1));
  truth.accept_bind(id(), n1);
  truth.apply(Verb::kModified, a(2));  // a status written before the bind
  EXPECT_EQ(truth.node_of(id()), n1);
}

TEST_F(TruthTest, AListReplaces) {
  PodFacts b = trace.pod("b");
  b.rv = 2;
  truth.apply(Verb::kAdded, a(1, "n1"));
  truth.apply(Verb::kAdded, b);
  PodFacts newer = b;
  newer.rv = 4;
  newer.node = n2;
  PodFacts c = trace.pod("c");
  c.rv = 3;
  const std::vector<PodFacts> listed = {newer, c};
  EXPECT_TRUE(truth.replace(listed).empty());
  EXPECT_FALSE(truth.exists(id()));
  EXPECT_EQ(pods_on(n1), 0);
  EXPECT_EQ(truth.node_of(b.pod), n2);
  EXPECT_TRUE(truth.holds(c.pod));
  EXPECT_EQ(truth.pods().size(), 2U);
}

TEST_F(TruthTest, AListThatGoesBackInTimeIsReportedAndChangesNothing) {
  PodFacts b = trace.pod("b");
  b.rv = 2;
  truth.apply(Verb::kAdded, a(1, "n1"));
  truth.apply(Verb::kAdded, b);
  truth.replace(std::vector<PodFacts>{a(5, "n1")});  // b is gone
  const std::vector<PodFacts> older = {a(3), b};
  const std::vector<PodFacts> travelled = truth.replace(older);
  ASSERT_EQ(travelled.size(), 2U);
  EXPECT_EQ(travelled[0].pod, id());
  EXPECT_EQ(travelled[1].pod, b.pod);
  EXPECT_EQ(truth.node_of(id()), n1);
  EXPECT_FALSE(truth.exists(b.pod)) << "a uid never comes back";
  EXPECT_TRUE(truth.replace(std::vector<PodFacts>{a(5, "n1")}).empty()) << "the same version is no news";
}

TEST_F(TruthTest, AListReplacesNodesAndLeavesTheirCharges) {
  truth.apply(Verb::kAdded, trace.node("n1"));
  truth.apply(Verb::kAdded, a(1, "n1"));
  const std::vector<NodeFacts> listed = {trace.node("n2")};
  truth.replace(listed);
  EXPECT_FALSE(truth.has_node(n1));
  EXPECT_TRUE(truth.has_node(n2));
  EXPECT_EQ(truth.nodes().size(), 1U);
  EXPECT_EQ(pods_on(n1), 1);
}

TEST_F(TruthTest, SaysWhatWasTouched) {
  truth.apply(Verb::kAdded, trace.node("n1"));
  EXPECT_EQ(std::vector<NodeId>(truth.touched_nodes().begin(), truth.touched_nodes().end()), std::vector{n1});
  truth.clear_touched();
  truth.apply(Verb::kAdded, a(1, "n1"));
  EXPECT_EQ(std::vector<PodId>(truth.touched_pods().begin(), truth.touched_pods().end()), std::vector{id()});
  EXPECT_EQ(truth.touched_nodes().size(), 1U);
  truth.clear_touched();
  truth.apply(Verb::kModified, a(1, "n1"));
  EXPECT_TRUE(truth.touched_pods().empty()) << "no news";
}

}  // namespace
}  // namespace inquest::replayer
