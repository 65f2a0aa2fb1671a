#include "replayer/matrix.h"

#include <algorithm>

namespace inquest::replayer {
namespace {

constexpr size_t kMaxRows = 1000;

bool is_zombie_or_ghost(Verdict verdict) {
  return verdict == Verdict::kZombieScheduled || verdict == Verdict::kZombieAssumed || verdict == Verdict::kGhostQueued;
}

bool is_about_stores(Verdict verdict) { return verdict <= Verdict::kDoubleCount; }

bool is_double_placement(Verdict verdict) {
  return verdict == Verdict::kOvercommitTruth || verdict == Verdict::kDoubleBind || verdict == Verdict::kWrongUid;
}

// What is better in one of the two and worse in none.
bool beats(const Score& a, const Score& b) {
  return a.zombies <= b.zombies && a.double_placements <= b.double_placements &&
         (a.zombies < b.zombies || a.double_placements < b.double_placements);
}

}  // namespace

void Score::add(const Score& other) {
  violated += other.violated;
  unknown += other.unknown;
  zombies = zombies + other.zombies;
  blocked = blocked + other.blocked;
  never += other.never;
  longest_heal = std::max(longest_heal, other.longest_heal);
  early_expiries += other.early_expiries;
  double_placements += other.double_placements;
}

Score score_of(const Outcome& outcome) {
  Score out;
  out.violated = outcome.ending == Ending::kViolated ? 1 : 0;
  out.unknown = outcome.ending == Ending::kUnknown ? 1 : 0;
  out.blocked = outcome.blocked;
  const Time horizon = outcome.end + outcome.drain;
  for (const Finding& finding : outcome.findings) {
    const Duration lasted = finding.end.value_or(horizon) - finding.birth;
    if (is_zombie_or_ghost(finding.verdict)) out.zombies = out.zombies + lasted;
    if (is_about_stores(finding.verdict) && !finding.end) ++out.never;
    if (is_about_stores(finding.verdict) && finding.end) out.longest_heal = std::max(out.longest_heal, lasted);
    if (finding.verdict == Verdict::kEarlyExpire) ++out.early_expiries;
    if (is_double_placement(finding.verdict)) ++out.double_placements;
  }
  return out;
}

Result<Matrix> matrix(std::span<const scheduler::Policy> policies, std::span<const Scenario> scenarios) {
  Matrix out;
  for (const scheduler::Policy& policy : policies) out.rows.push_back({policy, {}, {}, false});
  for (const Scenario& scenario : scenarios) {
    out.scenarios.push_back(scenario.name);
    INQUEST_TRY(const auto recording, record(scenario));
    for (MatrixRow& row : out.rows) {
      INQUEST_TRY(const Outcome outcome, replay(*recording, run_config(scenario, row.policy)));
      row.scores.push_back(score_of(outcome));
      row.total.add(row.scores.back());
    }
  }
  for (MatrixRow& row : out.rows) {
    row.pareto = std::none_of(out.rows.begin(), out.rows.end(),
                              [&](const MatrixRow& other) { return beats(other.total, row.total); });
  }
  return out;
}

Result<Sweep> parse_sweep(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    return Error{ErrorCode::kUsage, std::string("'").append(text).append("' is no sweep"), "",
                 "name a parameter and its values: ttl=10s,30s,never"};
  }
  Sweep out{std::string(text.substr(0, equals)), {}};
  for (std::string_view rest = text.substr(equals + 1);;) {
    const size_t comma = rest.find(',');
    out.values.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::vector<scheduler::Policy>> swept(std::span<const scheduler::Policy> policies,
                                             std::span<const Sweep> sweeps) {
  std::vector<scheduler::Policy> out(policies.begin(), policies.end());
  for (const Sweep& sweep : sweeps) {
    const auto parameter = std::find_if(scheduler::parameters().begin(), scheduler::parameters().end(),
                                        [&](const scheduler::Parameter& one) { return one.name == sweep.parameter; });
    if (parameter == scheduler::parameters().end()) {
      return Error{ErrorCode::kUsage, std::string("a policy has no parameter '").append(sweep.parameter).append("'"),
                   "", "inquest policies lists them"};
    }
    std::vector<scheduler::Policy> next;
    for (const scheduler::Policy& policy : out) {
      for (const std::string& value : sweep.values) {
        next.push_back(policy);
        if (auto set = parameter->set(next.back(), value); !set.ok()) {
          Error error = set.error();
          error.place = std::string("--sweep ").append(sweep.parameter).append("=").append(value);
          return error;
        }
        if (next.size() > kMaxRows) return Error{ErrorCode::kOutOfLimit, "more than 1,000 rows", "--sweep", ""};
      }
    }
    out = std::move(next);
  }
  return out;
}

}  // namespace inquest::replayer
