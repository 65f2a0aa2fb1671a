#include "report/step_report.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "base/hash.h"
#include "replayer/world.h"
#include "report/facts_json.h"
#include "report/run_file.h"
#include "report/text.h"

namespace inquest::report {

using scheduler::BindAnswered;
using scheduler::ReportEvent;
using scheduler::RereadAnswered;
using scheduler::Watch;

namespace {

// One input or effect: what it is, on which stream it came, whom it is about, and the rest.
struct Said {
  std::string_view kind;
  std::string_view stream = {};
  PodId pod = {};
  NodeId node = {};
  std::string rest = {};
};

std::string_view name_of(Watch watch) {
  return watch == Watch::kAll ? "pods" : watch == Watch::kQueued ? "queued" : "scheduled";
}

std::string listed(size_t count, scheduler::ListKind kind) {
  return counted(count, "object") + (kind == scheduler::ListKind::kPeriodic ? ", the policy's re-list" : "");
}

std::string_view name_of(BindAnswered::Outcome outcome) {
  return outcome == BindAnswered::Outcome::kBound     ? "bound"
         : outcome == BindAnswered::Outcome::kRefused ? "refused"
                                                      : "unknown";
}

std::string_view name_of(RereadAnswered::Found found) {
  return found == RereadAnswered::Found::kGone      ? "gone"
         : found == RereadAnswered::Found::kPending ? "pending"
                                                    : "bound";
}

struct SayInput {
  Said operator()(const scheduler::PodChanged& input) const {
    const bool tombstone = input.known_from == scheduler::KnownFrom::kList;
    return {report::name_of(input.verb), name_of(input.watch), input.pod.pod, input.pod.node,
            fmt::format("rv {}{}", input.pod.rv, tombstone ? ", a tombstone" : "")};
  }
  Said operator()(const scheduler::NodeChanged& input) const {
    return {report::name_of(input.verb), "nodes", {}, input.node.node, fmt::format("rv {}", input.node.rv)};
  }
  Said operator()(const scheduler::PodsListed& input) const {
    return {"list", name_of(input.watch), {}, {}, listed(input.pods.size(), input.kind)};
  }
  Said operator()(const scheduler::NodesListed& input) const {
    return {"list", "nodes", {}, {}, listed(input.nodes.size(), input.kind)};
  }
  Said operator()(const scheduler::Decide&) const { return {"decide"}; }
  Said operator()(const scheduler::DecideAs& input) const {
    return {"decide", "", input.pod, input.node, "as recorded"};
  }
  Said operator()(const scheduler::AttemptFailed& input) const {
    return {"decide", "", input.pod, {}, "no node, as recorded"};
  }
  Said operator()(const BindAnswered& input) const {
    return {"answer", "", input.pod, input.node, std::string(name_of(input.outcome))};
  }
  Said operator()(const RereadAnswered& input) const {
    return {"re-read", "", input.pod, {}, std::string(name_of(input.found))};
  }
  Said operator()(const scheduler::Restarted& input) const {
    return {"restart", "", {}, {}, counted(input.survived.size(), "decision") + " survived"};
  }
  Said operator()(const scheduler::TimeReached&) const { return {"time"}; }
};

struct SayEffect {
  const Catalog& catalog;

  Said operator()(const scheduler::PersistDecision& effect) const {
    return {"persist", "", effect.decision.pod, effect.decision.node, ""};
  }
  Said operator()(const scheduler::ForgetDecision& effect) const { return {"forget", "", effect.pod, {}, ""}; }
  Said operator()(const scheduler::BindPod& effect) const { return {"bind", "", effect.pod, effect.node, ""}; }
  Said operator()(const scheduler::RereadPod& effect) const { return {"re-read", "", effect.pod, {}, ""}; }
  Said operator()(const scheduler::RelistNow&) const { return {"re-list"}; }
  Said operator()(const scheduler::Unschedulable& effect) const { return {"no node", "", effect.pod, {}, ""}; }
  Said operator()(const ReportEvent& effect) const {
    return {"event", "", effect.pod, effect.node, effect.scheduled() ? "Scheduled" : "FailedScheduling"};
  }
  Said operator()(const scheduler::PatchStatus& effect) const {
    const bool no_fit = effect.text == ReportEvent::Text::kNoFit;
    return {"patch",
            "",
            effect.pod,
            {},
            no_fit ? "PodScheduled=False, Unschedulable" : "PodScheduled=False, SchedulerError"};
  }
  Said operator()(const scheduler::NodeNameChanged& effect) const {
    return {"moved", "", effect.pod, effect.is, "was on " + printable(catalog.node_name(effect.was))};
  }
  Said operator()(const scheduler::WouldRefuse& effect) const {
    return {"refuse", "", effect.pod, effect.node, misfit_text(catalog, effect.misfit, effect.node, Uids::kShow)};
  }
  Said operator()(const scheduler::AssumptionExpired& effect) const {
    return {"expired", "", effect.pod, effect.node, ""};
  }
};

// "scheduled  sched-lab/pod1 (6744…) on pair-1, rv 650"
std::string text_of(const Catalog& catalog, const Said& said) {
  std::string out = said.stream.empty() ? "" : fmt::format("{:<9}  ", said.stream);
  std::string about;
  if (said.pod) about = fmt::format("{} ({})", pod_name(catalog, said.pod), short_uid(catalog.uid(said.pod)));
  if (said.node) about += (about.empty() ? "" : " on ") + printable(catalog.node_name(said.node));
  return out + about + (about.empty() || said.rest.empty() ? "" : ", ") + said.rest;
}

std::string line(std::string_view before, std::string_view kind, const std::string& text) {
  std::string out = fmt::format("{}  {:<10}  {}", before, kind, text);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

void add_said(JsonWriter& json, const Catalog& catalog, const Said& said) {
  json.field("kind", said.kind);
  if (!said.stream.empty()) json.field("stream", said.stream);
  add_pod(json, catalog, "pod", said.pod);
  add_node(json, catalog, "node", said.node);
  if (!said.rest.empty()) json.field("text", said.rest);
}

}  // namespace

StepReport::StepReport(const replayer::Recording& recording, Form form)
    : origin_(recording.start()), catalog_(&recording.catalog()), form_(form), json_("replay step") {
  json_.key("steps").begin_array();
}

void StepReport::stepped(const replayer::World& world, const scheduler::Input& input,
                         std::span<const scheduler::Effect> effects) {
  const Said said = std::visit(SayInput{}, input);
  const std::string state = hex(world.core().state_hash());
  if (form_ == Form::kText) {
    const std::string before = fmt::format("{:>11}  {:>7}  {}", format_offset(world.now(), origin_),
                                           fmt::format("@{}", world.seq()), state.substr(0, 8));
    text_ += line(before, said.kind, text_of(*catalog_, said));
    for (const scheduler::Effect& effect : effects) {
      const Said does = std::visit(SayEffect{*catalog_}, effect);
      text_ += line(std::string(before.size() - 2, ' ') + "→ ", does.kind, text_of(*catalog_, does));
    }
    return;
  }
  json_.begin_object().instant("at", world.now(), origin_).field("seq", world.seq());
  add_said(json_, *catalog_, said);
  json_.key("effects").begin_array();
  for (const scheduler::Effect& effect : effects) {
    json_.begin_object();
    add_said(json_, *catalog_, std::visit(SayEffect{*catalog_}, effect));
    json_.end_object();
  }
  json_.end_array().field("core_state", state).end_object();
}

std::string StepReport::finish(const RunShown& run, Style style) {
  if (form_ == Form::kText) return take() + "\n" + run_head(run, style) + run_verdict(run, style);
  json_.end_array();
  add_run(json_, run);
  return json_.finish();
}

}  // namespace inquest::report
