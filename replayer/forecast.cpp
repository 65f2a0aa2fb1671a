#include "replayer/forecast.h"

#include "base/duration.h"
#include "replayer/faults.h"
#include "replayer/plan_language.h"
#include "replayer/truth.h"

namespace inquest::replayer {
namespace {

// What the plan's triggers see of a recording.
class Walk {
 public:
  Walk(const Recording& recording, const Plan& plan, StringId followed)
      : recording_(recording),
        followed_(followed),
        truth_(recording.catalog()),
        matcher_(plan, recording.catalog(), recording.start()) {}

  std::vector<FaultReport> reports() && {
    for (const Event& event : recording_.events()) take(event);
    for (const Instant& instant : instants(matcher_.plan(), recording_.start(), recording_.events())) {
      matcher_.fired(instant, instant.seq);
    }
    return matcher_.reports();
  }

 private:
  void take(const Event& event) {
    switch (event.kind) {
      case EventKind::kPod:
        return take_pod(event, recording_.pods()[event.index]);
      case EventKind::kNode:
        return take_node(event, recording_.nodes()[event.index]);
      case EventKind::kPodsListed: {
        const ListRange range = recording_.lists()[event.index];
        truth_.replace(recording_.pods().subspan(range.first, range.count));
        return;
      }
      case EventKind::kNodesListed: {
        const ListRange range = recording_.lists()[event.index];
        truth_.replace(recording_.nodes().subspan(range.first, range.count));
        return;
      }
      case EventKind::kBindRequest: {
        const RecordedBind& bind = recording_.binds()[event.index];
        if (bind.scheduler == followed_) matcher_.hits(BindSent{event.seq, event.at, bind.pod, bind.node});
        return;
      }
      default:
        return;
    }
  }

  void take_pod(const Event& event, const PodFacts& pod) {
    const Truth::PodChange change = truth_.apply(event.verb, pod);
    if (!event.in_view) return;
    matcher_.hits(
        Change{event.seq, event.at, event.verb, &pod, change.existed ? &change.before : nullptr, nullptr, nullptr});
  }

  void take_node(const Event& event, const NodeFacts& node) {
    const bool existed = truth_.has_node(node.node);
    const NodeFacts before = truth_.books().book(node.node).facts;
    truth_.apply(event.verb, node);
    if (!event.in_view) return;
    matcher_.hits(Change{event.seq, event.at, event.verb, nullptr, nullptr, &node, existed ? &before : nullptr});
  }

  const Recording& recording_;
  StringId followed_;
  Truth truth_;
  FaultMatcher matcher_;
};

// One condition of a fault alone, and what it means if nothing ever meets it.
struct Probe {
  size_t fault = 0;
  Trigger trigger;
  std::string never;
};

std::string what_of(const Fault& fault) {
  if (fault.kind == FaultKind::kBind) return "bind";
  if (!fault.trigger.resource) return "pod or node";
  return *fault.trigger.resource == Resource::kPods ? "pod" : "node";
}

std::string beyond(const Recording& recording, trace::Seq seq, const std::string& what) {
  const trace::Seq last = recording.events().empty() ? 0 : recording.events().back().seq;
  std::string out = "@";
  out.append(std::to_string(seq));
  if (seq > last) {
    return out.append(" is beyond the end: the last record that a run makes something of is @")
        .append(std::to_string(last));
  }
  if (what == "bind") return out.append(" is no bind that the followed scheduler sent");
  return out.append(" is no change of a ").append(what).append(" on the scheduler's watch");
}

// The conditions of a fault, one by one, those first whose failing says most.
std::vector<Probe> probes_of(const Recording& recording, const Fault& fault, size_t index) {
  std::vector<Probe> out;
  const Trigger& all = fault.trigger;
  const std::string what = what_of(fault);
  const auto probe = [&](auto member, std::string never) {
    Trigger trigger;
    trigger.nth = 0;
    trigger.resource = all.resource;
    trigger.*member = all.*member;
    out.push_back({index, std::move(trigger), std::move(never)});
  };
  probe(&Trigger::resource, fault.kind == FaultKind::kBind ? "the followed scheduler sent no bind"
                                                           : "the trace holds no change of a " + what);
  if (all.seq) probe(&Trigger::seq, beyond(recording, *all.seq, what));
  if (!all.name.empty()) probe(&Trigger::name, "no " + what + " here has a name such as " + quoted(all.name));
  if (!all.ns.empty()) probe(&Trigger::ns, "no " + what + " here is in a namespace such as " + quoted(all.ns));
  if (!all.uid.empty()) probe(&Trigger::uid, "no " + what + " here has the uid " + quoted(all.uid));
  if (!all.node.empty()) probe(&Trigger::node, "no bind goes to a node such as " + quoted(all.node));
  if (all.verb) {
    probe(&Trigger::verb, "no " + what + " is ever " +
                              std::string(*all.verb == Verb::kAdded      ? "ADDED"
                                          : *all.verb == Verb::kModified ? "MODIFIED"
                                                                         : "DELETED"));
  }
  if (all.field) {
    probe(&Trigger::field, "no change makes that field " + quoted(all.becomes));
    out.back().trigger.becomes = all.becomes;
  }
  const std::string end = "nothing of the kind happens then or later: the trace ends at +" +
                          format_duration(recording.end() - recording.start());
  if (all.after) probe(&Trigger::after, end);
  if (all.time) probe(&Trigger::time, end);
  return out;
}

// Why a fault never fires: the first of its conditions that nothing meets; else they are met apart, or too seldom.
class Reasons {
 public:
  Reasons(const Recording& recording, const Plan& plan, StringId followed)
      : recording_(recording), plan_(plan), followed_(followed) {}

  void find(std::vector<Forecast>& forecasts) {
    for (size_t i = 0; i < forecasts.size(); ++i) {
      if (!forecasts[i].known || forecasts[i].count > 0) continue;
      if (probes_.size() >= kMaxProbes) {
        forecasts[i].never = "nothing meets its conditions";
        continue;
      }
      const Fault& fault = plan_.faults[i];
      if (occasion_of(fault) == Occasion::kInstant) {
        forecasts[i].never = beyond(recording_, *fault.trigger.seq, "");
        continue;
      }
      for (Probe& probe : probes_of(recording_, fault, i)) probes_.push_back(std::move(probe));
      Trigger every = fault.trigger;
      every.nth = 0;
      probes_.push_back({i, every, "each of its conditions is met, but never all at once"});
    }
    if (probes_.empty()) return;
    const std::vector<FaultReport> reports = ask();
    for (size_t i = 0; i < probes_.size(); ++i) {
      std::string& never = forecasts[probes_[i].fault].never;
      if (never.empty() && reports[i].fired == 0) never = probes_[i].never;
      const bool last = i + 1 == probes_.size() || probes_[i + 1].fault != probes_[i].fault;
      if (last && never.empty()) never = too_few(probes_[i].fault, reports[i].fired);
    }
  }

 private:
  static constexpr size_t kMaxProbes = 1000;  // each is asked of every event

  std::vector<FaultReport> ask() const {
    Plan plan;
    for (const Probe& probe : probes_) {
      Fault& fault = plan.faults.emplace_back();
      fault.kind = plan_.faults[probe.fault].kind == FaultKind::kBind ? FaultKind::kBind : FaultKind::kDrop;
      fault.trigger = probe.trigger;
    }
    return Walk(recording_, plan, followed_).reports();
  }

  std::string too_few(size_t fault, uint64_t matches) const {
    std::string out = "the rest of it is met ";
    out.append(std::to_string(matches)).append(matches == 1 ? " time" : " times");
    return out.append(", and nth asks for ").append(std::to_string(plan_.faults[fault].trigger.nth));
  }

  const Recording& recording_;
  const Plan& plan_;
  StringId followed_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Forecast> forecast(const Recording& recording, const Plan& plan, const SchedulerSeen& followed) {
  std::vector<FaultReport> reports = Walk(recording, plan, followed.name).reports();
  std::vector<Forecast> out(plan.faults.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Occasion occasion = occasion_of(plan.faults[i]);
    out[i].known = occasion != Occasion::kList && occasion != Occasion::kBookmark;
    out[i].count = reports[i].fired;
    out[i].hits = std::move(reports[i].hits);
  }
  Reasons(recording, plan, followed.name).find(out);
  return out;
}

std::string cannot_apply(const Fault& fault, const scheduler::Policy& policy) {
  if (fault.watch == OnWatch::kEvery || policy.watches == scheduler::Watches::kTwo) return "";
  std::string out = "it names the watch of ";
  out.append(fault.watch == OnWatch::kQueued ? "queued" : "scheduled");
  return out.append(" pods, and this policy has one watch for all (--watches two)");
}

}  // namespace inquest::replayer
