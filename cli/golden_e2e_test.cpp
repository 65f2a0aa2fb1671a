// What a person sees, as files in cli/golden. INQUEST_UPDATE_GOLDENS=1 writes them anew; read the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

struct Golden {
  const char* name;
  std::vector<std::string> args;
  int exit;
};

const std::string kDrop = "pods DELETED name=pod1";

// Every kind once, as docs/faults.md shows it; the last never fires in hostport.
const std::string kPlan =
    "inquest: plan/1\n"
    "faults:\n"
    "- drop: {resource: pods, verb: DELETED, name: pod1}\n"
    "- delay: {resource: pods, when: {field: spec.nodeName, becomes: pair-1}, by: 45s}\n"
    "- swap: {resource: pods, verb: DELETED, name: pod1}\n"
    "- duplicate: {resource: pods, verb: MODIFIED, name: pod2, by: 2s}\n"
    "- tombstone: {resource: pods, name: pod1, watch: scheduled}\n"
    "- collapse: {resource: pods, name: pod2}\n"
    "- rv-back: {at: \"@19\", back: 5s}\n"
    "- disconnect: {resource: pods, at: +12s, for: 20s, then: relist}\n"
    "- bookmarks: {resource: pods, nth: all}\n"
    "- list: {nth: 2, stale: 5s}\n"
    "- bind: {nth: 3, answer: lost, applied: true}\n"
    "- restart: {at: \"@27\"}\n"
    "- clock: {at: +10s, step: -90s}\n"
    "- restart: {at: \"@1200\"}\n";

std::vector<Golden> goldens() {
  return {
      {"info", {"info", "hostport.trace"}, 0},
      {"verify", {"verify", "hostport.trace"}, 0},
      {"records", {"records", "hostport.trace", "--name", "pod1", "--diff"}, 0},
      {"records-json", {"records", "hostport.trace", "--verb", "DELETED", "--limit", "1", "--json", "--body"}, 0},
      {"replay-clean", {"replay", "hostport.trace"}, 0},
      {"replay-delete-both", {"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop}, 1},
      {"replay-combined", {"replay", "hostport.trace", "--policy", "combined", "--drop", kDrop}, 1},
      {"replay-json", {"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop, "--json"}, 1},
      {"replay-blame",
       {"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop, "--drop", kDrop, "--drop",
        "pods DELETED name=pod2", "--duplicate", "pods MODIFIED name=pod1"},
       1},
      {"replay-gap", {"replay", "gap.trace", "--policy", "upstream-2016"}, 1},
      {"replay-until", {"replay", "hostport.trace", "--until", "+5s", "--policy", "delete-both", "--drop", kDrop}, 0},
      {"replay-decide", {"replay", "hostport.trace", "--mode", "decide"}, 0},
      {"replay-step", {"replay", "hostport.trace", "--step", "--until", "@10"}, 0},
      {"state", {"state", "hostport.trace", "--at", "+9.04s", "--policy", "delete-both", "--drop", kDrop}, 0},
      {"state-json", {"state", "hostport.trace", "--at", "@10", "--store", "nodes", "--json"}, 0},
      {"diff-truth", {"diff", "hostport.trace", "--at", "+6s", "--policy", "delete-both", "--drop", kDrop}, 1},
      {"diff-runs", {"diff", "a.run.json", "b.run.json"}, 1},
      {"diff-traces", {"diff", "hostport.trace", "slice.trace"}, 1},
      {"info-json", {"info", "hostport.trace", "--json"}, 0},
      {"plan-lint", {"plan", "lint", "plan.yaml", "hostport.trace"}, 1},
      {"plan-explain", {"plan", "explain", "plan.yaml", "hostport.trace"}, 0},
      {"plan-explain-json", {"plan", "explain", "plan.yaml", "--json"}, 0},
      {"policies", {"policies"}, 0},
      {"replay-help", {"replay", "--help"}, 0},
      {"help", {"--help"}, 0},
  };
}

// Each import draws a new uuid, and sizes hang on the version of zstd.
std::string steady(std::string text) {
  const std::pair<const char*, const char*> changes[] = {
      {R"(uuid( +)[0-9a-f-]{36}  [0-9a-f-]{36})", "uuid$1UUID  UUID"},
      {"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?=\n|\",\n *\"format)", "UUID"},
      {R"([0-9.]+ KiB(?=\n| · [0-9]+ KiB of bodies))", "SIZE"},
      {R"("file_bytes": [0-9]+)", "\"file_bytes\": SIZE"},
  };
  for (const auto& [pattern, with] : changes) text = std::regex_replace(text, std::regex(pattern), with);
  return text;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = in_repository("cli/golden/" + name + ".txt");
  if (std::getenv("INQUEST_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << steady(text);
  EXPECT_EQ(steady(text), read_file(path)) << "INQUEST_UPDATE_GOLDENS=1 writes " << name << " anew";
}

TEST(Golden, WhatAPersonSees) {
  const Workplace place;
  const Ran import = place.run({"import", in_repository("traces/hostport/hostport.jsonl.zst"), "-o", "hostport.trace"});
  EXPECT_EQ(import.exit, 0);
  EXPECT_EQ(import.err, "");
  expect_golden("import", import.out);
  place.run({"import", in_repository("traces/scenarios/collapse-same-node.yaml"), "-o", "gap.trace"});
  place.write("plan.yaml", kPlan);
  place.run({"replay", "hostport.trace", "--drop", kDrop, "-o", "a.run.json"});
  place.run({"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop, "-o", "b.run.json"});
  place.run({"cut", "hostport.trace", "-o", "slice.trace", "--from", "+5s", "--to", "+15s"});
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    const Ran ran = place.run(golden.args);
    EXPECT_EQ(ran.exit, golden.exit);
    EXPECT_EQ(ran.err, "");
    expect_golden(golden.name, ran.out);
  }
}

void expect_shown(const std::string& page, const std::string& golden) {
  const std::string shown = read_file(in_repository("cli/golden/" + golden + ".txt"));
  EXPECT_NE(steady(read_file(in_repository(page))).find(shown), std::string::npos)
      << "paste what the program prints into " << page << ":\n"
      << shown;
}

// What the pages show is what the program says.
TEST(Golden, PagesShowRealOutput) {
  expect_shown("README.md", "import");
  expect_shown("README.md", "replay-delete-both");
  expect_shown("docs/faults.md", "plan-explain");
  EXPECT_NE(read_file(in_repository("docs/faults.md")).find(kPlan), std::string::npos);
  expect_shown("docs/policies.md", "naive-on-race");
  expect_shown("docs/policies.md", "naive-on-burst");
}

// The example of docs/steps.md is a file that works.
TEST(Golden, StepsPageHoldsAnExampleThatWorks) {
  const std::string page = read_file(in_repository("docs/steps.md"));
  const std::string fence = "```yaml\n";
  const size_t begin = page.find(fence + "inquest: steps/1");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = page.find("```\n", begin + fence.size());
  const Workplace place;
  place.write("example.yaml", page.substr(begin + fence.size(), end - begin - fence.size()));
  const Ran import = place.run({"import", "example.yaml"});
  EXPECT_EQ(import.exit, 0) << import.err;
  expect_golden("steps-import", import.out);
  const Ran replay = place.run({"replay", "example.trace", "--policy", "naive"});
  EXPECT_EQ(replay.exit, 1) << replay.err;
  expect_golden("steps-replay", replay.out);
  expect_shown("docs/steps.md", "steps-import");
  expect_shown("docs/steps.md", "steps-replay");
}

TEST(Golden, NaiveOnCleanRecordings) {
  const Workplace place;
  for (const char* name : {"race", "burst"}) {
    const Ran ran = place.run({"replay", place.imported(name), "--policy", "naive"});
    EXPECT_EQ(ran.exit, 1);
    expect_golden(std::string("naive-on-") + name, ran.out);
  }
}

// The same trace, policy and plan give the same digest with every compiler, on every machine.
TEST(Golden, Digests) {
  const Workplace place;
  std::string table;
  for (const char* name : {"burst", "churn", "hostport", "race"}) {
    const std::string trace = place.imported(name);
    for (const char* policy : {"no-assume", "naive", "delete-both", "locked-delete", "relist-corrects-assumed",
                               "ttl-only", "combined", "upstream-2016", "upstream-now", "journal", "live"}) {
      for (const char* drop : {"", "pods DELETED nth=3"}) {
        std::vector<std::string> args{"replay", trace, "--json", "--policy", policy};
        if (*drop != '\0') args.insert(args.end(), {"--drop", drop});
        const Ran ran = place.run(args);
        const size_t at = ran.out.find("\"chain\": \"");
        ASSERT_NE(at, std::string::npos) << ran.out << ran.err;
        const std::string fault = *drop == '\0' ? "no fault" : std::string("drop ") + drop;
        table += std::string(name) + "  " + policy + "  " + fault + "  exit " + std::to_string(ran.exit) + "  " +
                 ran.out.substr(at + 10, 16) + "\n";
      }
    }
  }
  expect_golden("digests", table);
}

// The tables in the pages are generated: they stand between two marks.
void expect_table(const std::string& page_name, const std::string& begin, const std::string& end,
                  const std::vector<std::string>& args) {
  const Workplace place;
  const Ran ran = place.run(args);
  EXPECT_EQ(ran.exit, 0);
  std::string page = read_file(in_repository(page_name));
  size_t from = page.find(begin), to = page.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  if (std::getenv("INQUEST_UPDATE_GOLDENS") != nullptr) {
    page.replace(from + begin.size(), to - from - begin.size(), ran.out);
    std::ofstream(in_repository(page_name)) << page;
    to = page.find(end);
  }
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), ran.out);
}

TEST(Golden, PagesHoldTheTables) {
  expect_table("docs/policies.md", "<!-- policies:begin: inquest policies --markdown -->\n", "<!-- policies:end -->",
               {"policies", "--markdown"});
  expect_table("docs/policies.md", "<!-- matrix:begin: inquest matrix traces/scenarios --markdown -->\n",
               "<!-- matrix:end -->", {"matrix", in_repository("traces/scenarios"), "--markdown"});
  expect_table("docs/faults.md", "<!-- kinds:begin: inquest plan kinds --markdown -->\n", "<!-- kinds:end -->",
               {"plan", "kinds", "--markdown"});
}

}  // namespace
}  // namespace inquest::cli
