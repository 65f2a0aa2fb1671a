#include "replayer/blame.h"

#include <algorithm>
#include <map>
#include <utility>

namespace inquest::replayer {
namespace {

using Faults = std::vector<size_t>;  // indices into the plan, ascending

// One run, again and again, without some of its faults.
class Reruns {
 public:
  Reruns(const RunConfig& config, Run start, const std::vector<FaultReport>& reports, uint64_t most)
      : config_(config), start_(std::move(start)), left_(most) {
    for (size_t i = 0; i < reports.size(); ++i) {
      // What was only overruled comes into its own where the drop is taken away.
      if (reports[i].fired == 0 && reports[i].overruled == 0) continue;
      tried_.push_back(i);
      first_hit_[i] = reports[i].hits.empty() ? Time{} : reports[i].hits.front().at;
    }
  }

  const Faults& tried() const { return tried_; }
  // Whether there is time for one more.
  bool affordable() const { return left_ > 0; }

  // Takes each fault away in turn; those that hit first come first, so that the prefix is replayed once.
  void take_each_away() {
    Faults order = tried_;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::pair(first_hit_[a], a) < std::pair(first_hit_[b], b); });
    Run prefix = start_;
    for (const size_t fault : order) {
      while (prefix.next() < first_hit_[fault] && prefix.advance()) {
      }
      if (fault == order.front()) start_ = prefix;  // nothing has hit before: so can whatever else is tried
      ledgers_[{fault}] = without({fault}, prefix);
    }
  }

  // Whether the finding is there as well when these faults are taken away.
  bool has(const Finding& finding, const Faults& taken) {
    auto ledger = ledgers_.find(taken);
    if (ledger == ledgers_.end()) ledger = ledgers_.emplace(taken, without(taken, start_)).first;
    const Duration reason = within_reason(taken);
    return std::any_of(ledger->second.begin(), ledger->second.end(), [&](const Finding& there) {
      if (!about_the_same(finding, there)) return false;
      if (config_.mode == Mode::kDecide) return true;
      const Duration apart = there.birth - finding.birth;
      return std::max(apart, Duration{} - apart) <= reason;
    });
  }

  // Without any fault of the plan, also those that never came to fire.
  bool has_without_any(const Finding& finding) {
    Faults all;
    for (size_t i = 0; i < config_.plan.faults.size(); ++i) all.push_back(i);
    return has(finding, all);
  }

 private:
  std::vector<Finding> without(const Faults& taken, Run run) {
    left_ -= std::min<uint64_t>(left_, 1);
    for (const size_t fault : taken) run.world().faults().mute(fault);
    while (run.advance()) {
    }
    return run.close(run.end());
  }

  // How far the birth of one and the same finding may move: by what the faults hold up that are taken away. In decide
  // everything moves, since the core decides anew.
  Duration within_reason(const Faults& taken) const {
    Duration held{};
    for (const size_t fault : taken) held = std::max(held, config_.plan.faults[fault].by);
    return config_.lag + held;
  }

  const RunConfig& config_;
  Run start_;  // before any fault has hit
  uint64_t left_;
  Faults tried_;
  std::map<size_t, Time> first_hit_;
  std::map<Faults, std::vector<Finding>> ledgers_;  // by what was taken away
};

// The hit of a fault that a finding is about: the last that touched its object up to its birth, else the last up to its
// birth, else the first.
FaultHit hit_of(const Finding& finding, size_t fault, const FaultReport& report) {
  if (finding.because && finding.because->fault == fault) return *finding.because;
  FaultHit out;
  out.fault = fault;
  if (report.hits.empty()) return out;
  out = report.hits.front();
  bool touched = false;
  for (const FaultHit& hit : report.hits) {
    if (hit.at > finding.birth) break;
    const bool touches = finding.pod ? hit.pod == finding.pod : finding.node && hit.node == finding.node;
    if (touches || !touched) out = hit;
    touched = touched || touches;
  }
  return out;
}

class Inquiry {
 public:
  Inquiry(const Recording& recording, const RunConfig& config, Outcome& outcome)
      : recording_(recording), config_(config), outcome_(outcome) {}

  Result<void> inquire(Reruns& runs) {
    runs.take_each_away();
    for (Finding& finding : outcome_.findings) {
      Faults named;
      for (const size_t fault : runs.tried()) {
        if (!runs.has(finding, {fault})) named.push_back(fault);
      }
      if (!named.empty()) {
        name(finding, Blame::Kind::kFaults, named);
      } else if (!runs.tried().empty() && !runs.has_without_any(finding)) {
        name(finding, Blame::Kind::kJointly, fewest(runs, finding));
      } else {
        INQUEST_TRY_VOID(made_without_faults(finding));
      }
    }
    return {};
  }

 private:
  // Of faults that make it each alone, those without which it is gone, and no fewer.
  static Faults fewest(Reruns& runs, const Finding& finding) {
    Faults taken = runs.tried();
    if (runs.has(finding, taken)) return taken;  // one that did not fire here does so without the others
    for (const size_t fault : runs.tried()) {
      if (!runs.affordable()) break;
      Faults fewer = taken;
      std::erase(fewer, fault);
      if (!runs.has(finding, fewer)) taken = fewer;
    }
    return taken;
  }

  void name(Finding& finding, Blame::Kind kind, const Faults& faults) const {
    finding.blame = {kind, {}, {}};
    for (const size_t fault : faults) {
      finding.blame.faults.push_back(hit_of(finding, fault, outcome_.faults[fault]));
    }
    finding.because = finding.blame.faults.front();
    finding.race = Race::kNone;
  }

  Result<void> made_without_faults(Finding& finding) {
    finding.because.reset();
    finding.blame = {Blame::Kind::kRecording, {}, {}};
    const auto gaps = recording_.gaps();
    const Resource about = finding.lane ? resource_of(*finding.lane) : finding.pod ? Resource::kPods : Resource::kNodes;
    for (size_t i = 0; i < gaps.size(); ++i) {
      if (gaps[i].resource != about || gaps[i].ended != finding.birth) continue;
      finding.blame = {Blame::Kind::kGap, {}, i};
      return {};
    }
    INQUEST_TRY(const bool elsewhere, in_default_policy(finding));
    if (!elsewhere) finding.blame.kind = Blame::Kind::kPolicy;
    return {};
  }

  Result<bool> in_default_policy(const Finding& finding) {
    if (!by_default_) {
      RunConfig other = config_;
      INQUEST_TRY(other.policy, scheduler::preset(scheduler::kDefaultPolicy));
      if (scheduler::same_parameters(other.policy, config_.policy)) return true;
      other.plan = {};
      other.drain.reset();
      INQUEST_TRY(Outcome outcome, replay(recording_, other));
      by_default_ = std::move(outcome.findings);
    }
    return std::any_of(by_default_->begin(), by_default_->end(),
                       [&](const Finding& there) { return about_the_same(finding, there); });
  }

  const Recording& recording_;
  const RunConfig& config_;
  Outcome& outcome_;
  std::optional<std::vector<Finding>> by_default_;  // of the default policy, without faults
};

}  // namespace

Result<void> blame(const Recording& recording, const RunConfig& config, Outcome& outcome, const BlameLimits& limits) {
  if (outcome.findings.empty()) return {};
  INQUEST_TRY(Run start, Run::start(recording, config));
  const uint64_t most = limits.inputs / std::max<uint64_t>(outcome.inputs, 1);
  Reruns runs(config, std::move(start), outcome.faults, most);
  const size_t faults = runs.tried().size();
  if (faults > 0 && (faults > limits.faults || faults >= most)) {
    outcome.too_many_to_blame = faults;
    return {};
  }
  return Inquiry(recording, config, outcome).inquire(runs);
}

}  // namespace inquest::replayer
