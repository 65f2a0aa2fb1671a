#include "replayer/checkpoints.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using trace::RecordKind;
constexpr auto kCheckpoint = TestTrace::Checkpoint::kYes;

struct Watched {
  TestTrace trace;

  // Pod `name` as the server has it at this resourceVersion.
  PodFacts pod(std::string_view name, ResourceVersion rv, std::string_view node = "", std::string_view uid = "") {
    PodFacts out = trace.pod(name, uid);
    if (!node.empty()) out = trace.on(out, node);
    out.rv = rv;
    return out;
  }
  void list(ResourceVersion rv, std::vector<PodFacts> pods) {
    trace.pods_listed(0, std::move(pods), TestTrace::Checkpoint::kNo, rv);
  }
  void checkpoint(ResourceVersion rv, std::vector<PodFacts> pods) {
    trace.pods_listed(50, std::move(pods), kCheckpoint, rv);
  }
  void frame(Verb verb, const PodFacts& pod) { trace.frame(20, verb, pod); }

  CheckpointReport compare() {
    auto reader = trace.reader();
    const auto report = compare_checkpoints(reader);
    EXPECT_TRUE(report.ok());
    const auto again = reader.next();
    EXPECT_TRUE(again.ok() && *again != nullptr && (*again)->seq == 1) << "the reader stands at the start again";
    return *report;
  }
};

std::string counts(const CheckpointReport& report) {
  return std::to_string(report.equal) + " equal, " + std::to_string(report.not_compared) + " not compared, " +
         std::to_string(report.differences) + " differences of " + std::to_string(report.checkpoints);
}

TEST(Checkpoints, EqualToTheFoldedWatch) {
  Watched w;
  w.list(10, {w.pod("a", 5), w.pod("b", 7, "n1")});
  w.checkpoint(10, {w.pod("b", 7, "n1"), w.pod("a", 5)});  // in any order
  w.frame(Verb::kModified, w.pod("a", 11, "n1"));
  w.frame(Verb::kAdded, w.pod("c", 12));
  w.frame(Verb::kDeleted, w.pod("b", 13, "n1"));
  w.checkpoint(13, {w.pod("a", 11, "n1"), w.pod("c", 12)});
  EXPECT_EQ(counts(w.compare()), "2 equal, 0 not compared, 0 differences of 2");
}

TEST(Checkpoints, EachKindOfDifference) {
  struct Row {
    const char* what;
    void (*checkpoint)(Watched&);
    std::vector<std::string> differences;
  };
  const Row rows[] = {
      {"the watch lacks one",
       [](Watched& w) {
         w.checkpoint(11, {w.pod("a", 11, "n1"), w.pod("b", 9)});
       },
       {"shop/b (uid uid-b): in the list at rv 9, not in the folded watch"}},
      {"the watch has one more",
       [](Watched& w) { w.checkpoint(11, {}); },
       {"shop/a (uid uid-a): in the folded watch at rv 11, not in the list"}},
      {"another resourceVersion",
       [](Watched& w) { w.checkpoint(11, {w.pod("a", 8, "n1")}); },
       {"shop/a (uid uid-a): rv 8 in the list, rv 11 in the folded watch"}},
      {"another node",
       [](Watched& w) { w.checkpoint(11, {w.pod("a", 11, "n2")}); },
       {"shop/a (uid uid-a): on 'n2' in the list, on 'n1' in the folded watch"}},
      {"another life of the name",
       [](Watched& w) { w.checkpoint(11, {w.pod("a", 11, "n1", "other")}); },
       {"shop/a (uid other): in the list at rv 11, not in the folded watch",
        "shop/a (uid uid-a): in the folded watch at rv 11, not in the list"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Watched w;
    w.list(10, {});
    w.frame(Verb::kAdded, w.pod("a", 11, "n1"));
    row.checkpoint(w);
    const CheckpointReport report = w.compare();
    EXPECT_EQ(report.equal, 0U);
    EXPECT_EQ(report.differences, row.differences.size());
    std::vector<std::string> told;
    for (const CheckpointDifference& difference : report.first) {
      EXPECT_EQ(difference.stream, "pods");
      EXPECT_EQ(difference.seq, 3U);
      told.push_back(difference.object + ": " + difference.what);
    }
    EXPECT_EQ(told, row.differences);
  }
}

TEST(Checkpoints, ManyDifferencesAreCountedAndTheFirstOnesTold) {
  Watched w;
  w.list(10, {});
  std::vector<PodFacts> pods;
  for (size_t i = 0; i < kKeptDifferences + 10; ++i)
    pods.push_back(w.pod(std::string("p").append(std::to_string(i)), 9));
  w.checkpoint(10, pods);
  w.frame(Verb::kAdded, w.pod("a", 11));
  const CheckpointReport report = w.compare();
  EXPECT_EQ(report.differences, kKeptDifferences + 10);
  EXPECT_EQ(report.first.size(), kKeptDifferences);
}

// A list takes its time; frames of later writes may have come before its answer.
TEST(Checkpoints, AListOlderThanFramesAlreadyArrived) {
  Watched w;
  w.list(10, {});
  w.frame(Verb::kAdded, w.pod("a", 11));
  w.frame(Verb::kModified, w.pod("a", 12, "n1"));
  w.frame(Verb::kAdded, w.pod("b", 14));
  w.checkpoint(12, {w.pod("a", 12, "n1")});
  w.checkpoint(11, {w.pod("a", 11)});
  w.checkpoint(13, {w.pod("a", 12, "n1")});
  EXPECT_EQ(counts(w.compare()), "3 equal, 0 not compared, 0 differences of 3");
}

TEST(Checkpoints, AListTheWatchNeverReached) {
  Watched w;
  w.list(10, {});
  w.frame(Verb::kAdded, w.pod("a", 11));
  w.checkpoint(15, {w.pod("a", 11), w.pod("b", 15)});
  EXPECT_EQ(counts(w.compare()), "0 equal, 1 not compared, 0 differences of 1");
}

TEST(Checkpoints, ABookmarkSaysHowFarTheWatchHasCome) {
  Watched w;
  w.list(10, {});
  w.frame(Verb::kAdded, w.pod("a", 11));
  w.checkpoint(15, {w.pod("a", 11), w.pod("b", 15)});
  w.trace.mark(60, RecordKind::kBookmark, 15);
  EXPECT_EQ(counts(w.compare()), "0 equal, 0 not compared, 1 differences of 1") << "it passed rv 15 and did not tell";
}

TEST(Checkpoints, BeforeTheWatchBeganNothingIsCompared) {
  Watched w;
  w.checkpoint(5, {w.pod("a", 4)});
  w.list(10, {w.pod("a", 4), w.pod("b", 7)});
  w.checkpoint(10, {w.pod("a", 4), w.pod("b", 7)});
  EXPECT_EQ(counts(w.compare()), "1 equal, 1 not compared, 0 differences of 2");
}

TEST(Checkpoints, BehindAGapNothingIsComparedUntilTheNextList) {
  Watched w;
  w.list(10, {});
  w.trace.mark(10, RecordKind::kGap, 15);
  w.frame(Verb::kAdded, w.pod("b", 16));
  w.checkpoint(16, {w.pod("a", 12), w.pod("b", 16)});
  w.trace.pods_listed(60, {w.pod("a", 12), w.pod("b", 16)}, TestTrace::Checkpoint::kNo, 20);
  w.trace.pods_listed(70, {w.pod("a", 12)}, kCheckpoint, 20);
  EXPECT_EQ(counts(w.compare()), "0 equal, 1 not compared, 1 differences of 2");
}

TEST(Checkpoints, NodesAreComparedByThemselves) {
  Watched w;
  w.list(10, {});
  w.trace.rv = 20;
  w.trace.nodes_listed(5, {w.trace.node("n1")});
  w.checkpoint(10, {});
  EXPECT_EQ(counts(w.compare()), "1 equal, 0 not compared, 0 differences of 1");
}

}  // namespace
}  // namespace inquest::replayer
