// Matrix: policies beside each other on the same scenarios, in numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "replayer/run.h"
#include "replayer/scenario.h"

namespace inquest::replayer {

// What one policy made of one scenario, or of several together.
struct Score {
  uint64_t violated = 0, unknown = 0;  // runs that ended so
  Duration zombies;       // pod-time of zombies and ghosts in the stores; of one that never healed, to the end
  Duration blocked;       // pod-time of pods that had room in truth and none in the view
  uint64_t never = 0;     // findings about stores that nothing healed
  Duration longest_heal;  // of those that something did
  uint64_t early_expiries = 0;
  uint64_t double_placements = 0;  // more on a node, in truth, than it has; a pod bound twice; a bind of another uid

  void add(const Score& other);
};
Score score_of(const Outcome& outcome);

struct MatrixRow {
  scheduler::Policy policy;   // as it ran: a preset, with what was swept
  std::vector<Score> scores;  // by scenario
  Score total;
  bool pareto = false;  // no other row has fewer zombies and fewer double placements
};

struct Matrix {
  std::vector<std::string> scenarios;
  std::vector<MatrixRow> rows;
};

// Every policy on every scenario, in the order given. Errors: a scenario that makes no trace, a run that cannot be.
Result<Matrix> matrix(std::span<const scheduler::Policy> policies, std::span<const Scenario> scenarios);

// "ttl=10s,30s": a parameter and its values.
struct Sweep {
  std::string parameter;
  std::vector<std::string> values;
};
Result<Sweep> parse_sweep(std::string_view text);

// Every policy with every combination of the sweeps' values, the last sweep fastest. Errors: no such parameter, a value
// out of range, more than 1,000 rows.
Result<std::vector<scheduler::Policy>> swept(std::span<const scheduler::Policy> policies,
                                             std::span<const Sweep> sweeps);

}  // namespace inquest::replayer
