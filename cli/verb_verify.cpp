#include <CLI/CLI.hpp>

#include "cli/verb.h"
#include "replayer/checkpoints.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Verify : public Verb {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view about() const override {
    return "Check a trace: its checksums, then its watches against the lists taken beside them";
  }
  std::string_view example() const override { return "inquest verify hostport.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return failed(reader.error(), terminal);
    auto damage = reader->check_integrity();
    if (!damage.ok()) return failed(damage.error(), terminal);
    std::optional<replayer::CheckpointReport> checkpoints;
    if (!*damage) {
      auto compared = replayer::compare_checkpoints(*reader);
      if (!compared.ok()) return failed(compared.error(), terminal);
      checkpoints = *std::move(compared);
    }
    const trace::TraceInfo& info = reader->info();
    terminal.out << (json_ ? report::verify_json(trace_, info, *damage, checkpoints)
                           : report::verify_text(trace_, info, *damage, checkpoints, terminal.style));
    if (*damage || checkpoints->differences > 0) return ExitCode::kFindings;
    return info.complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  // A trace so damaged that it cannot be opened has failed the check; that is an answer, not a misuse.
  static ExitCode failed(const Error& error, Terminal& terminal) {
    const ExitCode code = terminal.fail(error);
    return error.code == ErrorCode::kCorrupt ? ExitCode::kFindings : code;
  }

  std::string trace_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> verify_verb() { return std::make_unique<Verify>(); }

}  // namespace inquest::cli
