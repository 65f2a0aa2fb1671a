// Findings: where the view and the truth disagreed for longer than the lag bound; and the outcome of a whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "replayer/lane.h"
#include "replayer/pace.h"
#include "replayer/plan.h"
#include "scheduler/fit.h"
#include "schema/catalog.h"
#include "schema/record.h"

namespace inquest::replayer {

// Design 2. S scheduled, A assumed, Q queued, G truth.
enum class Verdict : uint8_t {
  kZombieScheduled,   // a uid in S that G no longer holds, or holds as terminal
  kZombieAssumed,     // the same in A
  kGhostQueued,       // a uid in Q that G no longer holds, or holds bound
  kMissingScheduled,  // bound in G, in neither S nor A
  kMissingQueued,     // pending in G and this scheduler's, not in Q, in flight or parked
  kWrongNode,         // a uid's node in S or A is not G's
  kDoubleCount,       // one uid charged twice
  kUnknownBind,       // the scheduler does not know whether a bind that it sent was carried out
  kGhostNode,         // a node in the view that G does not hold
  kMissingNode,       // a node in G that the view does not hold
  kOvercommitView,    // what the view charges to a node exceeds it
  kOvercommitTruth,   // what really is on a node exceeds it
  kNegative,          // a charge below zero
  kStaleView,         // a stream is behind G: what has happened is still on its way to the view
  kStuck,             // nothing has come on a watch for more than two bookmark periods while its resource changes in G
  kDoubleBind,        // the first point: two 201s for one uid, or a scheduler binding again after its own 201
  kWrongUid,          // point: a bind sent for one uid applied to another
  kEarlyExpire,       // point: an assumption expired while its bind was open, or G held the uid bound and S did not yet
  kTimeTravel,        // point: an object's rv fell, or a deleted uid came back
};
std::string_view name_of(Verdict verdict);  // "zombie-scheduled"; both overcommits are "overcommit"

// A verdict about an instant: it neither lasts nor heals, and no lag bound excuses it.
constexpr bool is_point(Verdict verdict) { return verdict >= Verdict::kDoubleBind; }

// What made a finding end.
enum class Cure : uint8_t { kNever, kFrame, kRelist, kTtl, kDecision, kAnswer, kTruth, kRestart };
std::string_view name_of(Cure cure);  // "event", "relist", "ttl", …

// Two things that happened in an order the policy does not survive, without any fault.
enum class Race : uint8_t {
  kNone,
  kDeletedBeforeAssumed,  // the answer to its bind came after its DELETED, and was assumed all the same
  kDeletedBeforePurge,    // no decision came between its confirmation and its DELETED, which assumed never hears of
};

// A recorded bind that the view's books would have refused.
struct Refusal {
  Time at;
  PodId pod;
  NodeId node;
  scheduler::Misfit misfit;
};

// A frame that a fault hit, or that waited behind one that it hit.
struct FaultHit {
  size_t fault = 0;  // index into the plan
  trace::Seq seq = 0;
  Time at;
  Verb verb = Verb::kAdded;
  ResourceVersion rv = 0;
  PodId pod;              // of a pod's frame
  NodeId node;            // of a node's frame
  trace::Seq behind = 0;  // of one that only waited: the record that the fault hit; 0: it was hit itself

  bool held_up() const { return behind != 0; }
};

// What made a finding, as re-running without each fault in turn proves it (blame.h).
struct Blame {
  enum class Kind : uint8_t {
    kUnproved,   // nothing was taken away: `because` says what touched its object last, and proves nothing
    kFaults,     // it takes every one of these: without any of them it is not there
    kJointly,    // none of these alone: it is gone only when all of them are taken away
    kGap,        // without any fault it is there as well, and was born when a gap of the recording ended
    kPolicy,     // without any fault it is there as well, and under the default policy it is not
    kRecording,  // without any fault it is there as well, also under the default policy
  };
  Kind kind = Kind::kUnproved;
  std::vector<FaultHit> faults;  // of each that is named the hit that it is about, in the order of the plan
  std::optional<size_t> gap;     // index into the recording's gaps
};
std::string_view name_of(Blame::Kind kind);  // "unproved", "faults", …

// Whether another policy would have healed a finding that this one never did.
struct Healing {
  std::string policy;
  Cure cure = Cure::kNever;
  std::optional<Time> at;  // none: it never arose, or lasted no longer than the lag bound
  bool after_end = false;
};

struct Finding {
  Verdict verdict = Verdict::kZombieScheduled;
  PodId pod;                 // none for a verdict about a node
  NodeId node;               // where; none if the verdict has no place
  PodId other;               // of a wrong-uid: the pod that the bind was applied to
  std::optional<Lane> lane;  // of a verdict about a stream
  ShapeId holds;             // what the pod takes there; none if nothing
  Time birth;                // the first instant the predicate held
  trace::Seq birth_seq = 0;  // the record that was current then
  std::optional<Time> end;   // none: it outlived the drain
  Cure cure = Cure::kNever;
  bool after_end = false;  // cured only after the trace's last record
  // The fault that hit this pod's or node's frame, or held it up; once proved, the first of those that made it.
  std::optional<FaultHit> because;
  Blame blame;
  Race race = Race::kNone;     // what made it where no fault did
  std::optional<size_t> root;  // a consequence: index of the finding it follows from
  std::vector<Refusal> would_refuse;
  std::optional<Healing> elsewhere;
  scheduler::Misfit misfit;  // of an overcommit: what exceeds
};

// One verdict about one pod, node or stream, whenever it was and, of a pod, wherever.
bool about_the_same(const Finding& a, const Finding& b);

enum class Ending : uint8_t { kOk, kViolated, kUnknown };

struct FaultReport {
  uint64_t fired = 0;
  uint64_t overruled = 0;      // a delay of what a drop hit as well; it did nothing, and does not count as fired
  uint64_t unfelt = 0;         // what it hit became no frame on the watch that it names; not counted as fired either
  std::vector<FaultHit> hits;  // at most kKeptHits
};
inline constexpr size_t kKeptHits = 1000;

// What mode decide came to, of the pods that were its own to place.
struct Decided {
  Pace pace;
  uint64_t pods = 0;   // created
  uint64_t bound = 0;  // by whomever
  uint64_t bound_twice = 0;
  uint64_t pending = 0;       // at the end
  uint64_t gone_unbound = 0;  // deleted before anybody bound them
  uint64_t decisions = 0, unschedulable = 0;
  uint64_t refused = 0;                // binds answered 409
  uint64_t hanging = 0;                // decisions about pods with constraints that the core does not model
  Duration median_wait, longest_wait;  // of those bound, from creation to bind
};

// What a run came to. Findings stand in order of birth: F1 is findings[0].
struct Outcome {
  Ending ending = Ending::kOk;
  std::vector<std::string> unknown_because;  // why, when the ending is kUnknown
  std::vector<Finding> findings;
  std::vector<FaultReport> faults;  // by index of the plan's faults
  uint64_t chain = 0;               // over the core's state after each input
  uint64_t state = 0;               // over what could still have mattered when the run was over
  Time start, end;                  // of the trace as replayed
  Duration drain;
  uint64_t inputs = 0;                               // steps of the core
  uint64_t followed = 0, inferred = 0, skipped = 0;  // binds taken as decisions; of them inferred; never in the view
  Duration blocked;                 // pod-time during which pods had a place in truth and none in the view
  uint64_t refused_within_lag = 0;  // would-refuses that belong to no finding
  uint64_t outside_coverage = 0;    // binds not replayed: sent while nobody watched the pods
  uint64_t while_away = 0;          // binds not taken as decisions: the scheduler was not there
  std::optional<Decided> decided;   // of mode decide
  uint64_t too_many_to_blame = 0;   // faults: more than can be taken away one by one, so that nothing is proved

  size_t roots() const;
};

}  // namespace inquest::replayer
