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
#include "replayer/resource.h"
#include "schema/facts.h"
#include "schema/record.h"

namespace inquest::replayer {

enum class FaultKind : uint8_t {
  // What becomes of the frames of a change that the trigger matches.
  kDrop,
  kDelay,      // held for `by`, and with it all that is behind it on its watch; `overtake`: alone
  kSwap,       // it and the next frame of its watch change places; if none comes within `by` (0: the lag bound), it
               // arrives then
  kDuplicate,  // it arrives twice, the second time `by` later (0: at once)
  kTombstone,  // a DELETED that is lost and known only from the next list: it arrives as a tombstone with the last
               // version that this watch has shown
  kCollapse,   // a DELETED that is lost, and the next ADDED of its name arrives as MODIFIED with another uid
  kRvBack,     // the watch breaks at this change and resumes from `by` earlier: those frames arrive once more
  // What becomes of a stream.
  kDisconnect,  // the watches of the resource break and cannot be opened for `by`, then `then`
  kBookmarks,   // bookmarks are lost: the nth one, or all
  kList,        // the nth list that the scheduler asks for, or the first at `at` or later, is answered wrongly: `list`
  kBind,        // the answer to a bind that the scheduler sends goes wrong: `bind`
  // What befalls the scheduler itself.
  kRestart,  // it forgets what it has in memory, is away for `by`, and lists anew
  kClock,    // its clock jumps by `by`, forwards or (negative) back
};
inline constexpr size_t kFaultKinds = 13;
std::string_view name_of(FaultKind kind);  // "drop", "rv-back", …: the word in plans and, with --, on the command line

enum class OnWatch : uint8_t { kEvery, kScheduled, kQueued };
// Fields whose change can trigger a fault.
enum class Field : uint8_t { kNodeName, kPhase, kDeletionTimestamp, kUnschedulable };
// How a broken watch goes on: from the last resourceVersion it has seen, by a list of its own accord, or by the list
// that a 410 Gone makes it ask for.
enum class Then : uint8_t { kResume, kRelist, kGone };
// Stale: as the API stood `by` before it was asked. Late: as it stood when it was asked, delivered `by` later.
enum class ListFault : uint8_t { kStale, kEmpty, kLate };
// Lost: no answer ever comes. Late: it comes `by` later. Status: `status` stands in its place. Other uid: the API binds
// the pod that has the name by then, whatever its uid.
enum class BindFault : uint8_t { kLost, kLate, kStatus, kOtherUid };
// Whether the API carries out a bind whose answer is lost or a wrong status. Unsaid: as the trace holds it where the
// bind is a recorded one; otherwise a lost answer hides a bind that was carried out, and a status tells the truth.
enum class Applied : uint8_t { kUnsaid, kYes, kNo };
// What a fault waits for.
enum class Occasion : uint8_t { kChange, kList, kBookmark, kBind, kInstant };

// Matches changes of the truth: the verb is the recorded one, before any watch's selector rewrites it. Every condition
// that is set must hold. Names are globs (* and ?).
struct Trigger {
  std::optional<Resource> resource;
  std::optional<Verb> verb;
  std::string name, ns, uid;      // "" matches all
  std::string node;               // of a bind: where it goes
  std::optional<Field> field;     // the change makes this field …
  std::string becomes;            // … match this glob ("" stands for unset)
  std::optional<trace::Seq> seq;  // this very record; of an instant: that of this record
  // At this offset from the start of the trace, or this time, or later; of an instant: exactly then.
  std::optional<Duration> after;
  std::optional<Time> time;
  uint64_t nth = 1;  // of the changes, lists, bookmarks or binds that match the rest; 0: every one

  friend bool operator==(const Trigger&, const Trigger&) = default;
};

struct Fault {
  FaultKind kind = FaultKind::kDrop;
  Trigger trigger;
  OnWatch watch = OnWatch::kEvery;
  Duration by;              // how long, how late, how far back (clock: how far): see the kinds
  bool overtake = false;    // of a delay: what is behind it on the watch passes it
  bool all_of_uid = false;  // once triggered, it hits every later change of the same object too
  Then then = Then::kResume;
  ListFault list = ListFault::kStale;
  BindFault bind = BindFault::kLost;
  uint16_t status = 0;                 // of a bind answered with kStatus: 400 to 599
  Applied applied = Applied::kUnsaid;  // of a bind answered with kLost or kStatus
  std::string text;                    // for reports: its kind, and the words of a flag in their one spelling

  friend bool operator==(const Fault&, const Fault&) = default;
};

// By its kind; a disconnect, restart or clock that names something of a change (its verb, name, …) or a count waits for
// that change, any other for the instant `at` or that of record `seq`.
Occasion occasion_of(const Fault& fault);

struct Plan {
  std::vector<Fault> faults;
};

inline constexpr size_t kMaxFaults = 10'000;  // of a plan, which is at most 1 MiB

// One fault from a flag's value: words in any order, RESOURCE VERB @SEQ key=value …; docs/faults.md has them all.
Result<Fault> parse_fault(FaultKind kind, std::string_view text);

// A plan file's text; `name` stands in messages. Whatever does not belong to a kind, is missing, out of range or
// contradicts itself is an error with a line.
Result<Plan> parse_plan(const std::string& text, const std::string& name);
Result<Plan> load_plan(const std::string& path);

// The same, but one bad fault does not hide the next: all errors (the first kMaxPlanErrors), and the faults between.
struct PlanRead {
  Plan plan;
  std::vector<Error> errors;
};
PlanRead read_plan(const std::string& text, const std::string& name);
PlanRead read_plan_file(const std::string& path);
inline constexpr size_t kMaxPlanErrors = 100;

// * any run of characters, ? any one; everything else itself.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace inquest::replayer
