// A run: one replay of a trace. trace × policy × plan × mode × seed → outcome; the same inputs give the same outcome,
// byte for byte, on every machine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/duration.h"
#include "base/result.h"
#include "replayer/decide.h"
#include "replayer/finding.h"
#include "replayer/follow.h"
#include "replayer/plan.h"
#include "replayer/recording.h"
#include "replayer/world.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

// Follow, the post-mortem: the decisions are the recorded ones. Decide, the counterfactual: the core takes its own.
enum class Mode : uint8_t { kFollow, kDecide };

struct RunConfig {
  scheduler::Policy policy;
  Plan plan;
  Mode mode = Mode::kFollow;
  std::string as;                            // whose decisions are followed; "": the scheduler with most binds won
  std::vector<std::string> scheduler_names;  // whose pods are its own; empty: those it sent binds for
  Duration lag = kDefaultLag;
  std::optional<Duration> drain;  // none: TTL + re-list period + lag
  uint64_t seed = 0;
  PaceWanted pace;                              // of mode decide
  Duration lost_after = Duration::seconds(30);  // when a client gives up waiting for the answer to a bind
};

// A run in progress. Between two instants it may be copied, and both go on by themselves: that is a fork. The recording
// must outlive it.
class Run {
 public:
  // Errors: `as` names nobody; more re-lists than can be worked off.
  static Result<Run> start(const Recording& recording, const RunConfig& config);

  // When the next instant is; never: it is over.
  Time next();
  // Works off the next instant, and judges it. False: it was over already.
  bool advance();

  // Over everything that can still matter: two runs of one recording, policy and mode that have the same one at the
  // same record, with nothing of their plans left to fire, come to the same from there on.
  uint64_t state_hash() const;

  const World& world() const { return world_; }
  World& world() { return world_; }
  const Recording& recording() const { return *recording_; }

  // Works off all instants up to this one.
  void advance_to(Time time);
  // When time stops: the end of the drain.
  Time end() const { return recording_->end() + drain_; }
  // Where stores and truth differ at this instant, up to which the run has advanced: also what is no finding yet.
  std::vector<Finding> open(Time now) const;
  // What it has come to by then; a finding without an end is open.
  Outcome so_far(Time now) const;

  // Closes the findings that are open. Called once, usually when the run is over.
  Outcome finish();
  // Those findings alone. Called once, in place of finish().
  std::vector<Finding> close(Time end);

 private:
  Run(const Recording& recording, std::shared_ptr<const RunConfig> config, StringId followed,
      const std::vector<StringId>& own, const Pace& pace);

  using Driver = std::variant<Follow, Decide>;
  static Driver driver_of(const Recording& recording, const RunConfig& config, StringId followed,
                          const std::vector<StringId>& own, const Pace& pace);

  bool act();
  void explain(std::vector<Finding>& findings) const;
  Outcome outcome_at(Time end);
  void conclude(Outcome& outcome);

  const Recording* recording_;
  std::shared_ptr<const RunConfig> config_;  // its plan is what the world's faults point into
  World world_;
  Driver driver_;  // what happens, and who decides
  Duration drain_;
  bool over_ = false;  // the trace
};

// A whole run.
Result<Outcome> replay(const Recording& recording, const RunConfig& config);

// For each root finding that never healed, whether the default policy would have healed it (Finding::elsewhere).
Result<void> look_elsewhere(const Recording& recording, const RunConfig& config, Outcome& outcome);

// Whose decisions mode follow takes; an Error that lists the names if there is no such scheduler.
Result<const SchedulerSeen*> followed_scheduler(const Recording& recording, const std::string& as);

}  // namespace inquest::replayer
