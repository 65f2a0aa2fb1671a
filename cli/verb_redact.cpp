#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/outputs.h"
#include "cli/verb.h"
#include "recorder/redact.h"
#include "report/json.h"
#include "report/text.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

class Redact : public Verb {
 public:
  std::string_view name() const override { return "redact"; }
  std::string_view about() const override { return "Write a trace again without secrets (import does so by itself)"; }
  std::string_view example() const override { return "inquest redact hostport.trace -o public.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_option("-o,--output", output_, "The trace to make")->required()->type_name("FILE");
    app.add_option("--annotation", rules_.annotations,
                   "Take out the values of annotations of this name too, * and ? allowed; repeatable")
        ->allow_extra_args(false)
        ->type_name("GLOB");
    app.add_flag("--force", force_, "Replace a trace that is there already");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    tell_leftovers(output_, terminal);
    const auto existing = force_ ? recorder::Existing::kReplace : recorder::Existing::kRefuse;
    const auto done = recorder::redact_trace(trace_, output_, rules_, existing);
    if (!done.ok()) return terminal.fail(done.error());
    const auto reader = trace::TraceReader::open(output_);
    if (!reader.ok()) return terminal.fail(reader.error());
    const trace::TraceInfo& info = reader->info();
    if (json_) {
      report::JsonWriter json("redact");
      json.field("file", output_).field("records", info.records).key("redacted").begin_object();
      for (size_t i = 0; i < done->counts.size(); ++i) {
        std::string key = recorder::kSecretKinds[i];
        std::replace(key.begin(), key.end(), ' ', '_');
        json.field(key, done->counts[i]);
      }
      terminal.out << json.end_object().finish();
    } else {
      std::string taken;
      for (size_t i = 0; i < done->counts.size(); ++i) {
        if (done->counts[i] > 0) {
          report::add_part(taken, report::count(done->counts[i]) + " " + recorder::kSecretKinds[i]);
        }
      }
      terminal.out << terminal.style.strong(report::printable(output_)) << "  "
                   << (taken.empty() ? "nothing to take out" : "taken out: " + taken) << report::kDot
                   << report::counted(info.records, "record") << report::kDot << report::size(info.file_bytes) << "\n";
    }
    return info.complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  std::string trace_, output_;
  recorder::RedactRules rules_;
  bool force_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> redact_verb() { return std::make_unique<Redact>(); }

}  // namespace inquest::cli
