#include <CLI/CLI.hpp>

#include "cli/outputs.h"
#include "cli/verb.h"
#include "cli/when.h"
#include "recorder/cut.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Cut : public Verb {
 public:
  std::string_view name() const override { return "cut"; }
  std::string_view about() const override {
    return "Make a trace of a span of another, or of some of its pods; nodes and offsets stay";
  }
  std::string_view example() const override { return "inquest cut hostport.trace -o slice.trace --from +5s --to +15s"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", options_.input, "The trace")->required()->type_name("FILE");
    app.add_option("-o,--output", options_.output, "The trace to make")->required()->type_name("FILE");
    app.add_option("--from", from_, "Not before: +12.5s, @43 or RFC 3339 [the start]")->type_name("WHEN");
    app.add_option("--to", to_, "Before: the same [the end]")->type_name("WHEN");
    app.add_option("--name", options_.objects.name, "Only what has this name, * and ? allowed, and events about it")
        ->type_name("GLOB");
    app.add_option("--namespace", options_.objects.ns, "Only what is in this namespace, * and ? allowed")
        ->type_name("GLOB");
    app.add_option("--uid", options_.objects.uid, "Only what has a uid that begins so")->type_name("UID");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    if (auto other = check_other_output({options_.input}, options_.output); !other.ok())
      return terminal.fail(other.error());
    tell_leftovers(options_.output, terminal);
    if (auto parsed = parse(); !parsed.ok()) return terminal.fail(parsed.error());
    const auto done = recorder::cut_trace(options_);
    if (!done.ok()) return terminal.fail(done.error());
    const auto reader = trace::TraceReader::open(options_.output);
    if (!reader.ok()) return terminal.fail(reader.error());
    const trace::TraceInfo& info = reader->info();
    terminal.out << (json_ ? json(*done, info) : text(*done, info, terminal.style));
    return info.complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  Result<void> parse() {
    options_.existing = force_ ? recorder::OutputFile::Existing::kReplace : recorder::OutputFile::Existing::kRefuse;
    INQUEST_TRY(options_.from, edge("--from", from_));
    INQUEST_TRY(options_.to, edge("--to", to_));
    const recorder::CutEdge &from = options_.from, &to = options_.to;
    if ((from.seq && to.seq && *from.seq >= *to.seq) || (from.time && to.time && *from.time >= *to.time)) {
      return Error{ErrorCode::kUsage, "the span ends before it begins", "--to " + to_, ""};
    }
    return {};
  }

  Result<recorder::CutEdge> edge(std::string_view option, const std::string& text) const {
    recorder::CutEdge out;
    if (text.empty()) return out;
    INQUEST_TRY(const When when, parse_when(option, text));
    out.seq = when.seq;
    out.time = when.time;
    if (when.offset) {
      INQUEST_TRY(const auto reader, trace::TraceReader::open(options_.input));
      out.time = reader.info().start + *when.offset;
    }
    return out;
  }

  std::string text(const recorder::CutReport& report, const trace::TraceInfo& info, report::Style style) const {
    std::string line = report::counted(report.records, "record");
    if (report.lists_made > 0) {
      report::add_part(
          line, report::counted(report.lists_made, "list") + " of " + report::counted(report.objects_listed, "object") +
                    " made for the start" +
                    (report.lists_bodiless > 0 ? ", " + report::count(report.lists_bodiless) + " without bodies" : ""));
    }
    if (report.binds_carried > 0) {
      report::add_part(line, report::counted(report.binds_carried, "bind") + " from before it");
    }
    if (report.binds_unanswered > 0) {
      report::add_part(line, report::counted(report.binds_unanswered, "bind") + " answered after the end");
    }
    report::add_part(line, report::size(info.file_bytes));
    return style.strong(report::printable(options_.output)) + "  " + line + "\n";
  }

  std::string json(const recorder::CutReport& report, const trace::TraceInfo& info) const {
    report::JsonWriter json("cut");
    json.field("file", options_.output).field("scope", info.scope).field("records", report.records);
    json.field("lists_made", report.lists_made).field("objects_listed", report.objects_listed);
    json.field("lists_bodiless", report.lists_bodiless).field("binds_carried", report.binds_carried);
    json.field("binds_unanswered", report.binds_unanswered).field("lines_left_out", report.lines_left_out);
    json.field("file_bytes", info.file_bytes);
    return json.finish();
  }

  recorder::CutOptions options_;
  std::string from_, to_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> cut_verb() { return std::make_unique<Cut>(); }

}  // namespace inquest::cli
