// The claims of kubernetes#6023 and the incidents that followed it, as traces/scenarios tells them, to the nanosecond
// of the virtual clock: by hand what is claimed, and in traces/scenarios/findings.txt all that every preset finds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_folder.h"
#include "replayer/scenarios_for_tests.h"

namespace inquest::replayer {
namespace {

const std::string kTable = kScenarioFolder + "/findings.txt";

Outcome run(const Told& told, const scheduler::Policy& policy) {
  auto outcome = replay(*told.recording, run_config(told.scenario, policy));
  INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
  return *std::move(outcome);
}

// Recorded binds that the view's books would have refused.
size_t refused(const Outcome& outcome) {
  size_t count = outcome.refused_within_lag;
  for (const Finding& finding : outcome.findings) count += finding.would_refuse.size();
  return count;
}

struct Row {
  std::string claim, scenario, policy;
  size_t refused = 0;                 // pod2's bind, where the view holds the room of pod1
  std::vector<std::string> findings;  // those that follow from no other
};

const std::vector<Row>& rows() {  // NOLINT(readability-function-size): a table
  static const std::vector<Row> kRows = {
      {"without an assumed store the second pod goes where the first just went",
       "confirmation-on-its-way",
       "no-assume",
       0,
       {"overcommit in truth on n1 from 130000000 to never by never"}},
      {"the assumed store would have kept it away",
       "confirmation-on-its-way",
       "naive",
       1,
       {"overcommit in view on n1 from 130000000 to never by never",
        "overcommit in truth on n1 from 130000000 to never by never"}},

      {"a scheduler that decides for itself does so without an assumed store",
       "two-pods-one-port",
       "no-assume",
       0,
       {"overcommit in truth on n1 from 1115000000 to never by never"}},
      {"and does not with the simplest of them", "two-pods-one-port", "naive", 0, {}},
      {"nor in the proposal", "two-pods-one-port", "combined", 0, {}},
      {"with late confirmation it places more than there is room for",
       "tight",
       "no-assume",
       0,
       {"overcommit in truth on n2 from 725000000 to never by never",
        "overcommit in truth on n1 from 945000000 to never by never"}},
      {"the proposal fills the room and no more", "tight", "combined", 0, {}},

      {"deleted before the next decision: it stays assumed for ever and blocks pod2",
       "deleted-before-next-decision",
       "naive",
       1,
       {"zombie-assumed pod1 on n1 from 300000000 to never by never"}},
      {"a decision in between purges it", "decision-in-between", "naive", 0, {}},
      {"a delete that goes to both stores needs no decision", "deleted-before-next-decision", "delete-both", 0, {}},
      {"nor does the proposal", "deleted-before-next-decision", "combined", 0, {}},
      {"a TTL alone makes pod2 wait up to 30 s",
       "deleted-before-next-decision",
       "ttl-only",
       1,
       {"zombie-assumed pod1 on n1 from 300000000 to 30110000000 by ttl"}},

      {"the delete comes before the assumption is written: a zombie for ever",
       "deleted-before-assumed",
       "delete-both",
       1,
       {"zombie-assumed pod1 on n1 from 250000000 to never by never"}},
      {"in the proposal for exactly the TTL",
       "deleted-before-assumed",
       "combined",
       1,
       {"zombie-assumed pod1 on n1 from 250000000 to 30250000000 by ttl"}},
      {"without an assumed store there is nothing to be left behind", "deleted-before-assumed", "no-assume", 0, {}},
      {"solution 2, the delete waits until the assumption exists", "deleted-before-assumed", "locked-delete", 0, {}},

      {"a dropped delete leaves it in the scheduled store for ever",
       "delete-lost",
       "delete-both",
       1,
       {"zombie-scheduled pod1 on n1 from 300000000 to never by never"}},
      {"which solution 2 never corrects",
       "delete-lost",
       "locked-delete",
       1,
       {"zombie-scheduled pod1 on n1 from 300000000 to never by never"}},
      {"the same without an assumed store",
       "delete-lost",
       "no-assume",
       1,
       {"zombie-scheduled pod1 on n1 from 300000000 to never by never"}},
      {"in the proposal until the next re-list",
       "delete-lost",
       "combined",
       1,
       {"zombie-scheduled pod1 on n1 from 300000000 to 60000000000 by relist"}},

      {"a confirmation later than the TTL loses the assumption",
       "late-confirmation",
       "ttl-only",
       0,
       {"missing-scheduled pod1 on n1 from 30110000000 to 40150000000 by event"}},
      {"one that never expires outlives it", "late-confirmation", "delete-both", 0, {}},

      {"after a partition scheduled recovers by the re-list, assumed by its TTL",
       "after-partition",
       "combined",
       1,
       {"zombie-scheduled pod1 on n1 from 2000000000 to 60000000000 by relist",
        "zombie-assumed pod2 on n1 from 2100000000 to 31110000000 by ttl"}},

      {"a list that corrects assumed wipes the pod that was bound after it was asked for",
       "relist-wipes-assumed",
       "relist-corrects-assumed",
       0,
       {"missing-scheduled pod1 on n1 from 60050000000 to 65030000000 by event"}},
      {"one that leaves assumed alone does not", "relist-wipes-assumed", "combined", 0, {}},

      {"A08: expired at the TTL, missing until the confirmation comes, and gone with its delete",
       "ttl-late-add",
       "combined",
       0,
       {"missing-scheduled pod-a on node-1 from 32000000000 to 40000000000 by event"}},
      {"A28: a TTL that counts from the assumption runs out while the bind is open",
       "ttl-slow-bind",
       "combined assume=before",
       0,
       {"early-expire pod-a on node-1 from 30100000000 to 30100000000 by truth"}},
      {"A28: one that counts from the answer does not",
       "ttl-slow-bind",
       "combined assume=before ttl-from=answer expire-while-bind-open=no",
       0,
       {}},
      {"A28: without a TTL an assumption whose pod died unseen stays for ever",
       "no-ttl-zombie",
       "combined ttl=never",
       0,
       {"zombie-assumed pod-a on node-1 from 5000000000 to never by never"}},
      {"A28: with one it ends",
       "no-ttl-zombie",
       "combined",
       0,
       {"zombie-assumed pod-a on node-1 from 5000000000 to 30110000000 by ttl"}},
      {"A28: nor does the first scheduler cache", "ttl-slow-bind", "upstream-2016", 0, {}},
      {"A25: a tombstone without a node leaves the assumption of a core with two watches",
       "tombstone-empty-node",
       "delete-both",
       0,
       {"zombie-assumed pod-a on node-1 from 1000000000 to never by never"}},
      {"A25: tried on all stores, it leaves nothing", "tombstone-empty-node", "upstream-now", 0, {}},
      {"A20: a delete and a create that arrive as one update",
       "collapse-same-node",
       "upstream-2016",
       0,
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-scheduled pod-a on node-1 from 2000000000 to never by never"}},
      {"A21: the same onto another node",
       "collapse-other-node",
       "upstream-2016",
       0,
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-scheduled pod-a on node-2 from 2000000000 to never by never"}},
      {"A21: the same into the queue",
       "collapse-unbound",
       "upstream-2016",
       0,
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-queued pod-a from 2000000000 to never by never"}},
      {"A20, A21: a new uid is a delete and an add", "collapse-same-node", "upstream-now", 0, {}},
      {"A21: onto another node too", "collapse-other-node", "upstream-now", 0, {}},
      {"A21: into the queue too", "collapse-unbound", "upstream-now", 0, {}},
      {"A22: a pod whose end was lost outlives its node's replacement",
       "node-flap-delete-lost",
       "combined",
       0,
       {"zombie-scheduled pod-a on node-1 from 1000000000 to 60000000000 by relist"}},
      {"A22: pods that live on are kept through it", "node-flap-alive", "combined", 0, {}},
      {"A22: and so are assumed ones", "node-flap-assumed", "combined", 0, {}},
      {"A38: what comes once more changes nothing", "rv-back", "combined", 0, {}},
      {"C01: a creation that comes after its own end waits in the queue",
       "queue-replace-race",
       "naive",
       0,
       {"ghost-queued pod1 from 4000000000 to never by never"}},
      {"C01: until the next re-list",
       "queue-replace-race",
       "combined",
       0,
       {"ghost-queued pod1 from 4000000000 to 60000000000 by relist"}},
      {"D18: a bind answered 404 brings nothing back", "delete-before-assume", "combined", 0, {}},
  };
  return kRows;
}

TEST(Seeds, EveryClaimHoldsToTheNanosecond) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.scenario + " under " + row.policy + ": " + row.claim);
    const auto told = told_scenarios().find(row.scenario);
    ASSERT_NE(told, told_scenarios().end());
    const Outcome outcome = run(told->second, policy_of(row.policy));
    std::vector<std::string> roots;
    for (const Finding& finding : outcome.findings) {
      if (!finding.root) roots.push_back(in_nanoseconds(*told->second.recording, finding));
    }
    EXPECT_EQ(roots, row.findings);
    EXPECT_EQ(refused(outcome), row.refused);
  }
}

TEST(Seeds, WhatATrueOvercommitShowsInTheViewIsItsConsequence) {
  const Told& told = told_scenarios().at("confirmation-on-its-way");
  const Outcome outcome = run(told, *scheduler::preset("no-assume"));
  ASSERT_EQ(outcome.findings.size(), 2U);
  EXPECT_EQ(outcome.findings[0].verdict, Verdict::kOvercommitTruth);
  EXPECT_EQ(outcome.findings[1].verdict, Verdict::kOvercommitView);
  EXPECT_EQ(outcome.findings[1].root, std::optional<size_t>(0));
}

// All presets × all scenarios. INQUEST_UPDATE_GOLDENS=1 writes the table anew; read the difference.
TEST(Seeds, TheTableOfFindings) {
  std::string table =
      "Every scenario under every preset: what is found, in nanoseconds after the start; +1: a bind that was\n"
      "recorded and that the view would have refused.\n";
  for (const auto& [name, told] : told_scenarios()) {
    table += "\n" + name + "\n";
    for (const scheduler::Policy& policy : scheduler::presets()) {
      const Outcome outcome = run(told, policy);
      table += "  " + policy.name + (refused(outcome) > 0 ? "  +" + std::to_string(refused(outcome)) : "");
      table += outcome.ending == Ending::kOk ? "  ok\n" : outcome.unknown_because.empty() ? "\n" : "  unknown\n";
      for (const Finding& finding : outcome.findings) table += "    " + in_nanoseconds(*told.recording, finding) + "\n";
    }
  }
  if (std::getenv("INQUEST_UPDATE_GOLDENS") != nullptr) write_file(kTable, table);
  EXPECT_EQ(table, read_file(kTable))
      << "INQUEST_UPDATE_GOLDENS=1 replayer_tests --gtest_filter='Seeds.*' writes it anew";
}

TEST(Seeds, EveryScenarioSaysWhatItIsAbout) {
  const auto scenarios = load_scenarios(kScenarioFolder);
  ASSERT_TRUE(scenarios.ok());
  for (const Scenario& scenario : *scenarios) {
    EXPECT_FALSE(scenario.about.empty()) << scenario.name;
    EXPECT_FALSE(scenario.claim.empty()) << scenario.name;
  }
}

}  // namespace
}  // namespace inquest::replayer
