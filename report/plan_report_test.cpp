#include "report/plan_report.h"

#include <gtest/gtest.h>

#include "replayer/plan_language.h"

namespace inquest::report {
namespace {

using replayer::FaultKind;

struct Row {
  FaultKind kind;
  const char* words;
  const char* sentence;
};

TEST(PlanSentence, OfEveryKind) {
  const Row rows[] = {
      {FaultKind::kDrop, "pods DELETED name=pod1",
       "The first DELETED of a pod named pod1 never reaches the scheduler."},
      {FaultKind::kDrop, "@43", "The change @43 never reaches the scheduler."},
      {FaultKind::kDrop, "nodes nth=all spec.unschedulable=true at=+5s",
       "Every change of a node that cordons it at +5s or later never reaches the scheduler."},
      {FaultKind::kDrop, "name=a all-of=uid watch=queued",
       "The first change of a pod or node named a on the watch of queued pods never reaches the scheduler; so does "
       "every "
       "later change of the same object."},
      {FaultKind::kDelay, "pods spec.nodeName=n1 by=45s",
       "The first change of a pod that puts it on node n1 arrives 45s late, and so does all that is behind it."},
      {FaultKind::kDelay, "pods nth=2 by=45s overtake",
       "The 2nd change of a pod arrives 45s late, and what is behind it passes."},
      {FaultKind::kSwap, "pods nth=13",
       "The 13th change of a pod changes places with the next frame, or arrives the lag bound late if none comes."},
      {FaultKind::kDuplicate, "pods nth=21", "The 21st change of a pod arrives twice."},
      {FaultKind::kDuplicate, "pods nth=22 by=1s", "The 22nd change of a pod arrives twice, the second time 1s later."},
      {FaultKind::kTombstone, "pods name=a",
       "The first DELETED of a pod named a is lost, and the next list brings it as a tombstone."},
      {FaultKind::kCollapse, "pods namespace=shop",
       "The first DELETED of a pod in namespace shop is lost, and the next ADDED of its name arrives as MODIFIED with "
       "another uid."},
      {FaultKind::kRvBack, "pods @43 back=5s",
       "The change @43 of a pod breaks its watch, which resumes from 5s earlier: what came since comes once more."},
      {FaultKind::kDisconnect, "pods at=+12s for=20s then=relist",
       "At +12s the watches of pods break, stay so for 20s, and begin with a list."},
      {FaultKind::kDisconnect, "DELETED name=a then=gone",
       "With the first DELETED of a pod or node named a all watches break and are told 410 Gone, and list."},
      {FaultKind::kBookmarks, "pods all", "Every bookmark of pods is lost."},
      {FaultKind::kList, "pods nth=2 stale=5s",
       "The 2nd list of pods that the scheduler asks for shows what the API held 5s before."},
      {FaultKind::kList, "empty", "The first list that the scheduler asks for holds nothing."},
      {FaultKind::kList, "late=2s at=+3s",
       "The first list that the scheduler asks for at +3s or later arrives 2s late."},
      {FaultKind::kBind, "nth=3 answer=lost applied=true",
       "The 3rd bind of a pod is never answered, though the API carried it out."},
      {FaultKind::kBind, "name=a late by=31s", "The first bind of a pod named a is answered 31s late."},
      {FaultKind::kBind, "node=n1 409 applied=false",
       "The first bind of a pod to node n1 is answered 409, and the API did not carry it out."},
      {FaultKind::kBind, "@7 other-uid",
       "The bind @7 of a pod binds whatever pod has the name by then, whatever its uid."},
      {FaultKind::kRestart, "@1200", "At @1200 the scheduler forgets what it has in memory and lists anew."},
      {FaultKind::kRestart, "at=2026-11-29T20:04:11Z for=30s",
       "At 2026-11-29T20:04:11Z the scheduler forgets what it has in memory, is away for 30s, and lists anew."},
      {FaultKind::kClock, "at=+10s step=-90s", "At +10s the scheduler's clock jumps back by 1m30s."},
      {FaultKind::kClock, "pods name=a step=1h",
       "With the first change of a pod named a the scheduler's clock jumps forwards by 1h."},
  };
  for (const Row& row : rows) {
    const auto fault = parse_fault(row.kind, row.words);
    ASSERT_TRUE(fault.ok()) << fault.error().message();
    EXPECT_EQ(sentence_of(*fault), row.sentence);
  }
}

TEST(PlanReport, ShowsNoControlCharacterOfAStranger) {
  const replayer::PlanRead read =
      replayer::read_plan("inquest: plan/1\nfaults:\n- drop: {name: \"\\e[2J\"}\n- drop: {name: \"a\u202e\"}\n", "p");
  const PlanShown shown{"p\x1b.yaml", read, "", nullptr, {}};
  for (const std::string& text :
       {plan_lint_text(shown, Style(Colour::kOff)), plan_explain_text(shown, Style(Colour::kOff))}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
  }
}

TEST(PlanReport, KindsNameEveryKindAndField) {
  for (const std::string& text : {plan_kinds_text(), plan_kinds_markdown(), plan_kinds_json()}) {
    for (const auto& kind : replayer::plan_kinds()) EXPECT_NE(text.find(kind.name), std::string::npos) << kind.name;
    for (const auto& field : replayer::plan_fields()) EXPECT_NE(text.find(field.name), std::string::npos) << field.name;
  }
}

}  // namespace
}  // namespace inquest::report
