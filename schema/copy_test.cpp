// compact and recover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "schema/compact.h"
#include "schema/recover.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using testing::HasSubstr;
using Existing = OutputFile::Existing;

// 40 batches of 5 frames and a bind with its answer; `state` open leaves it unclosed.
void write_small_batches(const std::string& path, TraceState state) {
  Sample sample;
  auto writer = TraceWriter::create(path, sample_header(), sample.catalog);
  ASSERT_TRUE(writer.ok());
  for (const Stream& stream : sample.streams) ASSERT_TRUE(writer->add_stream(stream).ok());
  writer->add_loss("x.jsonl", "not JSON", 2);
  for (uint64_t batch = 0; batch < 40; ++batch) {
    for (uint64_t i = 1; i <= 5; ++i) {
      const uint64_t rv = batch * 5 + i;
      ASSERT_TRUE(
          writer->append(sample.frame("pod-" + std::to_string(rv % 17), rv), "{\"rv\":" + std::to_string(rv) + "}")
              .ok());
    }
    Record request = sample.records[8].first, answer = sample.records[9].first;
    const auto seq = writer->append(request, "");
    ASSERT_TRUE(seq.ok());
    answer.bind.request = *seq;
    ASSERT_TRUE(writer->append(answer, "{}").ok() && writer->flush().ok());
  }
  if (state != TraceState::kOpen) {
    ASSERT_TRUE(writer->close(state).ok());
  }
}

TEST(Copies, DoNotWaitForAPipe) {
  TestFolder dir;
  ASSERT_EQ(mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(compact(dir.path("pipe"), dir.path("out.trace"), Existing::kRefuse).ok());
  EXPECT_FALSE(recover(dir.path("pipe"), dir.path("out.trace"), Existing::kRefuse).ok());
}

TEST(Compact, HidesNoDamage) {
  TestFolder dir;
  const std::string path = dir.path("in.trace");
  const char* const batch_again =
      "INSERT INTO batch SELECT id + 40, first_seq + 280, last_seq + 280, first_wall, last_wall, "
      "body_bytes, body_crc, crc, chain, facts FROM batch WHERE id = 1";
  for (const char* sql :
       {"UPDATE batch SET chain = x'00' WHERE id = 40", "UPDATE meta SET value = 279 WHERE key = 'records'",
        "UPDATE loss SET count = 1", "DELETE FROM loss", batch_again}) {
    std::filesystem::remove(path);
    write_small_batches(path, TraceState::kClosed);
    execute(path, sql);
    const auto report = compact(path, dir.path("out.trace"), Existing::kRefuse);
    ASSERT_FALSE(report.ok()) << sql;
    EXPECT_EQ(report.error().code, ErrorCode::kCorrupt) << sql;
    EXPECT_THAT(report.error().message(), HasSubstr("recover it first"));
  }
}

TEST(Compact, KeepsEverythingButTheBatches) {
  for (const TraceState state : {TraceState::kClosed, TraceState::kOpen, TraceState::kRecovered}) {
    TestFolder dir;
    write_small_batches(dir.path("in.trace"), state);
    Content before = read_all(dir.path("in.trace"));
    const auto report = compact(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse);
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_EQ(report->batches_before, 40U);
    EXPECT_EQ(report->batches_after, 1U);
    EXPECT_EQ(report->records, 280U);
    EXPECT_LT(report->bytes_after, report->bytes_before);
    Content after = read_all(dir.path("out.trace"));
    EXPECT_EQ(after.records, before.records);
    const size_t batches = before.info.find(" 280 40 ");
    ASSERT_NE(batches, std::string::npos) << before.info;
    EXPECT_EQ(after.info, before.info.replace(batches, 8, " 280 1 "));
    EXPECT_FALSE((*TraceReader::open(dir.path("out.trace"))->check_integrity()).has_value());
    const auto again = compact(dir.path("out.trace"), dir.path("out.trace"), Existing::kReplace);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(read_all(dir.path("out.trace")), after);
    if (state == TraceState::kOpen) continue;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 2);
  }
}

TEST(Compact, RefusesAndLeavesNothing) {
  TestFolder dir;
  write_small_batches(dir.path("in.trace"), TraceState::kClosed);
  write_file(dir.path("out.trace"), "precious");
  EXPECT_EQ(compact(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse).error().code, ErrorCode::kUsage);
  execute(dir.path("in.trace"), "UPDATE batch SET crc = 1 WHERE id = 30");
  const auto damaged = compact(dir.path("in.trace"), dir.path("out.trace"), Existing::kReplace);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read_file(dir.path("out.trace")), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 2);
  Sample sample;
  const auto writer = TraceWriter::create(dir.path("busy.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok());
  const auto busy = compact(dir.path("busy.trace"), dir.path("new.trace"), Existing::kRefuse);
  ASSERT_FALSE(busy.ok());
  EXPECT_THAT(busy.error().message(), HasSubstr("being written"));
}

TEST(Recover, AnOpenTraceIsKeptWhole) {
  TestFolder dir;
  write_small_batches(dir.path("in.trace"), TraceState::kOpen);
  const auto report = recover(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_TRUE(report->was_open);
  EXPECT_EQ(report->records_kept, 280U);
  EXPECT_EQ(report->batches_lost, 0U);
  EXPECT_EQ(read_all(dir.path("out.trace")).records, read_all(dir.path("in.trace")).records);
  const auto reader = TraceReader::open(dir.path("out.trace"));
  EXPECT_EQ(reader->info().state, TraceState::kRecovered);
  EXPECT_FALSE(reader->info().complete());
  EXPECT_EQ(reader->info().losses.size(), 2U);
}

TEST(Recover, AWholeTraceIsRefused) {
  TestFolder dir;
  write_small_batches(dir.path("in.trace"), TraceState::kClosed);
  const auto report = recover(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kUsage);
}

// Batch 3 held @15 to @21; the gap record takes @15.
TEST(Recover, NotesSayWhatNumbersWere) {
  TestFolder dir;
  write_small_batches(dir.path("in.trace"), TraceState::kClosed);
  execute(dir.path("in.trace"), "DELETE FROM batch WHERE id = 3");
  const auto report = recover(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse);
  ASSERT_TRUE(report.ok()) << report.error().message();
  ASSERT_EQ(report->renumbered.size(), 1U);
  EXPECT_EQ(report->renumbered[0].first, 16U);
  EXPECT_EQ(report->renumbered[0].last, 274U);
  EXPECT_EQ(report->renumbered[0].was_first, 22U);
  auto before = TraceReader::open(dir.path("in.trace")), after = TraceReader::open(dir.path("out.trace"));
  EXPECT_EQ(*before->body(22), *after->body(16));
  EXPECT_EQ(*before->body(280), *after->body(274));
  EXPECT_EQ(*before->body(14), *after->body(14));
  EXPECT_EQ(after->record(15)->kind, RecordKind::kGap);
  ASSERT_EQ(after->info().notes.size(), 1U);
  EXPECT_EQ(after->info().notes[0].what, "@16 to @274 were @22 to @280 in the damaged trace");
  EXPECT_EQ(after->info().notes[0].count, 259U);
}

TEST(Recover, KeepsWhatVerifiesAndSaysWhatIsMissing) {
  struct Case {
    const char* damage;
    uint64_t kept, records_lost, bodies_lost, gaps;
  };
  const Case cases[] = {
      {"DELETE FROM batch WHERE id = 3", 273, 7, 0, 1},
      {"UPDATE batch SET crc = crc + 1 WHERE id IN (3, 4, 9)", 259, 21, 0, 2},
      {"UPDATE batch SET facts = zeroblob(10) WHERE id = 40", 273, 7, 0, 0},
      {"UPDATE body SET data = x'00' WHERE id >> 10 = 5", 280, 0, 6, 0},
      {"DELETE FROM body WHERE id >> 10 = 5", 280, 0, 6, 0},
      {"UPDATE batch SET chain = zeroblob(32) WHERE id = 7", 273, 7, 0, 1},
      {"DELETE FROM batch", 0, 280, 0, 0},
      {"UPDATE meta SET value = 'x' WHERE key = 'records'", 280, 0, 0, 0},
      {"DELETE FROM meta", 280, 0, 0, 0},
      {"UPDATE meta SET value = 9000000000000000000 WHERE key = 'batches'", 280, 0, 0, 0},
      {"UPDATE batch SET id = 4000000000000000000 WHERE id = 40", 273, 7, 0, 0},
      {"INSERT INTO batch SELECT id + 100, first_seq, last_seq, first_wall, last_wall, body_bytes, body_crc, crc, "
       "chain, "
       "facts FROM batch WHERE id = 2",
       280, 0, 0, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.damage);
    TestFolder dir;
    write_small_batches(dir.path("in.trace"), TraceState::kClosed);
    execute(dir.path("in.trace"), c.damage);
    const auto report = recover(dir.path("in.trace"), dir.path("out.trace"), Existing::kRefuse);
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_EQ(report->records_kept, c.kept);
    EXPECT_EQ(report->records_lost, c.records_lost);
    EXPECT_EQ(report->bodies_lost, c.bodies_lost);
    EXPECT_EQ(report->gaps, c.gaps);
    auto reader = TraceReader::open(dir.path("out.trace"));
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    EXPECT_EQ(reader->info().state, TraceState::kRecovered);
    EXPECT_EQ(reader->info().records, c.kept + c.gaps);
    EXPECT_FALSE(reader->check_integrity()->has_value());
    // Binds still find their requests, wherever these have moved.
    for (auto record = reader->next(); record.ok() && *record != nullptr; record = reader->next()) {
      if ((*record)->kind != RecordKind::kBindAnswer) continue;
      EXPECT_EQ((*record)->bind.request, (*record)->seq - 1);
    }
  }
}

}  // namespace
}  // namespace inquest::trace
