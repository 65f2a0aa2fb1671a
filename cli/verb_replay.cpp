#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/duration.h"
#include "cli/verb.h"
#include "replayer/plan_language.h"
#include "replayer/run.h"
#include "report/run_report.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

using replayer::FaultKind;

constexpr std::string_view kTriggers =
    "A TRIGGER is words in any order, and what it says all must hold:\n"
    "  pods | nodes   ADDED | MODIFIED | DELETED   name=GLOB namespace=GLOB uid=UID\n"
    "  @RECORD        at=+OFFSET (or later)        nth=NUMBER | all [1]\n"
    "  spec.nodeName=GLOB (it becomes this)\n"
    "and what the kind takes besides: inquest plan kinds, docs/faults.md.\n"
    "Each may be repeated.\n";

constexpr size_t kHelpColumn = 32, kHelpWidth = 80;

// CLI11 keeps a description's line breaks and indents what follows them.
std::string wrapped(std::string_view text) {
  std::string out;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const bool breaks = column > 0 && column + 1 + (end - at) > kHelpWidth - kHelpColumn;
    if (column > 0) out += breaks ? '\n' : ' ';
    column = (breaks || column == 0 ? 0 : column + 1) + (end - at);
    out += text.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

class Replay : public Verb {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view about() const override {
    return "Replay a trace into a scheduler, with faults; show where its stores leave the truth";
  }
  std::string_view example() const override {
    return "inquest replay hostport.trace --policy delete-both --drop 'pods DELETED name=pod1'";
  }

  void declare(CLI::App& app) override {
    app.get_formatter()->column_width(kHelpColumn);
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_option("--as", as_, "Whose recorded binds are followed [whoever won most]")->type_name("NAME");
    app.add_option("--scheduler-name", scheduler_names_,
                   "Pods with this schedulerName are its own [those it sent binds for]; repeatable")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_option("--lag", lag_, "How long stores may differ from the truth [1s]")->type_name("DURATION");
    app.add_option("--drain", drain_, "How long time runs on after the end [TTL + re-list + lag]")
        ->type_name("DURATION");
    app.add_option("--seed", seed_, "Settles ties between equal choices [0]")->type_name("NUMBER");
    app.add_flag("--all", all_, "Show every finding, also of those that are alike");
    app.add_flag("--json", json_, "Print JSON");
    declare_faults(app);
    declare_policy(app);
    for (CLI::Option* option : app.get_options()) option->description(wrapped(option->get_description()));
    app.footer(std::string(kTriggers) + "\n" + app.get_footer());
  }

  ExitCode run(Terminal& terminal) override {
    auto config = configure();
    if (!config.ok()) return terminal.fail(config.error());
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return terminal.fail(reader.error());
    auto recording = replayer::Recording::load(*std::move(reader));
    if (!recording.ok()) return terminal.fail(recording.error());
    auto followed = replayer::followed_scheduler(**recording, config->as);
    if (!followed.ok()) return terminal.fail(followed.error());
    auto outcome = replayer::replay(**recording, *config);
    if (!outcome.ok()) return terminal.fail(outcome.error());
    if (auto looked = replayer::look_elsewhere(**recording, *config, *outcome); !looked.ok()) {
      return terminal.fail(looked.error());
    }
    const report::RunShown shown{trace_, **recording, *config, **followed, *outcome};
    terminal.out << (json_ ? report::run_json(shown)
                           : report::run_text(shown, terminal.style, all_ ? report::Limits::none() : report::Limits{}));
    if (outcome->ending == replayer::Ending::kViolated) return ExitCode::kFindings;
    if (outcome->ending == replayer::Ending::kUnknown) return ExitCode::kUnknown;
    return (*recording)->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  void declare_faults(CLI::App& app) {
    app.add_option("--plan", plan_, "A file of faults, see docs/faults.md; they come before those of the flags")
        ->type_name("FILE")
        ->group("Faults");
    // In the order of the command line, whichever kinds they are: that is how reports number them.
    const auto collect = [&](const std::string& option, FaultKind kind, const std::string& help) {
      app.add_option_function<std::string>(
             option, [this, kind](const std::string& text) { faults_.emplace_back(kind, text); }, help)
          ->take_last()
          ->trigger_on_parse()
          ->type_name("TRIGGER")
          ->group("Faults");
    };
    for (const replayer::KindSpec& kind : replayer::plan_kinds()) {
      collect("--" + std::string(kind.name), kind.kind,
              std::string(kind.does) + " '" + std::string(kind.example) + "'");
    }
  }

  void declare_policy(CLI::App& app) {
    app.add_option("--policy", policy_, "A preset, see inquest policies [combined]")
        ->type_name("NAME")
        ->group("Policy");
    values_.resize(scheduler::parameters().size());
    for (size_t i = 0; i < values_.size(); ++i) {
      const scheduler::Parameter& parameter = scheduler::parameters()[i];
      app.add_option("--" + std::string(parameter.name), values_[i], capitalized(parameter.about))
          ->type_name(std::string(parameter.values))
          ->group("Policy");
    }
  }

  static std::string capitalized(std::string_view text) {
    std::string out(text);
    if (!out.empty() && out.front() >= 'a' && out.front() <= 'z')
      out.front() = static_cast<char>(out.front() - 'a' + 'A');
    return out;
  }

  Result<scheduler::Policy> policy() const {
    auto policy = scheduler::preset(policy_);
    if (!policy.ok()) return at("--policy", policy.error());
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) continue;
      const scheduler::Parameter& parameter = scheduler::parameters()[i];
      auto set = parameter.set(*policy, *values_[i]);
      if (!set.ok()) return at("--" + std::string(parameter.name) + " " + *values_[i], set.error());
    }
    return policy;
  }

  Result<replayer::RunConfig> configure() const {
    replayer::RunConfig config;
    INQUEST_TRY(config.policy, policy());
    if (!plan_.empty()) {
      INQUEST_TRY(config.plan, replayer::load_plan(plan_));
    }
    for (const auto& [kind, text] : faults_) {
      INQUEST_TRY(replayer::Fault fault, replayer::parse_fault(kind, text));
      config.plan.faults.push_back(std::move(fault));
    }
    config.as = as_;
    config.scheduler_names = scheduler_names_;
    if (lag_) {
      INQUEST_TRY(config.lag, duration("--lag", *lag_));
    }
    if (drain_) {
      INQUEST_TRY(config.drain, duration("--drain", *drain_));
    }
    // CLI11 would take -1, and any number too large as the largest.
    const auto [end, failed] = std::from_chars(seed_.data(), seed_.data() + seed_.size(), config.seed);
    if (failed != std::errc{} || end != seed_.data() + seed_.size()) {
      return Error{ErrorCode::kUsage, "it takes a whole number below 2^64", "--seed " + seed_, ""};
    }
    return config;
  }

  static Result<Duration> duration(const std::string& option, const std::string& text) {
    auto parsed = parse_duration(text);
    if (!parsed.ok()) return at(option, parsed.error());
    return parsed;
  }

  // The error of a value, with the option that it was given to.
  static Error at(const std::string& option, Error error) {
    error.code = ErrorCode::kUsage;
    error.place = error.place.empty() ? option : option + ": " + error.place;
    return error;
  }

  std::string trace_, as_, plan_, policy_{scheduler::kDefaultPolicy};
  std::vector<std::string> scheduler_names_;
  std::vector<std::pair<FaultKind, std::string>> faults_;
  std::vector<std::optional<std::string>> values_;  // by index of scheduler::parameters()
  std::optional<std::string> lag_, drain_;
  std::string seed_{"0"};
  bool all_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> replay_verb() { return std::make_unique<Replay>(); }

}  // namespace inquest::cli
