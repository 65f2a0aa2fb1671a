#include <CLI/CLI.hpp>

#include "cli/run_options.h"
#include "cli/verb.h"
#include "report/state_report.h"

namespace inquest::cli {
namespace {

using replayer::Store;

class State : public Verb {
 public:
  std::string_view name() const override { return "state"; }
  std::string_view about() const override { return "What the stores of a run hold at an instant, and the truth"; }
  std::string_view example() const override { return "inquest state hostport.trace --at +5s"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace; or a steps file, with its own faults and run")
        ->required()
        ->type_name("FILE");
    app.add_option("--at", at_, "When, as it is once that instant is over: +12.5s, @43 or RFC 3339")
        ->required()
        ->type_name("WHEN");
    app.add_option("--store", store_, "Only this one: scheduled, assumed, queued, nodes or truth [all]")
        ->type_name("STORE");
    app.add_flag("--json", json_, "Print JSON");
    options_.declare(app);
  }

  ExitCode run(Terminal& terminal) override {
    const auto done = show(terminal);
    return done.ok() ? *done : terminal.fail(done.error());
  }

 private:
  Result<ExitCode> show(Terminal& terminal) const {
    INQUEST_TRY(const std::vector<Store> stores, wanted());
    INQUEST_TRY(const When when, parse_when("--at", at_));
    INQUEST_TRY(const Prepared prepared, options_.prepare(trace_));
    INQUEST_TRY(replayer::Run run, replayer::Run::start(*prepared.recording, prepared.config));
    const Time last = options_.says_drain() ? run.end() : prepared.recording->end();
    INQUEST_TRY(const Time at, instant_of(*prepared.recording, when, "--at " + at_, last));
    replayer::Arrivals arrivals;
    run.world().observe(arrivals);
    run.advance_to(at);
    const replayer::Outcome outcome = run.so_far(at);
    const report::RunShown shown{
        trace_, *prepared.recording, prepared.config, *prepared.followed, outcome, report::Stop{at, run.world().seq()}};
    const report::StateShown state{shown, run, arrivals, stores};
    terminal.out << (json_ ? report::state_json(state) : report::state_text(state, terminal.style));
    return prepared.recording->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

  Result<std::vector<Store>> wanted() const {
    if (store_.empty()) return std::vector<Store>(replayer::kStores.begin(), replayer::kStores.end());
    if (const auto store = replayer::store_named(store_)) return std::vector<Store>{*store};
    std::string names;
    for (const Store store : replayer::kStores) names.append(names.empty() ? "" : ", ").append(name_of(store));
    return Error{ErrorCode::kUsage, "there is no store '" + store_ + "'", "--store", "one of " + names};
  }

  RunOptions options_;
  std::string trace_, at_, store_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> state_verb() { return std::make_unique<State>(); }

}  // namespace inquest::cli
