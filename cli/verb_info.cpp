#include <CLI/CLI.hpp>

#include "cli/pod_counts.h"
#include "cli/verb.h"
#include "report/trace_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

// What `info` reads without being asked to: a fraction of a second.
constexpr uint64_t kFewRecords = 100'000;

class Info : public Verb {
 public:
  std::string_view name() const override { return "info"; }
  std::string_view about() const override { return "What is in a trace: streams, frames, binds, span, gaps"; }
  std::string_view example() const override { return "inquest info hostport.trace"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace, made by inquest import")->required()->type_name("FILE");
    app.add_flag("--pods", pods_, "Count the pods of a long trace too: reads all of it");
    app.add_flag("--json", json_, "Print JSON");
  }

  ExitCode run(Terminal& terminal) override {
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return terminal.fail(reader.error());
    std::optional<report::PodCounts> pods;
    if (pods_ || reader->info().records <= kFewRecords) {
      auto counted = count_pods(*reader);
      if (!counted.ok()) return terminal.fail(counted.error());
      pods = *counted;
    }
    const trace::TraceInfo& info = reader->info();
    terminal.out << (json_ ? report::info_json(trace_, info, pods)
                           : report::info_text(trace_, info, pods, terminal.style));
    return info.complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  std::string trace_;
  bool pods_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> info_verb() { return std::make_unique<Info>(); }

}  // namespace inquest::cli
