// The language of plans as two tables: the fields there are, and the kinds of faults with the fields that each takes.
// The parsers, their messages, the command line's flags and docs/faults.md all come from them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replayer/plan.h"

namespace inquest::replayer {

// A field as it is spelled; in the order in which a fault's text holds them.
enum class FieldId : uint8_t {
  kResource,
  kVerb,
  kName,
  kNamespace,
  kUid,
  kNode,
  kNodeName,
  kPhase,
  kDeletion,
  kUnschedulable,
  kSeq,
  kAt,
  kNth,
  kWatch,
  kBy,
  kFor,
  kBack,
  kStep,
  kStale,
  kLate,
  kEmpty,
  kOvertake,
  kAllOf,
  kThen,
  kAnswer,
  kApplied,
};
inline constexpr size_t kFieldIds = 26;

// What a field says. Two fields that say the same thing cannot both stand in a fault.
enum class Says : uint8_t {
  kResource,
  kVerb,
  kName,
  kNamespace,
  kUid,
  kNode,
  kBecomes,
  kWhere,
  kNth,
  kWatch,
  kBy,
  kListAnswer,
  kOvertake,
  kAllOf,
  kThen,
  kAnswer,
  kApplied,
};

struct FieldSpec {
  FieldId id;
  Says says;
  std::string_view name;   // "namespace"
  std::string_view takes;  // "GLOB", "pods | nodes"
  std::string_view about;  // one clause, for the docs
  // Whether a flag's word says this field without naming it: pods, DELETED, @43, +12s, applied.
  bool (*alone)(std::string_view word);
  Result<void> (*set)(Fault& fault, std::string_view value);
  std::string (*show)(const Fault& fault);  // its word in the fault's text; "" where the fault does not say it
};

// A set of FieldIds.
class FieldSet {
 public:
  constexpr FieldSet() = default;
  constexpr FieldSet(std::initializer_list<FieldId> ids) {
    for (const FieldId id : ids) bits_ |= bit(id);
  }
  constexpr bool holds(FieldId id) const { return (bits_ & bit(id)) != 0; }
  constexpr FieldSet operator|(FieldSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr uint32_t bit(FieldId id) { return uint32_t{1} << static_cast<uint32_t>(id); }
  uint32_t bits_ = 0;
};

struct KindSpec {
  FaultKind kind;
  std::string_view name;     // "rv-back"
  std::string_view does;     // one sentence, for the docs
  std::string_view awaits;   // "a change", "a change or an instant", …
  std::string_view example;  // words of a flag
  FieldSet takes;
  FieldSet needs;  // one of these, where there are any
  FieldSet also;   // other spellings of what it takes, which its text does not use
};

std::span<const FieldSpec, kFieldIds> plan_fields();  // by FieldId
std::span<const KindSpec, kFaultKinds> plan_kinds();  // by FaultKind
const KindSpec& spec_of(FaultKind kind);
const KindSpec* kind_named(std::string_view name);  // nullptr: there is none

// What a fault says as words of a flag, in their one spelling: "pods DELETED name=pod1". Parsed again they give the
// same fault.
std::string words_of(const Fault& fault);

// A stranger's text within a message: cut where it is long.
std::string quoted(std::string_view text);

}  // namespace inquest::replayer
