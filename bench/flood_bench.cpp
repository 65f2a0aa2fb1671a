// A live recording under a flood: a server on loopback sends frames of churn at a set rate, as many as the recorder
// takes; what the recorder is, it is in a process of its own.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "bench/memory_use.h"
#include "bench/workload.h"
#include "kube/client/test_server.h"
#include "recorder/live.h"

namespace inquest::bench {
namespace {

using std::chrono::steady_clock;

// Frames a second. The target is 50,000 of 3.7 kB; those of churn have 2.9 kB: more of them, so that the bytes are as
// many.
constexpr int kRate = 63'000;
constexpr int kSeconds = 10;
constexpr size_t kChunk = size_t{64} << 10;
constexpr size_t kDigits = 12;  // of a resourceVersion, so that all frames keep their length

// The frames of one repeat of churn, with room for a resourceVersion each.
struct Frame {
  std::string text;
  size_t rv = 0;
};

std::vector<Frame> frames_of(const Workload& workload) {
  std::vector<Frame> out;
  std::ifstream file(workload.capture());
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kBody = R"("body":")", kVersion = R"("resourceVersion":")";
    const size_t at = line.find(kBody);
    if (at == std::string::npos || line.find(R"("kind":"frame")") == std::string::npos) continue;
    const char* begin = line.data() + at + kBody.size();
    const char* end = end_of_string(begin, line.data() + line.size());
    Frame frame;
    unescape({begin, static_cast<size_t>(end - begin)}, frame.text);
    frame.rv = frame.text.find(kVersion);
    if (frame.rv == std::string::npos) continue;
    frame.rv += kVersion.size();
    frame.text.replace(frame.rv, frame.text.find('"', frame.rv) - frame.rv, kDigits, '1');
    frame.text += '\n';
    out.push_back(std::move(frame));
  }
  INQUEST_CHECK(!out.empty(), workload.capture());
  return out;
}

class Flood {
 public:
  explicit Flood(std::vector<Frame> frames)
      : frames_(std::move(frames)),
        server_([this](const kube::SeenRequest& request, kube::Peer& peer) { serve(request, peer); }) {}

  std::string url() const { return server_.url(); }
  void wait() const {
    while (!done_) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  int64_t milliseconds() const { return milliseconds_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void serve(const kube::SeenRequest& request, kube::Peer& peer) {
    const bool pods = request.path.starts_with("/api/v1/pods");
    if (request.path.starts_with("/version")) return peer.answer(200, R"({"gitVersion":"v1.32.4"})");
    if (request.path.find("watch=") != std::string::npos) {
      peer.open();
      if (pods) send(peer);
      return peer.wait_until_gone(Duration::seconds(60));
    }
    peer.answer(200, std::string(R"({"kind":")").append(pods ? "Pod" : "Node") +
                         R"(List","apiVersion":"v1","metadata":{"resourceVersion":"100000000000"},"items":[]})");
  }

  // Never ahead of the rate; behind it where the recorder does not take more.
  void send(kube::Peer& peer) {
    const auto begin = steady_clock::now();
    uint64_t sent = 0, rv = 100'000'000'000;
    std::string chunk;
    while (sent < uint64_t{kRate} * kSeconds && !peer.client_gone()) {
      const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin).count();
      const uint64_t due = std::min<uint64_t>(static_cast<uint64_t>(passed) * kRate / 1'000'000, kRate * kSeconds);
      if (sent >= due) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (chunk.clear(); sent < due && chunk.size() < kChunk; ++sent) {
        Frame& frame = frames_[sent % frames_.size()];
        frame.text.replace(frame.rv, kDigits, std::to_string(++rv));
        chunk += frame.text;
      }
      bytes_ += chunk.size();
      if (!chunk.empty()) peer.chunk(chunk);
    }
    milliseconds_ = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin).count();
    done_ = true;
  }

  std::vector<Frame> frames_;
  std::atomic<bool> done_{false};
  std::atomic<int64_t> milliseconds_{0};
  std::atomic<uint64_t> bytes_{0};
  kube::TestServer server_;  // last: its threads use the others
};

struct Outcome {
  bool ok = false;
  uint64_t frames = 0, gaps = 0;
  int64_t cpu_us = 0, memory = 0;  // of memory: bytes, beyond what the bench itself held
};

// The child: told the server's address, then to stop.
Outcome recorded(int from_parent, const std::string& output) {
  std::string url;
  for (char c = 0; ::read(from_parent, &c, 1) == 1 && c != '\n';) url += c;
  recorder::LiveOptions options;
  options.access.server = url;
  options.user_agent = std::string("inquest/bench");
  options.output = output;
  options.stop_fd = from_parent;
  options.checkpoint = {};
  const SystemClock clock;
  const MemoryGrowth growth;
  const auto report = recorder::record_live(options, clock);
  Outcome out;
  struct rusage used {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto microseconds = [](const timeval& t) { return t.tv_sec * int64_t{1'000'000} + t.tv_usec; };
  out.cpu_us = microseconds(used.ru_utime) + microseconds(used.ru_stime);
  out.memory = growth.bytes();
  out.ok = report.ok();
  if (report.ok()) out.frames = report->counts.frames;
  if (report.ok()) out.gaps = report->counts.gaps;
  return out;
}

void record_flood(benchmark::State& state) {
  int to[2], back[2];
  INQUEST_CHECK(pipe(to) == 0 && pipe(back) == 0, "no pipe");
  const Workload workload(1);
  const pid_t child = fork();  // before there are threads
  INQUEST_CHECK(child >= 0, "no process");
  if (child == 0) {
    ::close(to[1]);  // so that it ends with the parent
    ::close(back[0]);
    const Outcome outcome = recorded(to[0], workload.path("flood.trace"));
    _exit(write(back[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
  }
  ::close(to[0]);
  ::close(back[1]);
  Flood flood(frames_of(workload));
  const std::string url = flood.url() + "\n";
  INQUEST_CHECK(write(to[1], url.data(), url.size()) == static_cast<ssize_t>(url.size()), "no recorder");
  for (auto _ : state) flood.wait();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // what is in the sockets
  Outcome outcome;
  INQUEST_CHECK(write(to[1], "x", 1) == 1 && read(back[0], &outcome, sizeof outcome) == sizeof outcome && outcome.ok,
                "the recorder failed");
  waitpid(child, nullptr, 0);
  ::close(to[1]);
  ::close(back[0]);
  const auto frames = static_cast<double>(outcome.frames);
  state.counters["frames/s"] = frames * 1000 / static_cast<double>(std::max<int64_t>(flood.milliseconds(), 1));
  state.counters["us/frame"] = static_cast<double>(outcome.cpu_us) / frames;
  state.counters["kB/frame"] = static_cast<double>(flood.bytes()) / 1000 / frames;
  state.counters["MB/s"] =
      static_cast<double>(flood.bytes()) / 1000 / static_cast<double>(std::max<int64_t>(flood.milliseconds(), 1));
  state.counters["lost"] = static_cast<double>(uint64_t{kRate} * kSeconds) - frames;
  state.counters["gaps"] = static_cast<double>(outcome.gaps);
  state.counters["grew_MB"] = static_cast<double>(outcome.memory) * 1e-6;
  state.SetLabel("10 s at 63,000/s; target 50,000 frames/s of 3.7 kB (185 MB/s), none lost, no gap, 150 MB");
}
BENCHMARK(record_flood)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inquest::bench
