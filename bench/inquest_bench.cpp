// What design and users may expect, measured: each row prints its target and, where there is one, where others stand.
// Figures are per core (CPU time of this one thread). CI prints them and never fails on them: machines are noisy.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "bench/workload.h"
#include "recorder/import.h"
#include "replayer/run.h"
#include "scheduler/core.h"
#include "schema/reader.h"
#include "schema/writer.h"

namespace inquest::bench {
namespace {

constexpr int kRepeats = 20;

const Workload& workload() {
  static const Workload made(kRepeats);
  return made;
}

void import_to(const std::string& output) {
  recorder::ImportOptions options;
  options.inputs = {workload().capture()};
  options.output = output;
  options.replace = true;
  const auto report = recorder::import_files(options);
  INQUEST_CHECK(report.ok(), report.ok() ? "" : report.error().message());
}

// The workload as a trace, made once.
const std::string& trace_path() {
  static const std::string path = [] {
    std::string made = workload().path("churn.trace");
    import_to(made);
    return made;
  }();
  return path;
}

trace::TraceReader open_trace() {
  auto reader = trace::TraceReader::open(trace_path());
  INQUEST_CHECK(reader.ok(), reader.ok() ? "" : reader.error().message());
  return *std::move(reader);
}

std::unique_ptr<replayer::Recording> load() {
  auto recording = replayer::Recording::load(open_trace());
  INQUEST_CHECK(recording.ok(), recording.ok() ? "" : recording.error().message());
  return *std::move(recording);
}

replayer::RunConfig combined() {
  replayer::RunConfig config;
  config.policy = *scheduler::preset(scheduler::kDefaultPolicy);
  return config;
}

void count_events(benchmark::State& state, uint64_t events) {
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events) * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

void import_lines(benchmark::State& state) {
  const std::string output = workload().path("import.trace");
  for (auto _ : state) import_to(output);
  const double megabytes = static_cast<double>(workload().capture_bytes()) * 1e-6;
  state.counters["MB/s"] =
      benchmark::Counter(megabytes * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  count_events(state, workload().frames());
  state.SetLabel("target 250 MB/s; client-go's decoder about 35 MB/s");
}
BENCHMARK(import_lines)->Unit(benchmark::kMillisecond);

void import_and_replay(benchmark::State& state) {
  const std::string output = workload().path("both.trace");
  for (auto _ : state) {
    import_to(output);
    auto reader = trace::TraceReader::open(output);
    const auto recording = replayer::Recording::load(*std::move(reader));
    benchmark::DoNotOptimize(replayer::replay(**recording, combined())->chain);
  }
  count_events(state, workload().frames());
  state.SetLabel("target 60,000 events/s; client-go and kube-scheduler's cache about 10,800/s");
}
BENCHMARK(import_and_replay)->Unit(benchmark::kMillisecond);

void replay_whole_chain(benchmark::State& state) {
  trace_path();
  for (auto _ : state) benchmark::DoNotOptimize(replayer::replay(*load(), combined())->chain);
  count_events(state, workload().frames());
  state.SetLabel("target 1,000,000 events/s from a trace file; elsewhere about 10,800/s");
}
BENCHMARK(replay_whole_chain)->Unit(benchmark::kMillisecond);

// One more run over a recording in memory: what explore and blame are made of.
void replay_again(benchmark::State& state) {
  const auto recording = load();
  for (auto _ : state) benchmark::DoNotOptimize(replayer::replay(*recording, combined())->chain);
  count_events(state, workload().frames());
}
BENCHMARK(replay_again)->Unit(benchmark::kMillisecond);

void core_alone(benchmark::State& state) {
  const auto recording = load();
  std::vector<scheduler::Input> inputs;
  for (const replayer::Event& event : recording->events()) {
    if (event.kind != replayer::EventKind::kPod) continue;
    inputs.emplace_back(scheduler::PodChanged{scheduler::Watch::kAll, event.verb, recording->pods()[event.index]});
  }
  scheduler::Policy policy = *scheduler::preset(scheduler::kDefaultPolicy);
  policy.watches = scheduler::Watches::kOne;
  policy.relist.period.reset();
  for (auto _ : state) {
    scheduler::Core core(recording->catalog(), {policy, {}, recording->schedulers().front().pod_schedulers, 0});
    for (const scheduler::Input& input : inputs) {
      core.step(recording->start(), input);
      core.clear_touched();
    }
    benchmark::DoNotOptimize(core.chain());
  }
  count_events(state, inputs.size());
  state.SetLabel("target 8,000,000 events/s; kube-scheduler's cache alone about 210,000/s");
}
BENCHMARK(core_alone)->Unit(benchmark::kMillisecond);

void walk_facts(benchmark::State& state) {
  uint64_t records = 0;
  for (auto _ : state) {
    trace::TraceReader reader = open_trace();
    records = 0;
    while (const trace::Record* record = *reader.next()) {
      benchmark::DoNotOptimize(record);
      ++records;
    }
  }
  count_events(state, records);
}
BENCHMARK(walk_facts)->Unit(benchmark::kMillisecond);

void one_body(benchmark::State& state) {
  trace::TraceReader reader = open_trace();
  const trace::Seq records = reader.info().records;
  trace::Seq seq = 1;
  for (auto _ : state) {
    seq = (seq + records / 2 + 7) % records + 1;  // far from the last one: its batch is not the cached one
    benchmark::DoNotOptimize(reader.body(seq)->size());
  }
  state.SetLabel("target 5 ms");
}
BENCHMARK(one_body)->Unit(benchmark::kMillisecond);

void info(benchmark::State& state) {
  trace_path();
  for (auto _ : state) benchmark::DoNotOptimize(open_trace().info().records);
  state.SetLabel("what info does; target 100 ms at 10 GB");
}
BENCHMARK(info)->Unit(benchmark::kMillisecond);

void trace_size(benchmark::State& state) {
  const auto bytes = static_cast<double>(std::filesystem::file_size(trace_path()));
  for (auto _ : state) benchmark::DoNotOptimize(bytes);
  state.counters["JSON/trace"] = static_cast<double>(workload().capture_bytes()) / bytes;
  state.counters["B/record"] = bytes / static_cast<double>(open_trace().info().records);
  state.SetLabel("target 1/60; k8shark 1/8.4, zstd -1 in batches of 1,000 1/117");
}
BENCHMARK(trace_size)->Iterations(1);

// --- Writing frames of 3.7 kB, beside SQLite itself

std::vector<std::string> frames_of_3_7_kb() {
  std::vector<std::string> out;
  trace::TraceReader reader = open_trace();
  while (const trace::Record* record = *reader.next()) {
    if (record->kind != trace::RecordKind::kFrame) continue;
    out.push_back(*reader.body(record->seq));
    out.back().resize(3700, ' ');
    if (out.size() == 20'000) break;
  }
  return out;
}

void write_trace(benchmark::State& state) {
  const std::vector<std::string> bodies = frames_of_3_7_kb();
  const auto recording = load();
  trace::Record record;
  record.objects.emplace_back(recording->pods().back());
  for (auto _ : state) {
    auto writer = trace::TraceWriter::create(workload().path("write.trace"), {}, recording->catalog(),
                                             trace::TraceWriter::Existing::kReplace);
    INQUEST_CHECK(writer.ok(), "no writer");
    record.stream = *writer->add_stream({{}, trace::StreamKind::kWatch, "pods", "pods", "bench"});
    for (const std::string& body : bodies) {
      record.wall = record.wall + Duration{1000};
      INQUEST_CHECK(writer->append(record, body).ok(), "append");
    }
    INQUEST_CHECK(writer->close().ok(), "close");
  }
  state.SetBytesProcessed(static_cast<int64_t>(bodies.size()) * 3700 * state.iterations());
  count_events(state, bodies.size());
  state.SetLabel("target 65,000 events/s of 3.7 kB");
}
BENCHMARK(write_trace)->Unit(benchmark::kMillisecond)->UseRealTime();

void check(sqlite3* database, int code) {
  INQUEST_CHECK(code == SQLITE_OK || code == SQLITE_DONE, sqlite3_errmsg(database));
}

// The baseline: the same frames, a row each, as they are; WAL, synchronous NORMAL, 1,000 rows a transaction.
void raw_sqlite(benchmark::State& state) {
  const std::vector<std::string> bodies = frames_of_3_7_kb();
  const std::string path = workload().path("raw.sqlite");
  for (auto _ : state) {
    std::filesystem::remove(path);
    sqlite3* database = nullptr;
    check(database, sqlite3_open(path.c_str(), &database));
    check(database, sqlite3_exec(database,
                                 "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                                 "CREATE TABLE event (seq INTEGER PRIMARY KEY, body BLOB)",
                                 nullptr, nullptr, nullptr));
    sqlite3_stmt* insert = nullptr;
    check(database, sqlite3_prepare_v2(database, "INSERT INTO event (body) VALUES (?)", -1, &insert, nullptr));
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (i % 1000 == 0)
        check(database, sqlite3_exec(database, i == 0 ? "BEGIN" : "COMMIT; BEGIN", nullptr, nullptr, nullptr));
      sqlite3_bind_blob(insert, 1, bodies[i].data(), static_cast<int>(bodies[i].size()), SQLITE_STATIC);
      check(database, sqlite3_step(insert));
      sqlite3_reset(insert);
    }
    check(database, sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr));
    sqlite3_finalize(insert);
    sqlite3_close(database);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bodies.size()) * 3700 * state.iterations());
  count_events(state, bodies.size());
  state.SetLabel("the baseline of write_trace: a row each, uncompressed, WAL, NORMAL");
}
BENCHMARK(raw_sqlite)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace inquest::bench

BENCHMARK_MAIN();
