// For tests only: a recording of one pod, and an outcome to be filled in.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/test_folder.h"
#include "report/run_report.h"
#include "schema/writer.h"

namespace inquest::report {

inline constexpr Time kStart{1'000'000'000};

// Of the pod n/a, on its way nowhere.
class RunShownTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.path("t.trace");
    write(path);
    auto reader = trace::TraceReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    auto loaded = replayer::Recording::load(*std::move(reader));
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    recording_ = *std::move(loaded);
    config_.policy = *scheduler::preset("combined");
    outcome_.start = kStart;
    outcome_.end = kStart + Duration::seconds(10);
    outcome_.drain = Duration::seconds(91);
  }

  static void write(const std::string& path) {
    Catalog catalog;
    auto writer = trace::TraceWriter::create(path, {}, catalog);
    ASSERT_TRUE(writer.ok()) << writer.error().message();
    trace::Stream stream;
    stream.name = stream.resource = "pods";
    trace::Record record;
    record.stream = *writer->add_stream(stream);
    record.kind = trace::RecordKind::kFrame;
    record.wall = kStart;
    PodFacts pod;
    pod.pod = catalog.pod(catalog.key(catalog.string("n"), catalog.string("a")), catalog.string("u-1234"));
    pod.shape = catalog.shape({});
    record.objects.emplace_back(pod);
    ASSERT_TRUE(writer->append(record, "{}").ok());
    ASSERT_TRUE(writer->close().ok());
  }

  // The pod of the recording.
  PodId pod() const { return recording_->pods().front().pod; }
  replayer::Finding& add(replayer::Verdict verdict) {
    replayer::Finding& finding = outcome_.findings.emplace_back();
    finding.verdict = verdict;
    finding.pod = pod();
    finding.birth = kStart + Duration::seconds(static_cast<int64_t>(outcome_.findings.size()));
    outcome_.ending = replayer::Ending::kViolated;
    return finding;
  }
  RunShown shown() const { return {"t.trace", *recording_, config_, followed_, outcome_, {}}; }
  std::string text(const Limits& limits = {}) const { return run_text(shown(), Style(Colour::kOff), limits); }
  void expect(const std::string& part, const Limits& limits = {}) const {
    EXPECT_NE(text(limits).find(part), std::string::npos) << part << "\nis not in\n" << text(limits);
  }

  TestFolder folder_;
  std::unique_ptr<replayer::Recording> recording_;
  replayer::RunConfig config_;
  replayer::SchedulerSeen followed_;
  replayer::Outcome outcome_;
};

}  // namespace inquest::report
