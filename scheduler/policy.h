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
// When an assumption is dropped because its pod was seen scheduled.
enum class Purge : uint8_t { kNextDecision, kConfirmingEvent, kBoth };
enum class DeletesTo : uint8_t { kScheduled, kBoth };
enum class PodKey : uint8_t { kName, kUid };
// One watch of all pods, or two filtered by spec.nodeName (empty, and not empty).
enum class Watches : uint8_t { kOne, kTwo };

// Who is next: the first that came, with 2015's backoff; or the highest priority, as upstream has it today (queued.h).
enum class QueueOrder : uint8_t { kFifo, kPriority };

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
  AssumeWhen assume = AssumeWhen::kAfterSuccess;
  uint32_t binds = 1;  // how many may be open; 1: no decision while one is open
  Purge purge = Purge::kNextDecision;
  DeletesTo deletes_to = DeletesTo::kScheduled;
  Relist relist;
  PodKey key = PodKey::kName;
  Watches watches = Watches::kTwo;
  QueueOrder queue = QueueOrder::kFifo;

  bool purges_at_decision() const { return purge != Purge::kConfirmingEvent; }
  bool purges_on_event() const { return purge != Purge::kNextDecision; }
};

inline constexpr std::string_view kDefaultPolicy = "combined";

// All presets, in the order of the argument of kubernetes#6023.
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

}  // namespace inquest::scheduler
