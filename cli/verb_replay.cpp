#include <CLI/CLI.hpp>

#include "cli/run_files.h"
#include "cli/run_options.h"
#include "cli/verb.h"
#include "replayer/blame.h"
#include "report/run_file.h"
#include "report/state_report.h"
#include "report/step_report.h"

namespace inquest::cli {
namespace {

class Replay : public Verb {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view about() const override {
    return "Replay a trace into a scheduler, with faults; show where its stores leave the truth";
  }
  std::string_view example() const override {
    return "inquest replay hostport.trace --policy delete-both --drop 'pods DELETED name=pod1'";
  }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace; or a steps file, with its own faults and run")
        ->required()
        ->type_name("FILE");
    app.add_option("--until", until_,
                   "Stop there, and show what the stores hold and what is open: +12.5s, @43 or RFC 3339")
        ->type_name("WHEN");
    app.add_flag("--step", step_, "Print each input of the core, and what it does");
    app.add_option("-o,--output", output_, "Keep the whole run in this file, for diff: x.run.json")->type_name("FILE");
    app.add_flag("--all", all_, "Show every finding, also of those that are alike");
    app.add_flag("--json", json_, "Print JSON");
    options_.declare(app);
  }

  ExitCode run(Terminal& terminal) override {
    if (!output_.empty() && (step_ || !until_.empty())) {
      return terminal.fail({ErrorCode::kUsage, "keeps a whole run", "-o " + output_, "leave out --until and --step"});
    }
    auto prepared = options_.prepare(trace_);
    if (!prepared.ok()) return terminal.fail(prepared.error());
    const auto code = step_             ? stepped(*prepared, terminal)
                      : !until_.empty() ? stopped(*prepared, terminal)
                                        : whole(*prepared, terminal);
    return code.ok() ? *code : terminal.fail(code.error());
  }

 private:
  Result<ExitCode> whole(const Prepared& prepared, Terminal& terminal) const {
    std::optional<trace::OutputFile> file;  // before the work, so that a bad name costs none
    if (!output_.empty()) {
      INQUEST_TRY(trace::OutputFile ready, prepare_run_file(output_));
      file.emplace(std::move(ready));
    }
    INQUEST_TRY(replayer::Outcome outcome, replayer::replay(*prepared.recording, prepared.config));
    INQUEST_TRY_VOID(replayer::blame(*prepared.recording, prepared.config, outcome));
    INQUEST_TRY_VOID(replayer::look_elsewhere(*prepared.recording, prepared.config, outcome));
    const report::RunShown shown{trace_, *prepared.recording, prepared.config, *prepared.followed, outcome, {}};
    if (file) INQUEST_TRY_VOID(write_run_file(*file, report::run_json(shown)));
    terminal.out << (json_ ? report::run_json(shown) : report::run_text(shown, terminal.style, limits()));
    return exit_code(prepared, outcome);
  }

  Result<ExitCode> stopped(const Prepared& prepared, Terminal& terminal) const {
    INQUEST_TRY(replayer::Run run, replayer::Run::start(*prepared.recording, prepared.config));
    INQUEST_TRY(const Time at, end_of(prepared, run));
    replayer::Arrivals arrivals;
    run.world().observe(arrivals);
    run.advance_to(at);
    const replayer::Outcome outcome = run.so_far(at);
    const report::RunShown shown{
        trace_, *prepared.recording, prepared.config, *prepared.followed, outcome, report::Stop{at, run.world().seq()}};
    const report::StateShown state{shown, run, arrivals, {replayer::kStores.begin(), replayer::kStores.end()}};
    terminal.out << (json_ ? report::until_json(state) : report::until_text(state, terminal.style, limits()));
    return exit_code(prepared, outcome);
  }

  Result<ExitCode> stepped(const Prepared& prepared, Terminal& terminal) const {
    INQUEST_TRY(replayer::Run run, replayer::Run::start(*prepared.recording, prepared.config));
    INQUEST_TRY(const Time at, end_of(prepared, run));
    const auto form = json_ ? report::StepReport::Form::kJson : report::StepReport::Form::kText;
    report::StepReport steps(*prepared.recording, form);
    run.world().observe(steps);
    while (run.next() <= at && run.advance()) {
      if (steps.size() > kFlushedAfter) terminal.out << steps.take() << std::flush;
    }
    const replayer::Outcome outcome = run.so_far(at);
    const report::RunShown shown{
        trace_, *prepared.recording, prepared.config, *prepared.followed, outcome, report::Stop{at, run.world().seq()}};
    terminal.out << steps.finish(shown, terminal.style);
    return exit_code(prepared, outcome);
  }

  Result<Time> end_of(const Prepared& prepared, const replayer::Run& run) const {
    if (until_.empty()) return run.end();
    INQUEST_TRY(const When when, parse_when("--until", until_));
    return instant_of(*prepared.recording, when, "--until " + until_, run.end());
  }

  report::Limits limits() const { return all_ ? report::Limits::none() : report::Limits{}; }

  static ExitCode exit_code(const Prepared& prepared, const replayer::Outcome& outcome) {
    if (outcome.ending == replayer::Ending::kViolated) return ExitCode::kFindings;
    if (outcome.ending == replayer::Ending::kUnknown) return ExitCode::kUnknown;
    return prepared.recording->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

  static constexpr size_t kFlushedAfter = size_t{1} << 20;  // bytes

  RunOptions options_;
  std::string trace_, until_, output_;
  bool step_ = false, all_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> replay_verb() { return std::make_unique<Replay>(); }

}  // namespace inquest::cli
