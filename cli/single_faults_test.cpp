// The promise of `combined`: whatever single fault strikes a recorded day, the stores find back to the truth within one
// TTL and one re-list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cli/captures_for_tests.h"
#include "replayer/matrix.h"
#include "replayer/run.h"
#include "replayer/scenario.h"

namespace inquest::cli {
namespace {

using replayer::FaultKind;
using replayer::Finding;
using replayer::Recording;
using replayer::Verdict;

const char* const kTight = "traces/scenarios/tight.yaml";

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
  for (const char* watch : {"scheduled", "queued"}) {
    if (event.kind == replayer::EventKind::kNode) break;
    out.push_back({FaultKind::kDrop, fmt::format("{} watch={}", at, watch), {}});
    out.push_back({FaultKind::kDelay, fmt::format("{} watch={} by=31s", at, watch), {}});
  }
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
  out.push_back({FaultKind::kBookmarks, "nth=all", {}});
  const auto add = [&](std::vector<Case> cases) { out.insert(out.end(), cases.begin(), cases.end()); };
  for (const replayer::Event& event : recording.events()) {
    const bool change = event.kind == replayer::EventKind::kPod || event.kind == replayer::EventKind::kNode;
    if (change && event.in_view) add(faults_of_change(event));
    if (event.kind == replayer::EventKind::kBookmark) {
      out.push_back({FaultKind::kBookmarks, fmt::format("@{}", event.seq), {}});
    }
    if (event.kind == replayer::EventKind::kBindRequest) add(faults_of_bind(event));
  }
  return out;
}

// Those that the promise is about: what a store holds or lacks, and what comes of it in the books.
bool is_about_stores(Verdict verdict) {
  return verdict <= Verdict::kDoubleCount || verdict == Verdict::kGhostNode || verdict == Verdict::kMissingNode ||
         verdict == Verdict::kOvercommitView;
}

// By what befell the run, and what it came to besides what the promise is about.
using Remaining = std::map<std::pair<std::string, std::string>, int>;

void expect_bounded(const std::string& name, Remaining& remaining, std::set<FaultKind>& kinds) {
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
    if (outcome->faults[0].fired > 0) ++fired, kinds.insert(cases[i].kind);
    for (const Finding& finding : outcome->findings) {
      if (!is_about_stores(finding.verdict)) {
        ++remaining[{std::string(name_of(cases[i].kind)), std::string(name_of(finding.verdict))}];
        continue;
      }
      const Time end = finding.end.value_or(Time::never());
      EXPECT_LE(end - finding.birth, kBound + cases[i].grace)
          << name << ": " << fault->text << ": " << name_of(finding.verdict) << " of pod " << finding.pod.value
          << " born at +" << (finding.birth - outcome->start).ns / 1'000'000 << " ms, cured by "
          << name_of(finding.cure);
    }
  }
  EXPECT_GT(fired * 2, cases.size()) << name << ": most faults must have struck";
}

// What the truth holds is what was recorded, so that nothing can be placed twice; an assumption may end too early.
TEST(SingleFaults, HealWithinTtlAndRelistUnderCombined) {
  Remaining remaining;
  std::set<FaultKind> kinds;
  for (const char* name : {"hostport", "burst", "race"}) expect_bounded(name, remaining, kinds);
  EXPECT_EQ(kinds.size(), replayer::kFaultKinds) << "a kind of fault that never struck";
  // A clock that jumps ahead ends assumptions before their confirmation.
  const Remaining expected = {{{"clock", "early-expire"}, 151}};
  EXPECT_EQ(remaining, expected);
}

// --- What remains possible: where the core decides by itself, a store that is wrong for a while places pods.

// What can befall twenty pods that come to two nodes with room for ten: of each kind, at each bind or list.
std::vector<std::pair<FaultKind, const char*>> faults_of_tight() {
  using enum FaultKind;
  return {{kDrop, ""},
          {kDelay, "by=2s"},
          {kDelay, "by=31s"},
          {kDelay, "by=31s overtake=true"},
          {kSwap, ""},
          {kDuplicate, ""},
          {kDuplicate, "by=31s"},
          {kRvBack, "back=10s"},
          {kRestart, ""},
          {kRestart, "for=31s"},
          {kClock, "step=31s"},
          {kClock, "step=-31s"},
          {kDisconnect, "for=31s then=resume"},
          {kDisconnect, "for=31s then=relist"},
          {kDisconnect, "for=31s then=gone"},
          {kBind, "answer=lost"},
          {kBind, "answer=lost applied=false"},
          {kBind, "answer=late by=31s"},
          {kBind, "answer=404"},
          {kBind, "answer=409"},
          {kBind, "answer=500"},
          {kBind, "answer=500 applied=true"},
          {kBind, "answer=409 applied=true"},
          {kList, "stale=10s"},
          {kList, "empty=true"},
          {kList, "late=31s"}};
}

std::string words_at(FaultKind kind, const std::string& words, int nth) {
  const std::string bound = kind == FaultKind::kList   ? "pods "
                            : kind == FaultKind::kBind ? ""
                                                       : "pods MODIFIED spec.nodeName=* ";
  return fmt::format("{}nth={} {}", bound, nth, words);
}

// In how many runs it struck, and in how many more was placed on a node, in truth, than it has.
struct Doubled {
  int struck = 0, doubled = 0;
  friend bool operator==(const Doubled&, const Doubled&) = default;
};

TEST(SingleFaults, DoublePlacementsRemainUnderCombined) {
  const auto tight = replayer::load_scenario(kTight);
  ASSERT_TRUE(tight.ok()) << tight.error().message();
  const auto recording = replayer::record(*tight);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  std::string remaining;
  Doubled all;
  for (const auto& [kind, words] : faults_of_tight()) {
    Doubled of;
    for (int nth = 1; nth <= 10; ++nth) {
      const auto fault = replayer::parse_fault(kind, words_at(kind, words, nth));
      ASSERT_TRUE(fault.ok()) << fault.error().message();
      replayer::RunConfig how = replayer::run_config(*tight, *scheduler::preset("combined"));
      how.plan.faults = {*fault};
      how.drain = kBound + kBound;
      const auto outcome = replayer::replay(**recording, how);
      ASSERT_TRUE(outcome.ok()) << outcome.error().message();
      if (outcome->faults[0].fired > 0) ++of.struck;
      if (replayer::score_of(*outcome).double_placements > 0) ++of.doubled;
    }
    all = {all.struck + of.struck, all.doubled + of.doubled};
    EXPECT_GT(of.struck, 0) << name_of(kind) << " " << words;
    if (of.doubled > 0) remaining += fmt::format("{} {}: {} of {}\n", name_of(kind), words, of.doubled, of.struck);
  }
  // docs/policies.md, "What remains", gives the reason of each.
  EXPECT_EQ(remaining,
            "delay by=31s: 10 of 10\n"
            "clock step=31s: 9 of 10\n"
            "disconnect for=31s then=resume: 4 of 10\n"
            "bind answer=500 applied=true: 10 of 10\n"
            "bind answer=409 applied=true: 10 of 10\n"
            "list empty=true: 3 of 8\n");
  EXPECT_EQ(all, (Doubled{254, 46}));
}

// Mode decide: every pod that there is room for finds its place once, and none is lost.
struct Told {
  std::string name;
  uint64_t pods, bound;
};

void expect_placed(const Told& told, const Recording& recording, const replayer::RunConfig& how) {
  SCOPED_TRACE(told.name);
  const auto outcome = replayer::replay(recording, how);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  ASSERT_TRUE(outcome->decided.has_value());
  const replayer::Decided& decided = *outcome->decided;
  EXPECT_EQ(decided.pods, told.pods);
  EXPECT_EQ(decided.bound, told.bound);
  EXPECT_EQ(decided.pending, told.pods - told.bound);
  EXPECT_EQ(decided.bound_twice, 0U);
  EXPECT_EQ(decided.gone_unbound, 0U);
  EXPECT_GT(decided.median_wait.ns, 0);
  EXPECT_EQ(outcome->roots(), 0U);
}

TEST(Decide, EveryPodThatThereIsRoomForIsBoundOnceUnderCombined) {
  replayer::RunConfig how;
  how.mode = replayer::Mode::kDecide;
  how.policy = *scheduler::preset("combined");
  for (const Told& told : {Told{"race", 20, 20}, Told{"burst", 30, 30}}) expect_placed(told, capture(told.name), how);
  const auto tight = replayer::load_scenario(kTight);
  ASSERT_TRUE(tight.ok()) << tight.error().message();
  const auto recording = replayer::record(*tight);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  expect_placed({"tight", 20, 10}, **recording, replayer::run_config(*tight, how.policy));
}

// Confirmation comes half a second after the bind, and until then the room of a pod looks free.
TEST(Decide, OnTightWithoutAnAssumedStorePodsArePlacedTwiceOver) {
  const auto tight = replayer::load_scenario(kTight);
  ASSERT_TRUE(tight.ok()) << tight.error().message();
  const auto recording = replayer::record(*tight);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  const auto outcome = replayer::replay(**recording, replayer::run_config(*tight, *scheduler::preset("no-assume")));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(outcome->decided->bound, 20U);
  EXPECT_EQ(outcome->decided->pending, 0U);
  std::set<NodeId> nodes;
  for (const Finding& finding : outcome->findings) {
    if (finding.verdict == Verdict::kOvercommitTruth) nodes.insert(finding.node);
  }
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_EQ(replayer::score_of(*outcome).double_placements, 2U);
}

}  // namespace
}  // namespace inquest::cli
