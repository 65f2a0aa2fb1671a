// Plan: a list of faults, what happens between the truth and the scheduler's view, and what triggers each.
//
// Written as YAML (`inquest: plan/1`) or, for one fault, as a flag: --drop 'pods DELETED name=pod1'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "schema/facts.h"
#include "schema/record.h"

namespace inquest::replayer {

enum class FaultKind : uint8_t { kDrop, kDelay };
enum class Resource : uint8_t { kPods, kNodes };
enum class OnWatch : uint8_t { kEvery, kScheduled, kQueued };
// Fields whose change can trigger a fault.
enum class Field : uint8_t { kNodeName, kPhase, kDeletionTimestamp, kUnschedulable };

// Matches changes of the truth: the verb is the recorded one, before any watch's selector rewrites it. Every condition
// that is set must hold. Names are globs (* and ?).
struct Trigger {
  std::optional<Resource> resource;
  std::optional<Verb> verb;
  std::string name, ns, uid;      // "" matches all
  std::optional<Field> field;     // the change makes this field …
  std::string becomes;            // … match this glob ("" stands for unset)
  std::optional<trace::Seq> seq;  // this very record
  std::optional<Duration> after;  // at this offset from the start of the trace, or later
  uint64_t nth = 1;               // of the changes that match the rest; 0: every one
};

struct Fault {
  FaultKind kind = FaultKind::kDrop;
  Trigger trigger;
  OnWatch watch = OnWatch::kEvery;
  Duration by;              // of a delay
  bool overtake = false;    // of a delay: what is behind it on the watch passes it
  bool all_of_uid = false;  // once triggered, it hits every later change of the same object too
  std::string text;         // as it was written, for reports
};

struct Plan {
  std::vector<Fault> faults;
};

inline constexpr size_t kMaxPlanBytes = size_t{1} << 20;
inline constexpr size_t kMaxFaults = 10'000;

// One fault from a flag's value: words in any order, RESOURCE VERB @SEQ key=value ….
Result<Fault> parse_fault(FaultKind kind, std::string_view text);

// A plan file's text; `name` stands in messages. Unknown fields, duplicate keys and wrong types are errors with a line.
Result<Plan> parse_plan(const std::string& text, const std::string& name);
Result<Plan> load_plan(const std::string& path);

// * any run of characters, ? any one; everything else itself.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace inquest::replayer
