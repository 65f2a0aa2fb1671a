#include "replayer/run.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "replayer/delivery.h"
#include "replayer/faults.h"
#include "replayer/judge.h"
#include "replayer/truth.h"

namespace inquest::replayer {

using scheduler::BindAnswered;
using scheduler::Core;
using scheduler::RereadAnswered;

namespace {

constexpr uint16_t kCreated = 201;

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
        core_(recording.catalog(),
              {config.policy, recording.start(), own_names(recording, followed, config), config.seed}),
        truth_(recording.catalog()),
        faults_(config.plan, recording.catalog(), recording.start()),
        delivery_(config.policy.watches, faults_),
        judge_(truth_, core_, config.lag),
        binds_(recording.binds().size()) {
    outcome_.drain = config.drain.value_or(default_drain(config));
  }

  Outcome run() {
    const std::span<const Event> events = recording_.events();
    const Time horizon = recording_.end() + outcome_.drain;
    for (size_t next = 0;;) {
      const Time recorded = next < events.size() ? events[next].at : Time::never();
      now_ = std::min({recorded, delivery_.next_due(), core_.next_wake()});
      if (now_ > horizon || now_ == Time::never()) break;
      for (; next < events.size() && events[next].at == now_; ++next) ingest(events[next]);
      while (act()) {
      }
      note_touched_truth();
      judge_.settle(now_, seq_, now_ > recording_.end() ? Judge::Phase::kAfterEnd : Judge::Phase::kTrace);
    }
    return conclude(horizon);
  }

 private:
  struct BindState {
    bool decided = false;
    bool answer_waits = false;  // it came before the pod was in the view
  };

  // --- What happened: the truth changes at once, the view when it is delivered

  void ingest(const Event& event) {
    seq_ = event.seq;
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
    const Truth::PodChange change = truth_.apply(event.verb, pod);
    if (change.kind == Truth::PodChange::Kind::kTimeTravel) {
      judge_.point(Verdict::kTimeTravel, pod.pod, pod.node, now_, event.seq);
    }
    if (!event.in_view) return;
    delivery_.pod_changed(
        {event.seq, now_, event.verb, &pod, change.existed ? &change.before : nullptr, nullptr, nullptr});
  }

  void ingest_node(const Event& event, const NodeFacts& node) {
    const bool existed = truth_.has_node(node.node);
    const NodeFacts before = truth_.books().book(node.node).facts;
    truth_.apply(event.verb, node);
    if (!event.in_view) return;
    delivery_.node_changed({event.seq, now_, event.verb, nullptr, nullptr, &node, existed ? &before : nullptr});
  }

  void ingest_list(const Event& event) {
    const ListRange range = recording_.lists()[event.index];
    if (event.kind == EventKind::kPodsListed) {
      truth_.replace(recording_.pods().subspan(range.first, range.count));
      if (event.in_view) pods_to_list_ = true;
    } else {
      truth_.replace(recording_.nodes().subspan(range.first, range.count));
      if (event.in_view) nodes_to_list_ = true;
    }
  }

  void ingest_request(uint32_t index) {
    const RecordedBind& bind = recording_.binds()[index];
    if (bind.pod.value < won_by_.size() && won_by_[bind.pod.value] == bind.scheduler) {
      judge_.point(Verdict::kDoubleBind, bind.pod, bind.node, now_, seq_);  // again after its own 201
    }
    if (bind.scheduler == followed_) decisions_.push_back(index);
  }

  void ingest_answer(uint32_t index) {
    const RecordedBind& bind = recording_.binds()[index];
    if (bind.code == kCreated) {
      if (!truth_.accept_bind(bind.pod, bind.node)) {
        judge_.point(Verdict::kDoubleBind, bind.pod, bind.node, now_, seq_);
      }
      if (bind.pod.value >= won_by_.size()) won_by_.resize(size_t{bind.pod.value} + bind.pod.value / 2 + 16);
      won_by_[bind.pod.value] = bind.scheduler;
    }
    if (bind.scheduler == followed_) answers_.push_back(index);
  }

  // --- What the core is told

  // The first thing that is to be done at this instant; false if nothing is.
  bool act() {
    if (core_.next_wake() <= now_) return step(scheduler::TimeReached{}, Cure::kTtl);
    if (!rereads_.empty()) return reread();
    if (!answers_.empty()) return answer();
    if (pods_to_list_ || nodes_to_list_) return list_anew();
    if (auto frame = delivery_.pop(now_)) {
      const auto* changed = std::get_if<scheduler::PodChanged>(&*frame);
      step(*frame, Cure::kFrame);
      if (changed != nullptr) wake_decisions_of(changed->pod.pod);
      return true;
    }
    if (relist_due_) return relist();
    if (!failures_.empty()) return fail_attempt();
    if (!decisions_.empty()) return decide();
    return false;
  }

  bool step(const scheduler::Input& input, Cure cause) {
    ++outcome_.inputs;
    const auto effects = core_.step(now_, input);
    for (const scheduler::Effect& effect : effects) carry_out(effect);
    for (const PodId pod : core_.touched_pods()) judge_.note(pod, cause);
    for (const NodeId node : core_.touched_nodes()) judge_.note(node, cause);
    core_.clear_touched();
    return true;
  }

  void carry_out(const scheduler::Effect& effect) {
    if (const auto* reread = std::get_if<scheduler::RereadPod>(&effect)) {
      rereads_.push_back(reread->pod);
    } else if (std::get_if<scheduler::RelistNow>(&effect) != nullptr) {
      relist_due_ = true;
    } else if (const auto* refusal = std::get_if<scheduler::WouldRefuse>(&effect)) {
      // Without any node in the trace nothing can be said about room.
      if (recording_.distinct_nodes() > 0) judge_.refused(*refusal, now_);
    } else if (const auto* expired = std::get_if<scheduler::AssumptionExpired>(&effect)) {
      const bool unconfirmed = truth_.node_of(expired->pod) && core_.scheduled().find(expired->pod) == nullptr;
      if (core_.in_flight(expired->pod) || unconfirmed) {
        judge_.point(Verdict::kEarlyExpire, expired->pod, expired->node, now_, seq_);
      }
    }
  }

  bool reread() {
    const PodId pod = rereads_.front();
    rereads_.pop_front();
    const auto found = !truth_.holds(pod)    ? RereadAnswered::Found::kGone
                       : truth_.node_of(pod) ? RereadAnswered::Found::kBound
                                             : RereadAnswered::Found::kPending;
    return step(RereadAnswered{pod, found}, Cure::kAnswer);
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
    const auto outcome = bind.code == kCreated ? BindAnswered::Outcome::kBound
                         : bind.code == 0      ? BindAnswered::Outcome::kUnknown
                                               : BindAnswered::Outcome::kRefused;
    return step(BindAnswered{bind.pod, bind.node, outcome}, Cure::kAnswer);
  }

  // The stream's own list, which opens its watch: the whole view of that resource.
  bool list_anew() {
    if (nodes_to_list_) {
      nodes_to_list_ = false;
      return give_nodes();
    }
    pods_to_list_ = false;
    if (core_.policy().watches == scheduler::Watches::kOne) {
      give_pods(scheduler::Watch::kAll);
    } else {
      give_pods(scheduler::Watch::kQueued);
      give_pods(scheduler::Watch::kScheduled);
    }
    return true;
  }

  // The policy's periodic list: of the stores it names, as the API holds them now.
  bool relist() {
    relist_due_ = false;
    const scheduler::Relist& what = core_.policy().relist;
    if (what.queued) give_pods(scheduler::Watch::kQueued);
    if (what.scheduled || what.assumed) give_pods(scheduler::Watch::kScheduled);
    if (what.nodes) give_nodes();
    return true;
  }

  void give_pods(scheduler::Watch watch) {
    delivery_.restart_pods(watch);
    const std::vector<PodFacts> pods = truth_.pods();
    step(scheduler::PodsListed{watch, pods}, Cure::kRelist);
    for (const PodFacts& pod : pods) wake_decisions_of(pod.pod);
  }

  bool give_nodes() {
    delivery_.restart_nodes();
    const std::vector<NodeFacts> nodes = truth_.nodes();
    return step(scheduler::NodesListed{nodes}, Cure::kRelist);
  }

  bool fail_attempt() {
    const PodId pod = failures_.front();
    failures_.pop_front();
    if (!core_.seen(pod) || !truth_.exists(pod) || !core_.ours(truth_.facts(pod))) return true;
    return step(scheduler::AttemptFailed{pod}, Cure::kDecision);
  }

  // A followed request takes effect when it was sent, but not before its pod is in the view.
  bool decide() {
    const uint32_t index = decisions_.front();
    decisions_.pop_front();
    const RecordedBind& bind = recording_.binds()[index];
    if (!core_.seen(bind.pod)) {
      waiting_.push_back(index);
      return true;
    }
    ++outcome_.followed;
    if (bind.inferred) ++outcome_.inferred;
    step(scheduler::DecideAs{bind.pod, bind.node}, Cure::kDecision);
    binds_[index].decided = true;
    if (binds_[index].answer_waits) answers_.push_back(index);
    return true;
  }

  void wake_decisions_of(PodId pod) {
    if (waiting_.empty()) return;
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
      if (recording_.binds()[*waiting].pod == pod) {
        decisions_.push_back(*waiting);
        waiting = waiting_.erase(waiting);
      } else {
        ++waiting;
      }
    }
  }

  void note_touched_truth() {
    for (const PodId pod : truth_.touched_pods()) judge_.note(pod, Cure::kTruth);
    for (const NodeId node : truth_.touched_nodes()) judge_.note(node, Cure::kTruth);
    truth_.clear_touched();
  }

  // --- What it came to

  Outcome conclude(Time horizon) {
    outcome_.findings = judge_.finish(horizon);
    for (Finding& finding : outcome_.findings) finding.because = cause_of(finding);
    outcome_.refused_within_lag = judge_.refused_within_lag();
    outcome_.faults = faults_.reports();
    outcome_.chain = core_.chain();
    outcome_.start = recording_.start();
    outcome_.end = recording_.end();
    outcome_.skipped = waiting_.size();
    outcome_.outside_coverage = recording_.outside_coverage();
    for (size_t i = 0; i < outcome_.faults.size(); ++i) {
      if (outcome_.faults[i].fired > 0) continue;
      std::string why = "fault ";
      why.append(std::to_string(i + 1)).append(" (").append(faults_.plan().faults[i].text).append(") never fired");
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

  // The last fault that touched the finding's object up to its birth; for a late cure of something untouched, none.
  std::optional<FaultHit> cause_of(const Finding& finding) const {
    std::optional<FaultHit> cause;
    for (const FaultHit& hit : delivery_.causes()) {
      const bool same = finding.pod ? hit.pod == finding.pod : hit.node == finding.node && !hit.pod;
      if (same && hit.at <= finding.birth) cause = hit;
    }
    return cause;
  }

  const Recording& recording_;
  StringId followed_;
  Core core_;
  Truth truth_;
  FaultMatcher faults_;
  Delivery delivery_;
  Judge judge_;
  Time now_;
  trace::Seq seq_ = 0;
  std::vector<BindState> binds_;  // by index into the recording's binds
  std::deque<uint32_t> answers_, decisions_;
  std::deque<PodId> rereads_, failures_;
  std::vector<uint32_t> waiting_;  // followed requests whose pod is not in the view yet
  std::vector<StringId> won_by_;   // by pod: whose bind was accepted
  bool pods_to_list_ = false, nodes_to_list_ = false, relist_due_ = false;
  Outcome outcome_;
};

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
  return FollowRun(recording, config, *followed).run();
}

Result<void> look_elsewhere(const Recording& recording, const RunConfig& config, Outcome& outcome) {
  const auto unhealed = [](const Finding& finding) { return !finding.root && !finding.end; };
  if (std::none_of(outcome.findings.begin(), outcome.findings.end(), unhealed)) return {};
  if (config.policy.name == scheduler::kDefaultPolicy) return {};
  RunConfig other = config;
  INQUEST_TRY(other.policy, scheduler::preset(scheduler::kDefaultPolicy));
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
