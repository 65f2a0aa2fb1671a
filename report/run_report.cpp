#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/duration.h"
#include "base/hash.h"
#include "report/policy_report.h"
#include "report/text.h"
#include "report/trace_report.h"

namespace inquest::report {

using replayer::Cure;
using replayer::Ending;
using replayer::Finding;
using replayer::Verdict;
using scheduler::Misfit;

namespace {

std::string binds_of(const replayer::Recording& recording) {
  uint64_t captured = 0, inferred = 0, schedulers = 0;
  for (const replayer::SchedulerSeen& scheduler : recording.schedulers()) {
    (scheduler.inferred ? inferred : captured) += scheduler.won + scheduler.lost;
    schedulers += scheduler.inferred ? 0 : 1;
  }
  if (captured + inferred == 0) return "no binds";
  if (captured == 0) return "binds inferred from nodeName";
  return fmt::format("{} by {}", counted(captured, "bind"), counted(schedulers, "scheduler"));
}

// With its uid where names are used again.
std::string named(const Catalog& catalog, PodId pod, Uids uids) {
  const std::string name = pod_name(catalog, pod);
  return uids == Uids::kHide ? name : fmt::format("{} ({})", name, short_uid(catalog.uid(pod)));
}

// "4.9 ms", "1,000 ms": to a tenth, rounded down.
std::string milliseconds(Duration duration) {
  const int64_t tenths = duration.ns / 100'000;
  const std::string whole = count(static_cast<uint64_t>(tenths / 10));
  return tenths % 10 == 0 ? whole + " ms" : fmt::format("{}.{} ms", whole, tenths % 10);
}

// "8080/TCP"
std::string port_of(const Misfit& misfit) { return misfit.port != nullptr ? port(*misfit.port) : "a host port"; }

// "cpu", "example.com/gpu"
std::string resource_of(const Misfit& misfit) {
  switch (misfit.kind) {
    case Misfit::Kind::kPods:
      return "pods";
    case Misfit::Kind::kCpu:
      return "cpu";
    case Misfit::Kind::kMemory:
      return "memory";
    case Misfit::Kind::kEphemeral:
      return "ephemeral storage";
    default:
      return printable(misfit.resource);
  }
}

// The text of one run, block by block.
class RunText {
 public:
  RunText(const RunShown& run, Style style, const Limits& limits)
      : run_(run), catalog_(run.recording.catalog()), style_(style), limits_(limits) {}

  std::string text() {
    out_ = head() + verdict();
    ledger();
    notes();
    return std::move(out_);
  }

  // --- The lines on top

  std::string head() const {
    const replayer::Outcome& outcome = run_.outcome;
    std::string line = style_.strong(printable(run_.file));
    add_part(line, span(outcome.end - outcome.start));
    add_part(line, counted(run_.recording.distinct_nodes(), "node"));
    add_part(line, fmt::format("{} ({})", counted(run_.recording.distinct_pods(), "pod"),
                               counted(run_.recording.distinct_names(), "name")));
    add_part(line, binds_of(run_.recording));
    std::string out = "trace    " + line + "\nrun      " + run_line() + "\n";
    if (outcome.decided) out += decided(*outcome.decided);
    if (run_.stop) {
      out += fmt::format("at       {}{}@{}{}\n", offset(run_.stop->at), kDot, run_.stop->seq,
                         after_end(run_.stop->at > outcome.end));
    }
    return out;
  }

  std::string verdict() const { return (run_.stop ? "so far   " : "verdict  ") + verdict_line() + "\n"; }

  std::string because(const Finding& finding) const {
    const replayer::Blame& blame = finding.blame;
    if (blame.faults.size() > 1) {
      std::string out;
      for (const replayer::FaultHit& hit : blame.faults) out.append(out.empty() ? "" : "; ").append(hit_text(hit));
      return out + (blame.kind == replayer::Blame::Kind::kJointly ? "; it is gone only without all of them"
                                                                  : "; it is gone without any one of them");
    }
    if (finding.because) return hit_text(*finding.because);
    return blame.gap ? gap(run_.recording.gaps()[*blame.gap]) : race(finding);
  }

 private:
  std::string hit_text(const replayer::FaultHit& hit) const {
    if (hit.held_up()) return fmt::format("fault {} held it up: @{} behind @{}", hit.fault + 1, hit.seq, hit.behind);
    const replayer::Fault& fault = run_.config.plan.faults[hit.fault];
    if (occasion_of(fault) != replayer::Occasion::kChange) {
      return fmt::format("fault {}: {}, at {}", hit.fault + 1, fault_text(hit.fault), offset(hit.at));
    }
    return fmt::format("fault {} {} @{} {} rv {}", hit.fault + 1, did(fault.kind), hit.seq, name_of(hit.verb), hit.rv);
  }

  static std::string gap(const replayer::Gap& gap) {
    const std::string upto = gap.to == 0 ? "what followed" : fmt::format("up to rv {}", gap.to);
    return fmt::format(
        "a gap of the recording @{}: on the watch of {} nothing after rv {}, {}, was seen as it happened", gap.seq,
        gap.resource == replayer::Resource::kPods ? "pods" : "nodes", gap.from, upto);
  }

  const std::vector<Finding>& findings() const { return run_.outcome.findings; }
  std::string offset(Time time) const { return format_offset(time, run_.outcome.start); }
  std::string node(NodeId id) const { return printable(catalog_.node_name(id)); }
  std::string pod(PodId id) const { return pod_name(catalog_, id); }
  Uids uids() const {
    return run_.recording.distinct_pods() == run_.recording.distinct_names() ? Uids::kHide : Uids::kShow;
  }
  std::string one_of_its_name(PodId id) const { return named(catalog_, id, uids()); }
  std::string fault_text(size_t index) const {
    return index < run_.config.plan.faults.size() ? printable(run_.config.plan.faults[index].text) : "";
  }

  std::string run_line() const {
    const replayer::RunConfig& config = run_.config;
    const std::string who = run_.followed.name ? printable(catalog_.text(run_.followed.name)) : "nobody";
    const bool decides = config.mode == replayer::Mode::kDecide;
    std::string line = decides ? "decide as " + who : "follow " + who;
    if (!config.scheduler_names.empty()) {
      std::string names;
      for (const std::string& name : config.scheduler_names) names += (names.empty() ? "" : ", ") + printable(name);
      add_part(line, "for pods of " + names);
    }
    add_part(line, policy_name(config.policy));
    add_part(line, faults_part());
    if (config.lag != replayer::kDefaultLag) add_part(line, "lag " + span(config.lag));
    if (!run_.stop) add_part(line, "drain " + span(run_.outcome.drain));
    if (config.seed != 0) add_part(line, fmt::format("seed {}", config.seed));
    add_part(line, "chain " + hex(run_.outcome.chain).substr(0, 8));
    return line;
  }

  static std::string takes(std::string_view what, const replayer::PaceValue& value, std::optional<Duration> wanted) {
    const std::string_view from = pace_from(value, wanted);
    const std::string of = value.samples > 0 && !wanted ? fmt::format(" of {}", count(value.samples)) : "";
    return fmt::format("{} {} ({}{})", what, milliseconds(value.value), from, of);
  }

  // What mode decide took for granted, and what came of it.
  std::string decided(const replayer::Decided& came) const {
    const replayer::PaceWanted& wanted = run_.config.pace;
    std::string api = takes("bind-rtt", came.pace.bind_rtt, wanted.bind_rtt);
    add_part(api, takes("deliver", came.pace.deliver, wanted.deliver));
    std::string kubelet = takes("kubelet-start", came.pace.kubelet_start, wanted.kubelet_start);
    add_part(kubelet, takes("kubelet-stop", came.pace.kubelet_stop, wanted.kubelet_stop));
    std::string pods = count(came.pods) + " created";
    add_part(pods, fmt::format("{} bound, {} of them twice", count(came.bound), count(came.bound_twice)));
    add_part(pods, count(came.pending) + " pending");
    if (came.gone_unbound > 0) add_part(pods, count(came.gone_unbound) + " deleted before a bind");
    if (came.bound > 0) {
      add_part(pods, fmt::format("waited {} (median), {} at most", milliseconds(came.median_wait),
                                 milliseconds(came.longest_wait)));
    }
    std::string did = counted(came.decisions, "decision");
    add_part(did, fmt::format("{} found no node", count(came.unschedulable)));
    add_part(did, fmt::format("{} refused by the API", count(came.refused)));
    if (came.hanging > 0) add_part(did, count(came.hanging) + " hang on what the core does not model");
    return "pace     " + api + "\n         " + kubelet + "\npods     " + pods + "\ncore     " + did +
           "\nnote     controllers stay open-loop: what they created and deleted is so, whatever became of it\n";
  }

  std::string faults_part() const {
    const size_t planned = run_.config.plan.faults.size();
    if (planned == 0) return "no faults";
    uint64_t fired = 0;
    for (const replayer::FaultReport& fault : run_.outcome.faults) fired += fault.fired;
    return fmt::format("{}, fired {}", counted(planned, "fault"), count(fired));
  }

  std::string verdict_line() const {
    const size_t roots = run_.outcome.roots();
    if (run_.outcome.ending == Ending::kOk) {
      return style_.good("ok") + (run_.stop ? " · no finding" : " · stores and truth agree");
    }
    if (run_.outcome.ending == Ending::kUnknown) return style_.unsure("unknown") + " · no finding, but see below";
    std::string line = style_.bad("violated") + " · " + counted(roots, "finding");
    if (roots > 1) line += ": " + by_verdict();
    if (findings().size() > roots) {
      line += fmt::format(" · {}", counted(findings().size() - roots, "consequence"));
    }
    return line;
  }

  // "12 zombie-assumed, 1 missing-scheduled", in the order of Verdict.
  std::string by_verdict() const {
    std::string out;
    for (size_t v = 0; v <= static_cast<size_t>(Verdict::kTimeTravel); ++v) {
      const auto n = std::count_if(findings().begin(), findings().end(), [&](const Finding& finding) {
        return !finding.root && static_cast<size_t>(finding.verdict) == v;
      });
      if (n == 0) continue;
      const auto verdict = static_cast<Verdict>(v);
      out += (out.empty() ? "" : ", ") + count(static_cast<uint64_t>(n)) + " " + verdict_text(verdict);
    }
    return out;
  }

  // --- The findings

  // What kind of cause a finding has: as what, and of a fault which.
  enum class Cause : uint8_t { kFault, kWait, kDeletedBeforeAssumed, kDeletedBeforePurge, kNone };
  using Kin = std::tuple<Verdict, Cause, size_t>;
  struct Alike {
    size_t all = 0, shown = 0, left = 0;
    Time first, last;  // of those left out
  };

  static Kin kin_of(const Finding& finding) {
    if (finding.because) {
      return {finding.verdict, finding.because->held_up() ? Cause::kWait : Cause::kFault, finding.because->fault};
    }
    const Cause cause = finding.race == replayer::Race::kDeletedBeforeAssumed ? Cause::kDeletedBeforeAssumed
                        : finding.race == replayer::Race::kDeletedBeforePurge ? Cause::kDeletedBeforePurge
                                                                              : Cause::kNone;
    return {finding.verdict, cause, 0};
  }

  // "zombie-scheduled by fault 1"
  static std::string kin_text(const Kin& kin) {
    const auto& [verdict, cause, fault] = kin;
    std::string out = verdict_text(verdict);
    if (cause == Cause::kFault) return out + fmt::format(" by fault {}", fault + 1);
    if (cause == Cause::kWait) return out + fmt::format(" held up by fault {}", fault + 1);
    return cause == Cause::kNone ? out : out + " by the same race";
  }

  void ledger() {
    std::map<Kin, Alike> kinds;
    for (const Finding& finding : findings()) {
      if (!finding.root) ++kinds[kin_of(finding)].all;
    }
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < findings().size(); ++i) {
      if (findings()[i].root) continue;
      Alike& alike = kinds[kin_of(findings()[i])];
      if (alike.all > limits_.alike && alike.shown >= limits_.alike_shown) {
        if (alike.left++ == 0) alike.first = findings()[i].birth;
        alike.last = findings()[i].birth;
      } else if (shown == limits_.findings) {
        ++left;
      } else {
        block(i);
        ++alike.shown;
        ++shown;
      }
    }
    std::string rest;
    for (const auto& [kin, alike] : kinds) {
      if (alike.left == 0) continue;
      rest += fmt::format("and {} more {}, {} … {}\n", count(alike.left), kin_text(kin), offset(alike.first),
                          offset(alike.last));
    }
    if (left > 0) rest += fmt::format("and {} like these\n", counted(left, "more finding"));
    if (!rest.empty()) out_ += "\n" + rest + "--all shows every one, --json holds them all\n";
  }

  // --- One finding

  std::string headline(size_t index) const {
    const Finding& finding = findings()[index];
    std::string line = fmt::format("F{}  {}", index + 1, style_.bad(verdict_text(finding.verdict)));
    if (finding.pod) {
      line += fmt::format("  {} (uid {})", style_.strong(pod(finding.pod)), short_uid(catalog_.uid(finding.pod)));
      if (finding.node) line += "  on " + node(finding.node);
    } else if (finding.node) {
      line += "  " + style_.strong(node(finding.node));
    } else if (finding.lane) {
      line += fmt::format("  of the watch of {}", replayer::name_of(*finding.lane));
    }
    if (is_point(finding.verdict)) return line + "  at " + offset(finding.birth);
    const std::string end = finding.end ? offset(*finding.end) : style_.bad(run_.stop ? "open" : "never");
    return line + "  " + offset(finding.birth) + " → " + end;
  }

  void row(std::string_view label, const std::string& text) { out_ += fmt::format("  {:<12}  {}\n", label, text); }

  void block(size_t index) {
    const Finding& finding = findings()[index];
    out_ += "\n" + headline(index) + "\n";
    if (finding.holds) row("holds", shape(catalog_.shape(finding.holds)));
    if (finding.other) row("applied to", named(catalog_, finding.other, Uids::kShow));
    if (!finding.misfit.fits()) row("exceeds", exceeds(finding));
    refusals(finding);
    row("because", because(finding));
    if (!is_point(finding.verdict)) row("heals", heals(finding));
    consequences(index);
  }

  // Of an overcommit: "8080/TCP is taken twice, first by sched-lab/pod1".
  std::string exceeds(const Finding& finding) const {
    const Misfit& misfit = finding.misfit;
    if (misfit.kind != Misfit::Kind::kPort) {
      return fmt::format("more {} charged than the node has", resource_of(misfit));
    }
    return port_of(misfit) + " is taken twice, first by " + one_of_its_name(misfit.holder);
  }

  void refusals(const Finding& finding) {
    const auto& refusals = finding.would_refuse;
    for (size_t i = 0; i < refusals.size() && i < limits_.refusals; ++i) {
      const replayer::Refusal& refusal = refusals[i];
      row(i == 0 ? "would refuse" : "", fmt::format("{} at {}: {}", one_of_its_name(refusal.pod), offset(refusal.at),
                                                    misfit_text(catalog_, refusal.misfit, refusal.node, uids())));
    }
    if (refusals.size() > limits_.refusals) row("", "and " + counted(refusals.size() - limits_.refusals, "more pod"));
  }

  static std::string_view did(replayer::FaultKind kind) {
    static constexpr std::array<std::string_view, replayer::kFaultKinds> kDid = {
        "dropped",
        "delayed",
        "swapped",
        "duplicated",
        "lost",
        "lost",
        "broke the watch at",
        "disconnected at",
        "",
        "",
        "",  // those of bookmarks, lists and binds hit no change
        "restarted at",
        "set the clock at"};
    return kDid[static_cast<size_t>(kind)];
  }

  std::string race(const Finding& finding) const {
    switch (finding.race) {
      case replayer::Race::kDeletedBeforeAssumed:
        return fmt::format("a race, no fault: its bind was answered at @{}, after its DELETED, and then it was assumed",
                           finding.birth_seq);
      case replayer::Race::kDeletedBeforePurge:
        return fmt::format("a race, no fault: no decision came between its confirmation and its DELETED @{}",
                           finding.birth_seq);
      case replayer::Race::kNone:
        break;
    }
    if (finding.blame.kind == replayer::Blame::Kind::kPolicy) {
      return fmt::format("the policy, no fault: first so at @{}; under {} it does not arise", finding.birth_seq,
                         scheduler::kDefaultPolicy);
    }
    if (finding.blame.kind == replayer::Blame::Kind::kRecording) {
      return fmt::format("the recording itself, no fault: first so at @{}", finding.birth_seq);
    }
    return fmt::format("no fault touched it; first so at @{}", finding.birth_seq);
  }

  std::string after_end(bool after) const { return after ? " (after end)" : ""; }

  static std::string by(Cure cure) {
    switch (cure) {
      case Cure::kFrame:
        return "by an event";
      case Cure::kRelist:
        return "by the relist";
      case Cure::kTtl:
        return "by the TTL";
      case Cure::kDecision:
        return "by the next decision";
      case Cure::kAnswer:
        return "by a bind's answer";
      case Cure::kTruth:
        return "by the API's own change";
      case Cure::kRestart:
        return "by the restart";
      case Cure::kNever:
        break;
    }
    return "never";
  }

  std::string heals(const Finding& finding) const {
    if (finding.end) {
      return fmt::format("{} at {}{}; it lasted {}", by(finding.cure), offset(*finding.end),
                         after_end(finding.after_end), span(*finding.end - finding.birth));
    }
    if (run_.stop) return "not by " + offset(run_.stop->at);
    std::string here = "not under " + policy_name(run_.config.policy);
    if (!finding.elsewhere) return here;
    const replayer::Healing& there = *finding.elsewhere;
    if (there.at) {
      return fmt::format("{}; under {} {} at {}{}", here, there.policy, by(there.cure), offset(*there.at),
                         after_end(there.after_end));
    }
    if (there.cure == Cure::kNever) return here + ", nor under " + there.policy;
    return fmt::format("{}; under {} it does not arise", here, there.policy);
  }

  void consequences(size_t root) {
    std::vector<size_t> all;
    for (size_t i = root + 1; i < findings().size(); ++i) {
      if (findings()[i].root == root) all.push_back(i);
    }
    for (size_t i = 0; i < all.size() && i < limits_.consequences; ++i) {
      const Finding& finding = findings()[all[i]];
      row(i == 0 ? "leads to" : "", headline(all[i]));
      if (!finding.misfit.fits()) row("", "    " + exceeds(finding));
    }
    if (all.size() > limits_.consequences) row("", "and " + count(all.size() - limits_.consequences) + " more");
  }

  // --- What else must be known of the run

  void notes() {
    const replayer::Outcome& outcome = run_.outcome;
    std::string notes;
    const auto add = [&](std::string_view label, const std::string& text) {
      notes += fmt::format("{:<7}  {}\n", label, text);
    };
    for (const std::string& why : outcome.unknown_because) add("unknown", printable(why));
    if (const std::string why = incomplete_because(run_.recording.info()); !why.empty()) {
      add("missing", style_.unsure(why) + " in this trace");
    }
    if (outcome.too_many_to_blame > 0) {
      add("note", fmt::format("not proved: {} are too many to take away one by one; because names what touched last",
                              counted(outcome.too_many_to_blame, "fault")));
    }
    if (outcome.skipped > 0) {
      add("but not", fmt::format("{}: the pod never came into the view", counted(outcome.skipped, "bind")));
    }
    if (outcome.outside_coverage > 0) {
      add("but not", fmt::format("{} outside coverage: sent while nobody watched the pods",
                                 counted(outcome.outside_coverage, "bind")));
    }
    if (outcome.while_away > 0) {
      add("but not", fmt::format("{}: the scheduler was away", counted(outcome.while_away, "bind")));
    }
    if (outcome.refused_within_lag > 0) {
      add("note", fmt::format("{} the view's books would have refused, for no longer than the lag bound of {}",
                              counted(outcome.refused_within_lag, "recorded bind"), span(run_.config.lag)));
    }
    if (run_.followed.name && !run_.followed.inferred && outcome.inferred > 0) {
      add("note", fmt::format("{} inferred from nodeName", counted(outcome.inferred, "bind")));
    }
    for (size_t i = 0; i < outcome.faults.size() && outcome.faults.size() > 1; ++i) {
      std::string line = fmt::format("{}  {}, fired {}", i + 1, fault_text(i), count(outcome.faults[i].fired));
      if (outcome.faults[i].overruled > 0) line += fmt::format(", overruled {}", count(outcome.faults[i].overruled));
      add("fault", line);
    }
    if (!notes.empty()) out_ += "\n" + notes;
  }

  const RunShown& run_;
  const Catalog& catalog_;
  Style style_;
  Limits limits_;
  std::string out_;
};

}  // namespace

std::string misfit_text(const Catalog& catalog, const Misfit& misfit, NodeId node, Uids uids) {
  const std::string name = printable(catalog.node_name(node));
  switch (misfit.kind) {
    case Misfit::Kind::kFits:
      return "fits";
    case Misfit::Kind::kNoSuchNode:
      return name + " is not in the view";
    case Misfit::Kind::kUnschedulable:
      return name + " is unschedulable";
    case Misfit::Kind::kNotReady:
      return name + " is not ready";
    case Misfit::Kind::kTaint:
      return fmt::format("{} is tainted {}={}", name, printable(catalog.text(misfit.taint->key)),
                         printable(catalog.text(misfit.taint->value)));
    case Misfit::Kind::kAffinity:
      return name + " is not one that its selector or affinity asks for";
    case Misfit::Kind::kPort: {
      const std::string holder = misfit.holder ? " is held by " + named(catalog, misfit.holder, uids) : " is taken";
      return fmt::format("{} on {}{}", port_of(misfit), name, holder);
    }
    case Misfit::Kind::kPods:
      return "no room for one more pod on " + name;
    case Misfit::Kind::kCpu:
    case Misfit::Kind::kMemory:
    case Misfit::Kind::kEphemeral:
    case Misfit::Kind::kExtended:
      return fmt::format("not enough {} on {}", resource_of(misfit), name);
  }
  return "";
}

std::string run_text(const RunShown& run, Style style, const Limits& limits) {
  return RunText(run, style, limits).text();
}

std::string run_head(const RunShown& run, Style style) { return RunText(run, style, {}).head(); }

std::string run_verdict(const RunShown& run, Style style) { return RunText(run, style, {}).verdict(); }

std::string because_text(const RunShown& run, const Finding& finding) {
  return RunText(run, Style(Colour::kOff), {}).because(finding);
}

std::string verdict_text(Verdict verdict) {
  std::string out(replayer::name_of(verdict));
  if (verdict == Verdict::kOvercommitView) out += " in view";
  if (verdict == Verdict::kOvercommitTruth) out += " in truth";
  return out;
}

std::string subject_text(const Catalog& catalog, const Finding& finding) {
  if (finding.pod) return named(catalog, finding.pod, Uids::kShow);
  if (finding.lane) return fmt::format("watch of {}", name_of(*finding.lane));
  return printable(catalog.node_name(finding.node));
}

std::string_view pace_from(const replayer::PaceValue& value, const std::optional<Duration>& wanted) {
  return wanted ? "given" : value.samples > 0 ? "median" : "assumed";
}

}  // namespace inquest::report
