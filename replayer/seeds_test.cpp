// The claims of kubernetes#6023 as stories, each under the preset that shows it, to the nanosecond of the virtual
// clock.
#include "replayer/scenario.h"

#include <gtest/gtest.h>

namespace inquest::replayer {
namespace {

constexpr uint16_t kPort = 8080;
Duration ms(int64_t n) { return Duration::milliseconds(n); }

void want_the_same_port(Scenario& story) {
  story.at(ms(1000)).create("pod2", kPort);
  story.at(ms(1100)).decide();
  story.at(ms(1110)).answer("pod2");
  story.at(ms(1150)).confirm("pod2");
}

Scenario pod1_bound_and_confirmed() {
  Scenario story;
  story.node("n1");
  story.at(ms(0)).create("pod1", kPort);
  story.at(ms(100)).decide();
  story.at(ms(110)).answer("pod1");
  story.at(ms(150)).confirm("pod1");
  return story;
}

void decide_another(Scenario& story) {
  story.at(ms(200)).create("other").at(ms(210)).decide().answer("other").confirm("other");
}

// pod1 takes port 8080, is confirmed and deleted; pod2 wants the same port. With or without a decision in between.
enum class Between : uint8_t { kNothing, kDecision };
Scenario confirmed_then_deleted(Between between) {
  Scenario story = pod1_bound_and_confirmed();
  if (between == Between::kDecision) decide_another(story);
  story.at(ms(300)).remove("pod1");
  story.at(ms(310)).forgotten("pod1");
  want_the_same_port(story);
  return story;
}

// The delete overtakes the answer: the pod is forgotten before the assumption is written.
Scenario deleted_before_assumed() {
  Scenario story;
  story.node("n1");
  story.at(ms(0)).create("pod1", kPort);
  story.at(ms(100)).decide();
  story.at(ms(150)).confirm("pod1");
  story.at(ms(200)).remove("pod1");
  story.at(ms(210)).forgotten("pod1");
  story.at(ms(250)).answer("pod1");
  want_the_same_port(story);
  return story;
}

// pod2 is decided while the frame that shows pod1's bind is still on its way.
Scenario confirmation_on_its_way() {
  Scenario story;
  story.node("n1");
  story.at(ms(0)).create("pod1", kPort).create("pod2", kPort);
  story.at(ms(100)).decide();
  story.at(ms(110)).answer("pod1");
  story.at(ms(120)).decide();
  story.at(ms(130)).answer("pod2");
  story.at(ms(150)).confirm("pod1");
  story.at(ms(160)).confirm("pod2");
  return story;
}

// The DELETED never arrives.
Scenario delete_lost() {
  Scenario story = pod1_bound_and_confirmed();
  decide_another(story);
  story.at(ms(300)).remove("pod1");
  want_the_same_port(story);
  return story;
}

struct Expected {
  std::string verdict;
  std::string pod;
  Duration birth;
  std::optional<Duration> end;  // none: for ever
  Cure cure = Cure::kNever;
};

struct Row {
  std::string claim;
  Scenario story;
  std::string policy;
  std::string pod2;  // where pod2's first decision put it; "" nowhere
  std::vector<Expected> findings;
};

std::vector<Row> rows() {
  const std::string n1 = "n1";
  const std::string nowhere;
  const auto never = std::optional<Duration>();
  return {
      {"without an assumed store the second pod goes where the first just went",
       confirmation_on_its_way(),
       "no-assume",
       n1,
       {{"overcommit", "", ms(120), never, Cure::kNever}}},
      {"the assumed store keeps it away", confirmation_on_its_way(), "naive", nowhere, {}},
      {"and so it does in the proposal", confirmation_on_its_way(), "combined", nowhere, {}},

      {"deleted before the next decision: it stays assumed for ever and blocks pod2",
       confirmed_then_deleted(Between::kNothing),
       "naive",
       nowhere,
       {{"zombie-assumed", "pod1", ms(300), never, Cure::kNever}}},
      {"a decision in between purges it", confirmed_then_deleted(Between::kDecision), "naive", n1, {}},
      {"a delete that goes to both stores needs no decision",
       confirmed_then_deleted(Between::kNothing),
       "delete-both",
       n1,
       {}},
      {"nor does the proposal", confirmed_then_deleted(Between::kNothing), "combined", n1, {}},

      {"the delete comes before the assumption is written: a zombie for ever",
       deleted_before_assumed(),
       "delete-both",
       nowhere,
       {{"zombie-assumed", "pod1", ms(250), never, Cure::kNever}}},
      {"in the proposal for exactly the TTL",
       deleted_before_assumed(),
       "combined",
       nowhere,
       {{"zombie-assumed", "pod1", ms(250), ms(30'250), Cure::kTtl}}},
      {"without an assumed store there is nothing to be left behind", deleted_before_assumed(), "no-assume", n1, {}},

      {"a dropped delete leaves it in the scheduled store for ever",
       delete_lost(),
       "delete-both",
       nowhere,
       {{"zombie-scheduled", "pod1", ms(300), never, Cure::kNever}}},
      {"the same without an assumed store",
       delete_lost(),
       "no-assume",
       nowhere,
       {{"zombie-scheduled", "pod1", ms(300), never, Cure::kNever}}},
      {"in the proposal until the next re-list",
       delete_lost(),
       "combined",
       nowhere,
       {{"zombie-scheduled", "pod1", ms(300), ms(60'000), Cure::kRelist}}},
  };
}

std::string describe(const Told& told, const Finding& finding) {
  std::string out(name_of(finding.verdict));
  if (finding.pod) out.append(" ").append(told.catalog.name(told.catalog.key_of(finding.pod)));
  out.append(" from ").append(std::to_string((finding.birth - told.start).ns));
  out.append(" to ").append(finding.end ? std::to_string((*finding.end - told.start).ns) : "never");
  return out.append(" by ").append(name_of(finding.cure));
}

std::string describe(const Expected& finding) {
  std::string out = finding.verdict;
  if (!finding.pod.empty()) out.append(" ").append(finding.pod);
  out.append(" from ").append(std::to_string(finding.birth.ns));
  out.append(" to ").append(finding.end ? std::to_string(finding.end->ns) : "never");
  return out.append(" by ").append(name_of(finding.cure));
}

// Consequences nest in their root.
std::vector<std::string> roots_of(const Told& told) {
  std::vector<std::string> out;
  for (const Finding& finding : told.findings) {
    if (!finding.root) out.push_back(describe(told, finding));
  }
  return out;
}

TEST(Seeds, EveryClaimHoldsToTheNanosecond) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.policy + ": " + row.claim);
    const auto policy = scheduler::preset(row.policy);
    ASSERT_TRUE(policy.ok());
    const auto told = row.story.tell(*policy, Duration::seconds(92));
    ASSERT_TRUE(told.ok());
    const Fate* pod2 = told->fate("pod2");
    ASSERT_NE(pod2, nullptr);
    ASSERT_FALSE(pod2->decided.empty());
    EXPECT_EQ(pod2->decided.front(), row.pod2);
    std::vector<std::string> expected;
    for (const Expected& finding : row.findings) expected.push_back(describe(finding));
    EXPECT_EQ(roots_of(*told), expected);
  }
}

TEST(Seeds, WhatATrueOvercommitShowsInTheViewIsItsConsequence) {
  const auto told = confirmation_on_its_way().tell(*scheduler::preset("no-assume"), Duration::seconds(2));
  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told->findings.size(), 2U);
  EXPECT_EQ(told->findings[0].verdict, Verdict::kOvercommitTruth);
  EXPECT_EQ(told->findings[1].verdict, Verdict::kOvercommitView);
  EXPECT_EQ(told->findings[1].root, std::optional<size_t>(0));
}

TEST(Seeds, AStepThatNamesAnUnknownPodIsAnError) {
  Scenario story;
  story.node("n1").at(ms(0)).answer("pod7");
  const auto told = story.tell(*scheduler::preset("combined"), Duration::seconds(1));
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().message(), "step 1: no pod 'pod7' was created");
}

}  // namespace
}  // namespace inquest::replayer
