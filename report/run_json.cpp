#include <array>

#include "base/duration.h"
#include "base/hash.h"
#include "report/json.h"
#include "report/policy_report.h"
#include "report/run_report.h"
#include "report/text.h"
#include "report/trace_report.h"

namespace inquest::report {

using replayer::Finding;
using scheduler::Misfit;

namespace {

constexpr std::array<std::string_view, 12> kMisfits = {"fits",  "no-such-node", "unschedulable", "not-ready",
                                                       "taint", "affinity",     "port",          "pods",
                                                       "cpu",   "memory",       "ephemeral",     "extended"};
constexpr std::array<std::string_view, 3> kEndings = {"ok", "violated", "unknown"};

// One run as a document; every member writes one part of it.
class RunJson {
 public:
  explicit RunJson(const RunShown& run)
      : run_(run), catalog_(run.recording.catalog()), origin_(run.outcome.start), json_("replay") {}

  std::string text() {
    add_trace(json_, run_.file, run_.recording.info());
    run();
    json_.field("verdict", kEndings[static_cast<size_t>(run_.outcome.ending)]);
    json_.key("unknown_because").begin_array();
    for (const std::string& why : run_.outcome.unknown_because) json_.value(why);
    json_.end_array();
    json_.field("root_findings", run_.outcome.roots());
    json_.key("findings").begin_array();
    for (size_t i = 0; i < run_.outcome.findings.size(); ++i) finding(i);
    json_.end_array();
    return json_.finish();
  }

 private:
  void run() {
    const replayer::RunConfig& config = run_.config;
    const replayer::Outcome& outcome = run_.outcome;
    json_.key("run").begin_object().field("mode", "follow");
    json_.field("scheduler", catalog_.text(run_.followed.name));
    json_.key("scheduler_names").begin_array();
    if (config.scheduler_names.empty()) {
      for (const StringId name : run_.followed.pod_schedulers) json_.value(catalog_.text(name));
    } else {
      for (const std::string& name : config.scheduler_names) json_.value(name);
    }
    json_.end_array();
    json_.key("policy").begin_object().field("name", config.policy.name);
    json_.field("text", policy_name(config.policy)).key("parameters").begin_object();
    for (const scheduler::Parameter& parameter : scheduler::parameters()) {
      json_.field(parameter.name, parameter.get(config.policy));
    }
    json_.end_object().end_object();
    faults();
    json_.field("lag_ns", config.lag.ns).field("drain_ns", outcome.drain.ns).field("seed", config.seed);
    json_.field("chain", hex(outcome.chain));
    json_.instant("start", outcome.start, origin_).instant("end", outcome.end, origin_);
    json_.field("nodes", run_.recording.distinct_nodes()).field("pods", run_.recording.distinct_pods());
    json_.field("pod_names", run_.recording.distinct_names()).field("inputs", outcome.inputs);
    json_.field("binds_followed", outcome.followed).field("binds_inferred", outcome.inferred);
    json_.field("binds_skipped", outcome.skipped).field("binds_outside_coverage", outcome.outside_coverage);
    json_.field("refused_within_lag", outcome.refused_within_lag);
    json_.end_object();
  }

  void faults() {
    json_.key("faults").begin_array();
    for (size_t i = 0; i < run_.outcome.faults.size() && i < run_.config.plan.faults.size(); ++i) {
      const replayer::FaultReport& report = run_.outcome.faults[i];
      json_.begin_object().field("text", run_.config.plan.faults[i].text).field("fired", report.fired);
      json_.field("overruled", report.overruled);
      json_.key("hits").begin_array();
      for (const replayer::FaultHit& one : report.hits) hit(one);
      json_.end_array().end_object();
    }
    json_.end_array();
  }

  void hit(const replayer::FaultHit& hit) {
    json_.begin_object().field("fault", hit.fault + 1).field("seq", hit.seq);
    if (occasion_of(run_.config.plan.faults[hit.fault]) == replayer::Occasion::kChange) {
      json_.field("verb", name_of(hit.verb)).field("rv", hit.rv);
    } else {
      json_.nothing("verb").nothing("rv");
    }
    json_.instant("at", hit.at, origin_);
    pod("pod", hit.pod);
    node("node", hit.node);
    json_.field("how", hit.held_up() ? "held-up" : "hit");
    if (hit.held_up()) {
      json_.field("behind_seq", hit.behind);
    } else {
      json_.nothing("behind_seq");
    }
    json_.end_object();
  }

  void pod(std::string_view name, PodId pod) {
    if (!pod) {
      json_.nothing(name);
      return;
    }
    const KeyId key = catalog_.key_of(pod);
    json_.key(name).begin_object().field("namespace", catalog_.ns(key)).field("name", catalog_.name(key));
    json_.field("uid", catalog_.uid(pod)).end_object();
  }

  void node(std::string_view name, NodeId node) {
    if (node) {
      json_.field(name, catalog_.node_name(node));
    } else {
      json_.nothing(name);
    }
  }

  void shape(std::string_view name, ShapeId id) {
    if (!id) {
      json_.nothing(name);
      return;
    }
    const PodShape& shape = catalog_.shape(id);
    json_.key(name).begin_object().field("cpu_milli", shape.requests.cpu_milli);
    json_.field("memory_bytes", shape.requests.memory).field("ephemeral_bytes", shape.requests.ephemeral);
    json_.key("extended").begin_object();
    for (const NamedAmount& amount : shape.requests.extended) json_.field(amount.name, amount.amount);
    json_.end_object().key("host_ports").begin_array();
    for (const HostPort& port : shape.ports) host_port(port);
    json_.end_array().end_object();
  }

  void host_port(const HostPort& port) {
    json_.begin_object().field("ip", port.ip).field("port", port.port);
    json_.field("protocol", name_of(port.protocol)).end_object();
  }

  void begin_misfit(std::string_view name, const Misfit& misfit) {
    json_.key(name).begin_object().field("kind", kMisfits[static_cast<size_t>(misfit.kind)]);
    pod("holder", misfit.holder);
    if (misfit.port != nullptr) {
      json_.key("host_port");
      host_port(*misfit.port);
    } else {
      json_.nothing("host_port");
    }
    if (misfit.resource.empty()) {
      json_.nothing("resource");
    } else {
      json_.field("resource", misfit.resource);
    }
  }

  void misfit(std::string_view name, const Misfit& misfit, NodeId where) {
    if (misfit.fits()) {
      json_.nothing(name);
      return;
    }
    begin_misfit(name, misfit);
    json_.field("text", misfit_text(catalog_, misfit, where, Uids::kHide)).end_object();
  }

  void exceeds(const Misfit& misfit) {
    if (misfit.fits()) {
      json_.nothing("exceeds");
      return;
    }
    begin_misfit("exceeds", misfit);
    json_.end_object();
  }

  void cure(const Finding& finding) {
    json_.field("cure", replayer::name_of(finding.cure)).field("after_end", finding.after_end);
    if (finding.end) {
      json_.instant("end", *finding.end, origin_).field("lasted_ns", (*finding.end - finding.birth).ns);
    } else {
      json_.nothing("end").nothing("lasted_ns");
    }
  }

  void elsewhere(const Finding& finding) {
    if (!finding.elsewhere) {
      json_.nothing("elsewhere");
      return;
    }
    const replayer::Healing& there = *finding.elsewhere;
    json_.key("elsewhere").begin_object().field("policy", there.policy);
    json_.field("arises", there.at.has_value() || there.cure == replayer::Cure::kNever);
    if (there.at) {
      json_.field("cure", replayer::name_of(there.cure)).instant("end", *there.at, origin_);
    } else {
      json_.nothing("cure").nothing("end");
    }
    json_.field("after_end", there.after_end).end_object();
  }

  void finding(size_t index) {
    const Finding& finding = run_.outcome.findings[index];
    json_.begin_object().field("id", "F" + std::to_string(index + 1));
    json_.field("verdict", replayer::name_of(finding.verdict));
    if (finding.verdict == replayer::Verdict::kOvercommitView) json_.field("in", "view");
    if (finding.verdict == replayer::Verdict::kOvercommitTruth) json_.field("in", "truth");
    pod("pod", finding.pod);
    node("node", finding.node);
    if (finding.lane) json_.field("watch", replayer::name_of(*finding.lane));
    shape("holds", finding.holds);
    json_.instant("birth", finding.birth, origin_).field("birth_seq", finding.birth_seq);
    cure(finding);
    if (finding.because) {
      json_.key("because");
      hit(*finding.because);
    } else {
      json_.nothing("because");
    }
    if (finding.race == replayer::Race::kNone) {
      json_.nothing("race");
    } else {
      const bool assumed = finding.race == replayer::Race::kDeletedBeforeAssumed;
      json_.field("race", assumed ? "deleted-before-assumed" : "deleted-before-purge");
    }
    if (finding.root) {
      json_.field("root", "F" + std::to_string(*finding.root + 1));
    } else {
      json_.nothing("root");
    }
    exceeds(finding.misfit);
    json_.key("would_refuse").begin_array();
    for (const replayer::Refusal& refusal : finding.would_refuse) {
      json_.begin_object();
      pod("pod", refusal.pod);
      node("node", refusal.node);
      json_.instant("at", refusal.at, origin_);
      misfit("why", refusal.misfit, refusal.node);
      json_.end_object();
    }
    json_.end_array();
    elsewhere(finding);
    json_.end_object();
  }

  const RunShown& run_;
  const Catalog& catalog_;
  Time origin_;
  JsonWriter json_;
};

}  // namespace

std::string run_json(const RunShown& run) { return RunJson(run).text(); }

}  // namespace inquest::report
