#include "replayer/recording.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using trace::RecordKind;

// The events as words: "0 pods-listed, 10 pod, …"; "(aside)" for what is not of the view.
std::string story(const Recording& recording) {
  constexpr std::string_view kKinds[] = {"pod",      "node",    "pods-listed", "nodes-listed",
                                         "bookmark", "request", "answer",      "failed"};
  std::string out;
  for (const Event& event : recording.events()) {
    if (!out.empty()) out.append(", ");
    out.append(std::to_string((event.at - recording.start()).ns / 1'000'000)).append(" ");
    out.append(kKinds[static_cast<size_t>(event.kind)]);
    if (!event.in_view) out.append(" (aside)");
  }
  return out;
}

std::string schedulers(const Recording& recording) {
  std::string out;
  for (const SchedulerSeen& scheduler : recording.schedulers()) {
    if (!out.empty()) out.append(", ");
    out.append(recording.catalog().text(scheduler.name)).append(scheduler.inferred ? " inferred " : " ");
    out.append(std::to_string(scheduler.won)).append("+").append(std::to_string(scheduler.lost));
  }
  return out;
}

TEST(Recording, CapturedBinds) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  trace.pods_listed(0, {});
  trace.place(10, "a", "n1");
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 nodes-listed, 0 pods-listed, 10 pod, 20 request, 30 answer, 40 pod");
  EXPECT_EQ(schedulers(*recording), "default-scheduler 1+0");
  ASSERT_EQ(recording->binds().size() - 0, 2U) << "the inferred one stands in the table but is no event";
  EXPECT_EQ(recording->distinct_pods(), 1U);
  EXPECT_EQ(recording->distinct_nodes(), 1U);
  EXPECT_EQ(recording->start(), at(0));
  EXPECT_EQ(recording->end(), at(40));
}

TEST(Recording, WithoutACaptureABindIsInferredFromTheNodeName) {
  TestTrace trace;
  trace.pods_listed(0, {});
  const PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  trace.frame(20, Verb::kModified, trace.on(a, "n1"));
  trace.frame(30, Verb::kModified, trace.on(a, "n1"));
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 pods-listed, 10 pod, 20 pod, 20 request, 20 answer, 30 pod");
  ASSERT_EQ(recording->binds().size(), 1U);
  EXPECT_TRUE(recording->binds()[0].inferred);
  EXPECT_EQ(recording->binds()[0].answer, kube::BindAnswer::kBound);
  EXPECT_EQ(recording->catalog().node_name(recording->binds()[0].node), "n1");
  EXPECT_EQ(schedulers(*recording), "default-scheduler inferred 1+0");
}

TEST(Recording, NobodyBoundWhatWasBornWithANode) {
  TestTrace trace;
  const PodFacts listed = trace.on(trace.pod("listed"), "n1"), added = trace.on(trace.pod("added"), "n1");
  PodFacts mirror = trace.pod("mirror");
  mirror.mirror = true;
  trace.pods_listed(0, {listed});
  trace.frame(10, Verb::kModified, listed);
  trace.frame(10, Verb::kAdded, added);
  trace.frame(10, Verb::kAdded, mirror);
  trace.frame(20, Verb::kModified, trace.on(mirror, "n1"));
  EXPECT_TRUE(trace.load()->binds().empty());
}

TEST(Recording, ARefusedBindLeavesTheWinnersToBeInferred) {
  TestTrace trace;
  trace.pods_listed(0, {});
  const PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  trace.answer(21, trace.request(20, a, "n2", "toy"), 409);
  trace.frame(30, Verb::kModified, trace.on(a, "n1"));
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 pods-listed, 10 pod, 20 request, 21 answer, 30 pod, 30 request, 30 answer");
  EXPECT_EQ(schedulers(*recording), "default-scheduler inferred 1+0, toy 0+1");
}

TEST(Recording, AnUnansweredBindMayHaveWon) {
  TestTrace trace;
  trace.pods_listed(0, {});
  const PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  trace.request(20, a, "n1", "toy");
  trace.frame(30, Verb::kModified, trace.on(a, "n1"));
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 pods-listed, 10 pod, 20 request, 30 pod");
  EXPECT_EQ(schedulers(*recording), "toy 0+1");
}

TEST(Recording, MostBindsWonFirstThenByName) {
  TestTrace trace;
  trace.pods_listed(0, {});
  int64_t ms = 10;
  for (const auto& [scheduler, code] : std::vector<std::pair<const char*, uint16_t>>{
           {"b", 201}, {"c", 201}, {"c", 201}, {"a", 201}, {"d", 409}, {"d", 409}, {"d", 409}}) {
    const PodFacts pod = trace.pod(std::string("p").append(std::to_string(ms)));
    trace.frame(ms, Verb::kAdded, pod);
    trace.answer(ms + 2, trace.request(ms + 1, pod, "n1", scheduler), code);
    ms += 10;
  }
  const auto recording = trace.load();
  EXPECT_EQ(schedulers(*recording), "c 2+0, a 1+0, b 1+0, d 0+3");
  ASSERT_NE(recording->scheduler("d"), nullptr);
  EXPECT_EQ(recording->scheduler("d")->lost, 3U);
  EXPECT_EQ(recording->scheduler("e"), nullptr);
}

TEST(Recording, ABindWithoutAUidIsOfTheLatestLifeOfItsName) {
  TestTrace trace;
  trace.pods_listed(0, {});
  const PodFacts first = trace.pod("a", "1"), second = trace.pod("a", "2"), unnamed = trace.pod("a");
  PodFacts no_uid = unnamed;
  no_uid.pod = trace.catalog().pod(trace.catalog().key_of(first.pod), trace.catalog().string(""));
  trace.frame(10, Verb::kAdded, first);
  trace.frame(20, Verb::kDeleted, first);
  trace.frame(30, Verb::kAdded, second);
  trace.answer(41, trace.request(40, no_uid, "n1"), 201);
  const auto recording = trace.load();
  ASSERT_EQ(recording->binds().size(), 1U);
  EXPECT_EQ(recording->catalog().uid(recording->binds()[0].pod), "2");
  EXPECT_EQ(recording->distinct_pods(), 2U);
  EXPECT_EQ(recording->distinct_names(), 1U);
}

TEST(Recording, FailedAttemptsComeFromConditionsAndEvents) {
  TestTrace trace;
  trace.pods_listed(0, {});
  PodFacts a = trace.pod("a");
  trace.frame(10, Verb::kAdded, a);
  a.scheduled = Condition::kFalse;
  trace.frame(20, Verb::kModified, a);
  trace.frame(30, Verb::kModified, a);  // still
  trace.failed_event(40, a, "uid-a");
  trace.failed_event(50, a, "");         // the latest life of the name
  trace.failed_event(60, a, "unknown");  // of nobody ever seen
  trace.failed_event(70, trace.pod("never"), "");
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 pods-listed, 10 pod, 20 pod, 20 failed, 30 pod, 40 failed, 50 failed");
}

TEST(Recording, WhatHappenedWhileNobodyWatchedIsCounted) {
  TestTrace trace;
  const PodFacts early = trace.pod("early");
  trace.request(0, early, "n1");
  trace.pods_listed(10, {});
  trace.place(20, "a", "n1");
  trace.mark(60, RecordKind::kClose);
  const auto late = trace.request(70, trace.pod("late"), "n1");
  trace.answer(80, late, 201);
  trace.nodes_listed(90, {trace.node("n1")});
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "10 pods-listed, 20 pod, 30 request, 40 answer, 50 pod");
  EXPECT_EQ(recording->outside_coverage(), 2U);
  EXPECT_EQ(recording->end(), at(60));
}

TEST(Recording, AWatchThatWasOpenedAgainCoversOn) {
  TestTrace trace;
  trace.pods_listed(0, {});
  trace.mark(0, RecordKind::kOpen);
  trace.mark(10, RecordKind::kClose);
  trace.mark(20, RecordKind::kOpen);
  trace.place(30, "a", "n1");
  const auto recording = trace.load();
  EXPECT_EQ(recording->outside_coverage(), 0U);
  EXPECT_EQ(recording->end(), at(60));
  EXPECT_EQ(schedulers(*recording), "default-scheduler 1+0");
}

TEST(Recording, CheckpointsChangeNothing) {
  TestTrace trace;
  trace.pods_listed(0, {});
  trace.pods_listed(10, {trace.pod("a")}, TestTrace::Checkpoint::kYes);
  const auto recording = trace.load();
  EXPECT_EQ(story(*recording), "0 pods-listed");
  EXPECT_EQ(recording->distinct_pods(), 0U);
}

TEST(Recording, TimeNeverFalls) {
  TestTrace trace;
  trace.pods_listed(100, {});
  trace.frame(50, Verb::kAdded, trace.pod("a"));
  trace.frame(120, Verb::kAdded, trace.pod("b"));
  EXPECT_EQ(story(*trace.load()), "0 pods-listed, 0 pod, 20 pod");
}

TEST(Recording, AnotherStreamOfPodsIsTruthButNotView) {
  TestTrace trace;
  trace.pods_listed(0, {});
  trace.frame(10, Verb::kAdded, trace.pod("a"), TestTrace::kEvents);
  EXPECT_EQ(story(*trace.load()), "0 pods-listed, 10 pod (aside)");
}

TEST(Recording, ATraceWithoutPodsIsAnError) {
  TestTrace trace;
  trace.nodes_listed(0, {trace.node("n1")});
  const auto recording = Recording::load(trace.reader());
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(recording.error().code, ErrorCode::kInput);
  EXPECT_NE(recording.error().message().find("no list or watch of pods"), std::string::npos);
}

}  // namespace
}  // namespace inquest::replayer
