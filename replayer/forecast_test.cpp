#include "replayer/forecast.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

// A pod's whole life and a node: @1 and @2 the lists, @3 ADDED, @4 and @5 the bind, @6 MODIFIED, @7 DELETED, @8 the
// other pod's ADDED, which somebody else binds at @9, @10 a bookmark.
std::unique_ptr<Recording> recorded() {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts bound = trace.place(100, "a", "n1");
  trace.frame(200, Verb::kDeleted, bound);
  const PodFacts b = trace.pod("b");
  trace.frame(300, Verb::kAdded, b);
  trace.request(310, b, "n1", "other");
  trace.mark(400, trace::RecordKind::kBookmark, 900);
  return trace.load();
}

Forecast forecast_of(const Recording& recording, FaultKind kind, std::string_view words) {
  Plan plan;
  plan.faults = {*parse_fault(kind, words)};
  return forecast(recording, plan, **followed_scheduler(recording, "")).at(0);
}

TEST(Forecast, CountsWhatEachFaultHits) {
  const auto recording = recorded();
  struct Row {
    FaultKind kind;
    const char* words;
    std::vector<trace::Seq> hits;
  };
  const Row rows[] = {
      {FaultKind::kDrop, "pods nth=all", {3, 6, 7, 8}},
      {FaultKind::kDelay, "pods spec.nodeName=n1 by=1s", {6}},
      {FaultKind::kTombstone, "name=a", {7}},
      {FaultKind::kSwap, "@8", {8}},
      {FaultKind::kBind, "lost nth=all", {4}},
      {FaultKind::kBind, "lost @4", {4}},
      {FaultKind::kRestart, "@4", {4}},
      {FaultKind::kRestart, "+50ms", {0}},
      {FaultKind::kDisconnect, "DELETED", {7}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.words);
    const Forecast found = forecast_of(*recording, row.kind, row.words);
    std::vector<trace::Seq> hits;
    for (const FaultHit& hit : found.hits) hits.push_back(hit.seq);
    EXPECT_EQ(hits, row.hits);
    EXPECT_EQ(found.count, row.hits.size());
    EXPECT_EQ(found.never, "");
  }
}

TEST(Forecast, SaysWhyAFaultNeverFires) {
  const auto recording = recorded();
  const std::tuple<FaultKind, const char*, const char*> rows[] = {
      {FaultKind::kDrop, "nodes", "the trace holds no change of a node"},
      {FaultKind::kDrop, "pods name=nobody", "no pod here has a name such as 'nobody'"},
      {FaultKind::kDrop, "name=no*", "no pod or node here has a name such as 'no*'"},
      {FaultKind::kDrop, "name=a namespace=mall", "no pod or node here is in a namespace such as 'mall'"},
      {FaultKind::kDrop, "uid=7a3e", "no pod or node here has the uid '7a3e'"},
      {FaultKind::kDrop, "pods spec.nodeName=n2", "no change makes that field 'n2'"},
      {FaultKind::kDrop, "@99", "@99 is beyond the end: the last record that a run makes something of is @10"},
      {FaultKind::kDrop, "@4", "@4 is no change of a pod or node on the scheduler's watch"},
      {FaultKind::kDrop, "at=+1m", "nothing of the kind happens then or later: the trace ends at +400ms"},
      {FaultKind::kDrop, "DELETED nth=2", "the rest of it is met 1 time, and nth asks for 2"},
      {FaultKind::kDrop, "DELETED name=b", "each of its conditions is met, but never all at once"},
      {FaultKind::kBind, "lost name=b", "no bind here has a name such as 'b'"},
      {FaultKind::kBind, "lost node=n2", "no bind goes to a node such as 'n2'"},
      {FaultKind::kBind, "lost nth=2", "the rest of it is met 1 time, and nth asks for 2"},
      {FaultKind::kBind, "lost @9", "@9 is no bind that the followed scheduler sent"},
      {FaultKind::kRestart, "@99", "@99 is beyond the end: the last record that a run makes something of is @10"},
  };
  for (const auto& [kind, words, never] : rows) {
    const Forecast found = forecast_of(*recording, kind, words);
    EXPECT_EQ(found.never, never) << words;
    EXPECT_EQ(found.count, 0U) << words;
  }
}

TEST(Forecast, OfListsAndBookmarksOnlyARunKnows) {
  const auto recording = recorded();
  for (const auto& [kind, words] : {std::pair(FaultKind::kList, "empty"), std::pair(FaultKind::kBookmarks, "all")}) {
    const Forecast found = forecast_of(*recording, kind, words);
    EXPECT_FALSE(found.known);
    EXPECT_EQ(found.never, "");
  }
}

TEST(Forecast, ATraceWithoutBindsSaysSo) {
  TestTrace trace;
  trace.pods_listed(0, {trace.pod("a")});
  const auto recording = trace.load();
  EXPECT_EQ(forecast_of(*recording, FaultKind::kBind, "lost").never, "the followed scheduler sent no bind");
}

TEST(Forecast, ManyFaultsInVainEndSoon) {
  const auto recording = recorded();
  Plan plan;
  for (size_t i = 0; i < kMaxFaults; ++i) plan.faults.push_back(drop("name=nobody*"));
  const auto found = forecast(*recording, plan, **followed_scheduler(*recording, ""));
  EXPECT_EQ(found.front().never, "no pod or node here has a name such as 'nobody*'");
  EXPECT_EQ(found.back().never, "nothing meets its conditions");
}

TEST(Forecast, OneWatchHasNoWatchOfQueuedPods) {
  const Fault queued = drop("pods watch=queued");
  scheduler::Policy policy;
  policy.watches = scheduler::Watches::kTwo;
  EXPECT_EQ(cannot_apply(queued, policy), "");
  policy.watches = scheduler::Watches::kOne;
  EXPECT_EQ(cannot_apply(queued, policy),
            "it names the watch of queued pods, and this policy has one watch for all (--watches two)");
  EXPECT_EQ(cannot_apply(drop("pods"), policy), "");
}

}  // namespace
}  // namespace inquest::replayer
