#include <CLI/CLI.hpp>

#include "cli/verb.h"
#include "report/policy_report.h"

namespace inquest::cli {
namespace {

class Policies : public Verb {
 public:
  std::string_view name() const override { return "policies"; }
  std::string_view about() const override { return "The ways a scheduler may repair its stores, with every parameter"; }
  std::string_view example() const override { return "inquest policies"; }

  void declare(CLI::App& app) override {
    CLI::Option* markdown = app.add_flag("--markdown", markdown_, "Print Markdown, as in docs/policies.md");
    app.add_flag("--json", json_, "Print JSON")->excludes(markdown);
  }

  ExitCode run(Terminal& terminal) override {
    terminal.out << (json_       ? report::policies_json()
                     : markdown_ ? report::policies_markdown()
                                 : report::policies_text());
    return ExitCode::kOk;
  }

 private:
  bool markdown_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> policies_verb() { return std::make_unique<Policies>(); }

}  // namespace inquest::cli
