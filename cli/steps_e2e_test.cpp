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

}  // namespace
}  // namespace inquest::cli
