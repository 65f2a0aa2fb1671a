#include "report/run_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/duration.h"
#include "report/table.h"
#include "report/text.h"

namespace inquest::report {

using Finding = RunFile::Finding;

namespace {

constexpr size_t kShownFindings = 40;

using Sides = std::vector<RunDiff::Row>;

void compare(Sides& out, const std::string& what, const std::string& a, const std::string& b) {
  if (a != b) out.push_back({what, a, b});
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

const std::string* value_of(const Parameters& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return found == all.end() ? nullptr : &found->second;
}

// Every version has its parameters: one that only the other run knows is one that differs.
void compare_parameters(Sides& out, const Parameters& a, const Parameters& b) {
  for (const auto& [name, value] : a) {
    const std::string* other = value_of(b, name);
    compare(out, name, value, other == nullptr ? "-" : *other);
  }
  for (const auto& [name, value] : b) {
    if (value_of(a, name) == nullptr) out.push_back({name, "-", value});
  }
}

Sides different_inputs(const RunFile& a, const RunFile& b) {
  Sides out;
  const RunFile::Run &x = a.run, &y = b.run;
  compare(out, "trace", a.trace.uuid, b.trace.uuid);
  compare(out, "mode", x.mode, y.mode);
  compare(out, "scheduler", x.scheduler, y.scheduler);
  compare(out, "its pods", joined(x.scheduler_names), joined(y.scheduler_names));
  compare(out, "policy", x.policy.text, y.policy.text);
  compare_parameters(out, x.policy.parameters, y.policy.parameters);
  for (size_t i = 0; i < std::max(x.faults.size(), y.faults.size()); ++i) {
    const auto text = [&](const RunFile::Run& run) { return i < run.faults.size() ? run.faults[i].text : "-"; };
    compare(out, "fault " + std::to_string(i + 1), text(x), text(y));
  }
  const std::optional<RunFile::Pace>&p = x.pace, &q = y.pace;
  const auto pace = [&](const std::string& what, auto part) {
    const auto text = [&](const std::optional<RunFile::Pace>& one) {
      return one ? format_duration({((*one).*part).ns}) : "-";
    };
    compare(out, what, text(p), text(q));
  };
  pace("bind-rtt", &RunFile::Pace::bind_rtt);
  pace("deliver", &RunFile::Pace::deliver);
  pace("kubelet-start", &RunFile::Pace::kubelet_start);
  pace("kubelet-stop", &RunFile::Pace::kubelet_stop);
  compare(out, "lag", format_duration({x.lag_ns}), format_duration({y.lag_ns}));
  compare(out, "drain", format_duration({x.drain_ns}), format_duration({y.drain_ns}));
  compare(out, "seed", std::to_string(x.seed), std::to_string(y.seed));
  return out;
}

Sides different_outcomes(const RunFile& a, const RunFile& b) {
  Sides out;
  compare(out, "verdict", a.verdict, b.verdict);
  compare(out, "findings", std::to_string(a.root_findings), std::to_string(b.root_findings));
  compare(out, "consequences", std::to_string(a.findings.size() - std::min<size_t>(a.findings.size(), a.root_findings)),
          std::to_string(b.findings.size() - std::min<size_t>(b.findings.size(), b.root_findings)));
  compare(out, "pods blocked for", format_duration({a.run.blocked_ns}), format_duration({b.run.blocked_ns}));
  const auto came = [&](const std::string& what, auto part) {
    const auto text = [&](const RunFile& one) {
      return one.run.decided ? std::to_string((*one.run.decided).*part) : std::string("-");
    };
    compare(out, what, text(a), text(b));
  };
  came("pods bound", &RunFile::Decided::bound);
  came("bound twice", &RunFile::Decided::bound_twice);
  came("pods pending", &RunFile::Decided::pending);
  compare(out, "inputs of the core", std::to_string(a.run.inputs), std::to_string(b.run.inputs));
  compare(out, "chain", a.run.chain, b.run.chain);
  compare(out, "state at the end", a.run.state, b.run.state);
  return out;
}

std::string whom(const Finding& finding) {
  if (finding.pod) return finding.pod->ns + "/" + finding.pod->name + "\n" + finding.pod->uid;
  return "";
}

// What makes it the same finding, and first when it was born.
auto identity(const Finding& finding) {
  return std::tuple(finding.birth, finding.verdict, finding.in.value_or(""), whom(finding), finding.node.value_or(""),
                    finding.watch.value_or(""));
}

std::vector<const Finding*> in_order(const RunFile& run) {
  std::vector<const Finding*> out;
  for (const Finding& finding : run.findings) out.push_back(&finding);
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding* x, const Finding* y) { return identity(*x) < identity(*y); });
  return out;
}

std::vector<RunDiff::Pair> paired(const RunFile& a, const RunFile& b) {
  const std::vector<const Finding*> left = in_order(a), right = in_order(b);
  std::vector<RunDiff::Pair> out;
  for (size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    const bool only_right = i == left.size() || (j < right.size() && identity(*right[j]) < identity(*left[i]));
    const bool only_left = j == right.size() || (i < left.size() && identity(*left[i]) < identity(*right[j]));
    out.push_back({only_right ? nullptr : left[i], only_left ? nullptr : right[j]});
    if (!only_right) ++i;
    if (!only_left) ++j;
  }
  return out;
}

std::string_view how(const RunDiff::Pair& pair) {
  return pair.b == nullptr ? "only in a" : pair.a == nullptr ? "only in b" : pair.same() ? "same" : "differs";
}

// --- For people

class DiffText {
 public:
  DiffText(const NamedRun& a, const NamedRun& b, Style style)
      : a_(a), b_(b), diff_(diff_runs(*a.second, *b.second)), style_(style) {}

  std::string text() {
    std::string out = head("a", a_) + head("b", b_);
    if (diff_.same()) return out + "runs      " + style_.good("the same") + same_inputs() + "\n";
    out += "inputs    " + (diff_.inputs.empty() ? "the same" : style_.bad("differ")) + "\n" + rows(diff_.inputs);
    out += "outcome   " + (diff_.outcomes.empty() ? "the same" : style_.bad("differs")) + "\n" + rows(diff_.outcomes);
    if (diff_.inputs.empty()) {
      out +=
          "note      the same inputs must give the same run: one was made by another version, or something is wrong\n";
    }
    return out + findings();
  }

 private:
  static std::string head(std::string_view which, const NamedRun& named) {
    const RunFile& run = *named.second;
    std::string line = printable(named.first);
    add_part(line, printable(run.trace.file));
    add_part(line, fmt::format("{} {}", printable(run.run.mode), printable(run.run.scheduler)));
    add_part(line, printable(run.run.policy.text));
    add_part(line, run.run.faults.empty() ? "no faults" : counted(run.run.faults.size(), "fault"));
    std::string verdict = printable(run.verdict);
    if (run.root_findings > 0) verdict += ", " + counted(run.root_findings, "finding");
    add_part(line, verdict);
    return fmt::format("{:<8}  {}\n", which, line);
  }

  std::string same_inputs() const {
    return fmt::format("{}{} in both", kDot, counted(a_.second->findings.size(), "finding"));
  }

  static std::string indented(const Table& table) {
    std::string out;
    std::string text = table.text();
    for (size_t from = 0; from < text.size(); from = text.find('\n', from) + 1) {
      out += "  " + text.substr(from, text.find('\n', from) + 1 - from);
    }
    return out;
  }

  static std::string rows(const Sides& sides) {
    if (sides.empty()) return "";
    Table table({"", "a", "b"});
    for (const RunDiff::Row& row : sides) table.add({row.what, printable(row.a), printable(row.b)});
    return indented(table);
  }

  static std::string about(const Finding& finding) {
    if (finding.watch) return "watch of " + printable(*finding.watch);
    std::string node = finding.node ? printable(*finding.node) : "";
    if (!finding.pod) return node;
    std::string out = fmt::format("{}/{} ({})", printable(finding.pod->ns), printable(finding.pod->name),
                                  short_uid(finding.pod->uid));
    return node.empty() ? out : out + " on " + node;
  }

  static std::string verdict(const Finding& finding) {
    return printable(finding.verdict) + (finding.in ? " in " + printable(*finding.in) : "");
  }

  static std::string end(const Finding* finding, Time origin) {
    if (finding == nullptr) return "-";
    if (!finding->end) return "never";
    return fmt::format("{} by {}", format_offset(*finding->end, origin), printable(finding->cure));
  }

  std::string findings() const {
    const auto differs = [](const RunDiff::Pair& pair) { return !pair.same(); };
    const auto all = static_cast<size_t>(std::count_if(diff_.findings.begin(), diff_.findings.end(), differs));
    std::string out = fmt::format("findings  {} the same, {} not\n", count(diff_.findings.size() - all), count(all));
    if (all == 0) return out;
    Table table({"a", "b", "verdict", "about", "since", "until in a", "until in b"},
                {Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight});
    size_t shown = 0;
    for (const RunDiff::Pair& pair : diff_.findings) {
      if (pair.same() || shown++ >= kShownFindings) continue;
      const Finding& one = pair.a != nullptr ? *pair.a : *pair.b;
      const Time origin = a_.second->run.start;
      table.add({pair.a != nullptr ? printable(pair.a->id) : "-", pair.b != nullptr ? printable(pair.b->id) : "-",
                 verdict(one), about(one), format_offset(one.birth, origin), end(pair.a, origin), end(pair.b, origin)});
    }
    out += indented(table);
    if (all > kShownFindings) out += fmt::format("  and {} more; --json holds them all\n", count(all - kShownFindings));
    return out;
  }

  const NamedRun &a_, &b_;
  RunDiff diff_;
  Style style_;
};

void add_rows(JsonWriter& json, std::string_view name, const Sides& rows) {
  json.key(name).begin_array();
  for (const RunDiff::Row& row : rows) {
    json.begin_object().field("what", row.what).field("a", row.a).field("b", row.b).end_object();
  }
  json.end_array();
}

void add_side(JsonWriter& json, std::string_view name, const Finding* finding, Time origin) {
  if (finding == nullptr) {
    json.nothing(name);
    return;
  }
  json.key(name).begin_object().field("id", finding->id).field("cure", finding->cure);
  if (finding->end) {
    json.instant("end", *finding->end, origin);
  } else {
    json.nothing("end");
  }
  json.end_object();
}

void add_pair(JsonWriter& json, const RunDiff::Pair& pair, Time origin) {
  const Finding& one = pair.a != nullptr ? *pair.a : *pair.b;
  json.begin_object().field("is", how(pair)).field("verdict", one.verdict);
  if (one.in) json.field("in", *one.in);
  if (one.pod) {
    json.key("pod").begin_object().field("namespace", one.pod->ns).field("name", one.pod->name);
    json.field("uid", one.pod->uid).end_object();
  } else {
    json.nothing("pod");
  }
  if (one.node) {
    json.field("node", *one.node);
  } else {
    json.nothing("node");
  }
  json.instant("birth", one.birth, origin);
  add_side(json, "a", pair.a, origin);
  add_side(json, "b", pair.b, origin);
  json.end_object();
}

}  // namespace

bool RunDiff::Pair::same() const {
  return a != nullptr && b != nullptr &&
         std::tie(a->end, a->cure, a->after_end, a->holds, a->exceeds, a->would_refuse) ==
             std::tie(b->end, b->cure, b->after_end, b->holds, b->exceeds, b->would_refuse);
}

bool RunDiff::same() const {
  return inputs.empty() && outcomes.empty() &&
         std::all_of(findings.begin(), findings.end(), [](const Pair& pair) { return pair.same(); });
}

RunDiff diff_runs(const RunFile& a, const RunFile& b) {
  return {different_inputs(a, b), different_outcomes(a, b), paired(a, b)};
}

std::string run_diff_text(const NamedRun& a, const NamedRun& b, Style style) { return DiffText(a, b, style).text(); }

std::string run_diff_json(const NamedRun& a, const NamedRun& b) {
  const RunDiff diff = diff_runs(*a.second, *b.second);
  JsonWriter json("diff");
  json.field("what", "runs").field("a", a.first).field("b", b.first).field("same", diff.same());
  add_rows(json, "inputs", diff.inputs);
  add_rows(json, "outcomes", diff.outcomes);
  json.key("findings").begin_array();
  for (const RunDiff::Pair& pair : diff.findings) {
    if (!pair.same()) add_pair(json, pair, a.second->run.start);
  }
  return json.end_array().finish();
}

}  // namespace inquest::report
