#include <array>

#include "base/hash.h"
#include "report/json.h"
#include "report/policy_report.h"
#include "report/run_fields.h"
#include "report/run_file.h"
#include "report/text.h"
#include "report/trace_report.h"

namespace inquest::report {
namespace {

constexpr std::array<std::string_view, 12> kMisfits = {"fits",  "no-such-node", "unschedulable", "not-ready",
                                                       "taint", "affinity",     "port",          "pods",
                                                       "cpu",   "memory",       "ephemeral",     "extended"};
constexpr std::array<std::string_view, 3> kEndings = {"ok", "violated", "unknown"};

// --- From a run to what is kept of it

class Keeper {
 public:
  explicit Keeper(const RunShown& run) : run_(run), catalog_(run.recording.catalog()) {}

  RunFile file() const {
    const trace::TraceInfo& info = run_.recording.info();
    RunFile out{{run_.file, info.uuid, info.complete()}, run(), {}, run_.outcome.unknown_because, 0, {}};
    out.verdict = kEndings[static_cast<size_t>(run_.outcome.ending)];
    out.root_findings = run_.outcome.roots();
    for (const replayer::Finding& one : run_.outcome.findings) {
      out.findings.push_back(finding(one));
      out.findings.back().id = id(out.findings.size() - 1);
    }
    return out;
  }

 private:
  static std::string id(size_t index) { return "F" + std::to_string(index + 1); }

  RunFile::Run run() const {
    const replayer::RunConfig& config = run_.config;
    const replayer::Outcome& outcome = run_.outcome;
    RunFile::Run out;
    out.mode = config.mode == replayer::Mode::kDecide ? "decide" : "follow";
    out.scheduler = catalog_.text(run_.followed.name);
    out.scheduler_names = config.scheduler_names;
    if (out.scheduler_names.empty()) {
      for (const StringId name : run_.followed.pod_schedulers) out.scheduler_names.emplace_back(catalog_.text(name));
    }
    out.policy = {config.policy.name, policy_name(config.policy), {}};
    for (const scheduler::Parameter& parameter : scheduler::parameters()) {
      out.policy.parameters.emplace_back(parameter.name, parameter.get(config.policy));
    }
    for (size_t i = 0; i < outcome.faults.size() && i < config.plan.faults.size(); ++i) {
      const replayer::FaultReport& report = outcome.faults[i];
      RunFile::Fault& fault = out.faults.emplace_back();
      fault = {config.plan.faults[i].text, report.fired, report.overruled, report.unfelt, {}};
      for (const replayer::FaultHit& one : report.hits) fault.hits.push_back(hit(one));
    }
    out.lag_ns = config.lag.ns;
    out.drain_ns = outcome.drain.ns;
    out.seed = config.seed;
    out.chain = hex(outcome.chain);
    out.state = hex(outcome.state);
    out.start = outcome.start;
    out.end = outcome.end;
    out.nodes = run_.recording.distinct_nodes();
    out.pods = run_.recording.distinct_pods();
    out.pod_names = run_.recording.distinct_names();
    out.inputs = outcome.inputs;
    out.followed = outcome.followed;
    out.inferred = outcome.inferred;
    out.skipped = outcome.skipped;
    out.outside_coverage = outcome.outside_coverage;
    out.while_away = outcome.while_away;
    out.refused_within_lag = outcome.refused_within_lag;
    out.blocked_ns = outcome.blocked.ns;
    if (outcome.too_many_to_blame > 0) out.too_many_to_blame = outcome.too_many_to_blame;
    if (outcome.decided) {
      out.pace = pace(outcome.decided->pace);
      out.decided = decided(*outcome.decided);
    }
    return out;
  }

  static RunFile::Takes takes(const replayer::PaceValue& value, const std::optional<Duration>& wanted) {
    return {value.value.ns, std::string(pace_from(value, wanted)), value.samples};
  }

  RunFile::Pace pace(const replayer::Pace& pace) const {
    const replayer::PaceWanted& wanted = run_.config.pace;
    return {takes(pace.bind_rtt, wanted.bind_rtt), takes(pace.deliver, wanted.deliver),
            takes(pace.kubelet_start, wanted.kubelet_start), takes(pace.kubelet_stop, wanted.kubelet_stop)};
  }

  static RunFile::Decided decided(const replayer::Decided& came) {
    return {came.pods,         came.bound,          came.bound_twice,    came.pending,
            came.gone_unbound, came.decisions,      came.unschedulable,  came.refused,
            came.hanging,      came.median_wait.ns, came.longest_wait.ns};
  }

  RunFile::Hit hit(const replayer::FaultHit& hit) const {
    RunFile::Hit out;
    out.fault = hit.fault + 1;
    out.seq = hit.seq;
    if (occasion_of(run_.config.plan.faults[hit.fault]) == replayer::Occasion::kChange) {
      out.verb = name_of(hit.verb);
      out.rv = hit.rv;
    }
    out.at = hit.at;
    out.pod = pod(hit.pod);
    out.node = node(hit.node);
    out.how = hit.held_up() ? "held-up" : "hit";
    if (hit.held_up()) out.behind_seq = hit.behind;
    return out;
  }

  std::optional<RunFile::Pod> pod(PodId pod) const {
    if (!pod) return std::nullopt;
    const KeyId key = catalog_.key_of(pod);
    return RunFile::Pod{std::string(catalog_.ns(key)), std::string(catalog_.name(key)), std::string(catalog_.uid(pod))};
  }

  std::optional<std::string> node(NodeId node) const {
    return node ? std::optional(std::string(catalog_.node_name(node))) : std::nullopt;
  }

  static RunFile::Port port(const HostPort& port) { return {port.ip, std::string(name_of(port.protocol)), port.port}; }

  std::optional<RunFile::Shape> shape(ShapeId id) const {
    if (!id) return std::nullopt;
    const PodShape& shape = catalog_.shape(id);
    RunFile::Shape out{shape.requests.cpu_milli, shape.requests.memory, shape.requests.ephemeral, {}, {}};
    for (const NamedAmount& amount : shape.requests.extended) out.extended.emplace_back(amount.name, amount.amount);
    for (const HostPort& one : shape.ports) out.ports.push_back(port(one));
    return out;
  }

  std::optional<RunFile::Misfit> misfit(const scheduler::Misfit& misfit) const {
    if (misfit.fits()) return std::nullopt;
    RunFile::Misfit out{std::string(kMisfits[static_cast<size_t>(misfit.kind)]), pod(misfit.holder), {}, {}, {}};
    if (misfit.port != nullptr) out.port = port(*misfit.port);
    if (!misfit.resource.empty()) out.resource = misfit.resource;
    return out;
  }

  std::optional<RunFile::Elsewhere> elsewhere(const std::optional<replayer::Healing>& there) const {
    if (!there) return std::nullopt;
    RunFile::Elsewhere out{
        there->policy, there->at || there->cure == replayer::Cure::kNever, {}, there->at, there->after_end};
    if (there->at) out.cure = replayer::name_of(there->cure);
    return out;
  }

  RunFile::Refusal refusal(const replayer::Refusal& refusal) const {
    RunFile::Refusal out{pod(refusal.pod), node(refusal.node), refusal.at, misfit(refusal.misfit)};
    if (out.why) out.why->text = misfit_text(catalog_, refusal.misfit, refusal.node, Uids::kHide);
    return out;
  }

  RunFile::Blame blame(const replayer::Blame& blame) const {
    RunFile::Blame out{std::string(name_of(blame.kind)), {}, {}};
    for (const replayer::FaultHit& one : blame.faults) out.faults.push_back(hit(one));
    if (blame.gap) out.gap_seq = run_.recording.gaps()[*blame.gap].seq;
    return out;
  }

  static std::optional<std::string> race(replayer::Race race) {
    switch (race) {
      case replayer::Race::kDeletedBeforeAssumed:
        return "deleted-before-assumed";
      case replayer::Race::kDeletedBeforePurge:
        return "deleted-before-purge";
      case replayer::Race::kNone:
        break;
    }
    return std::nullopt;
  }

  RunFile::Finding finding(const replayer::Finding& finding) const {
    using replayer::Verdict;
    RunFile::Finding out;
    out.verdict = replayer::name_of(finding.verdict);
    if (finding.verdict == Verdict::kOvercommitView) out.in = "view";
    if (finding.verdict == Verdict::kOvercommitTruth) out.in = "truth";
    out.pod = pod(finding.pod);
    out.node = node(finding.node);
    out.applied_to = pod(finding.other);
    if (finding.lane) out.watch = name_of(*finding.lane);
    out.holds = shape(finding.holds);
    out.birth = finding.birth;
    out.birth_seq = finding.birth_seq;
    out.cure = replayer::name_of(finding.cure);
    out.after_end = finding.after_end;
    out.end = finding.end;
    if (finding.end) out.lasted_ns = (*finding.end - finding.birth).ns;
    if (finding.because) out.because = hit(*finding.because);
    out.blame = blame(finding.blame);
    if (!finding.because) out.race = race(finding.race);
    if (finding.root) out.root = id(*finding.root);
    out.exceeds = misfit(finding.misfit);
    for (const replayer::Refusal& one : finding.would_refuse) out.would_refuse.push_back(refusal(one));
    out.elsewhere = elsewhere(finding.elsewhere);
    return out;
  }

  const RunShown& run_;
  const Catalog& catalog_;
};

// --- From there to JSON

class FieldsOut {
 public:
  FieldsOut(JsonWriter& json, Time origin) : json_(json), origin_(origin) {}

  template <typename T>
  void operator()(std::string_view name, T& value) {
    json_.key(name);
    put(value);
  }
  template <typename T>
  void maybe(std::string_view name, std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }

 private:
  template <typename T>
  void put(T& value) {
    if constexpr (std::integral<T> || std::same_as<T, std::string>) {
      json_.value(value);
    } else {
      json_.begin_object();
      fields(*this, value);
      json_.end_object();
    }
  }
  void put(Time& time) { json_.instant(time, origin_); }
  template <typename T>
  void put(std::optional<T>& value) {
    if (value) {
      put(*value);
    } else {
      json_.null();
    }
  }
  template <typename T>
  void put(std::vector<T>& values) {
    json_.begin_array();
    for (T& value : values) put(value);
    json_.end_array();
  }
  template <typename T>
  void put(std::vector<std::pair<std::string, T>>& values) {
    json_.begin_object();
    for (auto& [name, value] : values) (*this)(name, value);
    json_.end_object();
  }

  JsonWriter& json_;
  Time origin_;
};

}  // namespace

RunFile run_file(const RunShown& run) { return Keeper(run).file(); }

void add_run(JsonWriter& json, const RunShown& run) {
  add_trace(json, run.file, run.recording.info());
  RunFile file = run_file(run);
  FieldsOut out(json, run.outcome.start);
  fields(out, file);
}

std::string run_json(const RunShown& run) {
  JsonWriter json("replay");
  add_run(json, run);
  return json.finish();
}

}  // namespace inquest::report
