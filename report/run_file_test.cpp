// What is written of a run is what is read back; and whatever else is in the file is an error that says where.
#include "report/run_file.h"

#include <gtest/gtest.h>

#include "report/run_shown_for_tests.h"

namespace inquest::report {
namespace {

using replayer::Cure;
using replayer::Race;
using replayer::Verdict;
using scheduler::Misfit;

const HostPort kPort{"10.0.0.1", Protocol::kUdp, 53};

class RunFiles : public RunShownTest {
 protected:
  // Each field of a run file once with a value and once without.
  void fill() {
    config_.seed = UINT64_MAX;
    config_.scheduler_names = {"x\"y", ""};
    config_.plan.faults = {*replayer::parse_fault(replayer::FaultKind::kDrop, "pods DELETED name=a"),
                           *replayer::parse_fault(replayer::FaultKind::kClock, "at=+1s step=-3s")};
    outcome_.chain = 0xfedcba9876543210;
    outcome_.state = 7;
    outcome_.unknown_because = {"one", "two\n\x1b[2J"};
    outcome_.faults.resize(2);
    outcome_.faults[0].fired = 1;
    outcome_.faults[0].hits = {{0, 3, kStart, Verb::kDeleted, 12, pod(), {}, 0},
                               {0, 4, kStart, Verb::kAdded, 13, {}, {}, 3}};
    outcome_.faults[1].hits = {{1, 5, kStart, Verb::kModified, 0, {}, {}, 0}};
    outcome_.while_away = 4;
    outcome_.blocked = Duration::seconds(3);
    config_.mode = replayer::Mode::kDecide;
    config_.pace.deliver = Duration::milliseconds(7);
    replayer::Decided& came = outcome_.decided.emplace();
    came.pace.bind_rtt = {Duration::milliseconds(3), 12};
    came.pace.deliver = {Duration::milliseconds(7), 0};
    came.pods = 9, came.bound = 8, came.bound_twice = 1, came.pending = 2, came.gone_unbound = 3, came.decisions = 20;
    came.unschedulable = 4, came.refused = 5, came.hanging = 6;
    came.median_wait = Duration::milliseconds(11), came.longest_wait = Duration::milliseconds(12);
    replayer::Finding& whole = add(Verdict::kOvercommitView);
    whole.holds = recording_->pods().front().shape;
    whole.end = kStart + Duration::seconds(5);
    whole.cure = Cure::kRelist;
    whole.after_end = true;
    whole.because = outcome_.faults[0].hits[0];
    whole.blame = {replayer::Blame::Kind::kJointly, {*whole.because, *whole.because}, {}};
    whole.other = pod();
    outcome_.too_many_to_blame = 250;
    whole.misfit = {Misfit::Kind::kPort, pod(), &kPort, "example.com/gpu"};
    whole.elsewhere = replayer::Healing{"combined", Cure::kTtl, kStart, true};
    whole.would_refuse = {{kStart, pod(), {}, whole.misfit}, {kStart, pod(), {}, {}}};
    add(Verdict::kZombieAssumed).race = Race::kDeletedBeforePurge;
    add(Verdict::kZombieAssumed).race = Race::kDeletedBeforeAssumed;
    outcome_.findings.back().root = 0;
    outcome_.findings.back().elsewhere = replayer::Healing{"combined", Cure::kNever, {}, false};
    outcome_.findings.back().pod = {};
    outcome_.findings.back().lane = replayer::Lane::kNodes;
  }
  std::string error_of(const std::string& text) const {
    const auto parsed = parse_run_file(text, "x.run.json");
    return parsed.ok() ? "" : parsed.error().message();
  }
};

TEST_F(RunFiles, ReadBackIsWritten) {
  const auto empty = parse_run_file(run_json(shown()), "x");
  ASSERT_TRUE(empty.ok()) << empty.error().message();
  EXPECT_EQ(*empty, run_file(shown()));
  fill();
  const auto full = parse_run_file(run_json(shown()), "x");
  ASSERT_TRUE(full.ok()) << full.error().message();
  EXPECT_EQ(*full, run_file(shown()));
  EXPECT_NE(*full, *empty);
  EXPECT_EQ(full->run.seed, UINT64_MAX);
  EXPECT_EQ(full->run.chain, "fedcba9876543210");
  EXPECT_EQ(full->run.faults[1].text, "clock at=+1s step=-3s");
  EXPECT_EQ(full->run.policy.parameters.size(), scheduler::parameters().size());
  EXPECT_EQ(full->run.pace->bind_rtt.from, "median");
  EXPECT_EQ(full->run.pace->deliver.from, "given");
  EXPECT_EQ(full->run.pace->kubelet_stop.from, "assumed");
  EXPECT_EQ(full->findings[2].watch, "nodes");
  EXPECT_EQ(full->findings[2].id, "F3");
  EXPECT_EQ(full->findings[2].root, "F1");
}

TEST_F(RunFiles, BeginsLikeOne) {
  EXPECT_TRUE(begins_like_run_file(run_json(shown())));
  EXPECT_TRUE(begins_like_run_file("{\n  \"schema_version\": 99,\n  \"verb\": \"replay\"\n}"));
  for (const char* other : {"", "{", "{\n  \"schema_version\": ", "{\n  \"schema_version\": ,\n  \"verb\": \"replay\"",
                            "{\n  \"schema_version\": 1,\n  \"verb\": \"info\"", "SQLite format 3"}) {
    EXPECT_FALSE(begins_like_run_file(other)) << other;
  }
}

// Wherever it was cut, it is an error and no crash.
TEST_F(RunFiles, TruncatedAnywhereIsAnError) {
  fill();
  const std::string text = run_json(shown());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_NE(error_of(text.substr(0, length)), "") << length;
  }
}

TEST_F(RunFiles, EachWrongFieldIsNamed) {
  fill();
  const std::string text = run_json(shown());
  struct Row {
    std::string from, to, says;
  };
  const Row rows[] = {
      {"\"schema_version\": 1", "\"schema_version\": 2", "made by a newer version (schema_version 2"},
      {"\"schema_version\": 1", "\"schema_version\": 0", "schema_version 0 never was"},
      {"\"schema_version\": 1", "\"schema_version\": \"1\"", "is no run file"},
      {"\"verb\": \"replay\"", "\"verb\": \"info\"", "is no run file"},
      {"\"uuid\"", "\"uudi\"", "trace.uuid is missing"},
      {"\"mode\": \"decide\"", "\"mode\": 3", "run.mode is no text"},
      {"\"seed\": 18446744073709551615", "\"seed\": -1", "run.seed is no whole number from 0 on"},
      {"\"seed\": 18446744073709551615", "\"seed\": 1.5", "run.seed is no whole number from 0 on"},
      {"\"lag_ns\": 1000000000", "\"lag_ns\": null", "run.lag_ns is no whole number"},
      {"\"fired\": 1", "\"fired\": {}", "run.faults[0].fired is no whole number from 0 on"},
      {"\"port\": 53", "\"port\": 65536", "findings[0].exceeds.host_port.port is above 65535"},
      {"\"after_end\": true", "\"after_end\": 1", "findings[0].after_end is neither true nor false"},
      {"\"would_refuse\": [", "\"would_refuse\": 1, \"x\": [", "findings[0].would_refuse is no list"},
      {"\"ns\": 6000000000", "\"ms\": 6000000000", "findings[0].end.ns is missing"},
      {"\"ttl\": \"30s\"", "\"ttl\": 30", "run.policy.parameters.ttl is no text"},
  };
  for (const Row& row : rows) {
    std::string wrong = text;
    const size_t at = wrong.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    wrong.replace(at, row.from.size(), row.to);
    EXPECT_NE(error_of(wrong).find(row.says), std::string::npos) << row.to << ": " << error_of(wrong);
  }
}

TEST_F(RunFiles, NewFieldsArePassedOver) {
  std::string text = run_json(shown());
  text.replace(text.find("\"mode\""), 0, "\"mood\": [{\"a\": {}}], ");
  const auto parsed = parse_run_file(text, "x");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  EXPECT_EQ(*parsed, run_file(shown()));
}

TEST_F(RunFiles, HostileOnesAreErrors) {
  EXPECT_EQ(parse_run_file("[]", "x").error().code, ErrorCode::kInput);
  for (const std::string& text :
       {std::string(100'000, '['), std::string("{\"a\":") + std::string(1000, '['), std::string("\0\0\0", 3),
        std::string("{\"schema_version\": 1}"), std::string("{\"schema_version\": 1, \"verb\": \"\xff\"}")}) {
    EXPECT_NE(error_of(text), "") << text.substr(0, 40);
  }
  std::string newer = "{\"schema_version\": 99999, \"verb\": \"replay\"}";
  EXPECT_EQ(parse_run_file(newer, "x").error().code, ErrorCode::kNewer);
}

}  // namespace
}  // namespace inquest::report
