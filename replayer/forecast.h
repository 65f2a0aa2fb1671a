// Forecast: what the faults of a plan hit in a trace, told from the trace alone, without a run; and of a fault that
// hits nothing, why.
#pragma once

#include <string>
#include <vector>

#include "replayer/finding.h"
#include "replayer/plan.h"
#include "replayer/recording.h"
#include "scheduler/policy.h"

namespace inquest::replayer {

struct Forecast {
  // False: it waits for lists or bookmarks, and which of those there are only a run knows.
  bool known = true;
  uint64_t count = 0;
  std::vector<FaultHit> hits;  // the first kKeptHits
  std::string never;           // why there is none, in one clause; "" if there is one or it is not known
};

// By index of the plan's faults. `followed`: whose binds count.
std::vector<Forecast> forecast(const Recording& recording, const Plan& plan, const SchedulerSeen& followed);

// Why the fault cannot do what it says under this policy, in one clause; "" if it can.
std::string cannot_apply(const Fault& fault, const scheduler::Policy& policy);

}  // namespace inquest::replayer
