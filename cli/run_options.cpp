#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/duration.h"
#include "cli/import_steps.h"
#include "replayer/plan_language.h"
#include "replayer/scenario.h"
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

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z')
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  return out;
}

// The error of a value, with the option that it was given to.
Error at(const std::string& option, Error error) {
  error.code = ErrorCode::kUsage;
  error.place = error.place.empty() ? option : option + ": " + error.place;
  return error;
}

Result<Duration> duration(const std::string& option, const std::string& text) {
  auto parsed = parse_duration(text);
  if (!parsed.ok()) return at(option, parsed.error());
  return parsed;
}

}  // namespace

void RunOptions::declare(CLI::App& app) {
  app.get_formatter()->column_width(kHelpColumn);
  app.add_option("--mode", mode_, "Follow the recorded decisions, or let the core decide anew [follow]")
      ->type_name("follow | decide");
  app.add_option("--as", as_, "Whose recorded binds are followed [whoever won most]")->type_name("NAME");
  app.add_option("--scheduler-name", scheduler_names_,
                 "Pods with this schedulerName are its own [those it sent binds for]; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--lag", lag_, "How long stores may differ from the truth [1s]")->type_name("DURATION");
  app.add_option("--drain", drain_, "How long time runs on after the end [TTL + re-list + lag]")->type_name("DURATION");
  app.add_option("--seed", seed_, "Settles ties between equal choices [0]")->type_name("NUMBER");
  declare_pace(app);
  declare_faults(app);
  declare_policy(app);
  for (CLI::Option* option : app.get_options()) option->description(wrapped(option->get_description()));
  app.footer(std::string(kTriggers) + "\n" + app.get_footer());
}

void RunOptions::declare_pace(CLI::App& app) {
  const auto option = [&](const char* name, std::optional<std::string>& value, const char* what) {
    app.add_option(name, value, std::string(what) + " [the trace's median]")
        ->type_name("DURATION")
        ->group("Mode decide");
  };
  option("--bind-rtt", bind_rtt_, "From sending a bind to its answer");
  option("--deliver", deliver_, "From a change to its frame");
  option("--kubelet-start", kubelet_start_, "From a bind to Running");
  option("--kubelet-stop", kubelet_stop_, "From a deletionTimestamp to DELETED");
}

void RunOptions::declare_faults(CLI::App& app) {
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
    collect("--" + std::string(kind.name), kind.kind, std::string(kind.does) + " '" + std::string(kind.example) + "'");
  }
}

void RunOptions::declare_policy(CLI::App& app) {
  app.add_option("--policy", policy_, "A preset, see inquest policies [combined]")->type_name("NAME")->group("Policy");
  values_.resize(scheduler::parameters().size());
  for (size_t i = 0; i < values_.size(); ++i) {
    const scheduler::Parameter& parameter = scheduler::parameters()[i];
    app.add_option("--" + std::string(parameter.name), values_[i], capitalized(parameter.about))
        ->type_name(std::string(parameter.values))
        ->group("Policy");
  }
}

Result<scheduler::Policy> RunOptions::policy() const {
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

Result<void> RunOptions::set_pace(replayer::RunConfig& config) const {
  const auto take = [&](const std::string& option, const std::optional<std::string>& text,
                        std::optional<Duration>& value) -> Result<void> {
    if (!text) return {};
    if (config.mode == replayer::Mode::kFollow) {
      return Error{ErrorCode::kUsage, "in mode follow everything takes as long as it was recorded", option,
                   "say --mode decide"};
    }
    INQUEST_TRY(value, duration(option, *text));
    return {};
  };
  INQUEST_TRY_VOID(take("--bind-rtt", bind_rtt_, config.pace.bind_rtt));
  INQUEST_TRY_VOID(take("--deliver", deliver_, config.pace.deliver));
  INQUEST_TRY_VOID(take("--kubelet-start", kubelet_start_, config.pace.kubelet_start));
  return take("--kubelet-stop", kubelet_stop_, config.pace.kubelet_stop);
}

Result<void> RunOptions::set_mode(replayer::RunConfig& config) const {
  if (!mode_) return {};
  if (*mode_ != "follow" && *mode_ != "decide") {
    return Error{ErrorCode::kUsage, "'" + *mode_ + "' is none of follow, decide", "--mode " + *mode_, ""};
  }
  config.mode = *mode_ == "decide" ? replayer::Mode::kDecide : replayer::Mode::kFollow;
  if (config.mode == replayer::Mode::kFollow) config.pace = {};
  return {};
}

Result<void> RunOptions::set_plan(replayer::Plan& plan) const {
  if (!plan_.empty()) {
    INQUEST_TRY(const replayer::Plan loaded, replayer::load_plan(plan_));
    plan.faults.insert(plan.faults.end(), loaded.faults.begin(), loaded.faults.end());
  }
  for (const auto& [kind, text] : faults_) {
    INQUEST_TRY(replayer::Fault fault, replayer::parse_fault(kind, text));
    plan.faults.push_back(std::move(fault));
  }
  return {};
}

// What the options say, over what stands there.
Result<void> RunOptions::set(replayer::RunConfig& config) const {
  INQUEST_TRY_VOID(set_mode(config));
  INQUEST_TRY_VOID(set_pace(config));
  INQUEST_TRY_VOID(set_plan(config.plan));
  if (as_) config.as = *as_;
  if (!scheduler_names_.empty()) config.scheduler_names = scheduler_names_;
  if (lag_) {
    INQUEST_TRY(config.lag, duration("--lag", *lag_));
  }
  if (drain_) {
    INQUEST_TRY(config.drain, duration("--drain", *drain_));
  }
  if (!seed_) return {};
  // CLI11 would take -1, and any number too large as the largest.
  const auto [end, failed] = std::from_chars(seed_->data(), seed_->data() + seed_->size(), config.seed);
  if (failed != std::errc{} || end != seed_->data() + seed_->size()) {
    return Error{ErrorCode::kUsage, "it takes a whole number below 2^64", "--seed " + *seed_, ""};
  }
  return {};
}

Result<Prepared> RunOptions::prepare(const std::string& path) const {
  Prepared out;
  INQUEST_TRY(out.config.policy, policy());
  const StoryKind kind = story_kind(path);
  if (kind == StoryKind::kSteps) {
    INQUEST_TRY(const replayer::Scenario scenario, replayer::load_scenario(path));
    out.config = replayer::run_config(scenario, out.config.policy);
    INQUEST_TRY_VOID(set(out.config));
    INQUEST_TRY(out.recording, replayer::record(scenario));
  } else if (kind == StoryKind::kOtherYaml) {
    return Error{ErrorCode::kInput, "is YAML, but no steps file", path,
                 "a steps file begins with 'inquest: steps/1', see docs/steps.md; a plan is given with --plan"};
  } else {
    INQUEST_TRY_VOID(set(out.config));
    INQUEST_TRY(auto reader, trace::TraceReader::open(path));
    INQUEST_TRY(out.recording, replayer::Recording::load(std::move(reader)));
  }
  INQUEST_TRY(out.followed, replayer::followed_scheduler(*out.recording, out.config.as));
  return out;
}

Result<Time> instant_of(const replayer::Recording& recording, const When& when, const std::string& place, Time last) {
  const Time start = recording.start();
  Time at = when.time.value_or(start);
  if (when.offset) at = start + *when.offset;
  const uint64_t records = recording.info().records;
  const bool no_such_record = when.seq && (*when.seq == 0 || *when.seq > records);
  for (const replayer::Event& event : recording.events()) {
    if (when.seq && event.seq <= *when.seq) at = std::max(at, event.at);
  }
  if (!no_such_record && at >= start && at <= last) return at;
  std::string next = "it goes from +0s to +" + format_duration(recording.end() - start) + ", @1 to @";
  next += std::to_string(records);
  if (last > recording.end()) next += "; time runs on to +" + format_duration(last - start);
  return Error{ErrorCode::kUsage, "is outside the trace", place, std::move(next)};
}

}  // namespace inquest::cli
