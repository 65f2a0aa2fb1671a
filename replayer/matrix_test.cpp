#include "replayer/matrix.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

// While the zombie holds the one port, the pod that wants it has room in truth and none in the view.
TEST(Matrix, APodThatAZombieKeepsOutIsBlocked) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  const PodFacts pod1 = trace.place(100, "pod1", "n1", 8080);
  trace.frame(5000, Verb::kDeleted, pod1);
  trace.frame(6000, Verb::kAdded, trace.pod("pod2", "", 8080));
  trace.frame(20'000, Verb::kModified, trace.node("n1"));
  const auto recording = trace.load();
  RunConfig how = config("combined", {drop("pods DELETED name=pod1")});
  how.policy.relist.period = Duration::seconds(10);
  const auto outcome = replay(*recording, how);
  ASSERT_TRUE(outcome.ok());
  const Score score = score_of(*outcome);
  EXPECT_EQ(score.blocked, Duration::seconds(4)) << "from its creation to the re-list";
  EXPECT_EQ(score.zombies, Duration::seconds(5));
  EXPECT_EQ(score.longest_heal, Duration::seconds(5));
  EXPECT_EQ(score.never, 0U);
  EXPECT_EQ(score.violated, 1U);
}

TEST(Matrix, SweepsGiveEveryCombination) {
  const auto ttl = parse_sweep("ttl=10s,never"), relist = parse_sweep("relist=5s,1m");
  ASSERT_TRUE(ttl.ok() && relist.ok());
  const std::vector<scheduler::Policy> base = {*scheduler::preset("combined")};
  const std::vector<Sweep> sweeps = {*ttl, *relist};
  const auto rows = swept(base, sweeps);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[1].ttl, Duration::seconds(10));
  EXPECT_EQ((*rows)[1].relist.period, Duration::seconds(60));
  EXPECT_EQ((*rows)[2].ttl, std::nullopt);
  EXPECT_EQ((*rows)[2].relist.period, Duration::seconds(5));
}

TEST(Matrix, SaysWhatIsWrongWithASweep) {
  for (const char* text : {"ttl", "=5s", "ttl="}) EXPECT_FALSE(parse_sweep(text).ok()) << text;
  const std::vector<scheduler::Policy> base = {*scheduler::preset("combined")};
  for (const char* text : {"tll=5s", "ttl=soon"}) {
    const std::vector<Sweep> sweeps = {*parse_sweep(text)};
    EXPECT_FALSE(swept(base, sweeps).ok()) << text;
  }
}

}  // namespace
}  // namespace inquest::replayer
