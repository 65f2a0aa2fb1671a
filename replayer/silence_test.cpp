#include "replayer/silence.h"

#include <gtest/gtest.h>

#include "replayer/run.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Words = std::vector<std::string>;

TEST(Silence, IsTooLongAfterTwoBookmarkPeriodsIfSomethingHasChanged) {
  Silence silence(at(1'000'000));
  EXPECT_EQ(silence.heard(at(1000), Lane::kPods), std::nullopt);
  EXPECT_EQ(silence.stuck_since(at(900'000), Lane::kPods), std::nullopt) << "nothing has changed";
  silence.changed(at(5000), Lane::kPods);
  silence.changed(at(6000), Lane::kPods);
  EXPECT_EQ(silence.stuck_since(at(121'000), Lane::kPods), std::nullopt) << "not more than two periods";
  EXPECT_EQ(silence.stuck_since(at(121'001), Lane::kPods), at(121'000));
  EXPECT_EQ(silence.stuck_since(at(121'001), Lane::kNodes), std::nullopt);
  EXPECT_EQ(silence.heard(at(200'000), Lane::kPods), at(121'000));
  EXPECT_EQ(silence.stuck_since(at(900'000), Lane::kPods), std::nullopt);
}

TEST(Silence, BeginsWithTheChangeIfThatCameLater) {
  Silence silence(at(1'000'000));
  silence.heard(at(1000), Lane::kPods);
  silence.changed(at(300'000), Lane::kPods);
  EXPECT_EQ(silence.stuck_since(at(300'001), Lane::kPods), at(300'000));
}

TEST(Silence, OfABrokenWatchIsNone) {
  Silence silence(at(1'000'000));
  silence.changed(at(500), Lane::kPods);
  EXPECT_EQ(silence.stuck_since(at(400'000), Lane::kPods), std::nullopt) << "never opened";
  silence.heard(at(1000), Lane::kPods);
  silence.changed(at(5000), Lane::kPods);
  EXPECT_EQ(silence.deaf(at(300'000), Lane::kPods), at(121'000));
  silence.changed(at(301'000), Lane::kPods);
  EXPECT_EQ(silence.stuck_since(at(900'000), Lane::kPods), std::nullopt);
}

TEST(Silence, DoesNotBeginAfterTheTraceHasEnded) {
  Silence silence(at(100'000));
  silence.heard(at(1000), Lane::kPods);
  silence.changed(at(5000), Lane::kPods);
  EXPECT_EQ(silence.stuck_since(at(900'000), Lane::kPods), std::nullopt);
}

// The digest of a run in which no watch can hang any more does not tell what came when.
TEST(Silence, TheDigestForgetsWhatCannotMatter) {
  Silence early(at(100'000)), late(at(100'000)), longer(at(500'000)), longest(at(500'000));
  early.heard(at(1000), Lane::kPods);
  late.heard(at(2000), Lane::kPods);
  longer.heard(at(1000), Lane::kPods);
  longest.heard(at(2000), Lane::kPods);
  EXPECT_EQ(early.state_hash(), late.state_hash());
  EXPECT_NE(longer.state_hash(), longest.state_hash());
}

// pod1 is placed at once; nodes change every 30 s up to 10 minutes; pods have bookmarks each minute, and at 2 and 6
// minutes a pod that is not the scheduler's changes.
struct Morning {
  std::unique_ptr<Recording> recording;

  Morning() {
    TestTrace trace;
    trace.nodes_listed(0, {trace.node("n1")});
    trace.pods_listed(0, {});
    const PodFacts pod1 = trace.place(100, "pod1", "n1");
    for (int64_t s = 30; s <= 600; s += 30) {
      trace.frame(s * 1000, Verb::kModified, trace.node("n1"));
      if (s % 60 == 0) trace.mark(s * 1000, trace::RecordKind::kBookmark, trace.rv);
      if (s == 120 || s == 360) trace.frame(s * 1000 + 1, Verb::kModified, pod1);
    }
    recording = trace.load();
  }
  Words findings(std::string_view policy, const std::vector<std::pair<FaultKind, std::string>>& faults) {
    RunConfig how = config(policy);
    for (const auto& [kind, text] : faults) how.plan.faults.push_back(*parse_fault(kind, text));
    const auto outcome = replay(*recording, how);
    return outcome.ok() ? describe(*recording, *outcome) : Words{outcome.error().message()};
  }
};

TEST(Silence, OfARecordedDayIsNone) {
  Morning morning;
  for (const scheduler::Policy& policy : scheduler::presets()) {
    EXPECT_EQ(morning.findings(policy.name, {}), Words{}) << policy.name;
  }
}

// Quiet alone is not stuck: no pod changes, or bookmarks come.
TEST(Silence, TakesAChangeAndNoBookmarks) {
  Morning morning;
  EXPECT_EQ(morning.findings("upstream-now", {{FaultKind::kBookmarks, "pods nth=all"}}), Words{});
  EXPECT_EQ(morning.findings("upstream-now", {{FaultKind::kDrop, "pods MODIFIED at=+119s"}}), Words{});
}

TEST(Silence, OfAWatchThatAPlanSilencesIsStuckUntilSomethingComes) {
  Morning morning;
  const std::pair bookmarks{FaultKind::kBookmarks, "pods nth=all"};
  EXPECT_EQ(morning.findings("upstream-now", {bookmarks, {FaultKind::kDrop, "pods at=+119s"}}),
            Words{"stuck of pods from 120130 to 360001 by event"});
  EXPECT_EQ(morning.findings("upstream-now", {bookmarks, {FaultKind::kDrop, "pods at=+119s nth=all"}}),
            Words{"stuck of pods from 120130 to never by never"});
  // A policy that lists every minute hears all the same.
  EXPECT_EQ(morning.findings("live", {bookmarks, {FaultKind::kDrop, "pods at=+119s nth=all"}}), Words{});
}

// The watch of pods without a node has nothing to tell of one that has one.
TEST(Silence, IsOfTheWatchWhoseOwnResourceChanges) {
  Morning morning;
  EXPECT_EQ(morning.findings("delete-both",
                             {{FaultKind::kBookmarks, "pods nth=all"}, {FaultKind::kDrop, "pods at=+119s nth=all"}}),
            Words{"stuck of pods with a node from 120130 to never by never"});
}

}  // namespace
}  // namespace inquest::replayer
