// plan lint, explain and kinds as a process; and what replay says of faults that do nothing.
#include <gtest/gtest.h>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

std::string plan_of(const std::string& faults) { return "inquest: plan/1\nfaults:\n" + faults; }

TEST(PlanLint, ExitsByWhatItFinds) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.write("good.yaml", plan_of("- drop: pods DELETED name=pod1\n"));
  place.write("twice.yaml",
              plan_of("- drop: pods DELETED name=pod1\n- drop: {verb: DELETED, resource: pods, name: pod1}\n"));
  place.write("vain.yaml", plan_of("- drop: pods DELETED name=nobody\n- restart: \"@99999\"\n"));
  place.write("bad.yaml", plan_of("- drop: {colour: red}\n- drop: pods DELETED\n- delay: {name: a}\n"));
  struct Row {
    std::vector<std::string> args;
    int exit;
    const char* says;
  };
  const Row rows[] = {
      {{"plan", "lint", "good.yaml"}, 0, "nothing wrong"},
      {{"plan", "lint", "good.yaml", trace}, 0, "nothing wrong"},
      {{"plan", "explain", "good.yaml", trace},
       0,
       "The first DELETED of a pod named pod1 never reaches the scheduler."},
      {{"plan", "lint", "twice.yaml"}, 1, "fault 2 (drop pods DELETED name=pod1) says the same as fault 1"},
      {{"plan", "lint", "vain.yaml"}, 0, "nothing wrong"},
      {{"plan", "lint", "vain.yaml", trace}, 1, "never fires: no pod here has a name such as 'nobody'"},
      {{"plan", "lint", "vain.yaml", trace}, 1, "never fires: @99999 is beyond the end"},
      {{"plan", "explain", "vain.yaml", trace}, 0, "never fires: no pod here has a name such as 'nobody'"},
      {{"plan", "lint", "bad.yaml"}, 2, "bad.yaml:3: 'drop' takes no field 'colour'"},
      {{"plan", "lint", "bad.yaml"}, 2, "bad.yaml:5: 'delay' needs by"},
      {{"plan", "explain", "bad.yaml"}, 2, "The first DELETED of a pod"},
      {{"plan", "kinds"}, 0, "rv-back"},
      {{"plan", "kinds", "--json"}, 0, "\"waits_for\": \"a bind\""},
  };
  for (const Row& row : rows) {
    const Ran ran = place.run(row.args);
    EXPECT_EQ(ran.exit, row.exit) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(row.says), std::string::npos) << row.says << "\n" << ran.out;
    EXPECT_EQ(ran.err.empty(), row.exit != 2) << ran.err;
  }
}

TEST(PlanLint, MisuseIsTwo) {
  const Workplace place;
  place.write("good.yaml", plan_of("- drop: pods\n"));
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"plan"},
                                             {"plan", "lint"},
                                             {"plan", "lint", "missing.yaml"},
                                             {"plan", "lint", "good.yaml", "missing.trace"},
                                             {"plan", "burn", "x"}}) {
    const Ran ran = place.run(args);
    EXPECT_EQ(ran.exit, 2) << ran.out;
    EXPECT_FALSE(ran.err.empty());
  }
}

TEST(PlanLint, JsonHoldsErrorsProblemsAndHits) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.write("p.yaml", plan_of("- drop: pods DELETED name=pod1\n- list: empty\n- drop: pods name=nobody\n"));
  const Ran ran = place.run({"plan", "lint", "p.yaml", trace, "--json"});
  EXPECT_EQ(ran.exit, 1);
  for (const char* part : {"\"errors\": []", "\"count\": 1", "\"count\": null", "\"never\": \"no pod here has",
                           "\"verb\": \"DELETED\"", "\"name\": \"pod1\""}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
}

// A fault that does nothing makes the run unknown, and the run says why.
TEST(PlanReplay, AFaultInVainIsUnknownAndSaysWhy) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  struct Row {
    std::vector<std::string> args;
    const char* says;
  };
  const Row rows[] = {
      {{"--drop", "pods name=nobody"}, "never fired: no pod here has a name such as 'nobody'"},
      {{"--drop", "@99999"}, "never fired: @99999 is beyond the end"},
      {{"--restart", "@99999"}, "never fired: @99999 is beyond the end"},
      {{"--tombstone", "pods name=nobody"}, "never fired: no pod here has a name such as 'nobody'"},
      {{"--bind", "lost name=nobody"}, "never fired: no bind here has a name such as 'nobody'"},
      {{"--watches", "one", "--drop", "pods name=nobody watch=queued"}, "this policy has one watch for all"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> args{"replay", trace};
    args.insert(args.end(), row.args.begin(), row.args.end());
    const Ran ran = place.run(args);
    EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(row.says), std::string::npos) << row.says << "\n" << ran.out;
  }
}

}  // namespace
}  // namespace inquest::cli
