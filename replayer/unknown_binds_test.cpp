#include "replayer/unknown_binds.h"

#include <gtest/gtest.h>

#include <functional>

#include "replayer/run.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using scheduler::BindAnswered;
using scheduler::Effect;
using scheduler::Input;
using Words = std::vector<std::string>;

constexpr PodId kPod{3};
constexpr NodeId kNode{1};

class UnknownBindsTest : public ::testing::Test {
 protected:
  void given(const Input& input, std::vector<Effect> effects = {}) { binds_.stepped(input, effects); }
  void lost() {
    given(BindAnswered{kPod, kNode, BindAnswered::Outcome::kUnknown},
          {scheduler::ReportEvent{kPod, kNode, scheduler::ReportEvent::Text::kBindUnknown}});
  }
  void frame(Verb verb, NodeId node) {
    PodFacts pod;
    pod.pod = kPod;
    pod.node = node;
    given(scheduler::PodChanged{scheduler::Watch::kAll, verb, pod});
  }
  bool unknown() const { return binds_.of(kPod).known(); }

  UnknownBinds binds_;
};

TEST_F(UnknownBindsTest, WhatNobodyAnsweredIsUnknownUntilSomethingTells) {
  const std::pair<const char*, std::function<void()>> tells[] = {
      {"the watch shows it bound", [this] { frame(Verb::kModified, kNode); }},
      {"the watch shows it gone", [this] { frame(Verb::kDeleted, NodeId::none()); }},
      {"a re-read",
       [this] {
         given(scheduler::RereadAnswered{kPod, scheduler::RereadAnswered::Found::kPending});
       }},
      {"another bind's answer",
       [this] {
         given(BindAnswered{kPod, kNode, BindAnswered::Outcome::kRefused});
       }},
      {"a list", [this] { binds_.listed(); }},
      {"the policy's list", [this] { given(scheduler::PodsListed{}); }},
      {"a restart, after which nobody asks", [this] { given(scheduler::Restarted{}); }},
  };
  for (const auto& [what, tell] : tells) {
    SCOPED_TRACE(what);
    frame(Verb::kAdded, NodeId::none());
    lost();
    EXPECT_TRUE(unknown());
    EXPECT_EQ(binds_.of(kPod), kNode);
    const uint64_t hash = binds_.state_hash();
    frame(Verb::kModified, NodeId::none());
    EXPECT_TRUE(unknown()) << "a pod without a node may be bound yet";
    binds_.clear_touched();
    tell();
    EXPECT_FALSE(unknown());
    EXPECT_EQ(binds_.touched().size(), 1U);
    EXPECT_NE(binds_.state_hash(), hash);
  }
}

TEST_F(UnknownBindsTest, WhatTheWatchHasShownIsKnown) {
  frame(Verb::kModified, kNode);
  lost();
  EXPECT_FALSE(unknown());
  frame(Verb::kDeleted, kNode);
  lost();
  EXPECT_FALSE(unknown());
}

// A pod that is bound at 20 ms and whose frame comes at 150 ms; the scheduler hears no answer that says so.
Words findings(std::string_view policy, int code, std::vector<Fault> faults = {}, bool applied = true) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts pod = trace.pod("a");
  trace.frame(10, Verb::kAdded, pod);
  trace.answer(100, trace.request(20, pod, "n1"), static_cast<uint16_t>(code));
  if (applied) trace.frame(150, Verb::kModified, trace.on(pod, "n1"));
  trace.frame(90'000, Verb::kModified, trace.node("n1"));
  const auto recording = trace.load();
  const auto outcome = replay(*recording, config(policy, std::move(faults)));
  return outcome.ok() ? describe(*recording, *outcome) : Words{outcome.error().message()};
}

TEST(UnknownBind, AnAnswerThatDoesNotSayWhetherItWasAppliedIsUnknown) {
  for (const int code : {0, 302, 408, 499, 500, 503, 504}) {
    EXPECT_EQ(findings("upstream-now", code, {}, false), Words{"unknown-bind a on n1 from 100 to never by never"})
        << code;
    EXPECT_EQ(findings("live", code, {}, false), Words{"unknown-bind a on n1 from 100 to 60000 by relist"}) << code;
  }
  for (const int code : {400, 403, 404, 409, 429}) {
    EXPECT_EQ(findings("upstream-now", code, {}, false), Words{}) << code;
  }
}

// The re-read of 2015's error handler tells after its backoff of one second, which is not longer than the lag bound.
TEST(UnknownBind, AReReadTellsInTime) { EXPECT_EQ(findings("combined", 0, {}, false), Words{}); }

TEST(UnknownBind, TheWatchTells) {
  EXPECT_EQ(findings("upstream-now", 504), Words{}) << "50 ms later";
  EXPECT_EQ(
      findings("upstream-now", 504, {delay("pods MODIFIED name=a by=5s")}),
      (Words{"unknown-bind a on n1 from 100 to 5150 by event", "missing-scheduled a on n1 from 150 to 5150 by event",
             "ghost-queued a on n1 from 1100 to 5150 by event"}))
      << "its backoff over it is queued again, bound as it is";
}

}  // namespace
}  // namespace inquest::replayer
