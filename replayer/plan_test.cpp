#include "replayer/plan.h"

#include <gtest/gtest.h>

#include <fstream>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out.append(text);
  return out;
}

// --- Flags

TEST(PlanFlag, WordsInAnyOrder) {
  const std::vector<std::string> spellings = {"pods DELETED name=pod1 nth=2", "nth=2 name=pod1 DELETED pod",
                                              "resource=pods verb=DELETED name=pod1 nth=2",
                                              "  DELETED \t name=pod1   pods nth=2 "};
  for (const std::string& text : spellings) {
    SCOPED_TRACE(text);
    const auto fault = parse_fault(FaultKind::kDrop, text);
    ASSERT_TRUE(fault.ok());
    EXPECT_EQ(fault->kind, FaultKind::kDrop);
    EXPECT_EQ(fault->trigger.resource, Resource::kPods);
    EXPECT_EQ(fault->trigger.verb, Verb::kDeleted);
    EXPECT_EQ(fault->trigger.name, "pod1");
    EXPECT_EQ(fault->trigger.nth, 2U);
    EXPECT_EQ(fault->text, "drop " + text);
  }
}

TEST(PlanFlag, EveryField) {
  const auto fault = parse_fault(FaultKind::kDelay,
                                 "nodes MODIFIED name=n* namespace=shop uid=u1 seq=@43 at=+1m30s nth=all watch=queued "
                                 "by=45s overtake=true all-of=uid spec.unschedulable=true");
  ASSERT_TRUE(fault.ok()) << fault.error().message();
  const Trigger& trigger = fault->trigger;
  EXPECT_EQ(trigger.resource, Resource::kNodes);
  EXPECT_EQ(trigger.verb, Verb::kModified);
  EXPECT_EQ(trigger.name, "n*");
  EXPECT_EQ(trigger.ns, "shop");
  EXPECT_EQ(trigger.uid, "u1");
  EXPECT_EQ(trigger.seq, trace::Seq{43});
  EXPECT_EQ(trigger.after, Duration::seconds(90));
  EXPECT_EQ(trigger.nth, 0U);
  EXPECT_EQ(trigger.field, Field::kUnschedulable);
  EXPECT_EQ(trigger.becomes, "true");
  EXPECT_EQ(fault->watch, OnWatch::kQueued);
  EXPECT_EQ(fault->by, Duration::seconds(45));
  EXPECT_TRUE(fault->overtake);
  EXPECT_TRUE(fault->all_of_uid);
}

TEST(PlanFlag, ShortFormsOfWhere) {
  EXPECT_EQ(drop("@43").trigger.seq, trace::Seq{43});
  EXPECT_EQ(drop("seq=43").trigger.seq, trace::Seq{43});
  EXPECT_EQ(drop("at=@43").trigger.seq, trace::Seq{43});
  EXPECT_EQ(drop("at=12s").trigger.after, Duration::seconds(12));
  EXPECT_EQ(drop("spec.nodeName=").trigger.field, Field::kNodeName);
  EXPECT_EQ(drop("namespace=shop").trigger.ns, "shop");
  EXPECT_EQ(drop("@43").trigger.nth, 1U);
}

TEST(PlanFlag, ErrorsNameTheFlagAndWhatToSay) {
  struct Row {
    FaultKind kind;
    const char* text;
    const char* message;
  };
  const FaultKind drops = FaultKind::kDrop, delays = FaultKind::kDelay;
  const Row rows[] = {
      {drops, "", "--drop '': a fault needs a trigger"},
      {drops, "nth=2", "a fault needs a trigger"},
      {drops, "watch=queued", "a fault needs a trigger"},
      {drops, "services", "'services' is no resource (one of pods, pod, nodes, node)"},
      {drops, "pods REMOVED", "'REMOVED' is no verb (one of ADDED, MODIFIED, DELETED)"},
      {drops, "pods colour=red", "a fault has no field 'colour' (fields: resource, verb,"},
      {drops, "pods metadata.labels=x", "'metadata.labels' is no field that a trigger knows"},
      {drops, "pods becomes=n1", "becomes needs a field"},
      {drops, "pods nth=0", "nth counts from 1 (say all for every match)"},
      {drops, "pods nth=", "nth takes a whole number"},
      {drops, "pods nth=-1", "nth takes a whole number"},
      {drops, "pods nth=99999999999999999999", "nth takes a whole number"},
      {drops, "@", "seq takes a whole number"},
      {drops, "@4x", "seq takes a whole number"},
      {drops, "pods at=soon", "soon"},
      {drops, "pods by=5s", "a drop takes neither by nor overtake"},
      {drops, "pods overtake=true", "a drop takes neither by nor overtake"},
      {drops, "pods overtake=maybe", "overtake takes true or false"},
      {drops, "pods watch=all", "'all' is no watch (one of every, scheduled, queued)"},
      {drops, "pods all-of=name", "all-of takes uid"},
      {delays, "pods", "--delay 'pods': a delay needs how long (add by=5s)"},
      {delays, "pods by=0s", "a delay needs how long"},
      {delays, "pods by=-5s", "-5s"},
      {delays, "by=5s", "a fault needs a trigger"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto fault = parse_fault(row.kind, row.text);
    if (fault.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_EQ(fault.error().code, ErrorCode::kUsage);
    const std::string_view wanted = row.message;
    EXPECT_NE(fault.error().message().find(wanted), std::string::npos) << fault.error().message();
  }
}

// --- Plans

TEST(Plan, ThePlanOfTheDesign) {
  const auto plan = parse_plan(
      "# what happens between truth and view\n"
      "inquest: plan/1\n"
      "faults:\n"
      "- drop: {resource: pods, verb: DELETED, name: \"pod1\"}\n"
      "- delay: {resource: pods, verb: MODIFIED, when: {field: spec.nodeName, becomes: pair-1}, by: 45s}\n"
      "- drop:\n"
      "    at: \"@1200\"\n"
      "    watch: scheduled\n",
      "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  ASSERT_EQ(plan->faults.size(), 3U);
  const Fault& first = plan->faults[0];
  const Fault& second = plan->faults[1];
  const Fault& third = plan->faults[2];
  EXPECT_EQ(first.kind, FaultKind::kDrop);
  EXPECT_EQ(first.trigger.name, "pod1");
  EXPECT_EQ(first.text, "drop resource=pods verb=DELETED name=pod1");
  EXPECT_EQ(second.kind, FaultKind::kDelay);
  EXPECT_EQ(second.by, Duration::seconds(45));
  EXPECT_EQ(second.trigger.field, Field::kNodeName);
  EXPECT_EQ(second.trigger.becomes, "pair-1");
  EXPECT_NE(second.text.find("when spec.nodeName becomes pair-1"), std::string::npos);
  EXPECT_EQ(third.trigger.seq, trace::Seq{1200});
  EXPECT_EQ(third.watch, OnWatch::kScheduled);
}

TEST(Plan, MayHoldNoFault) {
  for (const char* text : {"inquest: plan/1\n", "inquest: plan/1\nfaults:\n", "inquest: plan/1\nfaults: []\n"}) {
    const auto plan = parse_plan(text, "x");
    ASSERT_TRUE(plan.ok()) << text;
    EXPECT_TRUE(plan->faults.empty());
  }
}

TEST(Plan, ErrorsNameTheirLine) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"", "x.yaml: it is empty (a plan is one YAML document that starts with 'inquest: plan/1')"},
      {"# nothing\n", "x.yaml: it is empty"},
      {"inquest: plan/1\n---\ninquest: plan/1\n", "x.yaml: it holds several documents"},
      {"just words\n", "x.yaml:1: a plan must be a mapping"},
      {"faults: []\n", "x.yaml:1: the line 'inquest: plan/1' is missing"},
      {"inquest: plan/2\n", "x.yaml:1: this reads plan/1 (a newer file needs a newer inquest)"},
      {"inquest: [plan/1]\n", "x.yaml:1: this reads plan/1"},
      {"inquest: plan/1\nfault: []\n", "x.yaml:2: a plan has no field 'fault' (fields: inquest, faults)"},
      {"inquest: plan/1\nfaults: 7\n", "x.yaml:2: faults must be a list"},
      {"inquest: plan/1\nfaults: {}\n", "x.yaml:2: faults must be a list"},
      {"inquest: plan/1\nfaults: []\nfaults: []\n", "x.yaml:3: 'faults' stands here twice"},
      {"inquest: plan/1\n[a]: b\n", "x.yaml:2: a key must be a word"},
      {"inquest: plan/1\nfaults:\n- drop\n", "x.yaml:3: a fault must be a mapping"},
      {"inquest: plan/1\nfaults:\n- {}\n", "x.yaml:3: a fault is one mapping such as 'drop: {…}'"},
      {"inquest: plan/1\nfaults:\n- drop: {name: a}\n  delay: {name: a, by: 1s}\n", "x.yaml:3: a fault is one mapping"},
      {"inquest: plan/1\nfaults:\n- swap: {name: a}\n", "x.yaml:3: there is no fault 'swap' (one of drop, delay)"},
      {"inquest: plan/1\nfaults:\n- drop: pod1\n", "x.yaml:3: a fault's fields must be a mapping"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: a\n    colour: red\n", "x.yaml:5: a fault has no field 'colour'"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: a\n    name: b\n", "x.yaml:5: 'name' stands here twice"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: [a, b]\n", "x.yaml:4: 'name' takes one value"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name:\n", "x.yaml:4: 'name' takes one value"},
      {"inquest: plan/1\nfaults:\n- drop:\n    verb: GONE\n", "x.yaml:4: 'GONE' is no verb"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when: now\n", "x.yaml:4: when must be a mapping"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when:\n      colour: red\n", "x.yaml:5: when takes field and becomes"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when:\n      field: spec.colour\n",
       "x.yaml:5: 'spec.colour' is no field"},
      {"inquest: plan/1\nfaults:\n- delay: {name: a}\n", "x.yaml:3: a delay needs how long"},
      {"inquest: plan/1\nfaults:\n- drop: {name: a\n", "not YAML: "},
      {"inquest: plan/1\nfaults:\n- drop: {name: *nobody}\n", "x.yaml:3: not YAML: "},
      {"\x01\x02", "x.yaml:1: a plan must be a mapping"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto plan = parse_plan(row.text, "x.yaml");
    if (plan.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_EQ(plan.error().code, ErrorCode::kInput);
    EXPECT_NE(plan.error().message().find(row.message), std::string::npos) << plan.error().message();
  }
}

// Whatever a stranger writes: an error, soon.
TEST(Plan, HostileTextsEndSoon) {
  const std::string head = "inquest: plan/1\nfaults:\n";
  std::string many_keys;
  for (size_t i = 0; many_keys.size() < 900'000; ++i) many_keys.append("k").append(std::to_string(i)).append(": 1\n");
  std::string many_fields = head + "- drop:\n";
  for (size_t i = 0; many_fields.size() < 900'000; ++i) {
    many_fields.append("    k").append(std::to_string(i)).append(": 1\n");
  }
  struct Row {
    const char* what;
    std::string text;
    ErrorCode code;
  };
  const Row rows[] = {
      {"too large", head + std::string(size_t{1} << 20, '#'), ErrorCode::kOutOfLimit},
      {"nested braces", head + repeated("{a: ", 1000), ErrorCode::kOutOfLimit},
      {"nested brackets", head + repeated("[", 500'000), ErrorCode::kOutOfLimit},
      {"nested dashes", head + repeated("- ", 500'000), ErrorCode::kOutOfLimit},
      {"nested question marks", repeated("? ", 500'000), ErrorCode::kOutOfLimit},
      {"many keys", many_keys, ErrorCode::kInput},
      {"many fields", many_fields, ErrorCode::kInput},
      {"a fault that holds itself", head + "- &a {drop: *a}\n", ErrorCode::kInput},
      {"too many faults", head + repeated("- drop: {name: a}\n", kMaxFaults + 1), ErrorCode::kInput},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const auto plan = parse_plan(row.text, "x.yaml");
    if (plan.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_EQ(plan.error().code, row.code) << plan.error().message();
    EXPECT_LT(plan.error().message().size(), 500U);
  }
}

TEST(Plan, BracesInAQuotedWordAreNoNesting) {
  for (const char* quote : {"'", "\""}) {
    const std::string name = repeated("{[", 100);
    const auto plan =
        parse_plan("inquest: plan/1\nfaults:\n- drop: {name: " + (quote + name + quote) + "}\n", "x.yaml");
    ASSERT_TRUE(plan.ok()) << plan.error().message();
    EXPECT_EQ(plan->faults[0].trigger.name, name);
  }
}

TEST(Plan, TooDeepAYamlSaysSo) {
  const auto plan = parse_plan("inquest: plan/1\nfaults:\n" + repeated("- ", 5000), "x.yaml");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message(), "x.yaml:3: it is nested too deeply for a plan");
}

TEST(Plan, TheMostFaultsAreTaken) {
  const auto plan = parse_plan("inquest: plan/1\nfaults:\n" + repeated("- drop: {name: a}\n", kMaxFaults), "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(plan->faults.size(), kMaxFaults);
}

TEST(Plan, IsReadFromAFile) {
  const TempFolder folder;
  const std::string path = folder.file("plan.yaml");
  const auto missing = load_plan(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message(), path + ": the plan cannot be opened");
  std::ofstream(path) << "inquest: plan/1\nfaults:\n- drop: {name: a}\n";
  EXPECT_EQ(load_plan(path)->faults.size(), 1U);
  EXPECT_FALSE(load_plan(folder.file("")).ok()) << "a folder";
}

TEST(Glob, Matches) {
  struct Row {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Row rows[] = {
      {"", "", true},          {"", "a", false},         {"*", "", true},
      {"*", "abc", true},      {"a", "a", true},         {"a", "b", false},
      {"a", "ab", false},      {"ab", "a", false},       {"?", "a", true},
      {"?", "", false},        {"a?c", "abc", true},     {"a?c", "ac", false},
      {"pod*", "pod1", true},  {"pod*", "pod", true},    {"pod*", "apod", false},
      {"*1", "pod11", true},   {"*-a-*", "x-a-y", true}, {"*ab*ab", "abab", true},
      {"*ab*ab", "ab", false}, {"a*b*c", "axbxc", true}, {"a*b*c", "axcxb", false},
      {"**", "x", true},       {"*?", "", false},        {"[a]", "a", false},
      {"*", "*", true},        {"a*", "*", false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(glob_matches(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
  EXPECT_FALSE(glob_matches(repeated("*a", 5000) + "b", std::string(20'000, 'a'))) << "and soon";
}

}  // namespace
}  // namespace inquest::replayer
