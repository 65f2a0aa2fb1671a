// The first traces of the catalogue of incidents (H1 … H11), each under a policy that has the bug and under one without
// it: what is found, and what the stores hold when all is over. The twelfth, a failover, takes several schedulers.
//
// Where no preset has the bug (a core that loses track of an expired assumption, say), the row says what every policy
// must come to.
#include <gtest/gtest.h>

#include <map>

#include "replayer/scenarios_for_tests.h"
#include "replayer/stores.h"

namespace inquest::replayer {
namespace {

struct Row {
  std::string incident, scenario, policy;
  std::vector<std::string> findings;  // those that follow from no other
  std::string stores;                 // at the end: "scheduled …; assumed …; queued …", of lives: pod-a#2
};

// "pod-a#2 on node-1", and nothing if the store is empty.
std::string lives(const Recording& recording, const std::vector<std::pair<PodId, NodeId>>& held) {
  const Catalog& catalog = recording.catalog();
  std::string out;
  for (const auto& [pod, node] : held) {
    size_t life = 1;
    for (uint32_t before = 0; before < pod.value; ++before) {
      if (catalog.key_of({before}) == catalog.key_of(pod) && !catalog.uid(PodId{before}).empty()) ++life;
    }
    out.append(out.empty() ? "" : ", ").append(catalog.name(catalog.key_of(pod)));
    out.append("#").append(std::to_string(life));
    if (node) out.append(" on ").append(catalog.node_name(node));
  }
  return out.empty() ? "nothing" : out;
}

std::string stores_of(const Run& run) {
  const Arrivals arrivals;
  std::vector<std::pair<PodId, NodeId>> scheduled, assumed, queued;
  for (const HeldPod& pod : scheduled_pods(run, arrivals)) scheduled.emplace_back(pod.pod, pod.node);
  for (const AssumedUntil& pod : assumed_pods(run, arrivals)) assumed.emplace_back(pod.pod, pod.node);
  for (const QueuedPod& pod : queued_pods(run, arrivals)) queued.emplace_back(pod.pod, NodeId::none());
  const Recording& recording = run.recording();
  return "scheduled " + lives(recording, scheduled) + "; assumed " + lives(recording, assumed) + "; queued " +
         lives(recording, queued);
}

const std::string kEmpty = "scheduled nothing; assumed nothing; queued nothing";

const std::vector<Row>& rows() {  // NOLINT(readability-function-size): a table
  static const std::vector<Row> kRows = {
      {"H1 A08: expired, then confirmed, then deleted: nothing is left",
       "ttl-late-add",
       "combined",
       {"missing-scheduled pod-a on node-1 from 32000000000 to 40000000000 by event"},
       kEmpty},
      {"H1 A08: nor of the first scheduler cache, whose late add was fixed in its day",
       "ttl-late-add",
       "upstream-2016",
       {"missing-scheduled pod-a on node-1 from 33000000000 to 40000000000 by event"},
       kEmpty},
      {"H1 A08: without a TTL it never expires", "ttl-late-add", "upstream-now", {}, kEmpty},

      {"H2 A28: a TTL from the assumption runs out while the bind is open",
       "ttl-slow-bind",
       "combined assume=before",
       {"early-expire pod-a on node-1 from 30100000000 to 30100000000 by truth"},
       "scheduled pod-a#1 on node-1; assumed nothing; queued pod-b#1"},
      {"H2 A28: one from the answer does not",
       "ttl-slow-bind",
       "combined assume=before ttl-from=answer expire-while-bind-open=no",
       {},
       "scheduled pod-a#1 on node-1; assumed nothing; queued pod-b#1"},

      {"H3 A28: never to expire keeps what died unseen",
       "no-ttl-zombie",
       "upstream-now",
       {"zombie-assumed pod-a on node-1 from 5000000000 to never by never"},
       "scheduled nothing; assumed pod-a#1 on node-1; queued pod-b#1"},
      {"H3 A28: until a list that may correct it",
       "no-ttl-zombie",
       "relist-corrects-assumed",
       {"zombie-assumed pod-a on node-1 from 5000000000 to 60000000000 by relist"},
       "scheduled nothing; assumed nothing; queued pod-b#1"},
      {"H3 A28: a TTL ends it",
       "no-ttl-zombie",
       "combined",
       {"zombie-assumed pod-a on node-1 from 5000000000 to 30110000000 by ttl"},
       "scheduled nothing; assumed nothing; queued pod-b#1"},

      {"H4 A25: a tombstone that goes where the last version was",
       "tombstone-empty-node",
       "upstream-now tombstones=last-seen",
       {"zombie-assumed pod-a on node-1 from 1000000000 to never by never"},
       "scheduled nothing; assumed pod-a#1 on node-1; queued nothing"},
      {"H4 A25: one that is tried on all stores", "tombstone-empty-node", "upstream-now", {}, kEmpty},

      {"H5a A20: one update for a delete and a create",
       "collapse-same-node",
       "upstream-2016",
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-scheduled pod-a on node-1 from 2000000000 to never by never"},
       "scheduled pod-a#1 on node-1; assumed nothing; queued nothing"},
      {"H5a A20: a delete and an add",
       "collapse-same-node",
       "upstream-now",
       {},
       "scheduled pod-a#2 on node-1; assumed nothing; queued nothing"},
      {"H5b A21: onto another node",
       "collapse-other-node",
       "upstream-2016",
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-scheduled pod-a on node-2 from 2000000000 to never by never"},
       "scheduled pod-a#1 on node-1; assumed nothing; queued nothing"},
      {"H5b A21: a delete and an add",
       "collapse-other-node",
       "upstream-now",
       {},
       "scheduled pod-a#2 on node-2; assumed nothing; queued nothing"},
      {"H5c A21: into the queue",
       "collapse-unbound",
       "upstream-2016",
       {"zombie-scheduled pod-a on node-1 from 2000000000 to never by never",
        "missing-queued pod-a from 2000000000 to never by never"},
       "scheduled pod-a#1 on node-1; assumed nothing; queued nothing"},
      {"H5c A21: a delete and an add",
       "collapse-unbound",
       "upstream-now",
       {},
       "scheduled nothing; assumed nothing; queued pod-a#2"},

      {"H6 A01: the delete comes before the assumption",
       "deleted-before-assumed",
       "delete-both",
       {"zombie-assumed pod1 on n1 from 250000000 to never by never"},
       "scheduled pod2#1 on n1; assumed pod1#1 on n1, pod2#1 on n1; queued nothing"},
      {"H6 A01: assumed before it is bound, it is there to be deleted",
       "deleted-before-assumed",
       "upstream-now",
       {},
       "scheduled pod2#1 on n1; assumed nothing; queued nothing"},
      {"H6 D18: a refused bind queues nothing that is gone", "delete-before-assume", "upstream-now", {}, kEmpty},
      {"H6 D18: nor in 2015", "delete-before-assume", "delete-both", {}, kEmpty},

      {"H7 A27: the error comes after the confirmation, and the pod stays",
       "unknown-bind-applied",
       "upstream-now",
       {},
       "scheduled pod1#1 on node-1; assumed nothing; queued nothing"},
      {"H7 A27: not applied, and nobody asks",
       "unknown-bind-not-applied",
       "upstream-now",
       {"unknown-bind pod1 on node-1 from 10100000000 to never by never"},
       "scheduled nothing; assumed nothing; queued pod1#1"},
      {"H7 A27: not applied: a re-read tells before the lag bound is over",
       "unknown-bind-not-applied",
       "combined",
       {},
       "scheduled nothing; assumed nothing; queued pod1#1"},
      {"H7 D16: applied and seen later, queued again meanwhile",
       "unknown-bind-seen-later",
       "upstream-now",
       {"unknown-bind pod1 on node-1 from 10100000000 to 15150000000 by event",
        "ghost-queued pod1 on node-1 from 11100000000 to 15150000000 by event"},
       "scheduled pod1#1 on node-1; assumed nothing; queued nothing"},
      {"H7 D16: a re-read tells that it is bound",
       "unknown-bind-seen-later",
       "delete-both assume=before",
       {"missing-scheduled pod1 on node-1 from 10100000000 to 15150000000 by event"},
       "scheduled pod1#1 on node-1; assumed nothing; queued nothing"},
      {"H7 D16: applied, then deleted", "unknown-bind-applied-deleted", "upstream-now", {}, kEmpty},
      {"H7 D16: not while a delete waits for the bind",
       "unknown-bind-applied-deleted",
       "locked-delete",
       {"zombie-scheduled pod1 on node-1 from 5000000000 to 10100000000 by answer"},
       kEmpty},

      {"H9 A29: without a uid it binds the next life",
       "uid-less-late-bind",
       "upstream-now",
       {"wrong-uid pod-a on node-1 from 4000000000 to 4000000000 by truth"},
       "scheduled pod-a#2 on node-1; assumed nothing; queued nothing"},
      {"H9 A29: by name, the first life is assumed for ever",
       "uid-less-late-bind",
       "delete-both",
       {"wrong-uid pod-a on node-1 from 4000000000 to 4000000000 by truth"},
       "scheduled pod-a#2 on node-1; assumed pod-a#1 on node-1; queued nothing"},
      {"H9 A29: with the uid it is refused",
       "uid-late-bind",
       "upstream-now",
       {},
       "scheduled nothing; assumed nothing; queued pod-a#2"},

      {"H10 C01: what comes after its own end waits for ever",
       "queue-replace-race",
       "upstream-now",
       {"ghost-queued pod1 from 4000000000 to never by never"},
       "scheduled nothing; assumed nothing; queued pod1#1"},
      {"H10 C01: until the next list",
       "queue-replace-race",
       "combined",
       {"ghost-queued pod1 from 4000000000 to 60000000000 by relist"},
       kEmpty},

      {"H11 (i) A22: its end lost, it outlives its node's replacement",
       "node-flap-delete-lost",
       "upstream-now",
       {"zombie-scheduled pod-a on node-1 from 1000000000 to never by never"},
       "scheduled pod-a#1 on node-1; assumed nothing; queued nothing"},
      {"H11 (i) A22: until the next list",
       "node-flap-delete-lost",
       "combined",
       {"zombie-scheduled pod-a on node-1 from 1000000000 to 60000000000 by relist"},
       kEmpty},
      {"H11 (ii) A40: alive, it is kept through it", "node-flap-alive", "upstream-2016", {}, kEmpty},
      {"H11 (ii) A40: where deletes do not reach the assumed store it stays",
       "node-flap-alive",
       "naive",
       {"zombie-assumed pod-a on node-1 from 5000000000 to never by never"},
       "scheduled nothing; assumed pod-a#1 on node-1; queued nothing"},
      {"H11 (iii) D09: assumed, it is kept too", "node-flap-assumed", "upstream-2016", {}, kEmpty},
      {"H11 (iii) D09: without an assumed store it is nowhere",
       "node-flap-assumed",
       "no-assume",
       {"missing-scheduled pod-a on node-1 from 110000000 to 5120000000 by event"},
       kEmpty},
  };
  return kRows;
}

TEST(Incidents, EndAsTheyAreTold) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.incident + ": " + row.scenario + " under " + row.policy);
    const auto told = told_scenarios().find(row.scenario);
    ASSERT_NE(told, told_scenarios().end());
    auto run = Run::start(*told->second.recording, run_config(told->second.scenario, policy_of(row.policy)));
    ASSERT_TRUE(run.ok());
    while (run->advance()) {
    }
    EXPECT_EQ(stores_of(*run), row.stores);
    std::vector<std::string> roots;
    for (const Finding& finding : run->finish().findings) {
      if (!finding.root) roots.push_back(in_nanoseconds(*told->second.recording, finding));
    }
    EXPECT_EQ(roots, row.findings);
  }
}

// H8: what comes once more changes nothing, whatever the policy.
TEST(Incidents, AWatchThatGoesBackEndsAsOneThatDoesNot) {
  const Told& told = told_scenarios().at("rv-back");
  for (const scheduler::Policy& policy : scheduler::presets()) {
    SCOPED_TRACE(policy.name);
    const RunConfig with = run_config(told.scenario, policy);
    RunConfig without = with;
    without.plan = {};
    without.drain = Duration::seconds(100);
    const auto straight = replay(*told.recording, without);
    RunConfig same = with;
    same.drain = Duration::seconds(100);
    const auto again = replay(*told.recording, same);
    ASSERT_TRUE(straight.ok() && again.ok());
    EXPECT_EQ(again->faults[0].fired, 1U);
    ASSERT_EQ(again->findings.size(), straight->findings.size());
    for (size_t i = 0; i < again->findings.size(); ++i) {
      EXPECT_EQ(in_nanoseconds(*told.recording, again->findings[i]),
                in_nanoseconds(*told.recording, straight->findings[i]));
    }
  }
}

}  // namespace
}  // namespace inquest::replayer
