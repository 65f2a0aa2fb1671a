// Policy: how the core repairs its own stores, as data. Two cores differ in nothing else.
//
// The presets are the design space of kubernetes#6023 (2015): what each of them gets wrong is in docs/policies.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace inquest::scheduler {

enum class AssumeWhen : uint8_t { kNever, kBeforeBind, kAfterSuccess };
enum class TtlFrom : uint8_t { kAssume, kBindAnswer };
enum class ExpireWhileBindOpen : uint8_t { kNo, kYes };
// An assumption whose time is up leaves at that very instant, or at the next of the ticks that come each second from
// the origin on (upstream's cleanup, kubernetes-facts 2.3: it drops those whose deadline has passed).
enum class Expiry : uint8_t { kExact, kTick };
inline constexpr Duration kTick = Duration::seconds(1);
// When an assumption is dropped because its pod was seen scheduled.
enum class Purge : uint8_t { kNextDecision, kConfirmingEvent, kBoth };
enum class DeletesTo : uint8_t { kScheduled, kBoth };
// Which stores hear of a deletion that a list of the one watch made known: those where the last version seen would be,
// or all. Two watches have a store each, so there is nothing to choose.
enum class Tombstones : uint8_t { kLastSeen, kEverywhere };
enum class PodKey : uint8_t { kName, kUid };
// By uid: what a pod created anew is if its watch, which keeps objects by name, had not seen the old one go. An update
// of a uid that the scheduled store never got, which refuses it (kubernetes#85726), or a delete and an add. By name it
// takes the slot over, in either case.
enum class UidChange : uint8_t { kUpdate, kSplit };
// What becomes of an assumption when its pod, not yet seen bound, is marked for deletion: it stays until something else
// ends it, or it is forgotten at once, as upstream does today (kubernetes-facts 2.5).
enum class WhenMarked : uint8_t { kKeep, kForget };
// One watch of all pods, or two filtered by spec.nodeName (empty, and not empty).
enum class Watches : uint8_t { kOne, kTwo };

// Who is next: the first that came, with 2015's backoff; or the highest priority, as upstream has it today (queued.h).
enum class QueueOrder : uint8_t { kFifo, kPriority };
enum class KeepsJournal : uint8_t { kNo, kYes };

// Which of the nodes that take a pod is the best: the emptiest (LeastAllocated), the emptiest and most evenly used (and
// BalancedAllocation, both at weight 1), or the fullest (MostAllocated); scores.h.
enum class Scoring : uint8_t { kLeast, kLeastAndBalanced, kMost };
// Whether a node must say Ready=True to be given pods, as in 2015, or it is enough that the taints which come with not
// being ready (not-ready, unreachable) are tolerated, as today (kubernetes-facts 1.5, 9.6).
enum class Readiness : uint8_t { kCondition, kTaints };

// What a periodic re-list corrects. A re-list stands on a grid anchored at the trace's origin.
struct Relist {
  std::optional<Duration> period;  // none: never
  bool scheduled = false, queued = false, nodes = false, assumed = false;
};

struct Policy {
  std::string name;             // of the preset it started from
  std::string shows;            // what the preset is meant to show, in one clause
  std::optional<Duration> ttl;  // of an assumption; none: it stays until something else removes it
  TtlFrom ttl_from = TtlFrom::kAssume;
  ExpireWhileBindOpen expire_while_bind_open = ExpireWhileBindOpen::kYes;
  Expiry expiry = Expiry::kExact;
  AssumeWhen assume = AssumeWhen::kAfterSuccess;
  uint32_t binds = 1;  // how many may be open; 1: no decision while one is open
  Purge purge = Purge::kNextDecision;
  DeletesTo deletes_to = DeletesTo::kScheduled;
  // A delete waits while its pod's bind is open, and what its watch brings waits behind it. A bind is given up, its
  // outcome unknown, when it has been open for so long. None: nothing waits, and a bind may stay open for ever.
  std::optional<Duration> deletes_wait;
  Tombstones tombstones = Tombstones::kEverywhere;
  Relist relist;
  PodKey key = PodKey::kName;
  UidChange uid_change = UidChange::kSplit;
  WhenMarked when_marked = WhenMarked::kKeep;
  Watches watches = Watches::kTwo;
  QueueOrder queue = QueueOrder::kFifo;
  Scoring score = Scoring::kLeast;
  Readiness ready = Readiness::kCondition;
  KeepsJournal journal = KeepsJournal::kNo;

  bool purges_at_decision() const { return purge != Purge::kConfirmingEvent; }
  bool purges_on_event() const { return purge != Purge::kNextDecision; }
  // How long after the last that it hears a core may go on mending its stores by itself.
  Duration heals_within() const;
  // Without an assumed store there is nothing to apply it to.
  bool keeps_journal() const { return journal == KeepsJournal::kYes && assume != AssumeWhen::kNever; }
};

inline constexpr std::string_view kDefaultPolicy = "combined";

// All presets, in the order of the argument of kubernetes#6023; then what came after, and the one for a live cluster.
std::span<const Policy> presets();

// A preset by name, or an Error that lists the names.
Result<Policy> preset(std::string_view name);

// One parameter of a policy as text: what `policies` prints and `--ttl 30s` sets.
struct Parameter {
  std::string_view name;    // "ttl-from"
  std::string_view values;  // "assume | answer"
  std::string_view about;   // what it decides, in one clause
  std::string (*get)(const Policy& policy);
  Result<void> (*set)(Policy& policy, std::string_view value);
};

// Every parameter there is, in the order of design 5.
std::span<const Parameter> parameters();
// Whether they act alike, whatever their names.
bool same_parameters(const Policy& a, const Policy& b);

}  // namespace inquest::scheduler
