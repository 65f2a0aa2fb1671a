#include "replayer/faults.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

// Changes of pods and nodes, one record each, against one fault.
struct FaultsTest : testing::Test {
  TestTrace trace;  // for its catalog
  PodFacts a = trace.pod("a"), b = trace.pod("b");
  trace::Seq seq = 0;

  static Change change(trace::Seq seq, int64_t ms, Verb verb, const PodFacts& pod, const PodFacts* before = nullptr) {
    return {seq, at(ms), verb, &pod, before, nullptr, nullptr};
  }
  static Change change(trace::Seq seq, int64_t ms, Verb verb, const NodeFacts& node,
                       const NodeFacts* before = nullptr) {
    return {seq, at(ms), verb, nullptr, nullptr, &node, before};
  }
  // Which of the changes the fault hits, as positions.
  std::vector<size_t> hit(const Fault& fault, const std::vector<Change>& changes) {
    Plan plan;
    plan.faults = {fault};
    FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
    std::vector<size_t> out;
    for (size_t i = 0; i < changes.size(); ++i) {
      if (!matcher.hits(changes[i]).empty()) out.push_back(i);
    }
    EXPECT_EQ(matcher.reports()[0].fired, out.size());
    return out;
  }
  using Hits = std::vector<size_t>;
};

TEST_F(FaultsTest, EachConditionAlone) {
  const NodeFacts node = trace.node("n1");
  const PodFacts bound = trace.on(a, "n1");
  const std::vector<Change> changes = {change(1, 0, Verb::kAdded, a), change(2, 10, Verb::kModified, bound, &a),
                                       change(3, 20, Verb::kAdded, b), change(4, 30, Verb::kAdded, node),
                                       change(5, 40, Verb::kDeleted, bound, &bound)};
  struct Row {
    const char* text;
    Hits hits;
  };
  const Row rows[] = {
      {"pods nth=all", {0, 1, 2, 4}},
      {"nodes nth=all", {3}},
      {"ADDED nth=all", {0, 2, 3}},
      {"DELETED", {4}},
      {"name=a nth=all", {0, 1, 4}},
      {"name=? nth=all", {0, 1, 2, 4}},
      {"name=n* nth=all", {3}},
      {"namespace=shop nth=all", {0, 1, 2, 4}},
      {"namespace=other nth=all", {}},
      {"uid=uid-b nth=all", {2}},
      {"uid=uid-n1 nth=all", {3}},
      {"uid=uid-* nth=all", {}},  // a uid is no glob
      {"@3", {2}},
      {"@9", {}},
      {"at=+20ms nth=all", {2, 3, 4}},
      {"at=+20ms", {2}},
      {"at=+41ms", {}},
      {"pods ADDED name=b", {2}},
      {"pods MODIFIED name=b", {}},
      {"spec.nodeName=n1 nth=all", {1}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(hit(drop(row.text), changes), row.hits);
  }
}

TEST_F(FaultsTest, NthCountsMatchesOnly) {
  std::vector<Change> changes;
  for (trace::Seq i = 0; i < 6; ++i) changes.push_back(change(i + 1, 0, Verb::kModified, i % 2 == 0 ? a : b));
  EXPECT_EQ(hit(drop("name=b"), changes), (Hits{1}));
  EXPECT_EQ(hit(drop("name=b nth=2"), changes), (Hits{3}));
  EXPECT_EQ(hit(drop("name=b nth=3"), changes), (Hits{5}));
  EXPECT_EQ(hit(drop("name=b nth=4"), changes), (Hits{}));
  EXPECT_EQ(hit(drop("name=b nth=all"), changes), (Hits{1, 3, 5}));
}

TEST_F(FaultsTest, AllOfUidTakesEveryLaterChangeOfTheObject) {
  const PodFacts again = trace.pod("a", "another-uid");
  const std::vector<Change> changes = {change(1, 0, Verb::kAdded, a), change(2, 1, Verb::kModified, a, &a),
                                       change(3, 2, Verb::kModified, b), change(4, 3, Verb::kDeleted, a, &a),
                                       change(5, 4, Verb::kAdded, again)};
  EXPECT_EQ(hit(drop("MODIFIED name=a all-of=uid"), changes), (Hits{1, 3}));
  EXPECT_EQ(hit(drop("MODIFIED nth=all all-of=uid"), changes), (Hits{1, 2, 3}));
  EXPECT_EQ(hit(drop("MODIFIED name=a"), changes), (Hits{1}));
}

TEST_F(FaultsTest, AllOfUidFollowsNodesToo) {
  const NodeFacts node = trace.node("n1"), other = trace.node("n2");
  NodeFacts again = node;
  again.uid = trace.catalog().string("another-uid");
  const std::vector<Change> changes = {change(1, 0, Verb::kAdded, node), change(2, 1, Verb::kModified, node, &node),
                                       change(3, 2, Verb::kModified, other), change(4, 3, Verb::kDeleted, node, &node),
                                       change(5, 4, Verb::kAdded, again)};
  EXPECT_EQ(hit(drop("nodes MODIFIED name=n1 all-of=uid"), changes), (Hits{1, 3}));
}

TEST_F(FaultsTest, AFieldBecomesAValueAtTheChangeThatMakesItSo) {
  const PodFacts bound = trace.on(a, "n1"), moved = trace.on(a, "n2");
  PodFacts running = bound, deleting = bound;
  running.phase = PodPhase::kRunning;
  deleting.phase = PodPhase::kRunning;
  deleting.deletion = at(9);
  NodeFacts node = trace.node("n1"), cordoned = node;
  cordoned.unschedulable = true;
  const std::vector<Change> changes = {
      change(1, 0, Verb::kAdded, a),
      change(2, 1, Verb::kModified, bound, &a),
      change(3, 2, Verb::kModified, running, &bound),
      change(4, 3, Verb::kModified, deleting, &running),
      change(5, 4, Verb::kModified, moved, &deleting),
      change(6, 5, Verb::kModified, a, &moved),
      change(7, 6, Verb::kModified, cordoned, &node),
      change(8, 7, Verb::kModified, node, &cordoned),
      change(9, 8, Verb::kAdded, moved),
  };
  struct Row {
    const char* text;
    Hits hits;
  };
  const Row rows[] = {
      {"spec.nodeName=n1", {1}},        {"spec.nodeName=n*", {1, 4, 8}},     {"spec.nodeName=", {5}},
      {"status.phase=Running", {2}},    {"status.phase=Pending", {0, 4, 8}}, {"metadata.deletionTimestamp=set", {3}},
      {"spec.unschedulable=true", {6}}, {"spec.unschedulable=false", {7}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(hit(drop(std::string(row.text).append(" nth=all")), changes), row.hits);
  }
}

TEST_F(FaultsTest, EveryFaultCountsForItselfAndReportsItsHits) {
  Plan plan;
  plan.faults = {drop("name=a nth=all"), drop("DELETED"), drop("name=nobody")};
  FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
  PodFacts last = a;
  last.rv = 77;
  matcher.hits(change(1, 0, Verb::kAdded, a));
  const auto hits = matcher.hits(change(2, 5, Verb::kDeleted, last, &a));
  EXPECT_EQ(std::vector<size_t>(hits.begin(), hits.end()), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(matcher.reports()[0].fired, 2U);
  EXPECT_EQ(matcher.reports()[2].fired, 0U);
  ASSERT_EQ(matcher.reports()[1].hits.size(), 1U);
  const FaultHit& report = matcher.reports()[1].hits[0];
  EXPECT_EQ(report.fault, 1U);
  EXPECT_EQ(report.seq, 2U);
  EXPECT_EQ(report.at, at(5));
  EXPECT_EQ(report.verb, Verb::kDeleted);
  EXPECT_EQ(report.rv, 77U);
  EXPECT_EQ(report.pod, a.pod);
}

// --- What is no change

TEST_F(FaultsTest, BindsByEachCondition) {
  const NodeId n1 = trace.catalog().node("n1"), n2 = trace.catalog().node("n2");
  const std::vector<BindSent> binds = {
      {1, at(0), a.pod, n1}, {2, at(10), b.pod, n2}, {3, at(20), a.pod, n2}, {4, at(30), b.pod, n1}};
  struct Row {
    const char* text;
    Hits hits;
  };
  const Row rows[] = {
      {"lost", {0}},
      {"lost nth=all", {0, 1, 2, 3}},
      {"lost nth=3", {2}},
      {"lost name=b", {1}},
      {"lost name=b nth=2", {3}},
      {"lost name=? nth=all", {0, 1, 2, 3}},
      {"lost namespace=shop nth=all", {0, 1, 2, 3}},
      {"lost namespace=other nth=all", {}},
      {"lost uid=uid-b nth=all", {1, 3}},
      {"lost node=n2 nth=all", {1, 2}},
      {"lost @3", {2}},
      {"lost at=+11ms", {2}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    Plan plan;
    plan.faults = {*parse_fault(FaultKind::kBind, row.text), drop("pods nth=all")};
    FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
    Hits hits;
    for (size_t i = 0; i < binds.size(); ++i) {
      if (!matcher.hits(binds[i]).empty()) hits.push_back(i);
    }
    EXPECT_EQ(hits, row.hits);
    EXPECT_EQ(matcher.reports()[0].fired, hits.size());
    EXPECT_EQ(matcher.reports()[1].fired, 0U) << "a bind is no change";
    for (size_t i = 0; i < hits.size(); ++i) EXPECT_EQ(matcher.reports()[0].hits[i].node, binds[hits[i]].node);
  }
}

TEST_F(FaultsTest, ListsAndBookmarksByResourceWatchTimeAndCount) {
  struct Row {
    const char* text;
    Hits hits;
  };
  const Row rows[] = {
      {"", {0}},
      {"nth=3", {2}},
      {"nth=all", {0, 1, 2, 3}},
      {"pods nth=all", {0, 1, 3}},
      {"nodes", {2}},
      {"pods nth=3", {3}},
      {"watch=queued nth=all", {1, 3}},
      {"watch=scheduled nth=all", {}},
      {"at=+15ms", {2}},
      {"at=+15ms nth=2", {3}},
      {"at=+1s", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    Plan plan;
    plan.faults = {*parse_fault(FaultKind::kList, std::string(row.text).append(" empty")),
                   *parse_fault(FaultKind::kBookmarks, row.text)};
    FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
    Hits lists, bookmarks;
    const auto ask = [&](size_t i, Resource resource, OnWatch watch) {
      const Time when = at(static_cast<int64_t>(i) * 10);
      if (!matcher.hits(ListAsked{i, when, resource, watch}).empty()) lists.push_back(i);
      if (!matcher.hits(BookmarkSent{i, when, resource, watch}).empty()) bookmarks.push_back(i);
    };
    ask(0, Resource::kPods, OnWatch::kEvery);
    ask(1, Resource::kPods, OnWatch::kQueued);
    ask(2, Resource::kNodes, OnWatch::kEvery);
    ask(3, Resource::kPods, OnWatch::kQueued);
    EXPECT_EQ(lists, row.hits);
    EXPECT_EQ(bookmarks, row.hits);
  }
}

TEST_F(FaultsTest, InstantsStandInOrderAndNameTheirRecord) {
  Plan plan;
  plan.faults = {*parse_fault(FaultKind::kRestart, "+30ms"),
                 *parse_fault(FaultKind::kRestart, "@6"),
                 *parse_fault(FaultKind::kClock, "at=+5ms step=1s"),
                 drop("pods"),
                 *parse_fault(FaultKind::kDisconnect, "pods DELETED"),
                 *parse_fault(FaultKind::kDisconnect, "@99"),
                 *parse_fault(FaultKind::kRestart, "at=2023-11-14T22:13:20.001Z")};
  const std::vector<Event> events = {{at(10), 4, 0, EventKind::kPod}, {at(20), 7, 0, EventKind::kPod}};
  const std::vector<Instant> found = instants(plan, kTraceStart, events);
  const std::vector<Instant> wanted = {{at(1), 0, 6}, {at(5), 0, 2}, {at(20), 7, 1}, {at(30), 0, 0}};
  EXPECT_EQ(found, wanted) << "@6 is nothing to a run, so it is @7; @99 is beyond the end";
  FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
  matcher.fired(found[2], 7);
  EXPECT_EQ(matcher.reports()[1].fired, 1U);
  EXPECT_EQ(matcher.reports()[1].hits[0].seq, 7U);
  EXPECT_EQ(matcher.reports()[1].hits[0].at, at(20));
}

TEST_F(FaultsTest, ACopyGoesItsOwnWay) {
  Plan plan;
  plan.faults = {drop("name=a nth=2"), drop("MODIFIED name=b all-of=uid")};
  FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
  matcher.hits(change(1, 0, Verb::kModified, a, &a));
  matcher.hits(change(2, 0, Verb::kModified, b, &b));
  FaultMatcher copy = matcher;
  for (FaultMatcher* each : {&matcher, &copy}) {
    EXPECT_EQ(each->hits(change(3, 0, Verb::kDeleted, b, &b)).size(), 1U);
    EXPECT_EQ(each->hits(change(4, 0, Verb::kModified, a, &a)).size(), 1U);
    EXPECT_EQ(each->reports()[0].fired, 1U);
  }
}

// A plan of a fault for each record, and of names, is looked up; hits still come in the order of the plan.
TEST_F(FaultsTest, LongPlansAreLookedUp) {
  Plan plan;
  for (size_t i = 0; i < kMaxFaults; ++i) {
    plan.faults.push_back(drop(std::string(i % 2 == 0 ? "@" : "nth=all name=other-").append(std::to_string(i + 1))));
  }
  plan.faults[5] = drop("name=a nth=all");
  plan.faults[7] = drop("@3");
  FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
  const auto hits = matcher.hits(change(3, 0, Verb::kModified, a, &a));
  EXPECT_EQ(Hits(hits.begin(), hits.end()), (Hits{2, 5, 7}));
  size_t count = 0;
  for (trace::Seq i = 4; i <= 200'000; ++i) count += matcher.hits(change(i, 0, Verb::kModified, a, &a)).size();
  EXPECT_EQ(count, 199'997U + (kMaxFaults - 4) / 2);
}

TEST_F(FaultsTest, ReportsKeepABoundedNumberOfHits) {
  Plan plan;
  plan.faults = {drop("pods nth=all")};
  FaultMatcher matcher(plan, trace.catalog(), kTraceStart);
  for (size_t i = 0; i < kKeptHits + 5; ++i) matcher.hits(change(i + 1, 0, Verb::kModified, a, &a));
  EXPECT_EQ(matcher.reports()[0].fired, kKeptHits + 5);
  EXPECT_EQ(matcher.reports()[0].hits.size(), kKeptHits);
}

}  // namespace
}  // namespace inquest::replayer
