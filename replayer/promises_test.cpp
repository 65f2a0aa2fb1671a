#include "replayer/promises.h"

#include <gtest/gtest.h>

#include "replayer/test_trace.h"

namespace inquest::replayer {
namespace {

using trace::RecordKind;

struct Watch {
  TestTrace trace;

  PodFacts pod(std::string_view name, ResourceVersion rv, std::string_view uid = "") {
    PodFacts out = trace.pod(name, uid);
    out.rv = rv;
    return out;
  }
  void list(ResourceVersion rv, std::vector<PodFacts> pods) {
    trace.pods_listed(0, std::move(pods), TestTrace::Checkpoint::kNo, rv);
    trace.mark(0, RecordKind::kOpen, rv);
  }
  void frame(Verb verb, const PodFacts& pod) { trace.frame(20, verb, pod); }

  // "known: story/pod1 …: was never listed or ADDED", one a line.
  std::string broken() {
    auto reader = trace.reader();
    const auto report = check_promises(reader);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report->total(), report->first.size());
    std::string out;
    for (const BrokenPromise& promise : report->first) {
      const std::string name = promise.object.substr(0, promise.object.find(' '));
      out.append(name_of(promise.promise)).append(": ").append(name.substr(name.find('/') + 1));
      out.append(name.empty() ? "" : " ").append(promise.what).append("\n");
    }
    return out;
  }
};

TEST(Promises, AGoodWatchBreaksNone) {
  Watch watch;
  watch.list(100, {watch.pod("pod1", 90)});
  watch.frame(Verb::kAdded, watch.pod("pod2", 101));
  watch.frame(Verb::kModified, watch.pod("pod1", 102));
  watch.frame(Verb::kDeleted, watch.pod("pod1", 103));
  watch.trace.mark(30, RecordKind::kBookmark, 103);
  watch.trace.mark(40, RecordKind::kClose);
  watch.trace.mark(50, RecordKind::kOpen, 103);
  watch.frame(Verb::kAdded, watch.pod("pod1", 104, "another-life"));
  EXPECT_EQ(watch.broken(), "");
}

TEST(Promises, OrderedAndUnique) {
  Watch watch;
  watch.list(100, {});
  watch.frame(Verb::kAdded, watch.pod("pod1", 105));
  watch.frame(Verb::kAdded, watch.pod("pod1", 105));
  watch.frame(Verb::kAdded, watch.pod("pod2", 104));
  watch.trace.mark(30, RecordKind::kBookmark, 103);
  EXPECT_EQ(watch.broken(),
            "unique: pod1 came before, at the same rv 105\n"
            "ordered: pod2 rv 104 after rv 105\n"
            "ordered: a bookmark at rv 103 after rv 105\n");
}

TEST(Promises, WhatWasNeverAddedIsKnownOnlyAcrossAGap) {
  Watch watch;
  watch.list(100, {});
  watch.frame(Verb::kModified, watch.pod("pod1", 101));
  watch.trace.mark(30, RecordKind::kGap, 110);
  watch.frame(Verb::kModified, watch.pod("pod2", 111));
  EXPECT_EQ(watch.broken(), "known: pod1 was never listed or ADDED\n");
}

TEST(Promises, AddedTwiceAndDeletedTwice) {
  Watch watch;
  watch.list(100, {watch.pod("pod1", 90)});
  watch.frame(Verb::kAdded, watch.pod("pod1", 101));
  watch.frame(Verb::kDeleted, watch.pod("pod1", 102));
  watch.frame(Verb::kDeleted, watch.pod("pod1", 103));
  EXPECT_EQ(watch.broken(), "known: pod1 ADDED though it was there\nknown: pod1 DELETED twice\n");
}

TEST(Promises, TimeTravel) {
  Watch watch;
  watch.list(100, {watch.pod("pod1", 90), watch.pod("pod2", 91)});
  watch.frame(Verb::kDeleted, watch.pod("pod1", 101));
  watch.frame(Verb::kAdded, watch.pod("pod1", 102));
  watch.trace.mark(30, RecordKind::kClose);
  watch.frame(Verb::kDeleted, watch.pod("pod1", 103));
  watch.list(110, {watch.pod("pod2", 80), watch.pod("pod1", 85)});  // as a server that lags behind would
  EXPECT_EQ(watch.broken(),
            "no time travel: pod1 comes back after it was deleted\n"
            "no time travel: pod2 its rv falls from 91 to 80\n"
            "no time travel: pod1 is listed after it was deleted\n");
}

TEST(Promises, ResumingFromBeforeOrBeyond) {
  Watch watch;
  watch.list(100, {});
  watch.frame(Verb::kAdded, watch.pod("pod1", 105));
  watch.trace.mark(30, RecordKind::kClose);
  watch.trace.mark(40, RecordKind::kOpen, 101);
  watch.trace.mark(50, RecordKind::kClose);
  watch.trace.mark(60, RecordKind::kOpen, 120);
  EXPECT_EQ(watch.broken(),
            "resumable: opened at rv 101, before rv 105 which the stream had reached\n"
            "no silent hole: opened at rv 120 beyond rv 105, and no gap says so\n");
}

TEST(Promises, AWatchFromNowhereMayAddInAnyOrder) {
  Watch watch;
  watch.trace.mark(0, RecordKind::kOpen, 0);
  watch.frame(Verb::kAdded, watch.pod("pod1", 90));
  watch.frame(Verb::kAdded, watch.pod("pod2", 10));
  watch.frame(Verb::kModified, watch.pod("pod2", 95));
  EXPECT_EQ(watch.broken(), "");
}

}  // namespace
}  // namespace inquest::replayer
