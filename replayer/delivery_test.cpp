#include "replayer/delivery.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using scheduler::Watches;

struct Wire {
  TestTrace trace;  // for its catalog
  Plan plan;
  FaultMatcher faults;
  Delivery delivery;
  trace::Seq seq = 0;
  ResourceVersion rv = 0;

  explicit Wire(Watches watches, std::vector<Fault> what = {})
      : plan{std::move(what)}, faults(plan, trace.catalog(), kTraceStart), delivery(watches, plan, {}) {}

  PodFacts pod(std::string_view name) {
    PodFacts out = trace.pod(name);
    out.rv = ++rv;
    return out;
  }
  PodFacts later(PodFacts pod) {
    pod.rv = ++rv;
    return pod;
  }
  void send(int64_t ms, Verb verb, const PodFacts& pod, const PodFacts* before = nullptr) {
    delivery.pod_changed({++seq, at(ms), verb, &pod, before, nullptr, nullptr}, faults);
  }
  void send(int64_t ms, Verb verb, const NodeFacts& node) {
    delivery.node_changed({++seq, at(ms), verb, nullptr, nullptr, &node, nullptr}, faults);
  }
  // All that arrives up to an instant, as words: "queued ADDED a rv 1", with "on n1" where it shows a node.
  std::vector<std::string> arrived(int64_t ms) {
    std::vector<std::string> out;
    while (const auto frame = delivery.pop(at(ms))) {
      std::string words;
      if (const auto* node = std::get_if<NodeFacts>(&frame->object)) {
        words.append("node ").append(trace.catalog().node_name(node->node));
      } else if (const auto* told = std::get_if<PodFacts>(&frame->object)) {
        constexpr std::string_view kLanesShort[] = {"nodes", "all", "queued", "scheduled"};
        constexpr std::string_view kVerbs[] = {"ADDED", "MODIFIED", "DELETED"};
        words.append(kLanesShort[static_cast<size_t>(frame->lane)]).append(" ");
        words.append(kVerbs[static_cast<size_t>(frame->kind)]).append(" ");
        words.append(trace.catalog().name(trace.catalog().key_of(told->pod)));
        words.append(" rv ").append(std::to_string(told->rv));
        if (told->node) words.append(" on ").append(trace.catalog().node_name(told->node));
      } else {
        words.append("BOOKMARK rv ").append(std::to_string(frame->rv));
      }
      out.push_back(words);
    }
    return out;
  }
  // The life of a pod: ADDED at 0 ms, bound at 10, status at 20, DELETED at 30.
  void life(std::string_view name) {
    const PodFacts added = pod(name), bound = later(trace.on(added, "n1")), status = later(bound), last = later(bound);
    send(0, Verb::kAdded, added);
    send(10, Verb::kModified, bound, &added);
    send(20, Verb::kModified, status, &bound);
    send(30, Verb::kDeleted, last, &status);
  }
};
using Words = std::vector<std::string>;

TEST(Delivery, OneWatchGetsEveryFrameAsItWas) {
  Wire wire(Watches::kOne);
  wire.life("a");
  EXPECT_EQ(wire.delivery.next_due(), at(0));
  EXPECT_EQ(wire.arrived(10), (Words{"all ADDED a rv 1", "all MODIFIED a rv 2 on n1"}));
  EXPECT_EQ(wire.delivery.next_due(), at(20));
  EXPECT_EQ(wire.arrived(30), (Words{"all MODIFIED a rv 3 on n1", "all DELETED a rv 4 on n1"}));
  EXPECT_EQ(wire.delivery.next_due(), Time::never());
}

// A pod leaves the queue's watch as DELETED with the content before and the resourceVersion after (facts 5.7).
TEST(Delivery, TwoWatchesSeeWhatTheirSelectorsMakeOfIt) {
  Wire wire(Watches::kTwo);
  wire.life("a");
  EXPECT_EQ(wire.arrived(30), (Words{"queued ADDED a rv 1", "queued DELETED a rv 2", "scheduled ADDED a rv 2 on n1",
                                     "scheduled MODIFIED a rv 3 on n1", "scheduled DELETED a rv 4 on n1"}));
}

TEST(Delivery, OtherChangesAsTheSelectorsSeeThem) {
  Wire wire(Watches::kTwo);
  const PodFacts a = wire.pod("a"), newer = wire.later(a), bound = wire.later(wire.trace.on(a, "n1"));
  wire.send(0, Verb::kModified, newer, &a);
  EXPECT_EQ(wire.arrived(0), (Words{"queued MODIFIED a rv 2"}));
  wire.send(1, Verb::kDeleted, newer, &a);
  EXPECT_EQ(wire.arrived(1), (Words{"queued DELETED a rv 2"}));
  wire.send(2, Verb::kAdded, bound);  // created with a node
  EXPECT_EQ(wire.arrived(2), (Words{"scheduled ADDED a rv 3 on n1"}));
  wire.send(3, Verb::kDeleted, bound);  // its last version was never seen: the DELETED itself tells
  EXPECT_EQ(wire.arrived(3), (Words{"scheduled DELETED a rv 3 on n1"}));
  wire.send(4, Verb::kDeleted, newer);
  EXPECT_EQ(wire.arrived(4), (Words{"queued DELETED a rv 2"}));
  wire.send(5, Verb::kDeleted, bound, &newer);  // bound and deleted in one go: the watch of before says so
  EXPECT_EQ(wire.arrived(5), (Words{"queued DELETED a rv 3 on n1"}));
}

TEST(Delivery, ADropHitsEveryFrameThatTheChangeBecomes) {
  Wire both(Watches::kTwo, {drop("spec.nodeName=n1")});
  both.life("a");
  EXPECT_EQ(both.arrived(10), (Words{"queued ADDED a rv 1"}));
  ASSERT_EQ(both.delivery.causes().size(), 1U);
  EXPECT_EQ(both.delivery.causes()[0].seq, 2U);
  EXPECT_EQ(both.faults.reports()[0].fired, 1U) << "it counts as one";
}

TEST(Delivery, ADropOnOneWatchLeavesTheOther) {
  Wire queued(Watches::kTwo, {drop("spec.nodeName=n1 watch=queued")});
  queued.life("a");
  EXPECT_EQ(queued.arrived(10), (Words{"queued ADDED a rv 1", "scheduled ADDED a rv 2 on n1"}));
  Wire scheduled(Watches::kTwo, {drop("spec.nodeName=n1 watch=scheduled")});
  scheduled.life("a");
  EXPECT_EQ(scheduled.arrived(10), (Words{"queued ADDED a rv 1", "queued DELETED a rv 2"}));
  Wire one(Watches::kOne, {drop("spec.nodeName=n1 watch=scheduled")});
  one.life("a");
  EXPECT_EQ(one.arrived(10), (Words{"all ADDED a rv 1"})) << "of one watch it is that one";
}

TEST(Delivery, WhatIsDroppedIsNotAlsoWaitedFor) {
  for (const bool drop_first : {true, false}) {
    const Fault dropped = drop("name=a MODIFIED"), delayed = delay("name=a MODIFIED by=1s");
    Wire wire(Watches::kOne, drop_first ? std::vector{dropped, delayed} : std::vector{delayed, dropped});
    wire.life("a");
    EXPECT_EQ(wire.arrived(30), (Words{"all ADDED a rv 1", "all MODIFIED a rv 3 on n1", "all DELETED a rv 4 on n1"}));
    const FaultReport& report = wire.faults.reports()[drop_first ? 1 : 0];
    EXPECT_EQ(report.fired, 0U) << "it did nothing";
    EXPECT_EQ(report.overruled, 1U);
    EXPECT_TRUE(report.hits.empty());
    ASSERT_EQ(wire.delivery.causes().size(), 1U);
    EXPECT_EQ(wire.delivery.causes()[0].fault, drop_first ? 0U : 1U);
  }
}

TEST(Delivery, ADelayThatADropOverrulesOnOneWatchAloneHasFired) {
  Wire wire(Watches::kTwo, {drop("spec.nodeName=n1 watch=queued"), delay("spec.nodeName=n1 by=1s")});
  wire.life("a");
  EXPECT_EQ(wire.faults.reports()[1].fired, 1U);
  EXPECT_EQ(wire.faults.reports()[1].overruled, 0U);
}

TEST(Delivery, ADelayHoldsWhatIsBehindItOnThatWatchOnly) {
  Wire wire(Watches::kTwo, {delay("name=a spec.nodeName=n1 watch=scheduled by=1s")});
  wire.life("a");
  wire.life("b");
  EXPECT_EQ(wire.arrived(1009),
            (Words{"queued ADDED a rv 1", "queued ADDED b rv 5", "queued DELETED a rv 2", "queued DELETED b rv 6"}));
  EXPECT_EQ(wire.delivery.next_due(), at(1010));
  const Words all = wire.arrived(1010);
  EXPECT_EQ(all, (Words{"scheduled ADDED a rv 2 on n1", "scheduled MODIFIED a rv 3 on n1",
                        "scheduled DELETED a rv 4 on n1", "scheduled ADDED b rv 6 on n1",
                        "scheduled MODIFIED b rv 7 on n1", "scheduled DELETED b rv 8 on n1"}));
  // What was held up, and by what, is known afterwards.
  const auto& causes = wire.delivery.causes();
  const auto b = std::count_if(causes.begin(), causes.end(),
                               [&](const FaultHit& hit) { return hit.pod == wire.trace.pod("b").pod; });
  EXPECT_EQ(b, 3);
  const FaultHit& hit = *std::find_if(causes.begin(), causes.end(), [](const FaultHit& one) { return one.seq == 2; });
  EXPECT_FALSE(hit.held_up()) << "it was hit itself";
  EXPECT_EQ(causes.back().seq, 8U);
  EXPECT_EQ(causes.back().behind, 2U);
}

TEST(Delivery, OfAFrameThatIsHitAndHeldUpTheCauseIsWhatDecidedItsArrival) {
  Wire wire(Watches::kOne, {delay("name=a by=2s"), delay("name=b by=1s"), delay("name=c by=3s"), drop("name=d")});
  for (const char* name : {"a", "b", "c", "d"}) wire.send(0, Verb::kAdded, wire.pod(name));
  const auto last = [&](std::string_view name) {
    const FaultHit* found = nullptr;
    for (const FaultHit& hit : wire.delivery.causes()) {
      if (hit.pod == wire.trace.pod(name).pod) found = &hit;
    }
    return *found;
  };
  EXPECT_EQ(last("b").fault, 0U);
  EXPECT_EQ(last("b").behind, 1U);
  EXPECT_EQ(last("c").fault, 2U);
  EXPECT_FALSE(last("c").held_up());
  EXPECT_EQ(last("d").fault, 3U);
  EXPECT_FALSE(last("d").held_up()) << "what never comes waits for nobody";
}

TEST(Delivery, AHeldWatchFlowsAgainWhenItsTimeHasCome) {
  Wire wire(Watches::kOne, {delay("name=a ADDED by=1s")});
  const PodFacts a = wire.pod("a"), b = wire.pod("b"), c = wire.pod("c");
  wire.send(0, Verb::kAdded, a);
  wire.send(999, Verb::kAdded, b);
  wire.send(1001, Verb::kAdded, c);
  EXPECT_EQ(wire.arrived(1000), (Words{"all ADDED a rv 1", "all ADDED b rv 2"}));
  EXPECT_EQ(wire.delivery.next_due(), at(1001));
}

TEST(Delivery, OvertakeLetsLaterFramesPass) {
  Wire wire(Watches::kOne, {delay("name=a MODIFIED by=1s overtake=true")});
  wire.life("a");
  EXPECT_EQ(wire.arrived(999), (Words{"all ADDED a rv 1", "all MODIFIED a rv 3 on n1", "all DELETED a rv 4 on n1"}));
  EXPECT_EQ(wire.arrived(1010), (Words{"all MODIFIED a rv 2 on n1"}));
}

TEST(Delivery, TheLongerOfTwoDelaysHolds) {
  Wire wire(Watches::kOne, {delay("name=a by=1s"), delay("name=a by=3s"), delay("name=a by=2s")});
  wire.send(0, Verb::kAdded, wire.pod("a"));
  EXPECT_EQ(wire.delivery.next_due(), at(3000));
}

TEST(Delivery, NodesHaveTheirOwnWatch) {
  Wire wire(Watches::kTwo, {delay("nodes by=1s")});
  wire.send(0, Verb::kAdded, wire.trace.node("n1"));
  wire.send(1, Verb::kAdded, wire.pod("a"));
  wire.send(2, Verb::kAdded, wire.trace.node("n2"));
  EXPECT_EQ(wire.arrived(999), (Words{"queued ADDED a rv 1"}));
  EXPECT_EQ(wire.arrived(1000), (Words{"node n1", "node n2"}));
}

TEST(Delivery, AnOpenedWatchDeliversNothingOfTheOldOne) {
  Wire wire(Watches::kTwo, {delay("spec.nodeName=n1 by=1s")});
  wire.life("a");
  wire.delivery.restart(Lane::kScheduled, {});
  EXPECT_EQ(wire.arrived(5000), (Words{"queued ADDED a rv 1", "queued DELETED a rv 2"})) << "the other goes on";
  const PodFacts b = wire.later(wire.trace.on(wire.pod("b"), "n1"));
  wire.send(100, Verb::kAdded, b);
  EXPECT_EQ(wire.arrived(5000).size(), 1U);
  EXPECT_EQ(wire.delivery.next_due(), Time::never());
}

TEST(Delivery, AnOpenedWatchIsNotHeldByTheDelaysOfTheOldOne) {
  Wire one(Watches::kOne, {delay("name=a by=1s")});
  one.send(0, Verb::kAdded, one.pod("a"));
  one.delivery.restart(Lane::kPods, {});
  one.send(1, Verb::kAdded, one.pod("b"));
  EXPECT_EQ(one.arrived(1), (Words{"all ADDED b rv 2"}));
  Wire nodes(Watches::kOne, {delay("nodes by=1s")});
  nodes.send(0, Verb::kAdded, nodes.trace.node("n1"));
  nodes.delivery.restart(Lane::kNodes, {});
  nodes.send(1, Verb::kAdded, nodes.trace.node("n2"));
  EXPECT_EQ(nodes.arrived(5000), (Words{"node n2"}));
}

}  // namespace
}  // namespace inquest::replayer
