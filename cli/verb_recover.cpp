#include <CLI/CLI.hpp>

#include "cli/outputs.h"
#include "cli/verb.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/recover.h"

namespace inquest::cli {
namespace {

class Recover : public Verb {
 public:
  std::string_view name() const override { return "recover"; }
  std::string_view about() const override {
    return "Save what can be saved of a trace that is damaged or was never closed";
  }
  std::string_view example() const override { return "inquest recover broken.trace -o saved.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The damaged trace; it stays as it is")->required()->type_name("FILE");
    app.add_option("-o,--output", output_, "The trace to make")->required()->type_name("FILE");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    if (auto other = check_other_output({trace_}, output_); !other.ok()) return terminal.fail(other.error());
    tell_leftovers(output_, terminal);
    const auto existing = force_ ? trace::OutputFile::Existing::kReplace : trace::OutputFile::Existing::kRefuse;
    const auto done = trace::recover(trace_, output_, existing);
    if (!done.ok()) return terminal.fail(done.error());
    terminal.out << (json_ ? json(*done) : text(*done, terminal.style));
    // 0 only if nothing is missing: neither by the damage nor from before.
    const auto reader = trace::TraceReader::open(output_);
    if (!reader.ok()) return terminal.fail(reader.error());
    return reader->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  std::string text(const trace::RecoverReport& report, report::Style style) const {
    const auto line = [](std::string_view label, const std::string& what) {
      return std::string(label) + std::string(9 - label.size(), ' ') + what + "\n";
    };
    std::string lost;
    const auto add = [&](uint64_t n, std::string_view one, std::string_view many = {}) {
      if (n > 0) report::add_part(lost, report::counted(n, one, many));
    };
    add(report.records_lost, "record");
    add(report.batches_lost, "batch", "batches");
    add(report.bodies_lost, "body", "bodies");
    add(report.streams_lost, "name of a stream", "names of streams");
    if (!report.summary_was_intact) report::add_part(lost, "the summary, counted anew from the records");
    if (report.was_open) report::add_part(lost, "what followed the last batch: the trace was never closed");
    std::string out = style.strong(report::printable(output_)) + "\n";
    out += line("saved", report::counted(report.records_kept, "record") + std::string(report::kDot) +
                             report::counted(report.batches_kept, "batch", "batches"));
    out += line("lost", lost.empty() ? "nothing" : style.bad(lost));
    if (report.gaps > 0) {
      out += line("gaps", report::counted(report.gaps, "gap") + " recorded where streams go on after a hole");
    }
    for (const auto& range : report.renumbered) {
      out += line("numbers", "@" + std::to_string(range.first) + " to @" + std::to_string(range.last) + " were @" +
                                 std::to_string(range.was_first) + " and on");
    }
    if (report.batches_without_dictionary > 0) {
      out += line("damage", "of the lost batches, " + report::count(report.batches_without_dictionary) +
                                " cannot be read because their dictionary is lost");
    }
    if (report.by_pages) out += line("damage", "the rows of the trace were looked for page by page");
    for (const trace::BatchDamage& damage : report.damage) out += line("damage", where(damage));
    return out;
  }

  static std::string where(const trace::BatchDamage& damage) {
    std::string out = "batch " + report::count(damage.batch);
    if (damage.first > 0) {
      out += " (records @" + std::to_string(damage.first) +
             (damage.last > 0 ? " to @" + std::to_string(damage.last) : " and on") + ")";
    }
    return out + ": " + report::printable(damage.why);
  }

  std::string json(const trace::RecoverReport& report) const {
    report::JsonWriter json("recover");
    json.field("file", output_).field("records_kept", report.records_kept).field("batches_kept", report.batches_kept);
    json.field("records_lost", report.records_lost).field("batches_lost", report.batches_lost);
    json.field("bodies_lost", report.bodies_lost).field("gaps", report.gaps).field("was_open", report.was_open);
    json.field("summary_was_intact", report.summary_was_intact).field("by_pages", report.by_pages);
    json.field("batches_without_dictionary", report.batches_without_dictionary);
    json.field("streams_lost", report.streams_lost).key("renumbered").begin_array();
    for (const auto& range : report.renumbered) {
      json.begin_object().field("first", range.first).field("last", range.last);
      json.field("was_first", range.was_first).end_object();
    }
    json.end_array().key("damage").begin_array();
    for (const trace::BatchDamage& damage : report.damage) {
      json.begin_object().field("batch", damage.batch).field("first", damage.first).field("last", damage.last);
      json.field("why", damage.why).end_object();
    }
    return json.end_array().finish();
  }

  std::string trace_, output_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> recover_verb() { return std::make_unique<Recover>(); }

}  // namespace inquest::cli
