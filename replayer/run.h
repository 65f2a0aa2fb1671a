// A run: one replay of a trace. trace × policy × plan × mode × seed → outcome; the same inputs give the same outcome,
// byte for byte, on every machine.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "replayer/finding.h"
#include "replayer/judge.h"
#include "replayer/plan.h"
#include "replayer/recording.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

struct RunConfig {
  scheduler::Policy policy;
  Plan plan;
  std::string as;                            // whose decisions are followed; "": the scheduler with most binds won
  std::vector<std::string> scheduler_names;  // whose pods are its own; empty: those it sent binds for
  Duration lag = kDefaultLag;
  std::optional<Duration> drain;  // none: TTL + re-list period + lag
  uint64_t seed = 0;
};

// Mode follow, the post-mortem: the decisions are the recorded ones. Errors: `as` names nobody.
Result<Outcome> follow(const Recording& recording, const RunConfig& config);

// For each root finding that never healed, whether the default policy would have healed it (Finding::elsewhere).
Result<void> look_elsewhere(const Recording& recording, const RunConfig& config, Outcome& outcome);

// Whose decisions `follow` takes; an Error that lists the names if there is no such scheduler.
Result<const SchedulerSeen*> followed_scheduler(const Recording& recording, const std::string& as);

}  // namespace inquest::replayer
