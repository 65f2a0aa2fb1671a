#include "replayer/run.h"

#include <algorithm>
#include <map>

#include "base/duration.h"
#include "base/hash.h"
#include "replayer/forecast.h"

namespace inquest::replayer {
namespace {

constexpr int64_t kMaxRelists = 10'000'000;
constexpr Duration kLongestBackoff = Duration::seconds(60);  // of a pod that found no room
constexpr int64_t kMaxListed = 1'000'000'000;                // objects, in all re-lists of a run

// What policy and plan together may take to show a cure after the end.
Duration default_drain(const RunConfig& config) {
  Duration drain = config.lag + config.policy.heals_within();
  if (config.mode == Mode::kDecide) drain = drain + kLongestBackoff;
  Duration longest{};
  for (const Fault& fault : config.plan.faults) longest = std::max(longest, fault.by);
  return drain + longest;
}

std::vector<StringId> own_names(const Recording& recording, const SchedulerSeen& followed, const RunConfig& config) {
  if (config.scheduler_names.empty() && !followed.pod_schedulers.empty()) return followed.pod_schedulers;
  std::vector<StringId> out;
  for (const PodFacts& pod : recording.pods()) {
    const std::string_view name = recording.catalog().text(pod.scheduler);
    const auto& wanted = config.scheduler_names;
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    if (std::find(out.begin(), out.end(), pod.scheduler) == out.end()) out.push_back(pod.scheduler);
  }
  return out;
}

WorldConfig world_config(const Recording& recording, const RunConfig& config, const std::vector<StringId>& own,
                         const Pace& pace) {
  WorldConfig out;
  if (config.mode == Mode::kDecide) out.latency = pace.deliver.value;
  out.core = {config.policy, recording.start(), own, config.seed};
  out.plan = &config.plan;
  out.strikes =
      std::make_shared<const std::vector<Instant>>(instants(config.plan, recording.start(), recording.events()));
  out.lag = config.lag;
  out.end = recording.end();
  return out;
}

using Touched = std::pair<PodId, NodeId>;  // a pod, or a node; the other is none

// For each object the hits that touched it, in order of time.
std::map<Touched, std::vector<const FaultHit*>> hits_by_object(const std::vector<FaultHit>& causes) {
  std::map<Touched, std::vector<const FaultHit*>> out;
  for (const FaultHit& hit : causes) out[{hit.pod, hit.node}].push_back(&hit);
  return out;
}

// The last fault that touched the finding's object up to its birth; else one that touched no object but the scheduler
// itself (its clock, its process) before, or at that very instant a list. Of a late cure of something untouched, none.
std::optional<FaultHit> cause_of(const Finding& finding, const Plan& plan,
                                 const std::map<Touched, std::vector<const FaultHit*>>& hits) {
  const auto last = [&](const Touched& touched, const auto& counts) -> std::optional<FaultHit> {
    const auto found = hits.find(touched);
    if (found == hits.end()) return std::nullopt;
    std::optional<FaultHit> out;
    for (const FaultHit* hit : found->second) {
      if (hit->at > finding.birth) break;
      if (counts(*hit)) out = *hit;
    }
    return out;
  };
  const auto any = [](const FaultHit&) { return true; };
  if (auto hit = last({finding.pod, finding.pod ? NodeId::none() : finding.node}, any)) return hit;
  return last({}, [&](const FaultHit& hit) {
    return plan.faults[hit.fault].kind != FaultKind::kList || hit.at == finding.birth;
  });
}

// A trace of a stranger may claim to span centuries, and each re-list is work.
Result<void> check_relists(const Recording& recording, const RunConfig& config) {
  if (!config.policy.relist.period) return {};
  const Duration span = recording.end() - recording.start();
  const Duration drain = config.drain.value_or(default_drain(config));
  const int64_t lists = (span + drain).ns / config.policy.relist.period->ns;
  const int64_t objects = static_cast<int64_t>(recording.distinct_pods() + recording.distinct_nodes()) + 1;
  if (lists <= kMaxRelists && lists <= kMaxListed / objects) return {};
  const std::string too_many = ", which is too many re-lists of every " + format_duration(*config.policy.relist.period);
  if (drain <= span) {
    return Error{ErrorCode::kOutOfLimit, "the trace spans " + format_duration(span) + too_many, recording.path(),
                 "use a longer --relist, or never"};
  }
  return Error{ErrorCode::kOutOfLimit, "time runs on for " + format_duration(drain) + " after the end" + too_many,
               "--drain", "use a shorter --drain, or a longer --relist"};
}

// Why what it hit is as it would be without it.
std::string unfelt(const Fault& fault, Mode mode) {
  if (fault.kind != FaultKind::kBind) return "what it hit became no frame on the watch that it names";
  if (mode == Mode::kDecide) return "no other pod had the name when the bind arrived";
  if (fault.bind == BindFault::kOtherUid) {
    return "the recorded bind went to the pod that it names, and follow bends no truth (--mode decide does)";
  }
  return fault.applied == Applied::kYes ? "the recorded bind was not carried out, and follow bends no truth"
                                        : "the recorded bind was carried out, and follow bends no truth";
}

// Why what the trace does not exclude did not come about. A fault that a policy gives no occasion to has tried nothing,
// so that its run is unknown all the same: who compares policies reads why.
std::string not_in_the_run(const Fault& fault, const scheduler::Policy& policy) {
  switch (occasion_of(fault)) {
    case Occasion::kList:
      if (!policy.relist.period) {
        return "the scheduler asked for no such list: this policy lists at its start and after a break (--relist "
               "never)";
      }
      return "the scheduler asked for no such list";
    case Occasion::kBookmark:
      return "no such bookmark came";
    case Occasion::kInstant:
      return "the run was over before";
    case Occasion::kChange:
    case Occasion::kBind:
      break;
  }
  return "";
}

// Of each fault that did nothing, or not what it says: why.
std::vector<std::string> faults_in_vain(const Recording& recording, const RunConfig& config,
                                        const std::vector<FaultReport>& reports) {
  std::vector<std::string> out;
  std::vector<Forecast> forecasts;  // made when the first is asked for: it costs a walk over the trace
  for (size_t i = 0; i < reports.size(); ++i) {
    const Fault& fault = config.plan.faults[i];
    std::string why = cannot_apply(fault, config.policy);
    if (reports[i].fired > 0 && why.empty()) continue;
    if (why.empty() && reports[i].overruled > 0) why = "a drop overruled it";
    if (why.empty() && reports[i].unfelt > 0) why = unfelt(fault, config.mode);
    if (why.empty()) {
      if (forecasts.empty()) forecasts = forecast(recording, config.plan, **followed_scheduler(recording, config.as));
      why = forecasts[i].never.empty() ? not_in_the_run(fault, config.policy) : forecasts[i].never;
    }
    std::string line = "fault ";
    line.append(std::to_string(i + 1)).append(" (").append(fault.text);
    line.append(reports[i].fired > 0 ? ") cannot apply" : ") never fired").append(why.empty() ? "" : ": ").append(why);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace

Result<const SchedulerSeen*> followed_scheduler(const Recording& recording, const std::string& as) {
  static const SchedulerSeen kNobody;
  if (as.empty()) return recording.schedulers().empty() ? &kNobody : &recording.schedulers().front();
  if (const SchedulerSeen* found = recording.scheduler(as)) return found;
  std::string names;
  for (const SchedulerSeen& scheduler : recording.schedulers()) {
    names += (names.empty() ? "" : ", ") + std::string(recording.catalog().text(scheduler.name));
  }
  return Error{ErrorCode::kUsage, "no scheduler '" + as + "' bound anything in this trace", "--as",
               names.empty() ? "no binds were recorded or could be inferred" : "schedulers: " + names};
}

Run::Run(const Recording& recording, std::shared_ptr<const RunConfig> config, StringId followed,
         const std::vector<StringId>& own, const Pace& pace)
    : recording_(&recording),
      config_(std::move(config)),
      world_(recording.catalog(), world_config(recording, *config_, own, pace)),
      driver_(driver_of(recording, *config_, followed, own, pace)),
      drain_(config_->drain.value_or(default_drain(*config_))) {}

Run::Driver Run::driver_of(const Recording& recording, const RunConfig& config, StringId followed,
                           const std::vector<StringId>& own, const Pace& pace) {
  if (config.mode == Mode::kFollow) return Follow(recording, followed, config.lost_after);
  auto script = std::make_shared<const Script>(script_of(recording, own, followed));
  return Decide(recording, std::move(script), pace, config.lost_after);
}

Result<Run> Run::start(const Recording& recording, const RunConfig& config) {
  INQUEST_TRY(const SchedulerSeen* followed, followed_scheduler(recording, config.as));
  INQUEST_TRY_VOID(check_relists(recording, config));
  const Pace pace = config.mode == Mode::kDecide ? pace_of(recording, config.pace) : Pace{};
  return Run(recording, std::make_shared<const RunConfig>(config), followed->name,
             own_names(recording, *followed, config), pace);
}

Time Run::next() {
  const Time happens = std::visit([](const auto& driver) { return driver.next_due(); }, driver_);
  const Time next = std::min(happens, world_.next_due());
  return next > recording_->end() + drain_ ? Time::never() : next;
}

// Within an instant: expiries, answers, frames, decisions; after each step it starts over, because a step may bring
// forth what stands before it.
bool Run::advance() {
  const Time now = next();
  if (now == Time::never()) return false;
  if (now > recording_->end() && !std::exchange(over_, true)) world_.trace_over();
  world_.set_now(now, world_.seq());
  std::visit([this](auto& driver) { driver.happen(world_); }, driver_);
  world_.strike();
  while (act()) {
    std::visit([this](auto& driver) { driver.heard(world_.heard()); }, driver_);
    world_.clear_heard();
  }
  world_.settle(now > recording_->end() ? Judge::Phase::kAfterEnd : Judge::Phase::kTrace);
  return true;
}

bool Run::act() {
  return std::visit(
      [this](auto& driver) {
        return world_.act_first() || driver.answer(world_) || world_.answer_requests() || world_.hear_frame() ||
               world_.relist() || driver.decide(world_);
      },
      driver_);
}

uint64_t Run::state_hash() const {
  return combine(world_.state_hash(), std::visit([](const auto& driver) { return driver.state_hash(); }, driver_));
}

void Run::advance_to(Time time) {
  while (next() <= time && advance()) {
  }
}

void Run::explain(std::vector<Finding>& findings) const {
  const std::vector<FaultHit> causes = world_.causes();
  const auto hits = hits_by_object(causes);
  for (Finding& finding : findings) {
    finding.because = cause_of(finding, config_->plan, hits);
  }
}

std::vector<Finding> Run::open(Time now) const {
  std::vector<Finding> out = world_.judge_at(now).open(now);
  explain(out);
  return out;
}

Outcome Run::so_far(Time now) const {
  Run copy = *this;
  Outcome out = copy.outcome_at(now);
  out.ending = out.roots() > 0 ? Ending::kViolated : Ending::kOk;
  return out;
}

Outcome Run::finish() {
  Outcome outcome = outcome_at(end());
  conclude(outcome);
  return outcome;
}

std::vector<Finding> Run::close(Time end) {
  if (!over_ && next() == Time::never()) world_.trace_over();
  world_.judge() = world_.judge_at(end);
  return world_.judge().finish(end);
}

Outcome Run::outcome_at(Time end) {
  Outcome outcome;
  outcome.state = state_hash();
  outcome.drain = drain_;
  outcome.findings = close(end);
  outcome.blocked = world_.blocked(end);
  explain(outcome.findings);
  outcome.refused_within_lag = world_.judge().refused_within_lag();
  outcome.faults = world_.faults().reports();
  outcome.inputs = world_.inputs();
  outcome.chain = world_.core().chain();
  outcome.start = recording_->start();
  outcome.end = recording_->end();
  if (const Follow* follow = std::get_if<Follow>(&driver_)) {
    outcome.followed = follow->followed();
    outcome.inferred = follow->inferred();
    outcome.skipped = follow->skipped();
    outcome.while_away = follow->while_away();
  } else {
    outcome.decided = std::get<Decide>(driver_).decided(world_);
  }
  outcome.outside_coverage = recording_->outside_coverage();
  return outcome;
}

void Run::conclude(Outcome& outcome) {
  for (std::string& why : faults_in_vain(*recording_, *config_, outcome.faults)) {
    outcome.unknown_because.push_back(std::move(why));
  }
  if (recording_->distinct_nodes() == 0) {
    outcome.unknown_because.emplace_back("the trace holds no nodes: room on them cannot be judged");
  }
  if (outcome.decided && outcome.decided->hanging > 0) {
    outcome.unknown_because.push_back(std::to_string(outcome.decided->hanging) +
                                      " decisions hang on what the core does not model");
  }
  outcome.ending = outcome.roots() > 0                ? Ending::kViolated
                   : !outcome.unknown_because.empty() ? Ending::kUnknown
                                                      : Ending::kOk;
}

Result<Outcome> replay(const Recording& recording, const RunConfig& config) {
  INQUEST_TRY(Run run, Run::start(recording, config));
  while (run.advance()) {
  }
  return run.finish();
}

Result<void> look_elsewhere(const Recording& recording, const RunConfig& config, Outcome& outcome) {
  const auto unhealed = [](const Finding& finding) { return !finding.root && !finding.end; };
  if (std::none_of(outcome.findings.begin(), outcome.findings.end(), unhealed)) return {};
  RunConfig other = config;
  INQUEST_TRY(other.policy, scheduler::preset(scheduler::kDefaultPolicy));
  if (scheduler::same_parameters(config.policy, other.policy)) return {};
  other.drain.reset();
  INQUEST_TRY(const Outcome healed, replay(recording, other));
  for (Finding& finding : outcome.findings) {
    if (!unhealed(finding)) continue;
    Healing healing{other.policy.name, Cure::kTruth, std::nullopt, false};
    for (const Finding& there : healed.findings) {
      if (about_the_same(finding, there)) healing = {other.policy.name, there.cure, there.end, there.after_end};
    }
    finding.elsewhere = healing;
  }
  return {};
}

}  // namespace inquest::replayer
