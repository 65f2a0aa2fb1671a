#include "report/plan_report.h"

#include <fmt/format.h>

#include <map>

#include "base/duration.h"
#include "replayer/plan_language.h"
#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace inquest::report {
namespace {

using replayer::Fault;
using replayer::FaultHit;
using replayer::Forecast;
using replayer::Occasion;

constexpr size_t kHitsShown = 3;

std::string hit_text(const PlanShown& shown, const Fault& fault, const FaultHit& hit) {
  const Catalog& catalog = shown.recording->catalog();
  std::string out = format_offset(hit.at, shown.recording->start());
  if (hit.seq != 0) out = fmt::format("@{} {}", hit.seq, out);
  if (occasion_of(fault) == Occasion::kChange) out += fmt::format(" {}", name_of(hit.verb));
  if (hit.pod) out += " " + pod_name(catalog, hit.pod);
  if (hit.node) out += fmt::format("{} {}", hit.pod ? " to" : "", printable(catalog.node_name(hit.node)));
  if (hit.at > shown.recording->end()) out += " (after end: only if --drain reaches it)";
  return out;
}

// "2 hits: @19 +4.448 s DELETED sched-lab/pod1 · …", or why there is none.
std::string forecast_text(const PlanShown& shown, size_t index) {
  const Forecast& forecast = shown.forecasts[index];
  if (!forecast.known) return "only a run knows: it hangs on what the scheduler asks for";
  if (forecast.count == 0) return "never fires: " + printable(forecast.never);
  std::string out;
  for (size_t i = 0; i < forecast.hits.size() && i < kHitsShown; ++i) {
    add_part(out, hit_text(shown, shown.read.plan.faults[index], forecast.hits[i]));
  }
  if (forecast.count > kHitsShown) add_part(out, fmt::format("and {} more", count(forecast.count - kHitsShown)));
  return counted(forecast.count, "hit") + ": " + out;
}

std::string head(const PlanShown& shown) {
  std::string out =
      fmt::format("plan     {} · {}\n", printable(shown.path), counted(shown.read.plan.faults.size(), "fault"));
  if (shown.recording != nullptr) {
    out += fmt::format("trace    {} · {}\n", printable(shown.trace),
                       span(shown.recording->end() - shown.recording->start()));
  }
  return out;
}

std::string errors_text(const PlanShown& shown, Style style) {
  std::string out;
  for (const Error& error : shown.read.errors) {
    const Error safe{error.code, printable(error.text), printable(error.place), printable(error.next)};
    out += fmt::format("{}    {}\n", style.bad("error"), safe.message());
  }
  return out;
}

void write_head(JsonWriter& json, const PlanShown& shown) {
  json.field("plan", shown.path);
  if (shown.recording == nullptr) {
    json.nothing("trace");
  } else {
    json.field("trace", shown.trace);
  }
  json.key("errors").begin_array();
  for (const Error& error : shown.read.errors) {
    json.begin_object().field("place", error.place).field("text", error.text).field("next", error.next).end_object();
  }
  json.end_array();
}

void write_hit(JsonWriter& json, const PlanShown& shown, const Fault& fault, const FaultHit& hit) {
  const Catalog& catalog = shown.recording->catalog();
  json.begin_object().field("seq", hit.seq).instant("at", hit.at, shown.recording->start());
  if (occasion_of(fault) == Occasion::kChange) json.field("verb", name_of(hit.verb)).field("rv", hit.rv);
  if (hit.pod) {
    const KeyId key = catalog.key_of(hit.pod);
    json.key("pod").begin_object().field("namespace", catalog.ns(key)).field("name", catalog.name(key));
    json.field("uid", catalog.uid(hit.pod)).end_object();
  }
  if (hit.node) json.field("node", catalog.node_name(hit.node));
  json.end_object();
}

void write_forecast(JsonWriter& json, const PlanShown& shown, size_t index) {
  if (shown.recording == nullptr) return;
  const Forecast& forecast = shown.forecasts[index];
  if (forecast.known) {
    json.field("count", forecast.count);
  } else {
    json.nothing("count");
  }
  if (forecast.never.empty()) {
    json.nothing("never");
  } else {
    json.field("never", forecast.never);
  }
  json.key("hits").begin_array();
  for (const FaultHit& hit : forecast.hits) write_hit(json, shown, shown.read.plan.faults[index], hit);
  json.end_array();
}

// --- The language

std::string fields_of(replayer::FieldSet set, std::string_view around) {
  std::string out;
  for (const replayer::FieldSpec& field : replayer::plan_fields()) {
    if (set.holds(field.id)) out.append(out.empty() ? "" : ", ").append(around).append(field.name).append(around);
  }
  return out;
}

// What a kind takes besides what it waits for.
replayer::FieldSet own_fields(const replayer::KindSpec& kind) {
  replayer::FieldSet out;
  for (const replayer::FieldSpec& field : replayer::plan_fields()) {
    if (field.id >= replayer::FieldId::kWatch && kind.takes.holds(field.id)) out = out | replayer::FieldSet{field.id};
  }
  return out;
}

Table kinds_table(std::string_view around) {
  Table table({"fault", "what happens", "waits for", "takes besides", "for example"});
  const auto code = [&](std::string_view text) { return fmt::format("{}{}{}", around, text, around); };
  for (const replayer::KindSpec& kind : replayer::plan_kinds()) {
    table.add({code(kind.name), std::string(kind.does), std::string(kind.awaits), fields_of(own_fields(kind), around),
               code(kind.example)});
  }
  return table;
}

Table fields_table(std::string_view around) {
  Table table({"field", "takes", "says", "of"});
  for (const replayer::FieldSpec& field : replayer::plan_fields()) {
    std::string with, without;
    size_t lack = 0;
    for (const replayer::KindSpec& kind : replayer::plan_kinds()) {
      const bool takes = (kind.takes | kind.also).holds(field.id);
      if (!takes) ++lack;
      std::string& list = takes ? with : without;
      list.append(list.empty() ? "" : ", ").append(kind.name);
    }
    const std::string kinds = lack == 0 ? "all" : lack <= replayer::kFaultKinds / 2 ? "all but " + without : with;
    table.add(
        {fmt::format("{}{}{}", around, field.name, around), std::string(field.takes), std::string(field.about), kinds});
  }
  return table;
}

}  // namespace

std::vector<PlanProblem> problems_of(const PlanShown& shown) {
  std::vector<PlanProblem> out;
  std::map<std::string_view, size_t> first;
  for (size_t i = 0; i < shown.read.plan.faults.size(); ++i) {
    const auto [said, is_first] = first.emplace(shown.read.plan.faults[i].text, i);
    if (!is_first) out.push_back({i, fmt::format("says the same as fault {}", said->second + 1)});
    if (i < shown.forecasts.size() && !shown.forecasts[i].never.empty()) {
      out.push_back({i, "never fires: " + shown.forecasts[i].never});
    }
  }
  return out;
}

std::string plan_lint_text(const PlanShown& shown, Style style) {
  std::string out = head(shown) + errors_text(shown, style);
  const std::vector<PlanProblem> problems = problems_of(shown);
  for (const PlanProblem& problem : problems) {
    out += fmt::format("{}  fault {} ({}) {}\n", style.bad("problem"), problem.fault + 1,
                       printable(shown.read.plan.faults[problem.fault].text), printable(problem.text));
  }
  if (shown.recording != nullptr) {
    Table table({"", "fault", "hits"}, {Align::kRight, Align::kLeft, Align::kRight});
    for (size_t i = 0; i < shown.forecasts.size(); ++i) {
      const Forecast& forecast = shown.forecasts[i];
      table.add({std::to_string(i + 1), printable(shown.read.plan.faults[i].text),
                 forecast.known ? count(forecast.count) : "only a run knows"});
    }
    if (!shown.forecasts.empty()) out += "\n" + table.text();
  }
  if (shown.read.errors.empty() && problems.empty()) out += fmt::format("{}\n", style.good("nothing wrong"));
  return out;
}

std::string plan_lint_json(const PlanShown& shown) {
  JsonWriter json("plan lint");
  write_head(json, shown);
  json.key("problems").begin_array();
  for (const PlanProblem& problem : problems_of(shown)) {
    json.begin_object().field("fault", problem.fault + 1).field("text", problem.text).end_object();
  }
  json.end_array().key("faults").begin_array();
  for (size_t i = 0; i < shown.read.plan.faults.size(); ++i) {
    json.begin_object().field("text", shown.read.plan.faults[i].text);
    write_forecast(json, shown, i);
    json.end_object();
  }
  return json.end_array().finish();
}

std::string plan_explain_text(const PlanShown& shown, Style style) {
  std::string out = head(shown) + errors_text(shown, style);
  for (size_t i = 0; i < shown.read.plan.faults.size(); ++i) {
    const Fault& fault = shown.read.plan.faults[i];
    out += fmt::format("\n{:>3}  {}\n     {}\n", i + 1, style.strong(printable(fault.text)), sentence_of(fault));
    if (shown.recording != nullptr) out += "     " + forecast_text(shown, i) + "\n";
  }
  return out;
}

std::string plan_explain_json(const PlanShown& shown) {
  JsonWriter json("plan explain");
  write_head(json, shown);
  json.key("faults").begin_array();
  for (size_t i = 0; i < shown.read.plan.faults.size(); ++i) {
    const Fault& fault = shown.read.plan.faults[i];
    json.begin_object().field("kind", name_of(fault.kind)).field("text", fault.text);
    json.field("sentence", sentence_of(fault));
    write_forecast(json, shown, i);
    json.end_object();
  }
  return json.end_array().finish();
}

std::string plan_kinds_text() { return kinds_table("").text() + "\n" + fields_table("").text(); }
std::string plan_kinds_markdown() { return kinds_table("`").markdown() + "\n" + fields_table("`").markdown(); }

std::string plan_kinds_json() {
  JsonWriter json("plan kinds");
  json.key("kinds").begin_array();
  for (const replayer::KindSpec& kind : replayer::plan_kinds()) {
    json.begin_object().field("name", kind.name).field("does", kind.does).field("waits_for", kind.awaits);
    json.field("example", kind.example).key("takes").begin_array();
    for (const replayer::FieldSpec& field : replayer::plan_fields()) {
      if ((kind.takes | kind.also).holds(field.id)) json.value(field.name);
    }
    json.end_array().end_object();
  }
  json.end_array().key("fields").begin_array();
  for (const replayer::FieldSpec& field : replayer::plan_fields()) {
    json.begin_object().field("name", field.name).field("takes", field.takes).field("says", field.about).end_object();
  }
  return json.end_array().finish();
}

}  // namespace inquest::report
