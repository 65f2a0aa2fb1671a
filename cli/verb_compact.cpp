#include <CLI/CLI.hpp>

#include "cli/outputs.h"
#include "cli/verb.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/compact.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Compact : public Verb {
 public:
  std::string_view name() const override { return "compact"; }
  std::string_view about() const override { return "Write a trace again in large batches: the same records, smaller"; }
  std::string_view example() const override { return "inquest compact hostport.trace -o small.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_option("-o,--output", output_, "The trace to make; the same file again with --force")
        ->required()
        ->type_name("FILE");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    tell_leftovers(output_, terminal);
    const auto existing = force_ ? trace::OutputFile::Existing::kReplace : trace::OutputFile::Existing::kRefuse;
    const auto done = trace::compact(trace_, output_, existing);
    if (!done.ok()) return terminal.fail(done.error());
    if (json_) {
      report::JsonWriter json("compact");
      json.field("file", output_).field("records", done->records);
      json.field("batches_before", done->batches_before).field("batches_after", done->batches_after);
      json.field("bytes_before", done->bytes_before).field("bytes_after", done->bytes_after);
      terminal.out << json.finish();
    } else {
      terminal.out << terminal.style.strong(report::printable(output_)) << "  "
                   << report::counted(done->records, "record") << report::kDot << report::count(done->batches_before)
                   << " → " << report::counted(done->batches_after, "batch", "batches") << report::kDot
                   << report::size(done->bytes_before) << " → " << report::size(done->bytes_after) << "\n";
    }
    const auto reader = trace::TraceReader::open(output_);
    if (!reader.ok()) return terminal.fail(reader.error());
    return reader->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  std::string trace_, output_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> compact_verb() { return std::make_unique<Compact>(); }

}  // namespace inquest::cli
