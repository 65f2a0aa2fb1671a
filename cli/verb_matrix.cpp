#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/verb.h"
#include "report/matrix_report.h"

namespace inquest::cli {
namespace {

using replayer::Scenario;

class Matrix : public Verb {
 public:
  std::string_view name() const override { return "matrix"; }
  std::string_view about() const override { return "Policies beside each other on the same scenarios, in numbers"; }
  std::string_view example() const override { return "inquest matrix traces/scenarios"; }

  void declare(CLI::App& app) override {
    app.add_option("SCENARIO", inputs_, "Steps files, or folders of them")->required()->type_name("FILE|FOLDER");
    app.add_option("--policy", policies_, "Only this preset [all of #6023 and after]; repeatable")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_option("--sweep", sweeps_, "A parameter and its values: ttl=10s,30s,never; repeatable")
        ->allow_extra_args(false)
        ->type_name("PARAMETER=VALUES");
    CLI::Option* markdown = app.add_flag("--markdown", markdown_, "Print Markdown, as in docs/policies.md");
    CLI::Option* csv = app.add_flag("--csv", csv_, "Print CSV: a row a policy and scenario")->excludes(markdown);
    app.add_flag("--json", json_, "Print JSON")->excludes(markdown)->excludes(csv);
  }

  ExitCode run(Terminal& terminal) override {
    auto made = make();
    if (!made.ok()) return terminal.fail(made.error());
    terminal.out << (json_       ? report::matrix_json(*made)
                     : csv_      ? report::matrix_csv(*made)
                     : markdown_ ? report::matrix_markdown(*made)
                                 : report::matrix_text(*made));
    return ExitCode::kOk;  // what it shows is meant to differ: nothing of it is wrong
  }

 private:
  Result<replayer::Matrix> make() const {
    INQUEST_TRY(const std::vector<Scenario> scenarios, scenarios_of_inputs());
    std::vector<replayer::Sweep> sweeps;
    for (const std::string& text : sweeps_) {
      INQUEST_TRY(replayer::Sweep sweep, replayer::parse_sweep(text));
      sweeps.push_back(std::move(sweep));
    }
    INQUEST_TRY(const std::vector<scheduler::Policy> bases, policies());
    INQUEST_TRY(const std::vector<scheduler::Policy> rows, replayer::swept(bases, sweeps));
    return replayer::matrix(rows, scenarios);
  }

  Result<std::vector<Scenario>> scenarios_of_inputs() const {
    std::vector<Scenario> out;
    for (const std::string& input : inputs_) {
      if (!std::filesystem::is_directory(input)) {
        INQUEST_TRY(Scenario scenario, replayer::load_scenario(input));
        out.push_back(std::move(scenario));
        continue;
      }
      INQUEST_TRY(std::vector<Scenario> all, replayer::load_scenarios(input));
      for (Scenario& scenario : all) out.push_back(std::move(scenario));
    }
    return out;
  }

  // Swept alone it is the default policy that is looked at.
  Result<std::vector<scheduler::Policy>> policies() const {
    std::vector<scheduler::Policy> out;
    std::vector<std::string> names = policies_;
    if (names.empty() && !sweeps_.empty()) names.emplace_back(scheduler::kDefaultPolicy);
    for (const std::string& name : names) {
      INQUEST_TRY(scheduler::Policy policy, scheduler::preset(name));
      out.push_back(std::move(policy));
    }
    if (out.empty()) out.assign(scheduler::presets().begin(), scheduler::presets().end());
    return out;
  }

  std::vector<std::string> inputs_, policies_, sweeps_;
  bool markdown_ = false, csv_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> matrix_verb() { return std::make_unique<Matrix>(); }

}  // namespace inquest::cli
