#include "report/matrix_report.h"

#include <fmt/format.h>

#include "report/json.h"
#include "report/policy_report.h"
#include "report/table.h"
#include "report/text.h"

namespace inquest::report {
namespace {

using replayer::Matrix;
using replayer::MatrixRow;
using replayer::Score;

// "ok", "∞" (something in a store never healed), "31 s" (the longest that did), "2×" (double placements), "early" (an
// assumption expired too soon), "?" (unknown).
std::string cell(const Score& score) {
  std::string out;
  const auto add = [&](std::string_view part) { out.append(out.empty() ? "" : " ").append(part); };
  if (score.never > 0) {
    add("∞");
  } else if (score.longest_heal.ns > 0) {
    add(fmt::format("{} s", (score.longest_heal.ns + 999'999'999) / 1'000'000'000));
  }
  if (score.double_placements > 0) add(fmt::format("{}×", score.double_placements));
  if (score.early_expiries > 0) add("early");
  if (score.unknown > 0) add("?");
  if (out.empty()) out = score.violated > 0 ? "other" : "ok";
  return out;
}

std::string seconds(Duration duration) { return duration.ns == 0 ? "0" : span(duration); }

Table scenarios_table(const Matrix& matrix, bool numbered) {
  std::vector<std::string> header{"scenario"};
  for (size_t i = 0; i < matrix.rows.size(); ++i) {
    header.push_back(numbered ? std::to_string(i + 1) : policy_name(matrix.rows[i].policy));
  }
  Table table(std::move(header));
  for (size_t scenario = 0; scenario < matrix.scenarios.size(); ++scenario) {
    std::vector<std::string> row{matrix.scenarios[scenario]};
    for (const MatrixRow& policy : matrix.rows) row.push_back(cell(policy.scores[scenario]));
    table.add(std::move(row));
  }
  return table;
}

Table totals_table(const Matrix& matrix, bool numbered) {
  Table table({numbered ? "  policy" : "policy", "violated", "zombie time", "blocked", "never healed", "longest heal",
               "early expiries", "double", "front"},
              {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kLeft});
  for (size_t i = 0; i < matrix.rows.size(); ++i) {
    const MatrixRow& row = matrix.rows[i];
    const std::string name = policy_name(row.policy);
    table.add({numbered ? fmt::format("{:2} {}", i + 1, name) : name, count(row.total.violated),
               seconds(row.total.zombies), seconds(row.total.blocked), count(row.total.never),
               seconds(row.total.longest_heal), count(row.total.early_expiries), count(row.total.double_placements),
               row.pareto ? "*" : ""});
  }
  return table;
}

constexpr std::string_view kLegend =
    "ok: stores and truth agree · ∞: a store never healed · 31 s: the longest that a store was wrong · 2×: placed "
    "twice,\n"
    "in truth · early: an assumption expired too soon · ?: unknown · other: something else is wrong\n"
    "front *: no other has less zombie time and fewer double placements\n";

void scores(JsonWriter& json, const Score& score) {
  json.field("violated", score.violated).field("unknown", score.unknown);
  json.field("zombie_ns", score.zombies.ns).field("blocked_ns", score.blocked.ns);
  json.field("never_healed", score.never).field("longest_heal_ns", score.longest_heal.ns);
  json.field("early_expiries", score.early_expiries).field("double_placements", score.double_placements);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string matrix_text(const Matrix& matrix) {
  return totals_table(matrix, true).text() + "\n" + scenarios_table(matrix, true).text() + "\n" + std::string(kLegend);
}

std::string matrix_markdown(const Matrix& matrix) {
  return scenarios_table(matrix, false).markdown() + "\n" + totals_table(matrix, false).markdown();
}

std::string matrix_csv(const Matrix& matrix) {
  std::string out =
      "policy,scenario,violated,unknown,zombie_ns,blocked_ns,never_healed,longest_heal_ns,early_expiries,double_"
      "placements\n";
  for (const MatrixRow& row : matrix.rows) {
    for (size_t i = 0; i < matrix.scenarios.size(); ++i) {
      const Score& score = row.scores[i];
      out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", quoted(policy_name(row.policy)),
                         quoted(matrix.scenarios[i]), score.violated, score.unknown, score.zombies.ns, score.blocked.ns,
                         score.never, score.longest_heal.ns, score.early_expiries, score.double_placements);
    }
  }
  return out;
}

std::string matrix_json(const Matrix& matrix) {
  JsonWriter json("matrix");
  json.key("policies").begin_array();
  for (const MatrixRow& row : matrix.rows) {
    json.begin_object().field("policy", policy_name(row.policy)).field("front", row.pareto);
    json.key("total").begin_object();
    scores(json, row.total);
    json.end_object().key("scenarios").begin_array();
    for (size_t i = 0; i < matrix.scenarios.size(); ++i) {
      json.begin_object().field("scenario", matrix.scenarios[i]);
      scores(json, row.scores[i]);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  return json.finish();
}

}  // namespace inquest::report
