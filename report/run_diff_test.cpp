// Which findings of two runs are one, and what is said of those that are not.
#include "report/run_diff.h"

#include <gtest/gtest.h>

namespace inquest::report {
namespace {

using Finding = RunFile::Finding;

constexpr Time kStart{1'000'000'000};

Finding finding(const char* verdict, const char* uid, int64_t born_s, std::optional<int64_t> end_s = {}) {
  Finding out;
  out.verdict = verdict;
  out.pod = RunFile::Pod{"n", "p", uid};
  out.node = "n1";
  out.birth = kStart + Duration::seconds(born_s);
  out.cure = end_s ? "event" : "never";
  if (end_s) out.end = kStart + Duration::seconds(*end_s);
  return out;
}

RunFile run(std::vector<Finding> findings) {
  RunFile out;
  out.trace = {"t.trace", "uuid", true};
  out.run.mode = "follow";
  out.run.policy = {"combined", "combined", {{"ttl", "30s"}, {"relist", "60s"}}};
  out.run.start = kStart;
  out.verdict = findings.empty() ? "ok" : "violated";
  out.root_findings = findings.size();
  for (size_t i = 0; i < findings.size(); ++i) findings[i].id = std::string("F").append(std::to_string(i + 1));
  out.findings = std::move(findings);
  return out;
}

std::string text(const RunFile& a, const RunFile& b) {
  return run_diff_text({"a.run.json", &a}, {"b.run.json", &b}, Style(Colour::kOff));
}

TEST(RunDiff, OfOneRunIsNothing) {
  const RunFile a = run({finding("zombie-scheduled", "u1", 2), finding("zombie-assumed", "u1", 2, 5)});
  EXPECT_TRUE(diff_runs(a, a).same());
  EXPECT_NE(text(a, a).find("runs      the same · 2 findings in both\n"), std::string::npos) << text(a, a);
}

TEST(RunDiff, PairsByWhatAndWhen) {
  const RunFile a = run({finding("zombie-scheduled", "u1", 2), finding("wrong-node", "u2", 3), finding("x", "u3", 9)});
  const RunFile b = run({finding("ghost-queued", "u0", 1), finding("zombie-scheduled", "u1", 2, 7),
                         finding("wrong-node", "u2", 4), finding("x", "u3", 9)});
  const RunDiff diff = diff_runs(a, b);
  ASSERT_EQ(diff.findings.size(), 5U);
  const auto pair = [&](size_t i) {
    const auto id = [](const Finding* one) { return one == nullptr ? std::string("-") : one->id; };
    return id(diff.findings[i].a) + " " + id(diff.findings[i].b) + (diff.findings[i].same() ? " same" : "");
  };
  EXPECT_EQ(pair(0), "- F1");
  EXPECT_EQ(pair(1), "F1 F2");
  EXPECT_EQ(pair(2), "F2 -");
  EXPECT_EQ(pair(3), "- F3");
  EXPECT_EQ(pair(4), "F3 F4 same");
  EXPECT_FALSE(diff.same());
  EXPECT_NE(text(a, b).find("findings  1 the same, 4 not\n"), std::string::npos) << text(a, b);
  EXPECT_NE(text(a, b).find("+2.000 s  never       +7.000 s by event"), std::string::npos) << text(a, b);
}

TEST(RunDiff, NamesEveryInputThatDiffers) {
  const RunFile a = run({});
  RunFile b = a;
  b.trace.uuid = "other";
  b.run.policy.parameters = {{"ttl", "5s"}, {"relist", "60s"}, {"new", "yes"}};
  b.run.faults = {{"drop pods", 1, 0, 0, {}}};
  b.run.lag_ns = 2'000'000'000;
  std::string all;
  for (const RunDiff::Row& row : diff_runs(a, b).inputs) all += row.what + "=" + row.a + "/" + row.b + " ";
  EXPECT_EQ(all, "trace=uuid/other ttl=30s/5s new=-/yes fault 1=-/drop pods lag=0s/2s ");
  EXPECT_TRUE(diff_runs(a, b).outcomes.empty());
}

TEST(RunDiff, TheSameInputsMustGiveTheSameRun) {
  const RunFile a = run({});
  RunFile b = a;
  b.run.chain = "1";
  EXPECT_FALSE(diff_runs(a, b).same());
  EXPECT_NE(text(a, b).find("inputs    the same\n"), std::string::npos);
  EXPECT_NE(text(a, b).find("the same inputs must give the same run"), std::string::npos);
}

// Whatever a file of a stranger says, it does not act on a terminal.
TEST(RunDiff, EscapesWhatItShows) {
  RunFile a = run({finding("zombie\x1b[2J", "u\x1b", 2)});
  a.run.policy.text = "\x1b";
  a.run.faults = {{"\x1b[2J", 1, 0, 0, {}}};
  const RunFile b = run({});
  EXPECT_EQ(text(a, b).find('\x1b'), std::string::npos) << text(a, b);
}

}  // namespace
}  // namespace inquest::report
