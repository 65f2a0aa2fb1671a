#include "replayer/run.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/duration.h"
#include "base/grown.h"
#include "replayer/delivery.h"
#include "replayer/faults.h"
#include "replayer/session.h"

namespace inquest::replayer {

using scheduler::BindAnswered;

namespace {

constexpr int64_t kMaxRelists = 10'000'000;
constexpr int64_t kMaxListed = 1'000'000'000;  // objects, in all re-lists of a run

// What policy and plan together may take to show a cure after the end.
Duration default_drain(const RunConfig& config) {
  Duration drain = config.lag;
  if (config.policy.assume != scheduler::AssumeWhen::kNever && config.policy.ttl) drain = drain + *config.policy.ttl;
  if (config.policy.relist.period) drain = drain + *config.policy.relist.period;
  Duration longest{};
  for (const Fault& fault : config.plan.faults) longest = std::max(longest, fault.by);
  return drain + longest;
}

std::vector<StringId> own_names(const Recording& recording, const SchedulerSeen& followed, const RunConfig& config) {
  if (config.scheduler_names.empty()) return followed.pod_schedulers;
  std::vector<StringId> out;
  for (const PodFacts& pod : recording.pods()) {
    const std::string_view name = recording.catalog().text(pod.scheduler);
    const auto& wanted = config.scheduler_names;
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    if (std::find(out.begin(), out.end(), pod.scheduler) == out.end()) out.push_back(pod.scheduler);
  }
  return out;
}

// One replay. Within an instant: expiries, answers, frames, decisions; after each step it starts over, because a step
// may bring forth what stands before it.
class FollowRun {
 public:
  FollowRun(const Recording& recording, const RunConfig& config, const SchedulerSeen& followed)
      : recording_(recording),
        followed_(followed.name),
        session_(recording.catalog(),
                 {config.policy, recording.start(), own_names(recording, followed, config), config.seed}, config.lag),
        faults_(config.plan, recording.catalog(), recording.start()),
        delivery_(config.policy.watches, faults_),
        binds_(recording.binds().size()) {
    outcome_.drain = config.drain.value_or(default_drain(config));
  }

  Outcome run() {
    const std::span<const Event> events = recording_.events();
    const Time horizon = recording_.end() + outcome_.drain;
    for (size_t next = 0;;) {
      const Time recorded = next < events.size() ? events[next].at : Time::never();
      now_ = std::min({recorded, delivery_.next_due(), session_.core().next_wake()});
      if (now_ > horizon || now_ == Time::never()) break;
      session_.set_now(now_, seq_);
      for (; next < events.size() && events[next].at == now_; ++next) ingest(events[next]);
      while (act()) {
      }
      session_.settle(now_ > recording_.end() ? Judge::Phase::kAfterEnd : Judge::Phase::kTrace);
    }
    return conclude(horizon);
  }

 private:
  struct BindState {
    bool decided = false;
    bool answer_waits = false;  // it came before the pod was in the view
    bool doubled = false;       // its request was a double-bind: what its answer adds is the same finding
  };

  // --- What happened: the truth changes at once, the view when it is delivered

  void ingest(const Event& event) {
    seq_ = event.seq;
    session_.set_now(now_, seq_);
    switch (event.kind) {
      case EventKind::kPod:
        return ingest_pod(event, recording_.pods()[event.index]);
      case EventKind::kNode:
        return ingest_node(event, recording_.nodes()[event.index]);
      case EventKind::kPodsListed:
      case EventKind::kNodesListed:
        return ingest_list(event);
      case EventKind::kBindRequest:
        return ingest_request(event.index);
      case EventKind::kBindAnswer:
        return ingest_answer(event.index);
      case EventKind::kAttemptFailed:
        failures_.push_back(recording_.failed_attempts()[event.index]);
        return;
    }
  }

  void ingest_pod(const Event& event, const PodFacts& pod) {
    const Truth::PodChange change = session_.truth().apply(event.verb, pod);
    if (change.kind == Truth::PodChange::Kind::kTimeTravel) {
      session_.judge().point(Verdict::kTimeTravel, pod.pod, pod.node, now_, event.seq);
    }
    if (!event.in_view) return;
    delivery_.pod_changed(
        {event.seq, now_, event.verb, &pod, change.existed ? &change.before : nullptr, nullptr, nullptr});
  }

  void ingest_node(const Event& event, const NodeFacts& node) {
    const bool existed = session_.truth().has_node(node.node);
    const NodeFacts before = session_.truth().books().book(node.node).facts;
    session_.truth().apply(event.verb, node);
    if (!event.in_view) return;
    delivery_.node_changed({event.seq, now_, event.verb, nullptr, nullptr, &node, existed ? &before : nullptr});
  }

  void ingest_list(const Event& event) {
    const ListRange range = recording_.lists()[event.index];
    if (event.kind == EventKind::kPodsListed) {
      for (const PodFacts& pod : session_.truth().replace(recording_.pods().subspan(range.first, range.count))) {
        session_.judge().point(Verdict::kTimeTravel, pod.pod, pod.node, now_, event.seq);
      }
      if (event.in_view) pods_to_list_ = true;
    } else {
      session_.truth().replace(recording_.nodes().subspan(range.first, range.count));
      if (event.in_view) nodes_to_list_ = true;
    }
  }

  void ingest_request(uint32_t index) {
    const RecordedBind& bind = recording_.binds()[index];
    if (bind.pod.value < won_by_.size() && won_by_[bind.pod.value] == std::optional(bind.scheduler)) {
      session_.judge().point(Verdict::kDoubleBind, bind.pod, bind.node, now_, seq_);  // again after its own 201
      binds_[index].doubled = true;
    }
    if (bind.scheduler == followed_) decisions_.push_back(index);
  }

  void ingest_answer(uint32_t index) {
    const RecordedBind& bind = recording_.binds()[index];
    if (bind.won()) {
      const bool first = session_.truth().accept_bind(bind.pod, bind.node);
      if (!first && !binds_[index].doubled) {
        session_.judge().point(Verdict::kDoubleBind, bind.pod, bind.node, now_, seq_);
      }
      grown(won_by_, bind.pod.value) = bind.scheduler;
    }
    if (bind.scheduler == followed_) answers_.push_back(index);
  }

  // --- What the core is told

  // The first thing that is to be done at this instant; false if nothing is.
  bool act() {
    if (session_.act_first()) return true;
    if (!answers_.empty()) return answer();
    if (pods_to_list_ || nodes_to_list_) return list_anew();
    if (auto frame = delivery_.pop(now_)) {
      const auto* changed = std::get_if<scheduler::PodChanged>(&*frame);
      session_.step(*frame, Cure::kFrame);
      if (changed != nullptr) wake_decisions_of(changed->pod.pod);
      return true;
    }
    if (session_.take_relist()) return relist();
    if (!failures_.empty()) return fail_attempt();
    if (!decisions_.empty()) return decide();
    return false;
  }

  bool answer() {
    const uint32_t index = answers_.front();
    answers_.pop_front();
    BindState& state = binds_[index];
    if (!state.decided) {
      state.answer_waits = true;
      return true;
    }
    const RecordedBind& bind = recording_.binds()[index];
    const auto outcome = bind.won()       ? BindAnswered::Outcome::kBound
                         : bind.code == 0 ? BindAnswered::Outcome::kUnknown
                                          : BindAnswered::Outcome::kRefused;
    session_.step(BindAnswered{bind.pod, bind.node, outcome}, Cure::kAnswer);
    return true;
  }

  // The stream's own list, which opens its watch: the whole view of that resource.
  bool list_anew() {
    if (nodes_to_list_) {
      nodes_to_list_ = false;
      list_nodes();
      return true;
    }
    pods_to_list_ = false;
    for (const scheduler::Watch watch : {scheduler::Watch::kQueued, scheduler::Watch::kScheduled}) {
      delivery_.restart_pods(watch);
    }
    if (session_.core().policy().watches == scheduler::Watches::kOne) {
      list_pods(scheduler::Watch::kAll);
    } else {
      list_pods(scheduler::Watch::kQueued);
      list_pods(scheduler::Watch::kScheduled);
    }
    return true;
  }

  // The policy's periodic list: of the stores it names, as the API holds them now. It stands for the frames still under
  // way only where it corrects all that they would have changed.
  bool relist() {
    const scheduler::Relist& what = session_.core().policy().relist;
    const bool one = session_.core().policy().watches == scheduler::Watches::kOne;
    if (what.queued && (what.scheduled || !one)) delivery_.restart_pods(scheduler::Watch::kQueued);
    if (what.scheduled && (what.queued || !one)) delivery_.restart_pods(scheduler::Watch::kScheduled);
    if (what.nodes) delivery_.restart_nodes();
    for (const PodFacts& pod : session_.relist()) wake_decisions_of(pod.pod);
    return true;
  }

  void list_pods(scheduler::Watch watch) {
    for (const PodFacts& pod : session_.list_pods(watch)) wake_decisions_of(pod.pod);
  }

  void list_nodes() {
    delivery_.restart_nodes();
    session_.list_nodes();
  }

  bool fail_attempt() {
    const PodId pod = failures_.front();
    failures_.pop_front();
    const bool known = session_.core().seen(pod) && session_.truth().exists(pod);
    if (!known || !session_.core().ours(session_.truth().facts(pod))) return true;
    session_.step(scheduler::AttemptFailed{pod}, Cure::kDecision);
    return true;
  }

  // A followed request takes effect when it was sent, but not before its pod is in the view.
  bool decide() {
    const uint32_t index = decisions_.front();
    decisions_.pop_front();
    const RecordedBind& bind = recording_.binds()[index];
    if (!session_.core().seen(bind.pod)) {
      waiting_.emplace(bind.pod, index);
      return true;
    }
    ++outcome_.followed;
    if (bind.inferred) ++outcome_.inferred;
    session_.step(scheduler::DecideAs{bind.pod, bind.node}, Cure::kDecision);
    binds_[index].decided = true;
    if (binds_[index].answer_waits) answers_.push_back(index);
    return true;
  }

  void wake_decisions_of(PodId pod) {
    const auto [first, last] = waiting_.equal_range(pod);
    for (auto waiting = first; waiting != last; ++waiting) decisions_.push_back(waiting->second);
    waiting_.erase(first, last);
  }

  // --- What it came to

  Outcome conclude(Time horizon) {
    outcome_.findings = session_.judge().finish(horizon);
    const auto hits = hits_by_object();
    for (Finding& finding : outcome_.findings) {
      finding.because = cause_of(finding, hits);
      if (finding.because) finding.race = Race::kNone;
    }
    outcome_.refused_within_lag = session_.judge().refused_within_lag();
    outcome_.faults = faults_.reports();
    outcome_.inputs = session_.inputs();
    outcome_.chain = session_.core().chain();
    outcome_.start = recording_.start();
    outcome_.end = recording_.end();
    outcome_.skipped = waiting_.size();
    outcome_.outside_coverage = recording_.outside_coverage();
    for (size_t i = 0; i < outcome_.faults.size(); ++i) {
      if (outcome_.faults[i].fired > 0) continue;
      std::string why = "fault ";
      why.append(std::to_string(i + 1)).append(" (").append(faults_.plan().faults[i].text).append(") never fired");
      if (outcome_.faults[i].overruled > 0) why += ": a drop overruled it";
      outcome_.unknown_because.push_back(std::move(why));
    }
    if (recording_.distinct_nodes() == 0) {
      outcome_.unknown_because.emplace_back("the trace holds no nodes: room on them cannot be judged");
    }
    outcome_.ending = outcome_.roots() > 0                ? Ending::kViolated
                      : !outcome_.unknown_because.empty() ? Ending::kUnknown
                                                          : Ending::kOk;
    return std::move(outcome_);
  }

  using Touched = std::pair<PodId, NodeId>;  // a pod, or a node; the other is none

  // For each object the hits that touched it, in order of time.
  std::map<Touched, std::vector<const FaultHit*>> hits_by_object() const {
    std::map<Touched, std::vector<const FaultHit*>> out;
    for (const FaultHit& hit : delivery_.causes()) out[{hit.pod, hit.node}].push_back(&hit);
    return out;
  }

  // The last fault that touched the finding's object up to its birth; for a late cure of something untouched, none.
  static std::optional<FaultHit> cause_of(const Finding& finding,
                                          const std::map<Touched, std::vector<const FaultHit*>>& hits) {
    const auto touched = hits.find({finding.pod, finding.pod ? NodeId::none() : finding.node});
    if (touched == hits.end()) return std::nullopt;
    const auto after = std::upper_bound(touched->second.begin(), touched->second.end(), finding.birth,
                                        [](Time birth, const FaultHit* hit) { return birth < hit->at; });
    if (after == touched->second.begin()) return std::nullopt;
    return **std::prev(after);
  }

  const Recording& recording_;
  StringId followed_;
  Session session_;
  FaultMatcher faults_;
  Delivery delivery_;
  Time now_;
  trace::Seq seq_ = 0;
  std::vector<BindState> binds_;  // by index into the recording's binds
  std::deque<uint32_t> answers_, decisions_;
  std::deque<PodId> failures_;
  std::multimap<PodId, uint32_t> waiting_;       // followed requests whose pod is not in the view yet, by pod, as sent
  std::vector<std::optional<StringId>> won_by_;  // by pod: whose bind was accepted; nobody may know its sender's name
  bool pods_to_list_ = false, nodes_to_list_ = false;
  Outcome outcome_;
};

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

bool same_place(const Finding& a, const Finding& b) {
  return a.verdict == b.verdict && a.pod == b.pod && (a.pod || a.node == b.node);
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

Result<Outcome> follow(const Recording& recording, const RunConfig& config) {
  INQUEST_TRY(const SchedulerSeen* followed, followed_scheduler(recording, config.as));
  INQUEST_TRY_VOID(check_relists(recording, config));
  return FollowRun(recording, config, *followed).run();
}

Result<void> look_elsewhere(const Recording& recording, const RunConfig& config, Outcome& outcome) {
  const auto unhealed = [](const Finding& finding) { return !finding.root && !finding.end; };
  if (std::none_of(outcome.findings.begin(), outcome.findings.end(), unhealed)) return {};
  RunConfig other = config;
  INQUEST_TRY(other.policy, scheduler::preset(scheduler::kDefaultPolicy));
  const auto same = [&](const scheduler::Parameter& parameter) {
    return parameter.get(config.policy) == parameter.get(other.policy);
  };
  if (std::all_of(scheduler::parameters().begin(), scheduler::parameters().end(), same)) return {};
  other.drain.reset();
  INQUEST_TRY(const Outcome healed, follow(recording, other));
  for (Finding& finding : outcome.findings) {
    if (!unhealed(finding)) continue;
    Healing healing{other.policy.name, Cure::kTruth, std::nullopt, false};
    for (const Finding& there : healed.findings) {
      if (same_place(finding, there)) healing = {other.policy.name, there.cure, there.end, there.after_end};
    }
    finding.elsewhere = healing;
  }
  return {};
}

}  // namespace inquest::replayer
