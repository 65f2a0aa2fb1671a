// A fork is a copy: whatever a run is doing, a copy of it that goes on comes to what the run itself comes to.
#include <gtest/gtest.h>

#include "replayer/run.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

// Pods that come, are bound and go, so that stores, queue, frames and open binds are in use most of the time.
void busy_day(TestTrace& trace) {
  trace.nodes_listed(0, {trace.node("n1"), trace.node("n2")});
  trace.pods_listed(0, {});
  for (int i = 0; i < 8; ++i) {
    const std::string name = "pod" + std::to_string(i);
    const int64_t ms = 100 + 40 * i;
    const PodFacts pod = trace.place(ms, name, i % 2 == 0 ? "n1" : "n2", i % 3 == 0 ? 8080 : 0);
    if (i % 2 == 0) trace.frame(ms + 35, Verb::kDeleted, pod);
  }
}

std::vector<Fault> some_faults() {
  return {drop("pods DELETED name=pod2"), delay("pods MODIFIED name=pod3 by=35s"), delay("pods ADDED name=pod5 by=2s")};
}

struct End {
  uint64_t chain = 0, state = 0, inputs = 0;
  std::vector<std::string> findings;
  friend bool operator==(const End&, const End&) = default;
};

End end_of(Run run) {
  while (run.advance()) {
  }
  const Outcome outcome = run.finish();
  return {outcome.chain, outcome.state, outcome.inputs, describe(run.recording(), outcome)};
}

TEST(Fork, AtEveryInstantACopyComesToTheSame) {
  for (const scheduler::Policy& policy : scheduler::presets()) {
    TestTrace trace;
    busy_day(trace);
    const auto recording = trace.load();
    const RunConfig how = config(policy.name, some_faults());
    auto run = Run::start(*recording, how);
    ASSERT_TRUE(run.ok()) << run.error().text;
    const End straight = end_of(*run);
    EXPECT_FALSE(straight.findings.empty()) << policy.name;
    int instants = 0;
    for (; run->advance(); ++instants) EXPECT_EQ(end_of(*run), straight) << policy.name << " forked at " << instants;
    EXPECT_GT(instants, 30);
    EXPECT_EQ(end_of(*run), straight);
  }
}

// A fault whose traces are gone leaves a run that is the same as one without it; the digest says when.
TEST(Fork, TheStateDigestSaysWhenTwoRunsHaveBecomeOne) {
  TestTrace trace;
  busy_day(trace);
  trace.frame(5000, Verb::kModified, trace.node("n1"));
  const auto recording = trace.load();
  const Fault fault = delay("pods MODIFIED name=pod3 by=200ms");
  auto plain = replayer::Run::start(*recording, config("combined"));
  auto bent = replayer::Run::start(*recording, config("combined", {fault}));
  const auto digest_at = [](replayer::Run& run, int64_t ms) {
    while (run.next() <= at(ms)) run.advance();
    return run.state_hash();
  };
  EXPECT_NE(digest_at(*plain, 200), digest_at(*bent, 200)) << "it may still fire";
  EXPECT_NE(digest_at(*plain, 255), digest_at(*bent, 255)) << "pod3's bind is still under way";
  EXPECT_NE(digest_at(*plain, 1000), digest_at(*bent, 1000)) << "what waited behind it came after its DELETED";
  EXPECT_EQ(digest_at(*plain, 40'000), digest_at(*bent, 40'000)) << "the TTL has healed it";
}

// What the copy meets does not reach the run it was copied from.
TEST(Fork, TwoForksDoNotTouchEachOther) {
  TestTrace trace;
  busy_day(trace);
  const auto recording = trace.load();
  auto run = Run::start(*recording, config("naive", some_faults()));
  for (int i = 0; i < 10; ++i) run->advance();
  const uint64_t chain = run->world().core().chain();
  auto ahead = *run;
  while (ahead.advance()) {
  }
  EXPECT_NE(ahead.world().core().chain(), chain);
  EXPECT_EQ(run->world().core().chain(), chain);
}

}  // namespace
}  // namespace inquest::replayer
