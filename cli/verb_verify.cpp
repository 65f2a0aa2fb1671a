#include <CLI/CLI.hpp>

#include "cli/verb.h"
#include "replayer/checkpoints.h"
#include "replayer/promises.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Verify : public Verb {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view about() const override {
    return "Check a trace: its checksums, its watches against the lists taken beside them, and what a watch promises";
  }
  std::string_view example() const override { return "inquest verify hostport.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return failed(reader.error(), terminal);
    report::Verification found;
    auto damage = reader->check_integrity();
    if (!damage.ok()) return failed(damage.error(), terminal);
    found.damage = *std::move(damage);
    if (!found.damage) {
      auto checkpoints = replayer::compare_checkpoints(*reader);
      if (!checkpoints.ok()) return failed(checkpoints.error(), terminal);
      found.checkpoints = *std::move(checkpoints);
      auto promises = replayer::check_promises(*reader);
      if (!promises.ok()) return failed(promises.error(), terminal);
      found.promises = *std::move(promises);
    }
    const trace::TraceInfo& info = reader->info();
    terminal.out << (json_ ? report::verify_json(trace_, info, found)
                           : report::verify_text(trace_, info, found, terminal.style));
    if (found.failed()) return ExitCode::kFindings;
    if (found.partial()) return ExitCode::kUnknown;
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
