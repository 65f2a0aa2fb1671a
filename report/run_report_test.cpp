// The rarer lines of a run's report. What a real run shows is held by cli/golden.
#include "report/run_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/run_file.h"
#include "report/run_shown_for_tests.h"

namespace inquest::report {
namespace {

using replayer::Cure;
using replayer::Finding;
using replayer::Verdict;
using scheduler::Misfit;

class RunReport : public RunShownTest {};

TEST_F(RunReport, SaysWhatWasNotReplayed) {
  outcome_.skipped = 3;
  outcome_.outside_coverage = 918;
  outcome_.refused_within_lag = 1;
  expect("run      follow nobody · combined · no faults · drain 91 s");
  expect("but not  3 binds: the pod never came into the view\n");
  expect("but not  918 binds outside coverage: sent while nobody watched the pods\n");
  expect("note     1 recorded bind the view's books would have refused");
}

TEST_F(RunReport, NamesEveryChangeOfTheRun) {
  config_.policy.ttl = Duration::seconds(5);
  config_.lag = Duration::seconds(2);
  config_.seed = 7;
  config_.scheduler_names = {"x", "y"};
  expect("· for pods of x, y · combined ttl=5s · no faults · lag 2 s · drain 91 s · seed 7 · chain 00000000");
}

TEST_F(RunReport, CutsWhatIsLongAndSaysSo) {
  for (int i = 0; i < 5; ++i) add(Verdict::kZombieAssumed);
  for (int i = 0; i < 4; ++i) outcome_.findings[0].would_refuse.push_back({kStart, pod(), {}, {}});
  add(Verdict::kWrongNode).root = 0;
  add(Verdict::kWrongNode).root = 0;
  const Limits limits{2, 1, 3, 10, 3};
  expect("verdict  violated · 5 findings: 5 zombie-assumed · 2 consequences", limits);
  expect("\nand 3 more findings like these\n--all shows every one, --json holds them all\n", limits);
  expect("and 1 more pod\n", limits);
  expect("and 1 more\n", limits);
}

TEST_F(RunReport, GroupsWhatIsAlike) {
  config_.plan.faults.resize(2);
  for (int i = 0; i < 11; ++i)
    add(Verdict::kZombieScheduled).because = replayer::FaultHit{0, 25, kStart, Verb::kAdded, 7, {}, {}, 0};
  for (int i = 0; i < 12; ++i) add(Verdict::kZombieAssumed).race = replayer::Race::kDeletedBeforePurge;
  for (int i = 0; i < 10; ++i) add(Verdict::kMissingQueued);
  expect(
      "\nand 8 more zombie-scheduled by fault 1, +4.000 s … +11.000 s\n"
      "and 9 more zombie-assumed by the same race, +15.000 s … +23.000 s\n"
      "--all shows every one, --json holds them all\n");
  const std::string shown = text();
  EXPECT_NE(shown.find("\nF3  "), std::string::npos);
  EXPECT_EQ(shown.find("\nF4  "), std::string::npos);
  for (int i = 24; i <= 33; ++i) EXPECT_NE(shown.find(fmt::format("\nF{}  missing-queued", i)), std::string::npos);
  const std::string all = text(Limits::none());
  for (int i = 1; i <= 33; ++i) EXPECT_NE(all.find(fmt::format("\nF{}  ", i)), std::string::npos);
  EXPECT_EQ(all.find("--all"), std::string::npos);
}

TEST_F(RunReport, SaysWhetherItTakesAllFaultsOrAnyOfThem) {
  using Kind = replayer::Blame::Kind;
  config_.plan.faults.resize(2);
  const replayer::FaultHit first{0, 25, kStart, Verb::kAdded, 7, pod(), {}, 0};
  const replayer::FaultHit second{1, 27, kStart, Verb::kDeleted, 9, pod(), {}, 0};
  for (const Kind kind : {Kind::kFaults, Kind::kJointly}) {
    replayer::Finding& finding = add(Verdict::kMissingQueued);
    finding.because = first;
    finding.blame = {kind, {first, second}, {}};
  }
  expect(
      "because       fault 1 dropped @25 ADDED rv 7; fault 2 dropped @27 DELETED rv 9; it is gone without any one of");
  expect(
      "because       fault 1 dropped @25 ADDED rv 7; fault 2 dropped @27 DELETED rv 9; it is gone only without all of");
  outcome_.too_many_to_blame = 250;
  expect("note     not proved: 250 faults are too many to take away one by one");
  const std::string json = run_json(shown());
  EXPECT_NE(json.find("\"kind\": \"jointly\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"too_many_to_blame\": 250"), std::string::npos) << json;
}

TEST_F(RunReport, SaysWhatIsThereWithoutAnyFault) {
  add(Verdict::kMissingQueued).blame.kind = replayer::Blame::Kind::kRecording;
  add(Verdict::kMissingQueued).blame.kind = replayer::Blame::Kind::kPolicy;
  add(Verdict::kMissingQueued);
  expect("because       the recording itself, no fault: first so at @0\n");
  expect("because       the policy, no fault: first so at @0; under combined it does not arise\n");
  expect("because       no fault touched it; first so at @0\n");
}

TEST_F(RunReport, TellsAFrameThatWasHitFromOneThatWaited) {
  config_.plan.faults.resize(2);
  config_.plan.faults[0].kind = replayer::FaultKind::kDelay;
  config_.plan.faults[1].kind = replayer::FaultKind::kDelay;
  outcome_.faults.resize(2);
  outcome_.faults[0].fired = 1;
  outcome_.faults[1].overruled = 3;
  add(Verdict::kMissingQueued).because = replayer::FaultHit{0, 25, kStart, Verb::kAdded, 7, pod(), {}, 0};
  add(Verdict::kMissingQueued).because = replayer::FaultHit{0, 27, kStart, Verb::kAdded, 9, pod(), {}, 25};
  expect("because       fault 1 delayed @25 ADDED rv 7\n");
  expect("because       fault 1 held it up: @27 behind @25\n");
  expect("fault    2  , fired 0, overruled 3\n");
  const std::string json = run_json(shown());
  EXPECT_NE(json.find("\"how\": \"hit\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"how\": \"held-up\",\n        \"behind_seq\": 25"), std::string::npos) << json;
}

TEST_F(RunReport, NamesWhatIsExceeded) {
  const HostPort port{"", Protocol::kTcp, 80};
  add(Verdict::kOvercommitView).misfit = {Misfit::Kind::kPort, pod(), &port, {}};
  add(Verdict::kOvercommitTruth).misfit = {Misfit::Kind::kExtended, {}, nullptr, "example.com/gpu"};
  expect("exceeds       80/TCP is taken twice, first by n/a\n");
  expect("exceeds       more example.com/gpu charged than the node has\n");
}

TEST_F(RunReport, APointHasNoCure) {
  Finding& finding = add(Verdict::kDoubleBind);
  finding.end = finding.birth;
  expect("F1  double-bind  n/a (uid u-12…)  at +1.000 s\n");
  EXPECT_EQ(text().find("heals"), std::string::npos) << text();
}

TEST_F(RunReport, SaysHowItEnds) {
  struct Case {
    std::optional<Duration> end;  // after birth
    Cure cure;
    bool after_end;
    std::optional<replayer::Healing> elsewhere;
    const char* says;
  };
  const Time later = kStart + Duration::seconds(60);
  const Case cases[] = {
      {Duration::seconds(30), Cure::kTtl, true, {}, "by the TTL at +31.000 s (after end); it lasted 30 s\n"},
      {Duration::seconds(2), Cure::kFrame, false, {}, "by an event at +3.000 s; it lasted 2 s\n"},
      {{}, Cure::kNever, false, {}, "not under combined\n"},
      {{},
       Cure::kNever,
       false,
       {{"x", Cure::kRelist, later, true}},
       "; under x by the relist at +60.000 s (after end)\n"},
      {{}, Cure::kNever, false, {{"x", Cure::kNever, {}, false}}, "not under combined, nor under x\n"},
      {{}, Cure::kNever, false, {{"x", Cure::kTruth, {}, false}}, "not under combined; under x it does not arise\n"},
  };
  for (const Case& one : cases) {
    outcome_.findings.clear();
    Finding& finding = add(Verdict::kZombieScheduled);
    if (one.end) finding.end = finding.birth + *one.end;
    finding.cure = one.cure;
    finding.after_end = one.after_end;
    finding.elsewhere = one.elsewhere;
    expect(one.says);
  }
}

TEST_F(RunReport, UnknownSaysWhy) {
  outcome_.ending = replayer::Ending::kUnknown;
  outcome_.unknown_because = {"fault 1 (drop x) never fired"};
  expect("verdict  unknown");
  expect("unknown  fault 1 (drop x) never fired\n");
}

TEST(MisfitText, EveryKind) {
  Catalog catalog;
  const NodeId node = catalog.node("n1");
  const PodId holder = catalog.pod(catalog.key(catalog.string("n"), catalog.string("a")), catalog.string("u-1234"));
  const HostPort port{"", Protocol::kTcp, 80};
  const auto text = [&](const Misfit& misfit, Uids uids = Uids::kHide) {
    return misfit_text(catalog, misfit, node, uids);
  };
  const Misfit held{Misfit::Kind::kPort, holder, &port, {}};
  EXPECT_EQ(text(held), "80/TCP on n1 is held by n/a");
  EXPECT_EQ(text(held, Uids::kShow), "80/TCP on n1 is held by n/a (u-12…)");
  EXPECT_EQ(text({Misfit::Kind::kExtended, {}, nullptr, "example.com/gpu"}), "not enough example.com/gpu on n1");
  EXPECT_EQ(text({Misfit::Kind::kCpu, {}, nullptr, {}}), "not enough cpu on n1");
  EXPECT_EQ(text({Misfit::Kind::kMemory, {}, nullptr, {}}), "not enough memory on n1");
  EXPECT_EQ(text({Misfit::Kind::kEphemeral, {}, nullptr, {}}), "not enough ephemeral storage on n1");
  EXPECT_EQ(text({Misfit::Kind::kPods, {}, nullptr, {}}), "no room for one more pod on n1");
  EXPECT_EQ(text({Misfit::Kind::kNoSuchNode, {}, nullptr, {}}), "n1 is not in the view");
}

}  // namespace
}  // namespace inquest::report
