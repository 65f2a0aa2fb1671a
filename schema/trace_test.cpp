#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "schema/limits.h"
#include "schema/packed_record.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using testing::HasSubstr;

constexpr size_t kBatchRecords = WriterOptions{}.batch_records, kBatchBytes = WriterOptions{}.batch_bytes;

std::string query(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  std::string out;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
      out.append(bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_column_bytes(statement, i))).append("|");
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return out;
}

TEST(Trace, GivesBackEveryKindAndField) {
  TestFolder dir;
  Sample sample;
  const auto written = write_sample(sample, dir.path("x.trace"));
  std::set<RecordKind> kinds;
  for (const auto& [record, body] : sample.records) kinds.insert(record.kind);
  EXPECT_EQ(kinds.size(), 11U);
  const Content content = read_all(dir.path("x.trace"));
  EXPECT_EQ(content.error, "");
  EXPECT_EQ(content.records, written);
}

TEST(Trace, LeavesOneFileAndTheLibrarysOwnSchema) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x.trace"));
  const auto files = std::distance(std::filesystem::directory_iterator(dir.path()), {});
  EXPECT_EQ(files, 1);
  EXPECT_EQ(query(dir.path("x.trace"), "SELECT count(*) FROM streams"), "2|");
  EXPECT_EQ(query(dir.path("x.trace"), "SELECT first_time FROM batches"), "2023-11-14 22:13:20|");
}

TEST(Trace, InfoCountsWhatWasWritten) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x.trace"));
  const auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  const TraceInfo& info = reader->info();
  EXPECT_EQ(info.format_version, kFormatVersion);
  EXPECT_EQ(info.uuid.size(), 36U);
  EXPECT_THAT(info.writer, HasSubstr("inquest "));
  EXPECT_EQ(info.cluster_version, "v1.36.0");
  EXPECT_EQ(info.server, "https://10.0.0.1:6443");
  EXPECT_EQ(info.scope, "namespace shop");
  EXPECT_EQ(info.state, TraceState::kClosed);
  EXPECT_EQ(info.start.ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(info.end.ns, 1'700'000'000'000'000'005);
  EXPECT_EQ(info.records, sample.records.size());
  EXPECT_EQ(info.batches, 1U);
  EXPECT_EQ(info.file_bytes, std::filesystem::file_size(dir.path("x.trace")));
  EXPECT_TRUE(info.summary_intact);
  EXPECT_FALSE(info.complete());  // a gap, an undecodable record, a loss
  ASSERT_EQ(info.streams.size(), 2U);
  ASSERT_EQ(info.notes.size(), 1U);
  EXPECT_EQ(info.notes[0].what, "redacted: env values");
  EXPECT_EQ(info.notes[0].count, 3U);
  const StreamSummary& pods = info.streams[0];
  EXPECT_EQ(pods.stream.name, "pods");
  EXPECT_EQ(pods.stream.source, "x.jsonl");
  EXPECT_EQ(pods.lists, 0U);
  EXPECT_EQ(pods.checkpoints, 1U);
  EXPECT_EQ(pods.added, 1U);
  EXPECT_EQ(pods.modified, 1U);
  EXPECT_EQ(pods.deleted, 1U);
  EXPECT_EQ(pods.bookmarks, 1U);
  EXPECT_EQ(pods.errors, 1U);
  EXPECT_EQ(pods.opens, 1U);
  EXPECT_EQ(pods.closes, 1U);
  EXPECT_EQ(pods.closed_at, 8U);
  EXPECT_EQ(pods.gaps, 1U);
  EXPECT_EQ(pods.undecodable, 1U);
  EXPECT_EQ(pods.observations, 1U);
  EXPECT_EQ(pods.first, 1U);
  EXPECT_EQ(pods.last, 13U);
  const StreamSummary& binds = info.streams[1];
  EXPECT_EQ(binds.stream.kind, StreamKind::kBindLog);
  EXPECT_EQ(binds.bind_requests, 1U);
  EXPECT_EQ(binds.bind_answers, 1U);
  EXPECT_EQ(binds.observations, 1U);
  ASSERT_EQ(info.binds.size(), 1U);
  EXPECT_EQ(info.binds[0].scheduler, "toy");
  EXPECT_EQ(info.binds[0].code, 409);
  EXPECT_EQ(info.binds[0].count, 1U);
  ASSERT_EQ(info.losses.size(), 1U);
  EXPECT_EQ(info.losses[0].count, 2U);
}

// A LIST whose objects stand in several records; of one that lacks some it is said.
TEST(Trace, GivesAllObjectsOfAListInParts) {
  for (const size_t missing : {0U, 1U, 2U}) {
    TestFolder dir;
    Sample sample;
    sample.records.clear();
    sample.add_long_list();
    sample.records.resize(sample.records.size() - missing);
    Record after = sample.frame("pod9", 61);
    sample.records.emplace_back(after, "{}");
    const std::vector<std::string> written = write_sample(sample, dir.path("x.trace"));
    EXPECT_EQ(read_all(dir.path("x.trace")).records, written);
    auto reader = TraceReader::open(dir.path("x.trace"));
    ASSERT_TRUE(reader.ok());
    const auto names = [&](TraceReader::Go go) {
      std::string out;
      const auto whole = reader->list(1, [&](const Record& part) -> Result<TraceReader::Go> {
        for (const ObjectFacts& object : part.objects) {
          const Catalog& catalog = reader->catalog();
          out.append(catalog.name(catalog.key_of(std::get<PodFacts>(object).pod))).append(" ");
        }
        reader->forget_names();  // nobody walks
        return go;
      });
      EXPECT_TRUE(whole.ok());
      return out + (*whole ? "all" : "not all");
    };
    const std::string all[] = {"pod1 pod2 pod3 all", "pod1 pod2 not all", "pod1 not all"};
    EXPECT_EQ(names(TraceReader::Go::kOn), all[missing]);
    EXPECT_EQ(names(TraceReader::Go::kNoFurther), "pod1 not all");
    if (missing == 0) {  // the index names the list, not its part
      EXPECT_EQ(query(dir.path("x.trace"), "SELECT first_seq FROM pod"), "1|1|1|5|");
    }
  }
}

TEST(PackedRecord, ComesBackByTheNamesOfAnotherCatalog) {
  Sample sample;
  sample.add_long_list();
  RecordPacker packer;
  for (auto& [record, body] : sample.records) {
    if (record.kind == RecordKind::kBindAnswer) continue;  // it names a record before
    Catalog other;
    other.string("shifts the ordinals");
    const auto bytes = packer.pack(record, sample.catalog);
    ASSERT_TRUE(bytes.ok());
    const auto back = packer.unpack(*bytes, other);
    ASSERT_TRUE(back.ok()) << back.error().message();
    record.seq = 0;
    EXPECT_EQ(describe(*back, other), describe(record, sample.catalog));
  }
  Catalog other;
  EXPECT_FALSE(packer.unpack("no such bytes", other).ok());
}

// A LIST whose body goes on in the records behind it, across batches, with the form of its line between.
TEST(Trace, GivesTheWholeOfABodyThatWasSplit) {
  TestFolder dir;
  Sample sample;
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok());
  for (const Stream& stream : sample.streams) ASSERT_TRUE(writer->add_stream(stream).ok());
  Record list, source;
  list.stream = source.stream = {0};
  list.kind = RecordKind::kList;
  source.kind = RecordKind::kSource;
  const auto add = [&](const char* text, const std::string& body) {
    source.text = sample.catalog.string(text);
    ASSERT_TRUE(writer->append(source, body).ok());
  };
  ASSERT_TRUE(writer->append(list, "{\"items\":[1").ok());
  add("envelope", "not of the body");
  add(kPart, ",2");
  ASSERT_TRUE(writer->flush().ok());
  add(kPart, ",3]}");
  add("line", "another line");
  add(kPart, "of nothing");
  ASSERT_TRUE(writer->append(list, "{}").ok());
  source.stream = {1};
  add(kPart, "of another stream");
  ASSERT_TRUE(writer->close().ok());

  auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok());
  const auto pieces = [&](Seq seq) {
    std::vector<std::string> out;
    EXPECT_TRUE(reader
                    ->whole_body(seq,
                                 [&](std::string_view piece) -> Result<void> {
                                   out.emplace_back(piece);
                                   return {};
                                 })
                    .ok());
    return out;
  };
  EXPECT_EQ(pieces(1), (std::vector<std::string>{"{\"items\":[1", ",2", ",3]}"}));
  EXPECT_EQ(pieces(7), std::vector<std::string>{"{}"});
  EXPECT_EQ(*reader->body(1), "{\"items\":[1");
  const Error stop{ErrorCode::kIo, "the pipe is closed", "", ""};
  EXPECT_FALSE(reader->whole_body(1, [&](std::string_view) -> Result<void> { return stop; }).ok());
  EXPECT_FALSE(reader->whole_body(9, [](std::string_view) -> Result<void> { return {}; }).ok());
}

TEST(Trace, SplitsIntoBatchesByRecordsAndBytes) {
  TestFolder dir;
  Sample sample;
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->add_stream(sample.streams[0]).ok());
  const std::string large(kBatchBytes + 1, 'L'), half(kBatchBytes / 2 + 1, 'h');
  std::vector<std::string> written;
  for (uint64_t i = 1; i <= 2 * kBatchRecords + 10; ++i) {
    const std::string body = i == 1500 ? large : i == 1600 || i == 1601 ? half : std::to_string(i);
    Record record = sample.frame("pod" + std::to_string(i % 700), i);
    record.seq = *writer->append(record, body);
    ASSERT_EQ(record.seq, i);
    written.push_back(describe(record, sample.catalog) + body);
  }
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(query(dir.path("x.trace"), "SELECT last_seq FROM batch"), "1000|1499|1500|1600|2010|");

  const Content content = read_all(dir.path("x.trace"));
  EXPECT_EQ(content.error, "");
  EXPECT_EQ(content.records, written);
  auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->info().complete());
  EXPECT_FALSE(reader->check_integrity()->has_value());
  for (const Seq seq : {Seq{1}, Seq{1000}, Seq{1001}, Seq{1500}, Seq{2010}}) {  // out of order, before any walk
    const auto record = reader->record(seq);
    ASSERT_TRUE(record.ok()) << record.error().message();
    EXPECT_EQ(describe(*record, reader->catalog()) + *reader->body(seq), written[seq - 1]);
  }
  EXPECT_FALSE(reader->record(0).ok());
  EXPECT_FALSE(reader->body(2011).ok());
  EXPECT_EQ((**reader->next()).seq, 1U);
  reader->rewind();
  EXPECT_EQ((**reader->next()).seq, 1U);
}

TEST(Trace, TheIndexTellsAPodsLife) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("x.trace");
  const std::string uid = "0123abcd-4567-89ab-cdef-0123456789ab";
  auto writer = TraceWriter::create(path, {}, sample.catalog);
  ASSERT_TRUE(writer.ok());
  for (const Stream& stream : sample.streams) ASSERT_TRUE(writer->add_stream(stream).ok());
  PodFacts facts = sample.pod("web-1-x", uid);
  facts.node = NodeId::none();
  facts.deletion = {};
  Record frame = sample.frame("web-1-x", 1);
  const auto write = [&](Verb verb) {
    frame.verb = verb;
    frame.wall.ns += 1'500'000'000;
    frame.objects = {facts};
    ASSERT_TRUE(writer->append(frame, "{}").ok());
  };
  write(Verb::kAdded);
  Record request = sample.records[8].first, answer = sample.records[9].first;
  request.bind.pod = facts.pod;
  answer.bind.request = *writer->append(request, "");
  ASSERT_TRUE(writer->append(answer, "").ok());
  facts.node = sample.catalog.node("node-a");
  write(Verb::kModified);
  facts.deletion = {1};
  write(Verb::kModified);
  write(Verb::kDeleted);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(query(path, "SELECT seq, substr(time, 12), what FROM life ORDER BY seq"),
            "1|22:13:21.500|first seen|2|22:13:20.000|toy binds it to node-a|3|22:13:20.000|answer 409|"
            "4|22:13:23.000|on node node-a|5||being deleted|6|22:13:26.000|deleted|");
  EXPECT_EQ(query(path, "SELECT uid, namespace, name, node, first_seq, last_seq FROM pods"),
            uid + "|shop|web-1-x|node-a|1|6|");
  EXPECT_EQ(query(path, "SELECT value FROM meta WHERE key = 'index'"), "whole|");
}

// Every statement in docs/trace-format.md runs, and most of them have something to say about the sample.
TEST(Trace, TheDocumentedQueriesRun) {
  TestFolder dir;
  Sample sample;
  write_sample(sample, dir.path("x.trace"));
  std::istringstream lines(read_file("docs/trace-format.md"));
  std::string line, statement;
  size_t statements = 0, answered = 0;
  bool ready = false;
  while (std::getline(lines, line)) {
    ready |= line == "## Ready SQL";
    if (!ready || !line.starts_with("    ") || line.starts_with("    --") ||
        line.find("sqlite3 ") != std::string::npos) {
      continue;
    }
    if (statement.empty() && !line.starts_with("    SELECT")) continue;
    statement += line + "\n";
    if (!line.ends_with(";")) continue;
    answered += !query(dir.path("x.trace"), statement.c_str()).empty();
    ++statements;
    statement.clear();
  }
  EXPECT_GE(statements, 13U);
  EXPECT_GE(answered, 9U);
}

TEST(Trace, OrdinalsComeInOrderOfFirstAppearance) {
  TestFolder dir;
  Sample sample;
  sample.pod("never-written", "uid0");
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  for (const char* name : {"c", "a", "c", "b"}) ASSERT_TRUE(writer->append(sample.frame(name, 5), "").ok());
  ASSERT_TRUE(writer->close().ok());
  auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok());
  std::vector<uint32_t> ordinals;
  for (auto record = reader->next(); record.ok() && *record != nullptr; record = reader->next()) {
    ordinals.push_back(std::get<PodFacts>((*record)->objects[0]).pod.value);
  }
  EXPECT_EQ(ordinals, (std::vector<uint32_t>{0, 1, 0, 2}));
}

TEST(Trace, SameInputSameBlobs) {
  TestFolder dir;
  Sample first, second;
  write_sample(first, dir.path("a.trace"));
  write_sample(second, dir.path("b.trace"));
  const char* blobs = "SELECT facts, data, body_crc, crc FROM batch JOIN body ON body.id >> 10 = batch.id";
  EXPECT_EQ(query(dir.path("a.trace"), blobs), query(dir.path("b.trace"), blobs));
  EXPECT_NE(query(dir.path("a.trace"), "SELECT chain FROM batch"),
            query(dir.path("b.trace"), "SELECT chain FROM batch"));
}

TEST(Trace, AnOpenTraceCanBeReadAndSaysSo) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("x.trace");
  auto writer = TraceWriter::create(path, {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  ASSERT_TRUE(writer->append(sample.frame("a", 1), "A").ok());
  ASSERT_TRUE(writer->flush().ok());
  ASSERT_TRUE(writer->append(sample.frame("b", 2), "B").ok());

  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_EQ(reader->info().state, TraceState::kOpen);
  EXPECT_EQ(reader->info().records, 1U);
  EXPECT_EQ(reader->info().streams[0].modified, 1U);
  EXPECT_FALSE(reader->info().complete());
  EXPECT_FALSE(reader->check_integrity()->has_value());
  ASSERT_TRUE(writer->flush().ok());  // a reader does not hinder the writer …
  EXPECT_EQ(*reader->body(1), "A");
  EXPECT_NE(*reader->next(), nullptr);
  EXPECT_EQ(*reader->next(), nullptr);  // … nor does it see what came after it had opened
  ASSERT_TRUE(writer->close().ok());    // even while it is there
  const auto later = TraceReader::open(path);
  ASSERT_TRUE(later.ok()) << later.error().message();
  EXPECT_EQ(later->info().state, TraceState::kClosed);
  EXPECT_EQ(later->info().records, 2U);
}

TEST(Trace, AKilledWriterLosesOnlyTheOpenBatch) {
  TestFolder dir;
  const std::string path = dir.path("x.trace");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Sample sample;
    auto writer = TraceWriter::create(path, {}, sample.catalog);
    if (!writer.ok() || !writer->add_stream(sample.streams[0]).ok()) _exit(1);
    for (uint64_t i = 1; i <= 2500; ++i) {
      if (!writer->append(sample.frame("pod", i), "body").ok()) _exit(1);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_EQ(reader->info().state, TraceState::kOpen);
  EXPECT_EQ(reader->info().records, 2000U);
  EXPECT_FALSE(reader->check_integrity()->has_value());
  EXPECT_EQ(read_all(path).records.size(), 2000U);
  Sample sample;  // and its lock is gone
  EXPECT_TRUE(TraceWriter::create(path, {}, sample.catalog, TraceWriter::Existing::kReplace).ok());
}

TEST(Trace, AnUnclosedWriterLeavesAnOpenTrace) {
  TestFolder dir;
  Sample sample;
  {
    auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
    ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
    ASSERT_TRUE(writer->append(sample.frame("a", 1), "A").ok());
  }
  const auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_EQ(reader->info().state, TraceState::kOpen);
  EXPECT_EQ(reader->info().records, 0U);
}

TEST(Trace, RefusesExistingFilesAndASecondWriter) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("x.trace");
  auto writer = TraceWriter::create(path, {}, sample.catalog);
  ASSERT_TRUE(writer.ok());
  const auto existing = TraceWriter::create(path, {}, sample.catalog);
  ASSERT_FALSE(existing.ok());
  EXPECT_EQ(existing.error().code, ErrorCode::kUsage);
  EXPECT_THAT(existing.error().message(), HasSubstr("exists already"));
  const auto second = TraceWriter::create(path, {}, sample.catalog, TraceWriter::Existing::kReplace);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUsage);
  EXPECT_THAT(second.error().message(), HasSubstr("being written"));
  ASSERT_TRUE(writer->close().ok());
  *writer = *TraceWriter::create(dir.path("y.trace"), {}, sample.catalog);  // lets go of the first
  EXPECT_TRUE(TraceWriter::create(path, {}, sample.catalog, TraceWriter::Existing::kReplace).ok());
}

TEST(Trace, RefusesWhatIsTooLargeAndGoesOn) {
  TestFolder dir;
  Sample sample;
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  Record list;
  list.stream = {0};
  list.kind = RecordKind::kList;
  list.objects.assign(kMaxBatchObjects + 1, OtherFacts{});
  const auto refused = writer->append(list, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfLimit);
  list.objects.assign(kBatchRecords + 1, OtherFacts{});
  list.text = sample.catalog.string(std::string(kMaxFactsBytes, 'x'));
  const auto long_text = writer->append(list, "");
  ASSERT_FALSE(long_text.ok());
  EXPECT_EQ(long_text.error().code, ErrorCode::kOutOfLimit);
  EXPECT_EQ(*writer->append(sample.frame("a", 1), "A"), 1U);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read_all(dir.path("x.trace")).records.size(), 1U);
}

TEST(Trace, HugeSelectorsEndABatchAndBeyondTheLimitARecordIsRefused) {
  TestFolder dir;
  Sample sample;
  constexpr size_t kShape = 5;  // parts of the sample's: two resources, one of them with 16 bytes of name, two ports
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  const auto frame = [&](ResourceVersion rv, size_t values) {
    Record record = sample.frame("a", rv);
    const Requirement in{sample.catalog.string("zone"), SelectorOperator::kIn, std::vector<StringId>(values)};
    std::get<PodFacts>(record.objects[0]).placement = sample.catalog.placement({{}, true, {{{in}, {}}}, {}});
    return record;
  };
  ASSERT_TRUE(writer->append(frame(1, 300'000), "").ok());
  ASSERT_TRUE(writer->append(frame(2, 300'001), "").ok());
  const auto refused = writer->append(frame(3, kMaxBatchParts), "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfLimit);
  EXPECT_NE(refused.error().text.find("parts of shapes"), std::string::npos) << refused.error().text;
  ASSERT_TRUE(writer->append(frame(4, kMaxBatchParts - 2 - kShape), "").ok());
  ASSERT_TRUE(writer->close().ok());
  const Content content = read_all(dir.path("x.trace"));
  EXPECT_EQ(content.error, "");
  EXPECT_EQ(content.records.size(), 3U);
  EXPECT_EQ(TraceReader::open(dir.path("x.trace"))->info().batches, 3U);
}

TEST(Trace, CountsBindsOnceTheyAreAnswered) {
  TestFolder dir;
  Sample sample;
  auto writer = TraceWriter::create(dir.path("x.trace"), {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[1]).ok());
  const auto request = [&](const char* who) {
    Record record;
    record.stream = {0};
    record.kind = RecordKind::kBindRequest;
    record.bind.pod = sample.pod("a", "u").pod;
    record.bind.scheduler = sample.catalog.string(who);
    return *writer->append(record, "");
  };
  const auto answer = [&](Seq to, uint16_t code) {
    Record record;
    record.stream = {0};
    record.kind = RecordKind::kBindAnswer;
    record.bind.request = to;
    record.bind.code = code;
    ASSERT_TRUE(writer->append(record, "").ok());
  };
  const Seq one = request("toy"), two = request("kube"), three = request("kube"), four = request("kube");
  answer(two, 201);
  answer(one, 409);
  answer(three, 201);
  answer(three, 500);  // again: not counted
  answer(four, 0);     // a transport error
  request("kube");
  ASSERT_TRUE(writer->close().ok());
  const auto reader = TraceReader::open(dir.path("x.trace"));
  ASSERT_TRUE(reader.ok());
  std::string counts;
  for (const BindCount& bind : reader->info().binds) {
    counts += bind.scheduler + " " + std::to_string(bind.code) + " " + std::to_string(bind.count) + "; ";
  }
  EXPECT_EQ(counts, "kube 0 2; kube 201 2; toy 409 1; ");
}

TEST(Trace, ErrorsOfTheDiskNameFileAndReason) {
  Sample sample;
  const auto missing = TraceWriter::create("/nonexistent/x.trace", {}, sample.catalog);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_THAT(missing.error().message(), HasSubstr("/nonexistent/x.trace"));
  EXPECT_THAT(missing.error().message(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace inquest::trace
