#include <CLI/CLI.hpp>

#include "cli/verb.h"
#include "replayer/run.h"
#include "report/plan_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Plan : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view about() const override { return "Say what a plan of faults means, and what is wrong with it"; }
  std::string_view example() const override { return "inquest plan lint plan.yaml hostport.trace"; }

  void declare(CLI::App& app) override {
    app.require_subcommand(1);
    lint_ = app.add_subcommand("lint", "What is wrong with it; with a trace, which faults can never fire");
    explain_ = app.add_subcommand("explain", "Each fault in a sentence; with a trace, the records it hits");
    for (CLI::App* sub : {lint_, explain_}) {
      sub->add_option("PLAN", path_, "The plan, see docs/faults.md")->required()->type_name("FILE");
      sub->add_option("TRACE", trace_, "A trace")->type_name("FILE");
      sub->add_option("--as", as_, "Whose recorded binds are followed [whoever won most]")->type_name("NAME");
      sub->add_flag("--json", json_, "Print JSON");
    }
    kinds_ = app.add_subcommand("kinds", "Every kind of fault, and the fields of each");
    CLI::Option* markdown = kinds_->add_flag("--markdown", markdown_, "Print Markdown, as in docs/faults.md");
    kinds_->add_flag("--json", json_, "Print JSON")->excludes(markdown);
  }

  ExitCode run(Terminal& terminal) override {
    if (kinds_->parsed()) return kinds(terminal);
    const replayer::PlanRead read = replayer::read_plan_file(path_);
    if (!read.errors.empty() && read.errors.front().code == ErrorCode::kIo) return terminal.fail(read.errors.front());
    report::PlanShown shown{path_, read, trace_, nullptr, {}};
    std::unique_ptr<replayer::Recording> recording;
    if (!trace_.empty()) {
      auto loaded = load(shown);
      if (!loaded.ok()) return terminal.fail(loaded.error());
      recording = *std::move(loaded);
    }
    terminal.out << (lint_->parsed()
                         ? (json_ ? report::plan_lint_json(shown) : report::plan_lint_text(shown, terminal.style))
                         : (json_ ? report::plan_explain_json(shown)
                                  : report::plan_explain_text(shown, terminal.style)));
    if (!read.errors.empty()) return terminal.fail(read.errors.front());
    if (lint_->parsed() && !report::problems_of(shown).empty()) return ExitCode::kFindings;
    return recording == nullptr || recording->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  ExitCode kinds(Terminal& terminal) const {
    terminal.out << (json_       ? report::plan_kinds_json()
                     : markdown_ ? report::plan_kinds_markdown()
                                 : report::plan_kinds_text());
    return ExitCode::kOk;
  }

  // The trace, and what the plan's faults hit in it. The recording must outlive what is shown.
  Result<std::unique_ptr<replayer::Recording>> load(report::PlanShown& shown) const {
    INQUEST_TRY(auto reader, trace::TraceReader::open(trace_));
    INQUEST_TRY(auto recording, replayer::Recording::load(std::move(reader)));
    INQUEST_TRY(const replayer::SchedulerSeen* followed, replayer::followed_scheduler(*recording, as_));
    shown.recording = recording.get();
    shown.forecasts = replayer::forecast(*recording, shown.read.plan, *followed);
    return recording;
  }

  std::string path_, trace_, as_;
  bool json_ = false, markdown_ = false;
  CLI::App *lint_ = nullptr, *explain_ = nullptr, *kinds_ = nullptr;
};

}  // namespace

std::unique_ptr<Verb> plan_verb() { return std::make_unique<Plan>(); }

}  // namespace inquest::cli
