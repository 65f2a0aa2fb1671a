// RunOptions: the options that say what is run: whose decisions, which policy, which faults. The same for every verb
// that runs a trace.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/when.h"
#include "replayer/run.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace inquest::cli {

// All that a run needs. The followed scheduler is the recording's.
struct Prepared {
  std::unique_ptr<replayer::Recording> recording;
  replayer::RunConfig config;
  const replayer::SchedulerSeen* followed = nullptr;
};

class RunOptions {
 public:
  // After the verb's own options, whose help it wraps too.
  void declare(CLI::App& app);

  // Of a trace, or of a steps file, which is replayed as it is meant: its own faults come before those of the options,
  // and what its `run` says holds unless an option says otherwise. Errors: a value that an option does not take, the
  // file, nobody of the name that is to be followed.
  Result<Prepared> prepare(const std::string& path) const;
  bool says_drain() const { return drain_.has_value(); }

 private:
  void declare_faults(CLI::App& app);
  void declare_pace(CLI::App& app);
  void declare_policy(CLI::App& app);
  Result<void> set_pace(replayer::RunConfig& config) const;
  Result<void> set_plan(replayer::Plan& plan) const;
  Result<void> set_mode(replayer::RunConfig& config) const;
  Result<scheduler::Policy> policy() const;
  Result<void> set(replayer::RunConfig& config) const;

  std::string plan_, policy_{scheduler::kDefaultPolicy};
  std::vector<std::string> scheduler_names_;
  std::vector<std::pair<replayer::FaultKind, std::string>> faults_;
  std::vector<std::optional<std::string>> values_;  // by index of scheduler::parameters()
  std::optional<std::string> mode_, as_, lag_, drain_, seed_, bind_rtt_, deliver_, kubelet_start_, kubelet_stop_;
};

// The instant of a run that `when` names; of a record, the one at which the run works it off. `place` stands in the
// error, which says that it lies outside: before the start, after `last`, or a record that there is not.
Result<Time> instant_of(const replayer::Recording& recording, const When& when, const std::string& place, Time last);

}  // namespace inquest::cli
