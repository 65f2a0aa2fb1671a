// What `replay` shows of a run: its inputs, its verdict, and a block for each finding. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "replayer/run.h"
#include "report/style.h"

namespace inquest::report {

// All must outlive the call.
struct RunShown {
  std::string file;  // the trace's name as the user gave it
  const replayer::Recording& recording;
  const replayer::RunConfig& config;
  const replayer::SchedulerSeen& followed;
  const replayer::Outcome& outcome;
};

// How much of a long ledger is shown to people; none() and JSON hold all of it.
struct Limits {
  size_t findings = 100;     // with their blocks
  size_t consequences = 10;  // of one finding
  size_t refusals = 5;       // of one finding
  size_t alike = 10;         // more of one verdict and one kind of cause than this: only the first stand in full
  size_t alike_shown = 3;    // as many of them

  static constexpr Limits none() { return {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}; }
};

std::string run_text(const RunShown& run, Style style, const Limits& limits = {});
std::string run_json(const RunShown& run);

// Why a pod does not fit a node, in words: "8080/TCP on pair-1 is held by sched-lab/pod1".
// The holder's uid is shown where names alone do not tell lives apart.
enum class Uids { kHide, kShow };
std::string misfit_text(const Catalog& catalog, const scheduler::Misfit& misfit, NodeId node, Uids uids);

}  // namespace inquest::report
