#include "replayer/steps.h"

#include <gtest/gtest.h>

namespace inquest::replayer {
namespace {

constexpr Duration kBefore = Duration::seconds(5);
Duration ms(int64_t n) { return Duration::milliseconds(n); }

Step one(std::string_view line) {
  const auto steps = parse_step(line, kBefore);
  INQUEST_CHECK(steps.ok(), line, steps.ok() ? "" : steps.error().message());
  INQUEST_CHECK(steps->size() == 1, line, steps->size());
  return steps->front();
}

TEST(Steps, ATimeIsAnOffsetOrLaterThanTheStepBefore) {
  EXPECT_EQ(one("+7s pod1 deleted").at, ms(7000));
  EXPECT_EQ(one("+5s pod1 deleted").at, kBefore);
  EXPECT_EQ(one("10ms later pod1 deleted").at, ms(5010));
  EXPECT_EQ(one("1m30s later, pod1 deleted").at, ms(95'000));
  EXPECT_EQ(one("pod1 deleted").at, kBefore);
}

TEST(Steps, WhatHappensToAPod) {
  const std::pair<const char*, StepKind> words[] = {{"created", StepKind::kAdded},
                                                    {"re-created", StepKind::kAdded},
                                                    {"changed label.app=web", StepKind::kChanged},
                                                    {"sent to n1", StepKind::kSent},
                                                    {"answered 201", StepKind::kAnswered},
                                                    {"confirmed", StepKind::kConfirmed},
                                                    {"running", StepKind::kRunning},
                                                    {"succeeded", StepKind::kSucceeded},
                                                    {"failed", StepKind::kFailed},
                                                    {"deleting", StepKind::kDeleting},
                                                    {"deleted", StepKind::kRemoved},
                                                    {"unschedulable", StepKind::kUnschedulable}};
  for (const auto& [text, kind] : words) {
    const Step step = one("shop/pod1 " + std::string(text));
    EXPECT_EQ(step.kind, kind) << text;
    EXPECT_EQ(step.what, Watched::kPods);
    EXPECT_EQ(step.ns, "shop");
    EXPECT_EQ(step.name, "pod1");
  }
  EXPECT_EQ(one("pod1 created").ns, "default");
  EXPECT_FALSE(one("pod1 created").again);
  EXPECT_TRUE(one("pod1 re-created").again);
}

TEST(Steps, BindsSayByWhomAndWhereTo) {
  const Step sent = one("pod1 sent to n1 by toy without uid");
  EXPECT_EQ(sent.node, "n1");
  EXPECT_EQ(sent.scheduler, "toy");
  EXPECT_TRUE(sent.without_uid);
  EXPECT_EQ(one("pod1 sent to n1").scheduler, "default-scheduler");
  EXPECT_EQ(one("pod1 answered 409 to toy").scheduler, "toy");
  EXPECT_EQ(one("pod1 answered 409").scheduler, "");
  EXPECT_EQ(one("pod1 answered 409").code, 409);
  EXPECT_EQ(one("pod1 answered lost").code, 0);
  EXPECT_EQ(one("pod1 confirmed").node, "");
  EXPECT_EQ(one("pod1 confirmed on n2").node, "n2");
  EXPECT_EQ(one("pod1 unschedulable by toy").scheduler, "toy");
}

TEST(Steps, PlacedIsSentAnsweredAndConfirmed) {
  const auto steps = parse_step("+6s pod1 placed on n1 by toy", kBefore);
  ASSERT_TRUE(steps.ok());
  ASSERT_EQ(steps->size(), 3U);
  const StepKind kinds[] = {StepKind::kSent, StepKind::kAnswered, StepKind::kConfirmed};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*steps)[i].kind, kinds[i]);
    EXPECT_EQ((*steps)[i].at, ms(6000 + 10 * static_cast<int64_t>(i)));
    EXPECT_EQ((*steps)[i].node, "n1");
    EXPECT_EQ((*steps)[i].scheduler, "toy");
  }
  EXPECT_EQ((*steps)[1].code, 201);
}

TEST(Steps, SeveralPodsAtOnce) {
  const auto steps = parse_step("+6s web-[9-11] created cpu=1 every=20ms", kBefore);
  ASSERT_TRUE(steps.ok());
  ASSERT_EQ(steps->size(), 3U);
  const std::string names[] = {"web-9", "web-10", "web-11"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*steps)[i].name, names[i]);
    EXPECT_EQ((*steps)[i].at, ms(6000 + 20 * static_cast<int64_t>(i)));
    EXPECT_EQ((*steps)[i].settings, (Settings{{"cpu", "1"}}));
  }
}

TEST(Steps, NodesAndWatches) {
  const Step added = one("node n1 added cpu=2 taint.dedicated=infra:NoSchedule nvidia.com/gpu=1 ready=unknown");
  EXPECT_EQ(added.what, Watched::kNodes);
  EXPECT_EQ(added.kind, StepKind::kAdded);
  EXPECT_EQ(added.name, "n1");
  EXPECT_EQ(added.settings.size(), 4U);
  EXPECT_EQ(one("node n1 removed").kind, StepKind::kRemoved);
  const std::pair<const char*, StepKind> words[] = {
      {"cut", StepKind::kCut},      {"resumed", StepKind::kResumed}, {"relisted", StepKind::kRelisted},
      {"gone", StepKind::kGone},    {"gap", StepKind::kGap},         {"bookmark", StepKind::kBookmark},
      {"listed", StepKind::kListed}};
  for (const auto& [text, kind] : words) EXPECT_EQ(one("events " + std::string(text)).kind, kind) << text;
  EXPECT_EQ(one("nodes cut").what, Watched::kNodes);
  EXPECT_EQ(one("pods cut").what, Watched::kPods);
}

TEST(Steps, SettingsOfPods) {
  const Step step = one(
      "pod1 created cpu=500m memory=1Gi ephemeral-storage=1Gi hostPort=8080,53/UDP priority=-7 scheduler=toy node=n1 "
      "gated=true label.app=web selector.zone=z1 tolerates.dedicated=infra:NoSchedule example.com/widget=3");
  EXPECT_EQ(step.settings.size(), 12U);
  const auto object = parse_object("shop/old node=n1", Watched::kPods);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->ns, "shop");
  EXPECT_EQ(object->settings, (Settings{{"node", "n1"}}));
}

TEST(Steps, ErrorsSayWhatWasExpectedAndTheNearestWord) {
  const std::string long_word(kMaxName + 1, 'a'), long_line(kMaxLine + 1, ' ');
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "an empty step"},
      {"+5s", "a time without a step (such as '+1s pod1 created')"},
      {"+1s pod1 created", "it lies before the step above it"},
      {"+1parsec pod1 created", "parsec"},
      {"soon later pod1 created", "soon"},
      {"pod1", "nothing is said of 'pod1' (such as 'pod1 created')"},
      {"pod1 craeted", "pods know no step 'craeted' (did you mean 'created'?)"},
      {"pod1 exploded", "pods know no step 'exploded' (one of created, re-created, "},
      {"pod1 deleted now", "'now' is not understood here"},
      {"pod1 created now", "'now' is not understood here (settings are written key=value)"},
      {"pod1 created cpus=1", "a pod has no setting 'cpus' (did you mean 'cpu'?)"},
      {"pod1 created colour=red", "a pod has no setting 'colour' (one of cpu, memory"},
      {"pod1 created label.=red", "a pod has no setting 'label.'"},
      {"pod1 created cpu=many", "'cpu' takes a quantity, such as 500m"},
      {"pod1 created cpu=-1", "'cpu' takes a quantity"},
      {"pod1 created hostPort=70000", "'hostPort' takes ports"},
      {"pod1 created hostPort=0", "'hostPort' takes ports"},
      {"pod1 created hostPort=80,", "'hostPort' takes ports"},
      {"pod1 created gated=yes", "'gated' takes true or false"},
      {"pod1 created priority=1.5", "'priority' takes a whole number"},
      {"pod1 created node=", "'node' takes a node's name"},
      {"pod1 created tolerates.a=Never", "'tolerates.a' takes [VALUE:]EFFECT, such as NoSchedule"},
      {"pod1 created cpu=1 cpu=2", "'cpu' is said twice"},
      {"pod1 created every=1s", "a pod has no setting 'every'"},
      {"pod1 changed", "it does not say what changes"},
      {"pod1 sent", "it does not say where to (such as 'sent to n1')"},
      {"pod1 sent to", "a name is missing after 'to'"},
      {"pod1 sent to n1 by", "a name is missing after 'by'"},
      {"pod1 sent to a,b", "'a,b' is no name"},
      {"pod1 placed", "it does not say where (such as 'placed on n1')"},
      {"pod1 answered", "'' is no answer"},
      {"pod1 answered yes", "'yes' is no answer (an HTTP status such as 201, or lost)"},
      {"pod1 answered 99", "'99' is no answer"},
      {"pod1 answered 2010", "'2010' is no answer"},
      {"a/b/c created", "'b/c' is no name"},
      {"/pod1 created", "'' is no name"},
      {"pod[2-1] created", "'pod[2-1]' is no name (several pods at once are written pod[1-20])"},
      {"pod[1-2]x created", "'pod[1-2]x' is no name"},
      {"pod[1] created", "'pod[1]' is no name"},
      {"pod[1-99999] created", "'pod[1-99999]' is more than 10000 pods"},
      {"[1-2] created", "'' is no name"},
      {"node n1 created", "nodes know no step 'created' (one of added, changed, removed)"},
      {"node n1 aded", "nodes know no step 'aded' (did you mean 'added'?)"},
      {"node n1 changed", "it does not say what changes"},
      {"node n1 added gated=true", "a node has no setting 'gated'"},
      {"pods cutt", "a watch knows no step 'cutt' (did you mean 'cut'?)"},
      {"pods cut off", "'off' is not understood here"},
      {"pod\"1 created", "'pod\"1' holds something else than letters, digits and -_./:,+="},
      {"pod1 created label.a=\xc3\xa4", "'label.a=\?\?' holds something else than letters"},
      {"pod1 created {cpu:", "'{cpu:' holds something else than letters"},
      {long_word, "a word of more than 1024 characters"},
      {long_line, "a step of more than 4096 characters"},
  };
  for (const auto& [line, message] : rows) {
    const auto steps = parse_step(line, kBefore);
    ASSERT_FALSE(steps.ok()) << line;
    EXPECT_NE(steps.error().message().find(message), std::string::npos)
        << line.substr(0, 60) << "\n  " << steps.error().message();
    EXPECT_LT(steps.error().message().size(), 400U);
  }
}

}  // namespace
}  // namespace inquest::replayer
