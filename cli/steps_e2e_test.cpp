// Stories told in steps, from the file to the findings; and what the other verbs make of their traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string chain_of(const Workplace& place, const std::string& trace) {
  const Ran ran = place.run({"replay", trace, "--json", "--policy", "naive"});
  const size_t at = ran.out.find("\"chain\": \"");
  return at == std::string::npos ? ran.err : ran.out.substr(at + 10, 16);
}

std::vector<std::string> scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(in_repository("traces/scenarios"))) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Steps, EveryScenarioIsATraceLikeAnyOther) {
  const Workplace place;
  for (const std::string& name : scenarios()) {
    SCOPED_TRACE(name);
    const std::string file = in_repository("traces/scenarios/" + name + ".yaml"), trace = name + ".trace";
    const Ran import = place.run({"import", file});
    const bool gap = holds(import.out, "1 gap");
    EXPECT_EQ(import.exit, gap ? 3 : 0) << import.out << import.err;
    const Ran verify = place.run({"verify", trace});
    EXPECT_EQ(verify.exit, gap ? 3 : 0) << verify.out << verify.err;
    EXPECT_TRUE(holds(place.run({"info", trace}).out, "told in steps by hand, not recorded"));
    EXPECT_EQ(place.run({"records", trace, "--body"}).exit, gap ? 3 : 0);
  }
}

TEST(Steps, WhatIsExportedImportsToTheSameRun) {
  const Workplace place;
  for (const char* name :
       {"deleted-before-assumed", "unknown-bind-applied", "collapse-unbound", "uid-less-late-bind"}) {
    SCOPED_TRACE(name);
    const std::string trace = std::string(name) + ".trace", folder = std::string(name) + ".lines";
    EXPECT_LE(place.run({"import", in_repository("traces/scenarios/" + std::string(name) + ".yaml")}).exit, 3);
    EXPECT_LE(place.run({"export", trace, "-o", folder}).exit, 3);
    const Ran again = place.run({"import", folder + "/" + name + ".jsonl", folder + "/" + name + ".binds.jsonl", "-o",
                                 "again.trace", "--force"});
    EXPECT_TRUE(again.exit == 0 || again.exit == 3) << again.err;
    EXPECT_EQ(again.err, "");
    EXPECT_EQ(chain_of(place, "again.trace"), chain_of(place, trace));
  }
}

TEST(Steps, ErrorsNameTheLineAndLeaveNothingBehind) {
  const Workplace place;
  place.write("bad.yaml", "inquest: steps/1\nsteps:\n- pod1 craeted\n");
  place.write("late.yaml", "inquest: steps/1\nsteps:\n- pod1 created\n- pod2 deleted\n");
  place.write("good.yaml", "inquest: steps/1\nsteps:\n- pod1 created\n");
  struct Row {
    std::vector<std::string> args;
    std::string message;
  };
  const Row rows[] = {
      {{"import", "bad.yaml"}, "bad.yaml:3: pods know no step 'craeted' (did you mean 'created'?)"},
      {{"import", "late.yaml"}, "late.yaml:4: there is no 'pod2' (created first)"},
      {{"import", "good.yaml", "late.yaml"}, "a story in steps is a whole trace, and takes no other input beside it"},
      {{"import", "good.yaml", "--alias", "a=b"}, "a story in steps names its schedulers itself"},
      {{"import", "good.yaml", "-o", "good.yaml", "--force"}, "good.yaml: is an input and the output"},
  };
  for (const Row& row : rows) {
    const Ran ran = place.run(row.args);
    EXPECT_EQ(ran.exit, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(holds(ran.err, row.message)) << ran.err;
    EXPECT_EQ(place.listing(), "bad.yaml good.yaml late.yaml");
  }
  EXPECT_EQ(place.run({"import", "good.yaml"}).exit, 0);
  const Ran twice = place.run({"import", "good.yaml"});
  EXPECT_EQ(twice.exit, 2);
  EXPECT_EQ(place.run({"import", "good.yaml", "--force"}).exit, 0);
}

// A steps file is replayed as it is meant: with its own faults and run, unless an option says otherwise.
TEST(Steps, AStoryIsReplayedAsItStands) {
  const Workplace place;
  const std::string late = in_repository("traces/scenarios/late-confirmation.yaml");
  const std::string tight = in_repository("traces/scenarios/tight.yaml");
  place.write("own.yaml",
              "inquest: steps/1\nnodes: [n1]\nsteps:\n- +1s pod1 created\n- +2s pods bookmark\n"
              "run: {mode: decide, bind-rtt: 10ms, scheduler-name: default-scheduler, seed: 7}\n");
  struct Row {
    std::vector<std::string> args;
    int exit;
    std::vector<std::string> shows;
  };
  const Row rows[] = {
      {{"replay", late, "--policy", "ttl-only"},
       1,
       {"follow default-scheduler · ttl-only · 1 fault, fired 1", "missing-scheduled", "+30.110 s → +40.150 s"}},
      {{"replay", late, "--policy", "ttl-only", "--lag", "1m"}, 1, {"lag 60 s", "1 finding\n", "early-expire"}},
      {{"replay", late, "--policy", "ttl-only", "--drop", "pods ADDED name=pod2"}, 1, {"2 faults, fired 2"}},
      {{"replay", tight},
       0,
       {"for pods of default-scheduler · combined", "20 created · 10 bound, 0 of them twice · 10 pending", "(median)"}},
      {{"replay", tight, "--policy", "no-assume"},
       1,
       {"20 created · 20 bound, 0 of them twice · 0 pending", "2 findings: 2 overcommit in truth"}},
      {{"replay", tight, "--policy", "no-assume", "--deliver", "1ms"}, 0, {"10 bound"}},
      {{"replay", tight, "--mode", "follow"}, 0, {"follow nobody"}},
      {{"replay", "own.yaml"}, 0, {"bind-rtt 10 ms (given)"}},
      {{"replay", "own.yaml", "--bind-rtt", "20ms"}, 0, {"bind-rtt 20 ms (given)"}},
      {{"state", late, "--policy", "ttl-only", "--at", "+35s"}, 0, {"pod1"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.args));
    const Ran ran = place.run(row.args);
    EXPECT_EQ(ran.exit, row.exit) << ran.err;
    for (const std::string& shown : row.shows) EXPECT_TRUE(holds(ran.out, shown)) << shown << "\n" << ran.out;
  }
  EXPECT_EQ(place.listing(), "own.yaml");
}

TEST(Steps, WhatIsNoStoryCannotBeReplayed) {
  const Workplace place;
  place.write("plan.yaml", "inquest: plan/1\nfaults:\n- drop: {resource: pods}\n");
  place.write("bad.yaml", "inquest: steps/1\nsteps:\n- pod1 craeted\n");
  place.write("newer.yaml", "inquest: steps/9\nsteps:\n- pod1 created\n");
  const std::pair<const char*, const char*> rows[] = {
      {"plan.yaml", "plan.yaml: is YAML, but no steps file"},
      {"bad.yaml", "bad.yaml:3: pods know no step 'craeted' (did you mean 'created'?)"},
      {"newer.yaml", "newer.yaml:1"},
      {"none.yaml", "none.yaml"},
  };
  for (const auto& [file, message] : rows) {
    const Ran ran = place.run({"replay", file});
    EXPECT_EQ(ran.exit, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(holds(ran.err, message)) << ran.err;
  }
}

}  // namespace
}  // namespace inquest::cli
