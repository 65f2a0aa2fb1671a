// The disk fails at every call in turn, and the process is killed at any moment: never a trace that lies.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "schema/compact.h"
#include "schema/faulty_vfs.h"
#include "schema/recover.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

struct Written {
  std::vector<std::string> appended;  // what append() took, in order
  uint64_t flushed = 0;               // of these, what flush() said is safe
  bool created = false, closed = false;
};

// 6 batches; goes on after errors as a recorder would, and closes.
Written write_under_fault(const std::string& path, Sample& sample) {
  Written out;
  auto writer = TraceWriter::create(path, sample_header(), sample.catalog);
  out.created = writer.ok();
  if (!writer.ok()) return out;
  for (const Stream& stream : sample.streams) EXPECT_TRUE(writer->add_stream(stream).ok());
  for (uint64_t rv = 1; rv <= 30; ++rv) {
    Record record = sample.frame("pod-" + std::to_string(rv % 7), rv);
    const std::string body(rv * 300, static_cast<char>('a' + rv % 5));
    const auto seq = writer->append(record, body);
    if (seq.ok()) {
      record.seq = *seq;
      EXPECT_EQ(*seq, out.appended.size() + 1);
      out.appended.push_back(describe(record, sample.catalog) + body);
    }
    if (rv % 5 == 0 && writer->flush().ok()) out.flushed = out.appended.size();
  }
  if (!writer->close().ok())
    out.closed = writer->close().ok();  // once more, as it promises
  else
    out.closed = true;
  if (out.closed) out.flushed = out.appended.size();
  return out;
}

// A recording keeps what it has; what is made in one go is given up, and says so.
TEST(FullDisk, SaysWhatIsKept) {
  const TestFolder folder;
  for (const bool recording : {true, false}) {
    Sample sample;
    FaultyVfs vfs;
    auto writer =
        TraceWriter::create(folder.path(recording ? "r.trace" : "k.trace"), sample_header(), sample.catalog,
                            TraceWriter::Existing::kRefuse, recording ? WriterOptions{} : WriterOptions::keep());
    ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
    ASSERT_TRUE(writer->append(sample.frame("pod", 1), "body").ok());
    vfs.arm(FaultKind::kFull, 1);
    const auto done = writer->flush();
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().next, recording ? "free some space; what was committed is kept"
                                           : "free some space; the unfinished file is removed");
  }
}

// "": the trace is refused, or says truthfully what it holds. `durable`: what was flushed must be there.
enum class Durable : uint8_t { kYes, kNo };
std::string lie(const std::string& path, const Written& written, Durable durable) {
  auto reader = TraceReader::open(path);
  if (!reader.ok()) {
    if (reader.error().text.empty()) return "refused without a word";
    // What was never flushed may be no trace at all.
    if (durable == Durable::kYes && written.flushed > 0) return "refused: " + reader.error().message();
    return "";
  }
  const TraceInfo info = reader->info();
  const auto damage = reader->check_integrity();
  const bool damaged = !damage.ok() || damage->has_value();
  const Content content = read_all(path);
  for (size_t i = 0; i < content.records.size(); ++i) {
    if (i >= written.appended.size()) return "holds more than was appended";
    if (content.records[i] != written.appended[i]) return "holds another record @" + std::to_string(i + 1);
  }
  if (damaged || !content.error.empty()) {
    return durable == Durable::kYes ? "damaged: " + content.error : "";
  }
  if (content.records.size() != info.records) return "counts other records than it holds";
  if (durable == Durable::kYes && info.records < written.flushed) return "lacks what was flushed";
  if (info.state == TraceState::kClosed && info.records != written.appended.size()) return "closed but not complete";
  return "";
}

void sweep(FaultKind kind, uint64_t stride, Durable durable) {
  Sample sample;
  uint64_t total = 0;
  {
    TestFolder dir;
    FaultyVfs vfs;
    vfs.arm(FaultKind::kNone, 0);
    ASSERT_TRUE(write_under_fault(dir.path("x.trace"), sample).closed);
    total = kind == FaultKind::kFull || kind == FaultKind::kTornDead ? vfs.writes() : vfs.calls();
  }
  ASSERT_GT(total, 100U);
  uint64_t noticed = 0;
  for (uint64_t at = 1; at <= total; at += stride) {
    TestFolder dir;
    Written written;
    {
      FaultyVfs vfs;
      vfs.arm(kind, at);
      written = write_under_fault(dir.path("x.trace"), sample);
    }
    noticed += !written.closed || written.appended.size() < 30;
    if (!written.created) {
      ASSERT_FALSE(TraceReader::open(dir.path("x.trace")).ok()) << "call " << at;
      continue;
    }
    ASSERT_EQ(lie(dir.path("x.trace"), written, durable), "") << "call " << at << " of " << total;
  }
  EXPECT_GT(noticed, 10U) << "the faults strike nothing";
}

// An error that passes costs nothing that was flushed, whichever call it strikes.
TEST(Fault, AnErrorAtACall) { sweep(FaultKind::kError, 7, Durable::kYes); }
TEST(Fault, TheDiskGoesAway) { sweep(FaultKind::kDead, 7, Durable::kYes); }
TEST(Fault, TheDiskIsFull) { sweep(FaultKind::kFull, 5, Durable::kYes); }
// With synchronous=NORMAL a power cut may take the last commits, and what was being copied from the WAL.
TEST(Fault, ATornWrite) { sweep(FaultKind::kTornDead, 5, Durable::kNo); }
TEST(FaultSlow, AnErrorAtEveryCall) { sweep(FaultKind::kError, 1, Durable::kYes); }
TEST(FaultSlow, TheDiskGoesAwayAtEveryCall) { sweep(FaultKind::kDead, 1, Durable::kYes); }
TEST(FaultSlow, TheDiskIsFullAtEveryWrite) { sweep(FaultKind::kFull, 1, Durable::kYes); }
TEST(FaultSlow, EveryWriteIsTorn) { sweep(FaultKind::kTornDead, 1, Durable::kNo); }

// compact and recover either give a whole new trace or none, and never touch the input. The first `damaged`
// bytes of it are.
using Copy = bool (*)(const std::string& input, const std::string& output);
void sweep_copies(Copy copy, size_t damaged, uint64_t stride) {
  TestFolder dir;
  Sample sample;
  const auto written = write_sample(sample, dir.path("in.trace"));
  std::string bytes = read_file(dir.path("in.trace"));
  write_file(dir.path("in.trace"), bytes.replace(0, damaged, damaged, 'x'));
  uint64_t whole = 0;
  for (uint64_t at = 1, done = 0; done < 3; at += stride) {
    FaultyVfs vfs;
    vfs.arm(FaultKind::kError, at);
    const bool ok = copy(dir.path("in.trace"), dir.path("out.trace"));
    if (vfs.calls() < at) ++done;
    vfs.arm(FaultKind::kNone, 0);
    ASSERT_EQ(read_file(dir.path("in.trace")), bytes);
    if (ok) {
      ++whole;
      ASSERT_EQ(read_all(dir.path("out.trace")).records, written) << at;
    }
    std::filesystem::remove(dir.path("out.trace"));
    std::string left;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      left += entry.path().filename().string() + " ";
    ASSERT_EQ(left, "in.trace ") << "call " << at;
  }
  EXPECT_GE(whole, 3U);
}
bool compacts(const std::string& input, const std::string& output) {
  return compact(input, output, OutputFile::Existing::kReplace).ok();
}
bool recovers(const std::string& input, const std::string& output) {
  return recover(input, output, OutputFile::Existing::kReplace).ok();
}
TEST(Fault, CompactGivesAllOrNothing) { sweep_copies(compacts, 0, 23); }
TEST(Fault, RecoverGivesAllOrNothing) { sweep_copies(recovers, 4096, 23); }
TEST(FaultSlow, CompactGivesAllOrNothingAtEveryCall) { sweep_copies(compacts, 0, 1); }
TEST(FaultSlow, RecoverGivesAllOrNothingAtEveryCall) { sweep_copies(recovers, 4096, 1); }

// A child that writes and says through a pipe what is flushed, killed after so many microseconds.
void kill_writer(unsigned after, uint64_t& flushed, const std::string& path) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    Sample sample;
    auto writer = TraceWriter::create(path, {}, sample.catalog);
    if (!writer.ok() || !writer->add_stream(sample.streams[0]).ok()) _exit(1);
    for (uint64_t rv = 1;; ++rv) {
      if (!writer->append(sample.frame("pod", rv), "body " + std::to_string(rv)).ok()) _exit(1);
      if (rv % 20 == 0 && (!writer->flush().ok() || write(ends[1], &rv, sizeof rv) != sizeof rv)) _exit(1);
    }
  }
  close(ends[1]);
  std::this_thread::sleep_for(std::chrono::microseconds(after));
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (uint64_t seq = 0; read(ends[0], &seq, sizeof seq) == sizeof seq;) flushed = seq;
  close(ends[0]);
}

void kill_at_moments(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    TestFolder dir;
    const std::string path = dir.path("x.trace");
    uint64_t flushed = 0;
    kill_writer(1000 + i * 7919 % 40'000, flushed, path);
    auto reader = TraceReader::open(path);
    if (!reader.ok()) {
      ASSERT_EQ(flushed, 0U) << reader.error().message();
      continue;
    }
    EXPECT_EQ(reader->info().state, TraceState::kOpen);
    EXPECT_GE(reader->info().records, flushed);
    EXPECT_LE(reader->info().records, flushed + 20);
    EXPECT_FALSE(reader->check_integrity()->has_value());
    const Content content = read_all(path);
    EXPECT_EQ(content.error, "");
    EXPECT_EQ(content.records.size(), reader->info().records);
  }
}
TEST(Fault, KilledAtAFewMoments) { kill_at_moments(8); }
TEST(FaultSlow, KilledAtManyMoments) { kill_at_moments(100); }

}  // namespace
}  // namespace inquest::trace
