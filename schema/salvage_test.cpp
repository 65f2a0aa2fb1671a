// recover of files that SQLite cannot walk.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "schema/page_scan.h"
#include "schema/recover.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using Existing = OutputFile::Existing;
constexpr size_t kPage = PageScan::kPageBytes;
constexpr uint64_t kBatches = 60, kRecords = kBatches * 10;

// Does not compress, so that bodies fill pages.
std::string body_of(uint64_t rv) {
  std::mt19937 random(static_cast<uint32_t>(rv));
  std::string body = "body " + std::to_string(rv) + ' ';
  for (uint64_t i = 0; i < rv % 7 * 100; ++i) body += static_cast<char>(random());
  return body;
}

// Frames alone, so that what is kept is known by its resourceVersion; of two streams.
void write_frames(const std::string& path, bool close, const WriterOptions& options = {}) {
  Sample sample;
  auto writer = TraceWriter::create(path, sample_header(), sample.catalog, TraceWriter::Existing::kRefuse, options);
  ASSERT_TRUE(writer.ok());
  for (const Stream& stream : sample.streams) ASSERT_TRUE(writer->add_stream(stream).ok());
  writer->add_loss("x.jsonl", "not JSON", 2);
  for (uint64_t rv = 1; rv <= kRecords; ++rv) {
    ASSERT_TRUE(writer->append(sample.frame("pod-" + std::to_string(rv % 17), rv), body_of(rv)).ok());
    if (rv % 10 == 0) {
      ASSERT_TRUE(writer->flush().ok());
    }
  }
  if (close) {
    ASSERT_TRUE(writer->close().ok());
  }
}

// The trace is sound, holds nothing but what was written, and says what it lacks. Returns how many records were kept.
uint64_t expect_honest(const std::string& path, const RecoverReport& report) {
  auto reader = TraceReader::open(path);
  EXPECT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_FALSE(reader->check_integrity()->has_value());
  uint64_t kept = 0, bodies_lost = 0, gaps = 0;
  ResourceVersion before = 0;
  for (auto record = reader->next(); record.ok() && *record != nullptr; record = reader->next()) {
    const ResourceVersion rv = (*record)->rv;
    if ((*record)->kind == RecordKind::kGap) {
      ++gaps;
      EXPECT_EQ((*record)->gap_from, before);
      EXPECT_GT(rv, before + 1);
      before = rv - 1;
      continue;
    }
    EXPECT_EQ(rv, before + 1) << "a hole without a gap";
    const auto body = reader->body((*record)->seq);
    EXPECT_TRUE(body.ok() && (body->empty() || *body == body_of(rv)));
    bodies_lost += body->empty();
    before = rv;
    ++kept;
  }
  EXPECT_EQ(kept, report.records_kept);
  EXPECT_EQ(bodies_lost, report.bodies_lost);
  EXPECT_EQ(gaps, report.gaps);
  if (report.summary_was_intact) {
    EXPECT_EQ(kept + report.records_lost, kRecords);
  }
  EXPECT_EQ(report.nothing_lost(), kept == kRecords && bodies_lost == 0 && report.summary_was_intact);
  EXPECT_EQ(reader->info().state == TraceState::kClosed, report.nothing_lost());
  return kept;
}

TEST(Salvage, EveryBatchBeforeACutIsSaved) {
  TestFolder dir;
  write_frames(dir.path("x.trace"), true);
  const std::string bytes = read_file(dir.path("x.trace"));
  uint64_t least = 0;
  for (size_t size = 30 * kPage; size < bytes.size(); size += 6 * kPage + 1000) {
    SCOPED_TRACE(size);
    write_file(dir.path("cut.trace"), bytes.substr(0, size));
    const auto report = recover(dir.path("cut.trace"), dir.path("saved.trace"), Existing::kReplace);
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_TRUE(report->by_pages);
    const uint64_t kept = expect_honest(dir.path("saved.trace"), *report);
    EXPECT_GE(kept, least);
    least = kept;
  }
  EXPECT_GT(least, kRecords / 2);
}

TEST(Salvage, APageCostsNoMoreThanWhatStandsOnIt) {
  TestFolder dir;
  write_frames(dir.path("x.trace"), true);
  const std::string bytes = read_file(dir.path("x.trace"));
  std::set<uint64_t> kept;
  for (size_t page = 0; page < bytes.size() / kPage; page += page < 15 ? 1 : 7) {
    SCOPED_TRACE(page);
    write_file(dir.path("bad.trace"), std::string(bytes).replace(page * kPage, kPage, kPage, '\0'));
    const auto report = recover(dir.path("bad.trace"), dir.path("saved.trace"), Existing::kReplace);
    if (!report.ok()) {  // the page of a view, say, which nobody reads
      ASSERT_EQ(report.error().code, ErrorCode::kUsage) << report.error().message();
      continue;
    }
    kept.insert(expect_honest(dir.path("saved.trace"), *report));
    EXPECT_GE(*kept.begin(), kRecords * 3 / 4);
  }
  EXPECT_TRUE(kept.contains(kRecords));  // page 1, and those of b-trees
  EXPECT_GT(kept.size(), 1U);
}

TEST(Salvage, WhatOnlySqliteNeedsIsNoLoss) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x.trace"));
  std::string bytes = read_file(dir.path("x.trace"));
  write_file(dir.path("bad.trace"), bytes.replace(0, kPage, kPage, 'x'));
  const auto report = recover(dir.path("bad.trace"), dir.path("saved.trace"), Existing::kReplace);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_TRUE(report->by_pages && report->nothing_lost());
  EXPECT_EQ(read_all(dir.path("saved.trace")), read_all(dir.path("x.trace")));
}

TEST(Salvage, TheBeginningOfAFileIsNotNeeded) {
  TestFolder dir;
  write_frames(dir.path("x.trace"), true);
  std::string bytes = read_file(dir.path("x.trace"));
  // All tables of the summary stand on the first pages.
  write_file(dir.path("bad.trace"), bytes.replace(0, 6 * kPage, 6 * kPage, '\xff'));
  const auto report = recover(dir.path("bad.trace"), dir.path("saved.trace"), Existing::kReplace);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(expect_honest(dir.path("saved.trace"), *report), kRecords);
  EXPECT_FALSE(report->summary_was_intact);
  EXPECT_EQ(report->streams_lost, 1U);
  const auto reader = TraceReader::open(dir.path("saved.trace"));
  EXPECT_EQ(reader->info().streams[0].stream.name, "lost-1");
  EXPECT_EQ(reader->info().streams[0].stream.resource, "pods");
  EXPECT_EQ(reader->info().state, TraceState::kRecovered);
}

TEST(Salvage, WhatStoodInTheLogIsSaved) {
  TestFolder dir;
  write_frames(dir.path("x.trace"), false);
  std::filesystem::copy_file(dir.path("x.trace"), dir.path("bad.trace"));
  if (std::filesystem::exists(dir.path("x.trace-wal"))) {
    std::filesystem::copy_file(dir.path("x.trace-wal"), dir.path("bad.trace-wal"));
  }
  // The header of the file is lost, and with it what SQLite needs to find the log.
  std::string bytes = read_file(dir.path("bad.trace"));
  write_file(dir.path("bad.trace"), bytes.replace(0, std::min<size_t>(100, bytes.size()), std::string(100, 'x')));
  const auto report = recover(dir.path("bad.trace"), dir.path("saved.trace"), Existing::kReplace);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->records_kept, kRecords);
  EXPECT_TRUE(report->was_open);
}

TEST(Salvage, ALostDictionaryIsCounted) {
  TestFolder dir;
  Sample sample;
  auto writer = TraceWriter::create(dir.path("x.trace"), sample_header(), sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  for (uint64_t rv = 1; rv <= 600; ++rv) {
    std::string body;  // much to learn from
    for (uint64_t i = 0; i < 500; ++i) body += "\"key-" + std::to_string((rv * 31 + i * i) % 997) + "\":";
    ASSERT_TRUE(writer->append(sample.frame("pod-" + std::to_string(rv % 17), rv), body).ok());
    if (rv % 10 == 0) {
      ASSERT_TRUE(writer->flush().ok());
    }
  }
  ASSERT_TRUE(writer->close().ok());
  std::string bytes = read_file(dir.path("x.trace"));
  size_t at = bytes.find("\x37\xa4\x30\xec");  // where the first dictionary begins
  ASSERT_NE(at, std::string::npos);
  bytes[at + 200] = static_cast<char>(bytes[at + 200] ^ 1);
  write_file(dir.path("bad.trace"), bytes);
  const auto report = recover(dir.path("bad.trace"), dir.path("saved.trace"), Existing::kReplace);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_GT(report->batches_without_dictionary, 0U);
  EXPECT_EQ(report->batches_without_dictionary, report->batches_lost);
  EXPECT_GT(report->records_kept, 0U);
  EXPECT_EQ(report->records_kept + report->records_lost, 600U);
}

TEST(Salvage, AFileWithNothingOfATraceKeepsItsOwnError) {
  TestFolder dir;
  for (const std::string& bytes : {std::string("{\"kind\":\"List\"}"), std::string(100'000, 'x')}) {
    write_file(dir.path("x"), bytes);
    const auto report = recover(dir.path("x"), dir.path("saved.trace"), Existing::kRefuse);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, ErrorCode::kInput);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
  }
}

}  // namespace
}  // namespace inquest::trace
