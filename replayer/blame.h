// Blame: what made the findings of a run, proved by running it again without each fault in turn.
//
// A finding is put down to a fault if it is not there once the fault is taken away; to several if it takes each of
// them; to several jointly if it is gone only when all of them are taken away. What is there without any fault was made
// by a gap of the recording, by the policy, or by what was recorded.
//
// A run without a fault forks off just before the instant in which the fault first hit: what lies before is replayed
// once, whatever the number of faults.
#pragma once

#include "replayer/run.h"

namespace inquest::replayer {

// How much is replayed to prove it. Above it nothing is, and Outcome::too_many_to_blame says so.
struct BlameLimits {
  size_t faults = 200;                     // that fired
  uint64_t inputs = uint64_t{50'000'000};  // of the core, in all runs together
};

// Sets Finding::blame and Finding::because of all findings of `outcome`, to which `config` came. Without findings it
// replays nothing. Errors: those of Run::start.
Result<void> blame(const Recording& recording, const RunConfig& config, Outcome& outcome,
                   const BlameLimits& limits = {});

}  // namespace inquest::replayer
