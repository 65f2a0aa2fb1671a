#include <CLI/CLI.hpp>

#include "cli/run_files.h"
#include "cli/run_options.h"
#include "cli/verb.h"
#include "kube/json_diff.h"
#include "report/difference_report.h"
#include "report/run_diff.h"
#include "report/state_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Diff : public Verb {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view about() const override {
    return "Compare a run's stores with the truth at an instant, two runs, or two traces";
  }
  std::string_view example() const override {
    return "inquest diff hostport.trace --at +5s --policy delete-both --drop 'pods DELETED name=pod1'";
  }

  void declare(CLI::App& app) override {
    app.add_option("FILE", files_, "One trace with --at; two run files, made by replay -o; or two traces")
        ->required()
        ->expected(1, 2)
        ->type_name("FILE");
    app.add_option("--at", at_, "When stores and truth are compared: +12.5s, @43 or RFC 3339")->type_name("WHEN");
    app.add_flag("--json", json_, "Print JSON");
    options_.declare(app);
  }

  ExitCode run(Terminal& terminal) override {
    const auto done = files_.size() == 1                                         ? with_truth(terminal)
                      : !at_.empty()                                             ? two_and_an_instant()
                      : looks_like_json(files_[0]) || looks_like_json(files_[1]) ? runs(terminal)
                                                                                 : traces(terminal);
    return done.ok() ? *done : terminal.fail(done.error());
  }

 private:
  static Result<ExitCode> two_and_an_instant() {
    return Error{ErrorCode::kUsage, "an instant is compared within one trace", "--at", "name one trace"};
  }

  Result<ExitCode> with_truth(Terminal& terminal) const {
    if (at_.empty()) {
      return Error{ErrorCode::kUsage, "one file is compared with nothing", files_[0],
                   "say --at +12.5s to compare stores and truth, or name a second run file or trace"};
    }
    INQUEST_TRY(const When when, parse_when("--at", at_));
    INQUEST_TRY(const Prepared prepared, options_.prepare(files_[0]));
    INQUEST_TRY(replayer::Run run, replayer::Run::start(*prepared.recording, prepared.config));
    const Time last = options_.says_drain() ? run.end() : prepared.recording->end();
    INQUEST_TRY(const Time at, instant_of(*prepared.recording, when, "--at " + at_, last));
    run.advance_to(at);
    const replayer::Outcome outcome = run.so_far(at);
    const report::RunShown shown{files_[0],       *prepared.recording,
                                 prepared.config, *prepared.followed,
                                 outcome,         report::Stop{at, run.world().seq()}};
    const replayer::Arrivals nobody_asks;
    const report::StateShown state{shown, run, nobody_asks, {}};
    terminal.out << (json_ ? report::open_json(state) : report::open_text(state, terminal.style));
    if (!run.open(at).empty()) return ExitCode::kFindings;
    return prepared.recording->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

  Result<ExitCode> runs(Terminal& terminal) const {
    INQUEST_TRY(const report::RunFile a, load_run_file(files_[0]));
    INQUEST_TRY(const report::RunFile b, load_run_file(files_[1]));
    const report::NamedRun first{files_[0], &a}, second{files_[1], &b};
    terminal.out << (json_ ? report::run_diff_json(first, second)
                           : report::run_diff_text(first, second, terminal.style));
    return report::diff_runs(a, b).same() ? ExitCode::kOk : ExitCode::kFindings;
  }

  Result<ExitCode> traces(Terminal& terminal) const {
    INQUEST_TRY(auto a, trace::TraceReader::open(files_[0]));
    INQUEST_TRY(auto b, trace::TraceReader::open(files_[1]));
    INQUEST_TRY(const replayer::TraceDifference difference, replayer::first_difference(a, b));
    std::vector<kube::JsonChange> changes;
    if (difference.a && difference.b && !difference.a->body.empty() && !difference.b->body.empty()) {
      auto found = kube::diff_json(difference.a->body, difference.b->body);
      if (found.ok()) changes = *std::move(found);  // a body need not be JSON
    }
    const report::TraceShown first{files_[0], a}, second{files_[1], b};
    terminal.out << (json_ ? report::trace_diff_json(first, second, difference)
                           : report::trace_diff_text(first, second, difference, changes, terminal.style));
    if (!difference.none()) return ExitCode::kFindings;
    return a.info().complete() && b.info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

  RunOptions options_;
  std::vector<std::string> files_;
  std::string at_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> diff_verb() { return std::make_unique<Diff>(); }

}  // namespace inquest::cli
