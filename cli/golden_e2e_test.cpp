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

std::vector<Golden> goldens() {
  return {
      {"info", {"info", "hostport.trace"}, 0},
      {"verify", {"verify", "hostport.trace"}, 0},
      {"replay-clean", {"replay", "hostport.trace"}, 0},
      {"replay-delete-both", {"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop}, 1},
      {"replay-combined", {"replay", "hostport.trace", "--policy", "combined", "--drop", kDrop}, 1},
      {"replay-json", {"replay", "hostport.trace", "--policy", "delete-both", "--drop", kDrop, "--json"}, 1},
      {"info-json", {"info", "hostport.trace", "--json"}, 0},
      {"policies", {"policies"}, 0},
      {"replay-help", {"replay", "--help"}, 0},
      {"help", {"--help"}, 0},
  };
}

// Each import draws a new uuid; sizes hang on the version of zstd.
std::string steady(std::string text) {
  text = std::regex_replace(
      text, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?=\n|\",\n *\"format)"),
      "UUID");
  text = std::regex_replace(text, std::regex(R"([0-9.]+ KiB(?=\n| · [0-9]+ KiB of bodies))"), "SIZE");
  return std::regex_replace(text, std::regex(R"("file_bytes": [0-9]+)"), "\"file_bytes\": SIZE");
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
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    const Ran ran = place.run(golden.args);
    EXPECT_EQ(ran.exit, golden.exit);
    EXPECT_EQ(ran.err, "");
    expect_golden(golden.name, ran.out);
  }
}

// The session in README.md is what the program says.
TEST(Golden, ReadmeShowsRealOutput) {
  const std::string readme = read_file(in_repository("README.md"));
  for (const char* name : {"import", "replay-delete-both"}) {
    const std::string shown = read_file(in_repository(std::string("cli/golden/") + name + ".txt"));
    EXPECT_NE(steady(readme).find(shown), std::string::npos) << name << " is not in README.md:\n" << shown;
  }
}

// The tables in docs/policies.md are generated.
TEST(Golden, PoliciesPageHoldsTheTables) {
  const Workplace place;
  const Ran ran = place.run({"policies", "--markdown"});
  EXPECT_EQ(ran.exit, 0);
  const std::string page = read_file(in_repository("docs/policies.md"));
  const std::string begin = "<!-- policies:begin: inquest policies --markdown -->\n", end = "<!-- policies:end -->";
  const size_t from = page.find(begin), to = page.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), ran.out);
}

}  // namespace
}  // namespace inquest::cli
