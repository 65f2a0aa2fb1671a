#include "replayer/plan.h"

#include <gtest/gtest.h>

#include "replayer/plan_language.h"
#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out.append(text);
  return out;
}

// What the words of a flag come to: the fault's text, or the error.
std::string read(FaultKind kind, std::string_view words) {
  const auto fault = parse_fault(kind, words);
  return fault.ok() ? fault->text : fault.error().message();
}

// The same of one fault in a plan's YAML.
std::string read_yaml(std::string_view fault) {
  const auto plan = parse_plan("inquest: plan/1\nfaults:\n- " + std::string(fault) + "\n", "x.yaml");
  return plan.ok() ? plan->faults.at(0).text : plan.error().message();
}

struct Row {
  const char* written;
  const char* means;
};

// --- Flags

TEST(PlanFlag, WordsInAnyOrderHaveOneText) {
  for (const char* text : {"pods DELETED name=pod1 nth=2", "nth=2 name=pod1 DELETED pod",
                           "resource=pods verb=DELETED name=pod1 nth=2", "  DELETED \t name=pod1   pods nth=2 "}) {
    EXPECT_EQ(read(FaultKind::kDrop, text), "drop pods DELETED name=pod1 nth=2");
  }
}

TEST(PlanFlag, EveryFieldOfAChange) {
  const auto fault = parse_fault(FaultKind::kDelay,
                                 "pods MODIFIED name=n* namespace=shop uid=u1 at=+1m30s nth=all watch=queued by=45s "
                                 "overtake all-of=uid spec.nodeName=n1");
  ASSERT_TRUE(fault.ok()) << fault.error().message();
  const Trigger& trigger = fault->trigger;
  EXPECT_EQ(trigger.resource, Resource::kPods);
  EXPECT_EQ(trigger.verb, Verb::kModified);
  EXPECT_EQ(trigger.name, "n*");
  EXPECT_EQ(trigger.ns, "shop");
  EXPECT_EQ(trigger.uid, "u1");
  EXPECT_EQ(trigger.after, Duration::seconds(90));
  EXPECT_EQ(trigger.nth, 0U);
  EXPECT_EQ(trigger.field, Field::kNodeName);
  EXPECT_EQ(trigger.becomes, "n1");
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
  EXPECT_EQ(drop("+12s").trigger.after, Duration::seconds(12));
  EXPECT_EQ(drop("at=2026-11-29T20:04:11Z").trigger.time, Time{1'795'982'651'000'000'000});
  EXPECT_EQ(drop("spec.nodeName=").trigger.field, Field::kNodeName);
}

TEST(PlanFlag, ErrorsNameTheFlagAndWhatToSay) {
  const std::pair<FaultKind, Row> rows[] = {
      {FaultKind::kDrop, {"", "--drop '': a fault needs a trigger"}},
      {FaultKind::kDrop, {"nth=2", "a fault needs a trigger"}},
      {FaultKind::kDrop, {"watch=queued", "a fault needs a trigger"}},
      {FaultKind::kDrop, {"services", "'services' is no word of 'drop' (such as: pods DELETED name=pod1; it takes"}},
      {FaultKind::kDrop, {"resource=services", "'services' is no resource (one of pods, nodes, pod, node)"}},
      {FaultKind::kDrop, {"pods REMOVED", "'REMOVED' is no word of 'drop'"}},
      {FaultKind::kDrop, {"verb=GONE", "'GONE' is no verb (one of ADDED, MODIFIED, DELETED)"}},
      {FaultKind::kDrop, {"pods colour=red", "'drop' takes no field 'colour' (it takes resource, verb, name,"}},
      {FaultKind::kDrop, {"pods metadata.labels=x", "'drop' takes no field 'metadata.labels'"}},
      {FaultKind::kDrop, {"pods name=", "name needs a value (leave it out to match any)"}},
      {FaultKind::kDrop, {"pods name=a name=b", "name stands here twice"}},
      {FaultKind::kDrop, {"pods nodes", "resource stands here twice"}},
      {FaultKind::kDrop, {"@4 at=+5s", "'seq' and 'at' exclude each other"}},
      {FaultKind::kDrop, {"spec.nodeName=a status.phase=Failed", "'spec.nodeName' and 'status.phase' exclude"}},
      {FaultKind::kDrop, {"pods nth=0", "nth counts from 1 (say all for every match)"}},
      {FaultKind::kDrop, {"pods nth=", "nth takes a whole number"}},
      {FaultKind::kDrop, {"pods nth=-1", "nth takes a whole number"}},
      {FaultKind::kDrop, {"pods nth=99999999999999999999", "nth takes a whole number"}},
      {FaultKind::kDrop, {"@", "seq takes a whole number"}},
      {FaultKind::kDrop, {"@4x", "seq takes a whole number"}},
      {FaultKind::kDrop, {"@0", "records count from @1"}},
      {FaultKind::kDrop, {"@4 nth=2", "a record is there once: nth cannot be more than 1"}},
      {FaultKind::kDrop, {"pods at=soon", "'soon' is no instant (write it as +12.5s, @43 or"}},
      {FaultKind::kDrop, {"pods by=5s", "'drop' takes no field 'by'"}},
      {FaultKind::kDrop, {"pods overtake=true", "'drop' takes no field 'overtake'"}},
      {FaultKind::kDrop, {"pods watch=all", "'all' is no watch (one of scheduled, queued, every)"}},
      {FaultKind::kDrop, {"nodes watch=queued", "nodes have one watch"}},
      {FaultKind::kDrop, {"nodes namespace=shop", "nodes have no namespace"}},
      {FaultKind::kDrop, {"nodes spec.nodeName=a", "that field is one of pods, not of nodes"}},
      {FaultKind::kDrop, {"pods spec.unschedulable=true", "spec.unschedulable is a field of nodes, not of pods"}},
      {FaultKind::kDrop, {"pods status.phase=Ended", "'Ended' is nothing that this field becomes (one of Pending,"}},
      {FaultKind::kDrop, {"pods metadata.deletionTimestamp=2026", "'2026' is nothing that this field becomes"}},
      {FaultKind::kDrop, {"pods all-of=name", "'name' is no value of all-of (say uid)"}},
      {FaultKind::kDelay, {"pods", "--delay 'pods': 'delay' needs by (such as: pods MODIFIED"}},
      {FaultKind::kDelay, {"pods by=0s", "'delay' of 0s does nothing"}},
      {FaultKind::kDelay, {"pods by=-5s", "'-5s' is not a duration: it is negative"}},
      {FaultKind::kDelay, {"pods by=1s for=2s", "'by' and 'for' exclude each other"}},
      {FaultKind::kDelay, {"pods by=1s overtake=maybe", "'maybe' is no value of overtake"}},
      {FaultKind::kDelay, {"by=5s", "a fault needs a trigger"}},
      {FaultKind::kSwap, {"pods overtake", "'overtake' is no word of 'swap'"}},
      {FaultKind::kTombstone, {"pods ADDED name=a", "'tombstone' stands in place of a DELETED; it hits nothing else"}},
      {FaultKind::kCollapse, {"verb=MODIFIED name=a", "'collapse' stands in place of a DELETED"}},
      {FaultKind::kRvBack, {"@43", "'rv-back' needs back"}},
      {FaultKind::kDisconnect, {"pods", "--disconnect 'pods': it says not when (an instant such as at: +12s"}},
      {FaultKind::kDisconnect, {"pods at=+1s then=wait", "'wait' is no way to go on (one of resume, relist, gone)"}},
      {FaultKind::kDisconnect, {"pods at=+1s nth=2", "nth counts changes, and none is named"}},
      {FaultKind::kBookmarks, {"name=a", "'bookmarks' takes no field 'name'"}},
      {FaultKind::kList, {"nth=2", "'list' needs stale or late or empty (such as: pods nth=2 stale=5s)"}},
      {FaultKind::kList, {"stale=5s empty", "'stale' and 'empty' exclude each other"}},
      {FaultKind::kList, {"stale=0s", "'list' of 0s does nothing"}},
      {FaultKind::kList, {"empty=false", "empty takes true"}},
      {FaultKind::kList, {"empty at=@43", "'list' waits for no record"}},
      {FaultKind::kBind, {"nth=3", "'bind' needs answer (such as: nth=3 answer=lost applied=true)"}},
      {FaultKind::kBind, {"answer=201", "'201' is no status that refuses a bind (400 to 599, such as"}},
      {FaultKind::kBind, {"answer=gone", "'gone' is no answer to a bind (one of lost, late, other-uid)"}},
      {FaultKind::kBind, {"answer=late", "a late answer needs how late (add by=31s)"}},
      {FaultKind::kBind, {"answer=lost by=5s", "by says how late an answer comes, and this one is not late"}},
      {FaultKind::kBind, {"answer=other-uid applied", "applied goes with answer=lost or a status"}},
      {FaultKind::kBind, {"answer=lost pods", "'pods' is no word of 'bind'"}},
      {FaultKind::kRestart, {"", "--restart '': it says not when"}},
      {FaultKind::kRestart, {"for=5s", "it says not when"}},
      {FaultKind::kClock, {"at=+10s", "'clock' needs step"}},
      {FaultKind::kClock, {"at=+10s step=0s", "'clock' of 0s does nothing"}},
  };
  for (const auto& [kind, row] : rows) {
    SCOPED_TRACE(row.written);
    const auto fault = parse_fault(kind, row.written);
    if (fault.ok()) {
      ADD_FAILURE() << "it was taken as " << fault->text;
      continue;
    }
    EXPECT_EQ(fault.error().code, ErrorCode::kUsage);
    const std::string_view wanted = row.means;
    EXPECT_NE(fault.error().message().find(wanted), std::string::npos) << fault.error().message();
  }
}

// --- The language

TEST(PlanLanguage, TablesStandInTheOrderOfTheirIds) {
  for (size_t i = 0; i < plan_fields().size(); ++i) EXPECT_EQ(static_cast<size_t>(plan_fields()[i].id), i);
  for (size_t i = 0; i < plan_kinds().size(); ++i) EXPECT_EQ(static_cast<size_t>(plan_kinds()[i].kind), i);
}

// A value for each field, as a flag's word.
std::string sample(const FieldSpec& field) {
  const auto after_bar = [](std::string_view takes) { return takes.substr(0, takes.find(' ')); };
  const std::string value = field.id == FieldId::kSeq    ? "@43"
                            : field.id == FieldId::kAt   ? "+90s"
                            : field.id == FieldId::kNth  ? "all"
                            : field.id == FieldId::kStep ? "-90s"
                            : field.takes == "GLOB"      ? "a?b*"
                            : field.takes == "UID"       ? "7a3e"
                            : field.takes == "DURATION"  ? "1500ms"
                                                         : std::string(after_bar(field.takes));
  return std::string(field.name) + "=" + value;
}

// Each kind with each field that it takes, beside what it needs: as a flag, from its own text, and as YAML it is the
// same fault; of a field that it does not take every kind says so.
TEST(PlanLanguage, EveryKindWithEveryField) {
  size_t taken = 0;
  for (const KindSpec& kind : plan_kinds()) {
    const Fault example = *parse_fault(kind.kind, kind.example);
    EXPECT_EQ(parse_fault(kind.kind, words_of(example)).value(), example) << kind.example;
    for (const FieldSpec& field : plan_fields()) {
      const std::string words = std::string(kind.example) + " " + sample(field);
      SCOPED_TRACE(std::string(kind.name) + " " + words);
      const auto fault = parse_fault(kind.kind, words);
      if (!(kind.takes | kind.also).holds(field.id)) {
        ASSERT_FALSE(fault.ok());
        EXPECT_NE(fault.error().text.find("takes no field"), std::string::npos) << fault.error().message();
      } else if (fault.ok()) {
        ++taken;
        EXPECT_NE(*fault, example);
        EXPECT_EQ(parse_fault(kind.kind, words_of(*fault)).value(), *fault);
        EXPECT_EQ(read_yaml(std::string(kind.name) + ": \"" + words_of(*fault) + "\""), fault->text);
      }
    }
  }
  EXPECT_GT(taken, 70U);  // the rest is said by the example already, or goes not with it
}

TEST(PlanLanguage, EveryKindInYamlAndItsText) {
  const Row rows[] = {
      {"drop: {resource: pods, verb: DELETED, name: \"pod1\"}", "drop pods DELETED name=pod1"},
      {"drop: {at: \"@19\", watch: scheduled}", "drop @19 watch=scheduled"},
      {"drop: {spec.nodeName: n1}", "drop spec.nodeName=n1"},
      {"drop: pod DELETED", "drop pods DELETED"},
      {"delay: {resource: pods, verb: MODIFIED, when: {field: spec.nodeName, becomes: pair-1}, by: 45s}",
       "delay pods MODIFIED spec.nodeName=pair-1 by=45s"},
      {"delay: {name: a, for: 90s, overtake: true, all-of: uid}", "delay name=a by=1m30s overtake all-of=uid"},
      {"swap: {name: a, by: 5s}", "swap name=a by=5s"},
      {"duplicate: {seq: 7}", "duplicate @7"},
      {"tombstone: {resource: pods, name: a}", "tombstone pods DELETED name=a"},
      {"collapse: {name: a}", "collapse DELETED name=a"},
      {"rv-back: {seq: 9, by: 2s}", "rv-back @9 back=2s"},
      {"rv-back: {seq: 9, back: 2s}", "rv-back @9 back=2s"},
      {"disconnect: {resource: pods, at: +12s, for: 20s, then: relist}", "disconnect pods at=+12s for=20s then=relist"},
      {"disconnect: {verb: DELETED, name: a, then: gone}", "disconnect DELETED name=a then=gone"},
      {"disconnect: {at: 2026-11-29T20:04:11Z}", "disconnect at=2026-11-29T20:04:11Z"},
      {"bookmarks: {resource: pods, nth: all}", "bookmarks pods nth=all"},
      {"bookmarks: all", "bookmarks nth=all"},
      {"list: {nth: 2, stale: 5s}", "list nth=2 stale=5s"},
      {"list: {empty: true}", "list empty"},
      {"list: {resource: pods, watch: queued, late: 2s}", "list pods watch=queued late=2s"},
      {"bind: {nth: 3, answer: lost, applied: true}", "bind nth=3 answer=lost applied=true"},
      {"bind: {name: pod1, answer: late, by: 31s}", "bind name=pod1 by=31s answer=late"},
      {"bind: {node: n*, answer: 409, applied: false}", "bind node=n* answer=409 applied=false"},
      {"bind: nth=all lost applied", "bind nth=all answer=lost applied=true"},
      {"bind: {answer: other-uid}", "bind answer=other-uid"},
      {"bind: \"504\"", "bind answer=504"},
      {"restart: {at: \"@1200\"}", "restart @1200"},
      {"restart: {at: 5s, for: 30s}", "restart at=+5s for=30s"},
      {"clock: {at: +10s, step: -90s}", "clock at=+10s step=-1m30s"},
      {"clock: {name: a, step: +1h}", "clock name=a step=1h"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_yaml(row.written), row.means) << row.written;
}

TEST(PlanLanguage, WhatAFaultWaitsFor) {
  const std::pair<Row, Occasion> rows[] = {
      {{"drop: {name: a}", ""}, Occasion::kChange},
      {{"disconnect: {resource: pods, at: +12s}", ""}, Occasion::kInstant},
      {{"disconnect: {resource: pods, verb: DELETED}", ""}, Occasion::kChange},
      {{"restart: {at: \"@1200\"}", ""}, Occasion::kInstant},
      {{"restart: {resource: pods, at: +5s}", ""}, Occasion::kChange},
      {{"restart: {name: a, nth: 2}", ""}, Occasion::kChange},
      {{"clock: {at: +10s, step: 1s}", ""}, Occasion::kInstant},
      {{"bookmarks: {nth: 2}", ""}, Occasion::kBookmark},
      {{"list: {empty: true}", ""}, Occasion::kList},
      {{"bind: {answer: lost}", ""}, Occasion::kBind},
  };
  for (const auto& [row, occasion] : rows) {
    const auto plan = parse_plan("inquest: plan/1\nfaults:\n- " + std::string(row.written) + "\n", "x");
    ASSERT_TRUE(plan.ok()) << plan.error().message();
    EXPECT_EQ(occasion_of(plan->faults[0]), occasion) << row.written;
  }
}

// --- Plans

TEST(Plan, ThePlanOfTheDesign) {
  const auto plan = parse_plan(
      "# a plan: what happens between truth and the scheduler's view\n"
      "inquest: plan/1\n"
      "faults:\n"
      "- drop: {resource: pods, verb: DELETED, name: \"pod1\"}\n"
      "- delay: {resource: pods, verb: MODIFIED, when: {field: spec.nodeName, becomes: pair-1}, by: 45s}\n"
      "- disconnect: {resource: pods, at: +12s, for: 20s, then: relist}      # or resume, or gone\n"
      "- bind: {nth: 3, answer: lost, applied: true}\n"
      "- restart: {at: \"@1200\"}\n",
      "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  ASSERT_EQ(plan->faults.size(), 5U);
  const Fault& delay = plan->faults[1];
  EXPECT_EQ(delay.by, Duration::seconds(45));
  EXPECT_EQ(delay.trigger.field, Field::kNodeName);
  EXPECT_EQ(delay.trigger.becomes, "pair-1");
  const Fault& disconnect = plan->faults[2];
  EXPECT_EQ(disconnect.trigger.after, Duration::seconds(12));
  EXPECT_EQ(disconnect.by, Duration::seconds(20));
  EXPECT_EQ(disconnect.then, Then::kRelist);
  const Fault& bind = plan->faults[3];
  EXPECT_EQ(bind.trigger.nth, 3U);
  EXPECT_EQ(bind.bind, BindFault::kLost);
  EXPECT_EQ(bind.applied, Applied::kYes);
  EXPECT_EQ(plan->faults[4].trigger.seq, trace::Seq{1200});
}

TEST(Plan, MayHoldNoFault) {
  for (const char* text : {"inquest: plan/1\n", "inquest: plan/1\nfaults:\n", "inquest: plan/1\nfaults: []\n"}) {
    const auto plan = parse_plan(text, "x");
    ASSERT_TRUE(plan.ok()) << text;
    EXPECT_TRUE(plan->faults.empty());
  }
}

TEST(Plan, ErrorsNameTheirLine) {
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
      {"inquest: plan/1\nfaults:\n- lose: {name: a}\n",
       "x.yaml:3: there is no fault 'lose' (one of drop, delay, swap,"},
      {"inquest: plan/1\nfaults:\n- drop: pod1\n", "x.yaml:3: 'pod1' is no word of 'drop'"},
      {"inquest: plan/1\nfaults:\n- drop: [pods]\n", "x.yaml:3: a fault's fields must be a mapping"},
      {"inquest: plan/1\nfaults:\n- drop:\n", "x.yaml:3: 'drop' says nothing (such as: pods DELETED name=pod1)"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: a\n    colour: red\n", "x.yaml:5: 'drop' takes no field 'colour'"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: a\n    name: b\n", "x.yaml:5: 'name' stands here twice"},
      {"inquest: plan/1\nfaults:\n- delay:\n    by: 1s\n    name: a\n    for: 1s\n",
       "x.yaml:6: 'by' and 'for' exclude"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: [a, b]\n", "x.yaml:4: 'name' takes one value"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name:\n", "x.yaml:4: 'name' takes one value"},
      {"inquest: plan/1\nfaults:\n- drop:\n    name: pod 1\n", "x.yaml:4: name takes one word, without blanks"},
      {"inquest: plan/1\nfaults:\n- drop:\n    verb: GONE\n", "x.yaml:4: 'GONE' is no verb"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when: now\n", "x.yaml:4: when must be a mapping"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when:\n      colour: red\n", "x.yaml:5: when takes field and becomes"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when: {field: spec.nodeName}\n", "x.yaml:4: when needs both field and"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when: {field: name, becomes: a}\n", "x.yaml:4: 'name' is no field that"},
      {"inquest: plan/1\nfaults:\n- drop:\n    when:\n      field: spec.colour\n      becomes: red\n",
       "x.yaml:5: 'drop' takes no field 'spec.colour'"},
      {"inquest: plan/1\nfaults:\n- bind: {answer: lost, when: {field: spec.nodeName, becomes: a}}\n",
       "x.yaml:3: 'bind' takes no field 'spec.nodeName'"},
      {"inquest: plan/1\nfaults:\n- delay: {name: a}\n", "x.yaml:3: 'delay' needs by"},
      {"inquest: plan/1\nfaults:\n- drop: {name: a\n", "not YAML: "},
      {"inquest: plan/1\nfaults:\n- drop: {name: *nobody}\n", "x.yaml:3: not YAML: "},
      {"\x01\x02", "x.yaml:1: a plan must be a mapping"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.written);
    const auto plan = parse_plan(row.written, "x.yaml");
    if (plan.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_EQ(plan.error().code, ErrorCode::kInput);
    EXPECT_NE(plan.error().message().find(row.means), std::string::npos) << plan.error().message();
  }
}

TEST(Plan, OneBadFaultDoesNotHideTheNext) {
  const PlanRead read = read_plan(
      "inquest: plan/1\nfaults:\n- drop: {name: a}\n- lose: {}\n- drop: {name: b}\n- delay: {name: c}\ncolour: red\n",
      "x");
  ASSERT_EQ(read.errors.size(), 3U);
  EXPECT_EQ(read.errors[0].place, "x:4");
  EXPECT_EQ(read.errors[1].place, "x:6");
  EXPECT_EQ(read.errors[2].place, "x:7");
  ASSERT_EQ(read.plan.faults.size(), 2U);
  EXPECT_EQ(read.plan.faults[1].trigger.name, "b");
  EXPECT_EQ(read_plan("inquest: plan/1\nfaults:\n" + repeated("- lose: {}\n", 1000), "x").errors.size(),
            kMaxPlanErrors);
}

// Every byte of a plan that holds every kind, changed in several ways: taken or refused, never a crash; and what is
// taken reads back from its own text.
TEST(Plan, NoChangedByteEndsTheProgram) {
  std::string text = "inquest: plan/1\nfaults:\n";
  for (const KindSpec& kind : plan_kinds()) {
    text.append("- ").append(kind.name).append(": \"").append(kind.example).append("\"\n");
  }
  text += "- &a {delay: {when: {field: spec.nodeName, becomes: n}, by: 1s}}\n- *a\n";
  ASSERT_TRUE(parse_plan(text, "x").ok()) << parse_plan(text, "x").error().message();
  size_t taken = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '"', '{', '*', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = byte;
      for (const Fault& fault : read_plan(changed, "x").plan.faults) {
        if (++taken % 64 != 0) continue;
        EXPECT_EQ(parse_fault(fault.kind, words_of(fault)).value(), fault);
      }
    }
  }
  EXPECT_GT(taken, text.size());
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
  struct Hostile {
    const char* what;
    std::string text;
    ErrorCode code;
  };
  const Hostile rows[] = {
      {"too large", head + std::string(size_t{1} << 20, '#'), ErrorCode::kOutOfLimit},
      {"nested braces", head + repeated("{a: ", 1000), ErrorCode::kOutOfLimit},
      {"nested brackets", head + repeated("[", 500'000), ErrorCode::kOutOfLimit},
      {"nested dashes", head + repeated("- ", 500'000), ErrorCode::kOutOfLimit},
      {"nested question marks", repeated("? ", 500'000), ErrorCode::kOutOfLimit},
      {"many keys", many_keys, ErrorCode::kInput},
      {"many fields", many_fields, ErrorCode::kInput},
      {"a fault that holds itself", head + "- &a {drop: *a}\n", ErrorCode::kInput},
      {"a long name", head + "- drop: {name: " + std::string(600, 'a') + "}\n", ErrorCode::kInput},
      {"a long key", head + "- drop: {" + std::string(900, 'a') + ": b}\n", ErrorCode::kInput},
      {"a long kind", head + "- " + std::string(900, 'a') + ": b\n", ErrorCode::kInput},
      {"a long word", head + "- drop: " + std::string(900'000, 'a') + "\n", ErrorCode::kInput},
      {"many words", head + "- drop: '" + repeated("a ", 400'000) + "'\n", ErrorCode::kInput},
      {"the same word again and again", head + "- drop: '" + repeated("pods ", 200'000) + "'\n", ErrorCode::kInput},
      {"aliases of aliases", "inquest: plan/1\nfaults:\n- &a [x]\n- &b [*a, *a]\n- &c [*b, *b]\n- &d [*c, *c]\n",
       ErrorCode::kInput},
      {"too many faults", head + repeated("- drop: {name: a}\n", kMaxFaults + 1), ErrorCode::kInput},
  };
  for (const Hostile& row : rows) {
    SCOPED_TRACE(row.what);
    const auto plan = parse_plan(row.text, "x.yaml");
    if (plan.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_EQ(plan.error().code, row.code) << plan.error().message();
    EXPECT_LT(plan.error().message().size(), 600U);
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
  const TestFolder folder;
  const std::string path = folder.path("plan.yaml");
  const auto missing = load_plan(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message(), path + ": no such file (check the name)");
  folder.write("plan.yaml", "inquest: plan/1\nfaults:\n- drop: {name: a}\n");
  EXPECT_EQ(load_plan(path)->faults.size(), 1U);
  EXPECT_FALSE(load_plan(folder.path("")).ok()) << "a folder";
}

TEST(Glob, Matches) {
  struct Pattern {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Pattern rows[] = {
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
  for (const Pattern& row : rows)
    EXPECT_EQ(glob_matches(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
  EXPECT_FALSE(glob_matches(repeated("*a", 5000) + "b", std::string(20'000, 'a'))) << "and soon";
}

}  // namespace
}  // namespace inquest::replayer
