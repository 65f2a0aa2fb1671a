// What `replay` shows of a run: its inputs, its verdict, and a block for each finding. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replayer/run.h"
#include "report/style.h"

namespace inquest::report {

// A run that stands still before its end.
struct Stop {
  Time at;
  trace::Seq seq = 0;  // the latest record that it has worked off
};

// All must outlive the call.
struct RunShown {
  std::string file;  // the trace's name as the user gave it
  const replayer::Recording& recording;
  const replayer::RunConfig& config;
  const replayer::SchedulerSeen& followed;
  const replayer::Outcome& outcome;  // so far, if it stands still
  std::optional<Stop> stop;
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

// Parts of it: the lines on top without the verdict, the verdict's, and what made a finding.
std::string run_head(const RunShown& run, Style style);
std::string run_verdict(const RunShown& run, Style style);
std::string because_text(const RunShown& run, const replayer::Finding& finding);
// "overcommit in view"
std::string verdict_text(replayer::Verdict verdict);
// What a finding is about: "sched-lab/pod1 (6744…)", a node, or a stream.
std::string subject_text(const Catalog& catalog, const replayer::Finding& finding);

// How a pace of mode decide is known: "median", "given" or "assumed".
std::string_view pace_from(const replayer::PaceValue& value, const std::optional<Duration>& wanted);

// Why a pod does not fit a node, in words: "8080/TCP on pair-1 is held by sched-lab/pod1".
// The holder's uid is shown where names alone do not tell lives apart.
enum class Uids { kHide, kShow };
std::string misfit_text(const Catalog& catalog, const scheduler::Misfit& misfit, NodeId node, Uids uids);

}  // namespace inquest::report
