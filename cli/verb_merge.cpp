#include <CLI/CLI.hpp>

#include "cli/outputs.h"
#include "cli/verb.h"
#include "recorder/merge.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Merge : public Verb {
 public:
  std::string_view name() const override { return "merge"; }
  std::string_view about() const override { return "Make one trace of several of one cluster"; }
  std::string_view example() const override { return "inquest merge watches.trace binds.trace -o both.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", options_.inputs, "The traces, two or more")->required()->type_name("FILE");
    app.add_option("-o,--output", options_.output, "The trace to make")->required()->type_name("FILE");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    if (auto other = check_other_output(options_.inputs, options_.output); !other.ok())
      return terminal.fail(other.error());
    tell_leftovers(options_.output, terminal);
    options_.existing = force_ ? recorder::OutputFile::Existing::kReplace : recorder::OutputFile::Existing::kRefuse;
    const auto done = recorder::merge_traces(options_);
    if (!done.ok()) return terminal.fail(done.error());
    for (const std::string& warning : done->warnings) terminal.warn("warning: " + warning);
    const auto reader = trace::TraceReader::open(options_.output);
    if (!reader.ok()) return terminal.fail(reader.error());
    const trace::TraceInfo& info = reader->info();
    terminal.out << (json_ ? json(*done, info) : text(*done, info, terminal.style));
    return info.complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  std::string text(const recorder::MergeReport& report, const trace::TraceInfo& info, report::Style style) const {
    std::string line = report::counted(report.records, "record");
    report::add_part(line, report::counted(info.streams.size(), "stream"));
    if (report.binds_joined > 0) {
      report::add_part(line, report::counted(report.binds_joined, "bind") + " seen by several");
    }
    if (report.gaps > 0) report::add_part(line, report::counted(report.gaps, "gap") + " between them");
    report::add_part(line, report::size(info.file_bytes));
    return style.strong(report::printable(options_.output)) + "  " + line + "\n";
  }

  std::string json(const recorder::MergeReport& report, const trace::TraceInfo& info) const {
    report::JsonWriter json("merge");
    json.field("file", options_.output).field("records", report.records).field("streams", info.streams.size());
    json.field("binds_joined", report.binds_joined).field("gaps", report.gaps).field("file_bytes", info.file_bytes);
    json.key("warnings").begin_array();
    for (const std::string& warning : report.warnings) json.value(warning);
    return json.end_array().finish();
  }

  recorder::MergeOptions options_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> merge_verb() { return std::make_unique<Merge>(); }

}  // namespace inquest::cli
