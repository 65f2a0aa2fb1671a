#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ostream>

#include "base/clock.h"
#include "base/duration.h"
#include "cli/verb.h"
#include "kube/client/access.h"
#include "recorder/live.h"
#include "replayer/checkpoints.h"
#include "report/json.h"
#include "report/text.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// SIGINT and SIGTERM as a descriptor, while this lives.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() {
    signalfd_siginfo taken;
    while (::read(fd_, &taken, sizeof taken) > 0) {
    }
    ::close(fd_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int fd() const { return fd_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

// Rates since the last call, on one line that overwrites itself.
class Progress {
 public:
  Progress(std::ostream& err, const Clock& clock) : err_(&err), clock_(&clock), last_(clock.monotonic()) {}
  ~Progress() {
    if (shown_) *err_ << "\r\x1b[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const recorder::LiveCounts& counts) {
    const Time now = clock_->monotonic();
    const int64_t milliseconds = std::max<int64_t>((now - last_).ns / 1'000'000, 1);
    const uint64_t rate = (counts.frames - frames_) * 1000 / static_cast<uint64_t>(milliseconds);
    *err_ << "\r\x1b[Krecording  " << report::counted(counts.frames, "frame") << " · " << rate << "/s · "
          << report::size(counts.bytes) << " · " << report::counted(counts.checkpoints, "checkpoint") << " · "
          << report::counted(counts.gaps, "gap") << std::flush;
    last_ = now;
    frames_ = counts.frames;
    shown_ = true;
  }

 private:
  std::ostream* err_;
  const Clock* clock_;
  Time last_;
  uint64_t frames_ = 0;
  bool shown_ = false;
};

class Record : public Verb {
 public:
  std::string_view name() const override { return "record"; }
  std::string_view about() const override {
    return "Record a live cluster's watches and lists into a trace, until Ctrl-C";
  }
  std::string_view example() const override { return "inquest record --context lab --duration 10m -o lab.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("-o,--output", options_.output, "The trace to make")->required()->type_name("FILE");
    app.add_option("--kubeconfig", places_.flag, "The kubeconfig, in place of $KUBECONFIG and ~/.kube/config")
        ->type_name("FILE");
    app.add_option("--context", overrides_.context, "The kubeconfig's context [current-context]")->type_name("NAME");
    app.add_option("-n,--namespace", options_.name_space, "Namespaced resources of this one alone [all]")
        ->type_name("NAME");
    app.add_option("-l,--selector", options_.label_selector, "Pods with these labels alone: app=web,tier!=db")
        ->type_name("LABELS");
    app.add_option("--resources", options_.resources, "What to record, of pods, nodes, events, leases [pods,nodes]")
        ->delimiter(',')
        ->type_name("NAMES");
    app.add_option("--duration", duration_, "Stop by itself after so long")->type_name("TIME");
    app.add_option("--checkpoint", checkpoint_, "A list beside the watches each so often, 0 for none [30s]")
        ->type_name("TIME");
    app.add_option("--listen", options_.listen, "Serve /metrics, /healthz and /readyz here: 127.0.0.1:9464")
        ->type_name("ADDRESS");
    app.add_option("--redact-annotation", options_.redact.annotations,
                   "Take out the values of annotations of this name too, * and ? allowed; repeatable")
        ->allow_extra_args(false)
        ->type_name("GLOB");
    app.add_flag("--no-redact", no_redact_, "Keep secrets: env values, Secrets, tokens, last-applied-configuration")
        ->excludes("--redact-annotation");
    app.add_flag("--force", options_.replace, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    const SystemClock clock;
    auto report = record(terminal, clock);
    if (!report.ok()) return terminal.fail(report.error());
    for (const std::string& refused : report->refused) terminal.warn("never seen: " + report::printable(refused));
    auto reader = trace::TraceReader::open(options_.output);
    if (!reader.ok()) return terminal.fail(reader.error());
    auto checkpoints = replayer::compare_checkpoints(*reader);
    if (!checkpoints.ok()) return terminal.fail(checkpoints.error());
    if (json_) {
      report::JsonWriter json("record");
      report::add_trace(json, options_.output, reader->info());
      report::add_checkpoints(json, *checkpoints);
      terminal.out << json.finish();
    } else {
      terminal.out << report::import_line(options_.output, reader->info(), *checkpoints, terminal.style);
    }
    const ExitCode code = checkpoints->differences > 0 ? ExitCode::kFindings : ExitCode::kOk;
    return reader->info().complete() && report->refused.empty() ? code : first_of(code, ExitCode::kMissing);
  }

 private:
  Result<recorder::LiveReport> record(Terminal& terminal, const Clock& clock) {
    if (!duration_.empty()) {
      INQUEST_TRY(options_.duration, parse_duration(duration_));
    }
    if (!checkpoint_.empty()) {
      INQUEST_TRY(options_.checkpoint, parse_duration(checkpoint_));
    }
    places_.variable = variable("KUBECONFIG");
    places_.home = variable("HOME");
    kube::PodEnvironment pod;
    pod.host = variable("KUBERNETES_SERVICE_HOST");
    pod.port = variable("KUBERNETES_SERVICE_PORT");
    pod.name_space = variable("POD_NAMESPACE");
    std::vector<std::string> warnings;
    INQUEST_TRY(options_.access, kube::find_access(places_, overrides_, pod, warnings));
    for (const std::string& warning : warnings) terminal.warn("warning: " + warning);
    if (no_redact_) options_.redact.redact = recorder::Redact::kOff;
    options_.user_agent = "inquest/" INQUEST_VERSION;
    options_.terminal = ::isatty(STDIN_FILENO) == 1;
    options_.listening = [&](uint16_t port) { terminal.warn("listening on port " + std::to_string(port)); };
    const StopSignals stop;
    options_.stop_fd = stop.fd();
    Progress progress(terminal.err, clock);
    if (::isatty(STDERR_FILENO) == 1) {
      options_.progress = [&](const recorder::LiveCounts& counts) { progress.show(counts); };
    }
    return recorder::record_live(options_, clock);
  }

  kube::KubeconfigPlaces places_;
  kube::Overrides overrides_;
  recorder::LiveOptions options_;
  std::string duration_, checkpoint_;
  bool no_redact_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> record_verb() { return std::make_unique<Record>(); }

}  // namespace inquest::cli
