// Mode decide: the core places the pods of a trace by itself, against an API that keeps the API's rules.
#include "replayer/decide.h"

#include <gtest/gtest.h>

#include "replayer/run.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using Words = std::vector<std::string>;

RunConfig decide(std::string_view policy, std::vector<Fault> faults = {}) {
  RunConfig out = config(policy, std::move(faults));
  out.mode = Mode::kDecide;
  out.pace = {Duration::milliseconds(4), Duration::milliseconds(10), Duration::milliseconds(500),
              Duration::milliseconds(200)};
  return out;
}

struct Lab {
  TestTrace trace;
  std::unique_ptr<Recording> recording;

  explicit Lab(int nodes = 2, int64_t cpu_milli = 4000) {
    std::vector<NodeFacts> facts;
    for (int i = 1; i <= nodes; ++i) facts.push_back(trace.node(std::string("n").append(std::to_string(i)), cpu_milli));
    trace.nodes_listed(0, facts);
    trace.pods_listed(0, {});
  }
  void create(int64_t ms, std::string_view name, uint16_t port = 0, int64_t cpu_milli = 100) {
    trace.frame(ms, Verb::kAdded, trace.pod(name, "", port, cpu_milli));
  }
  Outcome run(const RunConfig& config) {
    if (!recording) recording = trace.load();
    auto outcome = replay(*recording, config);
    INQUEST_CHECK(outcome.ok(), outcome.ok() ? "" : outcome.error().message());
    return std::move(*outcome);
  }
};

TEST(Decide, EveryPodIsBoundOnceUnderEveryPolicyWithAnAssumedStore) {
  for (const scheduler::Policy& policy : scheduler::presets()) {
    Lab lab;
    for (int i = 0; i < 20; ++i) lab.create(100 + i, std::string("pod").append(std::to_string(i)));
    RunConfig how = decide(policy.name);
    how.scheduler_names = {"default-scheduler"};
    const Outcome outcome = lab.run(how);
    EXPECT_EQ(describe(*lab.recording, outcome), Words{}) << policy.name;
    ASSERT_TRUE(outcome.decided.has_value());
    EXPECT_EQ(outcome.decided->pods, 20U);
    EXPECT_EQ(outcome.decided->bound, 20U) << policy.name;
    EXPECT_EQ(outcome.decided->bound_twice, 0U);
    EXPECT_EQ(outcome.decided->pending, 0U);
  }
}

// The claim that the assumed store stands for: confirmation is still on its way when the next pod is decided.
TEST(Decide, WithoutAnAssumedStoreTwoPodsGetOnePort) {
  Lab lab(1);
  lab.create(100, "pod1", 8080);
  lab.create(100, "pod2", 8080);
  RunConfig how = decide("no-assume");
  how.scheduler_names = {"default-scheduler"};
  how.pace.deliver = Duration::seconds(2);
  const Outcome outcome = lab.run(how);
  bool doubled = false;
  for (const Finding& finding : outcome.findings) doubled = doubled || finding.verdict == Verdict::kOvercommitTruth;
  EXPECT_TRUE(doubled) << testing::PrintToString(describe(*lab.recording, outcome)) << outcome.decided->bound;
  how.policy = *scheduler::preset("combined");
  const Outcome healed = lab.run(how);
  EXPECT_EQ(healed.decided->bound, 1U);
  EXPECT_EQ(healed.decided->pending, 1U);
  EXPECT_GT(healed.decided->unschedulable, 0U);
  for (const Finding& finding : healed.findings) EXPECT_NE(finding.verdict, Verdict::kOvercommitTruth);
}

TEST(Decide, RoomThatIsFreedIsUsed) {
  Lab lab(1, 1000);
  lab.create(100, "big", 0, 900);
  lab.create(200, "next", 0, 900);
  PodFacts big = lab.trace.pod("big", "", 0, 900);
  big.deletion = at(5000);
  lab.trace.frame(5000, Verb::kModified, big);
  lab.trace.frame(6000, Verb::kDeleted, big);
  RunConfig how = decide("combined");
  how.scheduler_names = {"default-scheduler"};
  const Outcome outcome = lab.run(how);
  EXPECT_EQ(outcome.decided->bound, 2U);
  EXPECT_GE(outcome.decided->longest_wait, Duration::milliseconds(4800)) << "it had to wait for the kubelet";
}

// Somebody else is faster: 409, and the pod is not ours to bind.
TEST(Decide, ARaceIsLostWithA409) {
  Lab lab;
  const PodFacts pod = lab.trace.pod("a");
  lab.trace.frame(100, Verb::kAdded, pod);
  lab.trace.answer(105, lab.trace.request(101, pod, "n2", "toy"), 201);
  lab.trace.frame(120, Verb::kModified, lab.trace.on(pod, "n2"));
  RunConfig how = decide("combined");
  how.as = "";
  how.scheduler_names = {"default-scheduler"};
  how.pace.bind_rtt = Duration::milliseconds(10);
  how.pace.deliver = Duration::milliseconds(1);
  // Of two schedulers seen here only "toy" bound anything, and it stands aside: its bind is its own.
  const Outcome as_toy = lab.run(how);
  EXPECT_EQ(as_toy.decided->bound, 1U);
  EXPECT_EQ(as_toy.decided->refused, 0U) << "what toy did is what we decide anew";
}

TEST(Decide, AnAnswerThatIsLostThoughAppliedDoesNotBindTwice) {
  for (const char* text : {"nth=1 answer=lost applied=true", "nth=1 answer=503 applied=true", "nth=1 answer=504",
                           "nth=1 answer=409", "nth=1 answer=late by=31s"}) {
    Lab lab;
    lab.create(100, "a");
    lab.trace.frame(120'000, Verb::kModified, lab.trace.node("n2"));
    const auto fault = parse_fault(FaultKind::kBind, text);
    ASSERT_TRUE(fault.ok()) << fault.error().message();
    RunConfig how = decide("combined", {*fault});
    how.scheduler_names = {"default-scheduler"};
    const Outcome outcome = lab.run(how);
    EXPECT_EQ(outcome.decided->bound, 1U) << text;
    EXPECT_EQ(outcome.decided->bound_twice, 0U) << text;
    EXPECT_EQ(outcome.decided->pending, 0U) << text;
    EXPECT_EQ(outcome.faults[0].fired, 1U) << text;
  }
}

TEST(Pace, IsTheTracesOwnMedians) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  for (int i = 0; i < 3; ++i) {
    const PodFacts pod = trace.pod(std::string("p").append(std::to_string(i)));
    const int64_t ms = 1000 * i;
    trace.frame(ms, Verb::kAdded, pod);
    trace.answer(ms + 20 + 2 * i, trace.request(ms + 10, pod, "n1"), 201);
    PodFacts seen = trace.on(pod, "n1");
    trace.frame(ms + 30 + 2 * i, Verb::kModified, seen);
    seen.phase = PodPhase::kRunning;
    trace.frame(ms + 220 + 2 * i, Verb::kModified, seen);
    seen.deletion = at(ms + 300);
    trace.frame(ms + 300, Verb::kModified, seen);
    trace.frame(ms + 300 + 50 * i, Verb::kDeleted, seen);
  }
  const auto recording = trace.load();
  const Pace pace = pace_of(*recording, {});
  EXPECT_EQ(pace.bind_rtt.value, Duration::milliseconds(12));
  EXPECT_EQ(pace.bind_rtt.samples, 3U);
  EXPECT_EQ(pace.deliver.value, Duration::milliseconds(10));
  EXPECT_EQ(pace.kubelet_start.value, Duration::milliseconds(200));
  EXPECT_EQ(pace.kubelet_stop.value, Duration::milliseconds(50));
  const Pace given = pace_of(*recording, {Duration::seconds(1), {}, {}, {}});
  EXPECT_EQ(given.bind_rtt.value, Duration::seconds(1));
  EXPECT_EQ(given.bind_rtt.samples, 0U);
}

}  // namespace
}  // namespace inquest::replayer
