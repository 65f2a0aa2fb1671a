// What a replay keeps in memory, per record of its trace: by how much the peak of a process grows from a trace to one
// four times as long.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/check.h"
#include "bench/memory_use.h"
#include "bench/workload.h"
#include "recorder/import.h"
#include "replayer/run.h"

namespace inquest::bench {
namespace {

struct Use {
  uint64_t records = 0;
  int64_t bytes = 0;  // the peak, beyond what there was before
};

Use replayed(const std::string& path) {
  const MemoryGrowth growth;
  auto reader = trace::TraceReader::open(path);
  INQUEST_CHECK(reader.ok(), path);
  const auto recording = replayer::Recording::load(*std::move(reader));
  INQUEST_CHECK(recording.ok(), path);
  replayer::RunConfig config;
  config.policy = *scheduler::preset(scheduler::kDefaultPolicy);
  benchmark::DoNotOptimize(replayer::replay(**recording, config)->chain);
  return {(*recording)->info().records, growth.bytes()};
}

// In a process of its own, so that no memory of other rows stands in for what it needs.
Use measured(int repeats) {
  const Workload workload(repeats);
  recorder::ImportOptions options;
  options.inputs = {workload.capture()};
  options.output = workload.path("memory.trace");
  INQUEST_CHECK(recorder::import_files(options).ok(), options.output);
  int ends[2];
  INQUEST_CHECK(pipe(ends) == 0, "no pipe");
  const pid_t child = fork();
  INQUEST_CHECK(child >= 0, "no process");
  if (child == 0) {
    const Use use = replayed(options.output);
    const ssize_t written = write(ends[1], &use, sizeof use);
    _exit(written == sizeof use ? 0 : 1);
  }
  Use use;
  const ssize_t got = read(ends[0], &use, sizeof use);
  int ended = 0;
  waitpid(child, &ended, 0);
  close(ends[0]);
  close(ends[1]);
  INQUEST_CHECK(got == sizeof use && ended == 0, "the process failed");
  return use;
}

void replay_memory(benchmark::State& state) {
  const Use small = measured(10), large = measured(40);
  for (auto _ : state) benchmark::DoNotOptimize(large.bytes);
  state.counters["B/record"] =
      static_cast<double>(large.bytes - small.bytes) / static_cast<double>(large.records - small.records);
  state.SetLabel("peak of open, load and replay; target 200 B");
}
BENCHMARK(replay_memory)->Iterations(1);

}  // namespace
}  // namespace inquest::bench
