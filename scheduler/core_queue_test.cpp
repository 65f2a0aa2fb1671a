// Whose turn it is, and what makes a pod that found no node be tried again, under queue=priority.
#include <gtest/gtest.h>

#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

using State = QueuedStore::State;

struct ByPriority : testing::Test {
  World world;
  Driver d{
      world.catalog,
      world.config(with("combined", {{"queue", "priority"}, {"watches", "one"}, {"key", "uid"}, {"relist", "never"}}))};
  PodFacts big = world.pod("big", "big", world.shape(800));

  State state(const PodFacts& pod) const { return d.core.queued().state(pod.pod); }
  // A node of 1000m that `holder` fills but for 400m, and `big`, which failed there at 0.
  PodFacts holder = world.pod("holder", "holder", world.shape(600), "n1");
  void fill() {
    d.add(at(0), world.node("n1", 1000));
    d.add(at(0), holder);
    d.add(at(0), big);
    EXPECT_FALSE(d.decide(at(0)));
    ASSERT_EQ(state(big), State::kUnschedulable);
  }
  // At an instant after the backoff, where whoever is moved is in line at once.
  static constexpr int64_t kLater = 2000;
};

TEST_F(ByPriority, TheHighestPriorityDecidesFirst) {
  d.add(at(0), world.node("n1", 1000));
  PodFacts low = world.pod("low"), high = world.pod("high");
  high.priority = 1000;
  d.add(at(0), low);
  d.add(at(1), high);
  d.step(at(2), Decide{});
  ASSERT_NE(d.effect<BindPod>(), nullptr);
  EXPECT_EQ(d.effect<BindPod>()->pod, high.pod);
}

// S6: rejected, it is unschedulable; it is not read again, and nothing wakes it before the flush.
TEST_F(ByPriority, S6WhoFitsNowhereIsUnschedulable) {
  fill();
  EXPECT_NE(d.effect<Unschedulable>(), nullptr);
  EXPECT_EQ(d.core.next_wake(), at(330'000));
  d.run_to(at(330'000));
  EXPECT_EQ(d.effect<RereadPod>(), nullptr);
  EXPECT_EQ(state(big), State::kQueued) << "flushed";
}

TEST_F(ByPriority, S6WhoseBindFailedIsTriedAgainAfterItsBackoff) {
  d.add(at(0), world.node("n1", 1000));
  d.add(at(0), big);
  const NodeId node = d.decide(at(0));
  d.answer(at(10), big.pod, node, BindAnswered::Outcome::kRefused);
  EXPECT_EQ(state(big), State::kParked);
  EXPECT_FALSE(d.assumed(big.pod));
  d.run_to(at(1010));
  EXPECT_EQ(d.effect<RereadPod>(), nullptr);
  EXPECT_EQ(d.decide(at(1010)), node);
}

TEST_F(ByPriority, RoomThatIsFreedMovesThem) {
  fill();
  d.remove(at(kLater), holder);
  EXPECT_EQ(state(big), State::kQueued);
  EXPECT_TRUE(d.decide(at(kLater)));
}

TEST_F(ByPriority, WithinItsBackoffAMovedPodWaitsForTheRest) {
  fill();
  d.remove(at(500), holder);
  EXPECT_EQ(state(big), State::kParked);
  EXPECT_EQ(d.core.next_wake(), at(1000));
  d.run_to(at(1000));
  EXPECT_EQ(state(big), State::kQueued);
}

// Q19: a scheduled pod that shrinks, or turns out to be elsewhere, frees room; any other change of it frees none.
TEST_F(ByPriority, Q19OnlyAnUpdateThatFreesRoomMovesThem) {
  fill();
  PodFacts running = holder;
  running.phase = PodPhase::kRunning;
  d.modify(at(kLater), running);
  EXPECT_EQ(state(big), State::kUnschedulable);
  running.shape = world.shape(200);
  d.modify(at(kLater), running);
  EXPECT_EQ(state(big), State::kQueued);
}

TEST_F(ByPriority, APodThatTakesRoomMovesNobody) {
  fill();
  d.add(at(kLater), world.pod("more", "more", world.shape(100), "n1"));
  EXPECT_EQ(state(big), State::kUnschedulable);
}

TEST_F(ByPriority, ANodeMovesWhomItHasRoomFor) {
  fill();
  const PodFacts huge = world.pod("huge", "huge", world.shape(8000));
  d.add(at(0), huge);
  EXPECT_FALSE(d.decide(at(0)));
  d.add(at(kLater), world.node("n2", 500));
  EXPECT_EQ(state(big), State::kUnschedulable) << "too small for it";
  d.add(at(kLater), world.node("n3", 1000));
  EXPECT_EQ(state(big), State::kQueued);
  EXPECT_EQ(state(huge), State::kUnschedulable);
  EXPECT_NE(std::count(d.core.touched_pods().begin(), d.core.touched_pods().end(), big.pod), 0);
}

TEST_F(ByPriority, AChangeOfThePodMovesItButItsStatusDoesNot) {
  fill();
  PodFacts reported = big;
  reported.scheduled = Condition::kFalse;  // the scheduler's own report of the failure
  d.modify(at(kLater), reported);
  EXPECT_EQ(state(big), State::kUnschedulable);
  reported.shape = world.shape(100);
  d.modify(at(kLater), reported);
  EXPECT_EQ(state(big), State::kQueued);
  EXPECT_TRUE(d.decide(at(kLater)));
}

// Q18: a gated pod is in no queue, whatever moves.
TEST_F(ByPriority, Q18AGatedPodWaitsForItsGate) {
  fill();
  PodFacts gated = world.pod("gated");
  gated.gated = true;
  d.add(at(0), gated);
  d.remove(at(kLater), holder);
  EXPECT_EQ(state(gated), State::kAbsent);
  EXPECT_EQ(state(big), State::kQueued);
  gated.gated = false;
  d.modify(at(kLater), gated);
  EXPECT_EQ(state(gated), State::kQueued);
}

}  // namespace
}  // namespace inquest::scheduler
