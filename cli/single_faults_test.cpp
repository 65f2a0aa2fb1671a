// The promise of `combined`: whatever single fault strikes a recorded day, the stores find back to the truth within one
// TTL and one re-list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/captures_for_tests.h"
#include "replayer/run.h"

namespace inquest::cli {
namespace {

using replayer::FaultKind;
using replayer::Finding;
using replayer::Recording;
using replayer::Verdict;

constexpr Duration kBound = Duration::seconds(30 + 60 + 1);  // TTL, re-list, lag

struct Case {
  FaultKind kind;
  std::string text;
  Duration grace;  // beyond the bound: a clock that is set back makes everything later by so much
};

// What can befall a change, by the record that tells it.
std::vector<Case> faults_of_change(const replayer::Event& event) {
  const std::string at = fmt::format("@{}", event.seq);
  std::vector<Case> out = {{FaultKind::kDrop, at, {}},
                           {FaultKind::kDelay, at + " by=2s", {}},
                           {FaultKind::kDelay, at + " by=31s", {}},
                           {FaultKind::kDelay, at + " overtake=true by=31s", {}},
                           {FaultKind::kSwap, at, {}},
                           {FaultKind::kDuplicate, at, {}},
                           {FaultKind::kDuplicate, at + " by=31s", {}},
                           {FaultKind::kRvBack, at + " back=10s", {}},
                           {FaultKind::kRestart, fmt::format("at={}", at), {}},
                           {FaultKind::kRestart, fmt::format("at={} for=31s", at), {}},
                           {FaultKind::kClock, fmt::format("at={} step=31s", at), {}},
                           {FaultKind::kClock, fmt::format("at={} step=-31s", at), Duration::seconds(31)}};
  if (event.verb == Verb::kDeleted) {
    out.push_back({FaultKind::kTombstone, at, {}});
    out.push_back({FaultKind::kCollapse, at, {}});
  }
  for (const char* then : {"resume", "relist", "gone"}) {
    for (const char* length : {"1s", "31s"}) {
      out.push_back({FaultKind::kDisconnect, fmt::format("at={} for={} then={}", at, length, then), {}});
    }
  }
  return out;
}

std::vector<Case> faults_of_bind(const replayer::Event& event) {
  std::vector<Case> out;
  for (const char* answer : {"lost", "late by=31s", "404", "409", "500", "504"}) {
    out.push_back({FaultKind::kBind, fmt::format("@{} answer={}", event.seq, answer), {}});
  }
  return out;
}

// Of the lists that the policy itself asks for.
std::vector<Case> faults_of_lists() {
  std::vector<Case> out;
  for (int nth = 1; nth <= 6; ++nth) {
    for (const char* what : {"stale=10s", "empty=true", "late=31s"}) {
      out.push_back({FaultKind::kList, fmt::format("pods nth={} {}", nth, what), {}});
    }
  }
  return out;
}

std::vector<Case> all_cases(const Recording& recording) {
  std::vector<Case> out = faults_of_lists();
  const auto add = [&](std::vector<Case> cases) { out.insert(out.end(), cases.begin(), cases.end()); };
  for (const replayer::Event& event : recording.events()) {
    const bool change = event.kind == replayer::EventKind::kPod || event.kind == replayer::EventKind::kNode;
    if (change && event.in_view) add(faults_of_change(event));
    if (event.kind == replayer::EventKind::kBindRequest) add(faults_of_bind(event));
  }
  return out;
}

// Those that the promise is about: what a store holds or lacks.
bool is_about_stores(Verdict verdict) {
  return verdict <= Verdict::kDoubleCount || verdict == Verdict::kGhostNode || verdict == Verdict::kMissingNode;
}

void expect_bounded(const std::string& name) {
  const Recording& recording = capture(name);
  const std::vector<Case> cases = all_cases(recording);
  size_t fired = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto fault = replayer::parse_fault(cases[i].kind, cases[i].text);
    ASSERT_TRUE(fault.ok()) << fault.error().message();
    replayer::RunConfig how;
    how.policy = *scheduler::preset("combined");
    how.plan.faults = {*fault};
    how.drain = kBound + kBound;
    const auto outcome = replayer::replay(recording, how);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message();
    fired += outcome->faults[0].fired > 0 ? 1 : 0;
    for (const Finding& finding : outcome->findings) {
      if (!is_about_stores(finding.verdict)) continue;
      const Time end = finding.end.value_or(Time::never());
      EXPECT_LE(end - finding.birth, kBound + cases[i].grace)
          << name << ": " << fault->text << ": " << name_of(finding.verdict) << " of pod " << finding.pod.value
          << " born at +" << (finding.birth - outcome->start).ns / 1'000'000 << " ms, cured by "
          << name_of(finding.cure);
    }
  }
  EXPECT_GT(fired * 2, cases.size()) << name << ": most faults must have struck";
}

TEST(SingleFaults, HealWithinTtlAndRelistUnderCombined) {
  for (const char* name : {"hostport", "burst", "race"}) expect_bounded(name);
}

// Mode decide on what was recorded: every pod finds its place once.
TEST(Decide, EveryPodOfTheCapturesIsBoundOnceUnderCombined) {
  for (const char* name : {"race", "burst"}) {
    replayer::RunConfig how;
    how.mode = replayer::Mode::kDecide;
    how.policy = *scheduler::preset("combined");
    const auto outcome = replayer::replay(capture(name), how);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message();
    ASSERT_TRUE(outcome->decided.has_value());
    const replayer::Decided& decided = *outcome->decided;
    EXPECT_GE(decided.pods, 20U) << name;
    EXPECT_EQ(decided.bound + decided.gone_unbound, decided.pods) << name;
    EXPECT_EQ(decided.bound_twice, 0U) << name;
    EXPECT_EQ(decided.pending, 0U) << name;
    EXPECT_EQ(decided.gone_unbound, 0U) << name;
    EXPECT_GT(decided.pace.bind_rtt.samples, 0U) << name;
    EXPECT_EQ(outcome->roots(), 0U) << name;
  }
}

}  // namespace
}  // namespace inquest::cli
