// A LIST that stands in several records is one list to who reads a trace; one that lacks some of them tells nothing.
#include <gtest/gtest.h>

#include "replayer/checkpoints.h"
#include "replayer/promises.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

void fill(TestTrace& trace) {
  const auto pod = [&](std::string_view name, ResourceVersion rv) {
    PodFacts out = trace.pod(name);
    out.rv = rv;
    return out;
  };
  trace.nodes_listed(0, {trace.node("n1"), trace.node("n2")});
  trace.pods_listed(0, {pod("a", 105), pod("b", 106), pod("c", 107), pod("d", 108)}, TestTrace::Checkpoint::kNo, 110);
  trace.frame(10, Verb::kDeleted, pod("d", 111));
  trace.frame(20, Verb::kModified, pod("c", 112));
  trace.pods_listed(30, {pod("a", 105), pod("b", 106), pod("c", 112)}, TestTrace::Checkpoint::kYes, 112);
  trace.pods_listed(40, {pod("a", 105), pod("b", 106), pod("c", 112)}, TestTrace::Checkpoint::kNo, 112);
  trace.frame(50, Verb::kAdded, pod("e", 113));
}

TEST(ListParts, AreOneList) {
  for (const size_t part : {0U, 1U, 2U, 3U}) {
    TestTrace trace;
    trace.list_part = part;
    fill(trace);
    auto reader = trace.reader();
    const auto checkpoints = compare_checkpoints(reader);
    ASSERT_TRUE(checkpoints.ok());
    EXPECT_EQ(checkpoints->equal, 1U) << part;
    const auto promises = check_promises(reader);
    ASSERT_TRUE(promises.ok());
    EXPECT_EQ(promises->total(), 0U) << part;
    const auto recording = trace.load();
    ASSERT_EQ(recording->lists().size(), 3U);
    EXPECT_EQ(recording->lists()[0].count, 2U);
    EXPECT_EQ(recording->lists()[1].count, 4U);
    EXPECT_EQ(recording->lists()[2].count, 3U);
    EXPECT_EQ(recording->pods().size(), 10U);
  }
}

TEST(ListParts, ThatAreMissingMakeNobodyGone) {
  TestTrace trace;
  trace.list_part = 1;
  trace.loses_parts = true;
  fill(trace);
  auto reader = trace.reader();
  const auto checkpoints = compare_checkpoints(reader);
  ASSERT_TRUE(checkpoints.ok());
  EXPECT_EQ(checkpoints->not_compared, 1U);
  EXPECT_EQ(checkpoints->differences, 0U);
  const auto promises = check_promises(reader);
  ASSERT_TRUE(promises.ok());
  EXPECT_EQ(promises->total(), 0U);
  const auto recording = trace.load();
  EXPECT_EQ(recording->lists().size(), 0U);
  EXPECT_EQ(recording->pods().size(), 3U);  // of the frames
}

}  // namespace
}  // namespace inquest::replayer
