#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/duration.h"
#include "cli/import_steps.h"
#include "cli/outputs.h"
#include "cli/verb.h"
#include "recorder/import.h"
#include "recorder/input.h"
#include "replayer/checkpoints.h"
#include "report/json.h"
#include "report/text.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

std::string signed_duration(int64_t ns) { return (ns < 0 ? "" : "+") + format_seconds({ns}); }

class Import : public Verb {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view about() const override {
    return "Make recordings (watches, audit logs, bind logs) or a story told in steps into one trace";
  }
  std::string_view example() const override {
    return "inquest import traces/race/race.jsonl.zst traces/race/race.binds.jsonl -o race.trace";
  }

  void declare(CLI::App& app) override {
    app.add_option("INPUT", inputs_,
                   "Recordings, in any order; each is known by what it holds. Plain, .gz or .zst; - is the standard "
                   "input")
        ->required()
        ->type_name("FILE");
    app.add_option("-o,--output", output_, "The trace to make [first input's name + .trace, here]")->type_name("FILE");
    app.add_option("--alias", aliases_, "Binds seen as OTHER's are NAME's; repeatable")
        ->allow_extra_args(false)
        ->type_name("NAME=OTHER");
    app.add_option("--redact-annotation", redact_.annotations,
                   "Take out the values of annotations of this name too, * and ? allowed; repeatable")
        ->allow_extra_args(false)
        ->type_name("GLOB");
    app.add_flag("--no-redact", no_redact_, "Keep secrets: env values, Secrets, tokens, last-applied-configuration")
        ->excludes("--redact-annotation");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    auto report = import();
    if (!report.ok()) return terminal.fail(report.error());
    tell_leftovers(report->output, terminal);
    diagnose(*report, terminal);
    auto reader = trace::TraceReader::open(report->output);
    if (!reader.ok()) return terminal.fail(reader.error());
    auto checkpoints = replayer::compare_checkpoints(*reader);
    if (!checkpoints.ok()) return terminal.fail(checkpoints.error());
    if (json_) {
      terminal.out << json(*report, reader->info(), *checkpoints);
    } else {
      for (const recorder::ClockOffset& offset : report->offsets) terminal.out << clock_line(offset);
      terminal.out << report::import_line(report->output, reader->info(), *checkpoints, terminal.style);
    }
    ExitCode code = checkpoints->differences > 0 ? ExitCode::kFindings : ExitCode::kOk;
    if (report->loss_count > 0 || !reader->info().complete()) code = first_of(code, ExitCode::kMissing);
    return code;
  }

 private:
  Result<recorder::ImportReport> import() {
    recorder::ImportOptions options;
    options.inputs = inputs_;
    options.output = output_.empty() ? recorder::stem(inputs_.front()) + ".trace" : output_;
    options.replace = force_;
    options.redact = redact_;
    if (no_redact_) options.redact.redact = recorder::Redact::kOff;
    if (output_.empty() && inputs_.front() == "-") {
      return Error{ErrorCode::kUsage, "the standard input has no name that the trace could take", "", "say -o FILE"};
    }
    for (const std::string& alias : aliases_) {
      const size_t equals = alias.find('=');
      if (equals == std::string::npos) {
        return Error{ErrorCode::kUsage, "'" + alias + "' is no NAME=OTHER", "--alias", "such as toy=toy-scheduler"};
      }
      options.aliases.emplace_back(alias.substr(0, equals), alias.substr(equals + 1));
    }
    const auto steps = [](const std::string& input) { return story_kind(input) == StoryKind::kSteps; };
    if (std::any_of(inputs_.begin(), inputs_.end(), steps)) return import_steps(options);
    return recorder::import_files(options);
  }

  static void diagnose(const recorder::ImportReport& report, Terminal& terminal) {
    for (const recorder::ImportLoss& loss : report.losses) terminal.warn(loss.place + ": " + loss.text);
    if (report.loss_count > report.losses.size()) {
      terminal.warn("and " + report::counted(report.loss_count - report.losses.size(), "more such line"));
    }
    for (const std::string& warning : report.warnings) terminal.warn("warning: " + warning);
    if (report.warning_count > report.warnings.size()) {
      terminal.warn("warning: and " + report::count(report.warning_count - report.warnings.size()) + " more");
    }
  }

  static std::string clock_line(const recorder::ClockOffset& offset) {
    return "clock  " + report::printable(offset.source) + ": " + signed_duration(offset.offset_ns) + " ± " +
           format_seconds({offset.error_ns}) + " against the recording's clock, from " +
           report::counted(offset.pairs, "bind") +
           (offset.applied ? "; corrected\n" : "; too small to be sure of, left as it is\n");
  }

  static std::string json(const recorder::ImportReport& report, const trace::TraceInfo& info,
                          const replayer::CheckpointReport& checkpoints) {
    report::JsonWriter json("import");
    report::add_trace(json, report.output, info);
    report::add_checkpoints(json, checkpoints);
    json.field("file_bytes", info.file_bytes).field("loss_count", report.loss_count);
    json.key("losses").begin_array();
    for (const recorder::ImportLoss& loss : report.losses) {
      json.begin_object().field("place", loss.place).field("text", loss.text).end_object();
    }
    json.end_array().field("warning_count", report.warning_count).key("warnings").begin_array();
    for (const std::string& warning : report.warnings) json.value(warning);
    json.end_array().key("clocks").begin_array();
    for (const recorder::ClockOffset& offset : report.offsets) {
      json.begin_object().field("source", offset.source).field("offset_ns", offset.offset_ns);
      json.field("error_ns", offset.error_ns).field("pairs", offset.pairs).field("applied", offset.applied);
      json.end_object();
    }
    json.end_array();
    return json.finish();
  }

  std::vector<std::string> inputs_, aliases_;
  std::string output_;
  recorder::RedactRules redact_;
  bool no_redact_ = false, force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> import_verb() { return std::make_unique<Import>(); }

}  // namespace inquest::cli
