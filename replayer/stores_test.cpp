// What stands in the stores of a run that stands still, and since when.
#include "replayer/stores.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

int64_t ms_of(Time time) { return (time - kTraceStart).ns / 1'000'000; }

// A run over a trace, observed from its start.
class StoresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    trace_.nodes_listed(0, {trace_.node("n1"), trace_.node("n2")});
    trace_.pods_listed(0, {});
  }
  void start(const RunConfig& how) {
    recording_ = trace_.load();
    auto run = replayer::Run::start(*recording_, how);
    ASSERT_TRUE(run.ok()) << run.error().text;
    run_.emplace(*std::move(run));
    run_->world().observe(arrivals_);
  }
  std::string name(PodId pod) const {
    const Catalog& catalog = recording_->catalog();
    return std::string(catalog.name(catalog.key_of(pod)));
  }
  std::string since(const Arrival& arrival) const {
    return std::string(name_of(arrival.by)) + " at " + std::to_string(ms_of(arrival.at));
  }

  TestTrace trace_;
  std::unique_ptr<Recording> recording_;
  std::optional<replayer::Run> run_;
  Arrivals arrivals_;
};

TEST_F(StoresTest, ScheduledAndAssumedSinceWhenAndByWhat) {
  const PodFacts b = trace_.place(100, "b", "n2");
  trace_.place(200, "a", "n1");
  trace_.frame(500, Verb::kDeleted, b);
  trace_.mark(9000, trace::RecordKind::kBookmark, ++trace_.rv);
  start(config("combined"));
  run_->advance_to(at(225));  // a is decided and answered, its frame is not there yet
  const auto assumed = assumed_pods(*run_, arrivals_);
  ASSERT_EQ(assumed.size(), 1U);
  EXPECT_EQ(name(assumed[0].pod), "a");
  EXPECT_EQ(since(assumed[0].since), "answer at 220");
  EXPECT_EQ(ms_of(assumed[0].deadline), 30'220);
  ASSERT_EQ(scheduled_pods(*run_, arrivals_).size(), 1U);
  run_->advance_to(at(400));
  const auto both = scheduled_pods(*run_, arrivals_);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(name(both[0].pod), "a") << "by name";
  EXPECT_EQ(since(both[0].since), "ADDED at 230");
  EXPECT_EQ(since(both[1].since), "ADDED at 130");
  EXPECT_EQ(recording_->catalog().node_name(both[1].node), "n2");
  EXPECT_EQ(true_pods(*run_).size(), 2U);
  run_->advance_to(at(500));
  EXPECT_EQ(scheduled_pods(*run_, arrivals_).size(), 1U);
  EXPECT_EQ(true_pods(*run_).size(), 1U);
  EXPECT_EQ(nodes_of(run_->world().truth().books(), recording_->catalog()).size(), 2U);
}

TEST_F(StoresTest, TheQueueInItsOrderThenThoseThatWait) {
  std::vector<PodFacts> pods;
  for (const char* name : {"c", "a", "b"}) {
    pods.push_back(trace_.pod(name));
    trace_.frame(100 * static_cast<int64_t>(pods.size()), Verb::kAdded, pods.back());
  }
  trace_.failed_event(400, pods[0], "uid-c");
  trace_.request(500, pods[1], "n1");
  trace_.mark(9000, trace::RecordKind::kBookmark, ++trace_.rv);
  start(config("combined"));
  run_->advance_to(at(350));
  std::string line;
  for (const QueuedPod& one : queued_pods(*run_, arrivals_)) line += std::to_string(one.place) + name(one.pod) + " ";
  EXPECT_EQ(line, "1c 2a 3b ");
  run_->advance_to(at(600));
  const auto queue = queued_pods(*run_, arrivals_);
  ASSERT_EQ(queue.size(), 3U);
  EXPECT_EQ(name(queue[0].pod), "b");
  EXPECT_EQ(queue[0].place, 1U);
  EXPECT_EQ(name(queue[1].pod), "a");
  EXPECT_EQ(queue[1].how, QueuedPod::How::kInFlight);
  EXPECT_EQ(since(queue[1].since), "decision at 500");
  EXPECT_EQ(name(queue[2].pod), "c");
  EXPECT_EQ(queue[2].how, QueuedPod::How::kParked);
  EXPECT_EQ(since(queue[2].since), "failure at 400");
  EXPECT_EQ(ms_of(queue[2].until), 1400);
}

// What is open at an instant is there at once; a finding it is after the lag bound; and looking changes nothing.
TEST_F(StoresTest, OpenDifferencesBecomeFindings) {
  trace_.frame(500, Verb::kDeleted, trace_.place(100, "a", "n1"));
  trace_.mark(9000, trace::RecordKind::kBookmark, ++trace_.rv);
  const RunConfig how = config("delete-both", {drop("pods DELETED")});
  start(how);
  const auto all = [&](int64_t ms) {
    run_->advance_to(at(ms));
    return std::pair(run_->open(at(ms)).size(), run_->so_far(at(ms)).findings.size());
  };
  EXPECT_EQ(all(499), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(all(500), std::pair(size_t{2}, size_t{0})) << "scheduled, and assumed until the next decision";
  EXPECT_EQ(all(1499), std::pair(size_t{2}, size_t{0}));
  EXPECT_EQ(all(1500), std::pair(size_t{2}, size_t{2}));
  EXPECT_EQ(run_->so_far(at(1500)).ending, Ending::kViolated);
  EXPECT_EQ(run_->open(at(1500))[0].because->seq, run_->so_far(at(1500)).findings[0].because->seq);
  run_->advance_to(run_->end());
  const Outcome looked_at = run_->finish(), straight = *replay(*recording_, how);
  EXPECT_EQ(looked_at.chain, straight.chain);
  EXPECT_EQ(describe(*recording_, looked_at), describe(*recording_, straight));
}

TEST(Stores, HaveNames) {
  for (const Store store : kStores) EXPECT_EQ(store_named(name_of(store)), store);
  EXPECT_FALSE(store_named("cellar"));
}

}  // namespace
}  // namespace inquest::replayer
