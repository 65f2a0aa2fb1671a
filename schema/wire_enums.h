// Our enums ↔ those of trace.capnp, whose values are for ever. Private to schema/; sources only.
#pragma once

#include <trace.capnp.h>

#include <array>
#include <cstddef>
#include <utility>

#include "schema/record.h"

namespace inquest::trace {

// One row a value: ours, the wire's. To the wire by position of ours, from it by position of the wire's; a value that
// stands in no row is not known.
template <typename Ours, typename Wire, size_t kCount>
class EnumMap {
 public:
  using Pair = std::pair<Ours, Wire>;
  constexpr EnumMap(const std::array<Pair, kCount>& pairs, Ours unknown) : unknown_(unknown) {
    for (size_t i = 0; i < kCount; ++i) {
      const auto wire = static_cast<size_t>(pairs[i].second);
      to_wire_[static_cast<size_t>(pairs[i].first)] = pairs[i].second;
      if (wire >= kSlots) continue;
      from_wire_[wire] = pairs[i].first;
      known_[wire] = true;
    }
  }
  constexpr Wire to_wire(Ours value) const { return to_wire_[static_cast<size_t>(value)]; }
  constexpr bool knows(Wire value) const {
    return static_cast<size_t>(value) < kSlots && known_[static_cast<size_t>(value)];
  }
  constexpr Ours from_wire(Wire value) const {
    return knows(value) ? from_wire_[static_cast<size_t>(value)] : unknown_;
  }

 private:
  static constexpr size_t kSlots = 16;
  Ours unknown_;
  std::array<Wire, kSlots> to_wire_{};
  std::array<Ours, kSlots> from_wire_{};
  std::array<bool, kSlots> known_{};
};

template <typename Ours, typename Wire, size_t kCount>
constexpr EnumMap<Ours, Wire, kCount> make_map(const std::pair<Ours, Wire> (&rows)[kCount], Ours unknown) {
  std::array<std::pair<Ours, Wire>, kCount> pairs{};
  for (size_t i = 0; i < kCount; ++i) {
    pairs[i].first = rows[i].first;
    pairs[i].second = rows[i].second;
  }
  return EnumMap<Ours, Wire, kCount>(pairs, unknown);
}

inline constexpr auto kRecordKinds =
    make_map<RecordKind, wire::RecordKind>({{RecordKind::kList, wire::RecordKind::LIST},
                                            {RecordKind::kFrame, wire::RecordKind::FRAME},
                                            {RecordKind::kBookmark, wire::RecordKind::BOOKMARK},
                                            {RecordKind::kError, wire::RecordKind::ERROR},
                                            {RecordKind::kOpen, wire::RecordKind::OPEN},
                                            {RecordKind::kClose, wire::RecordKind::CLOSE},
                                            {RecordKind::kBindRequest, wire::RecordKind::BIND_REQUEST},
                                            {RecordKind::kBindAnswer, wire::RecordKind::BIND_ANSWER},
                                            {RecordKind::kGap, wire::RecordKind::GAP},
                                            {RecordKind::kUndecodable, wire::RecordKind::UNDECODABLE},
                                            {RecordKind::kSource, wire::RecordKind::SOURCE}},
                                           RecordKind::kUndecodable);

inline constexpr auto kVerbs = make_map<Verb, wire::Verb>(
    {{Verb::kAdded, wire::Verb::ADDED}, {Verb::kModified, wire::Verb::MODIFIED}, {Verb::kDeleted, wire::Verb::DELETED}},
    Verb::kAdded);

inline constexpr auto kPhases = make_map<PodPhase, wire::PodPhase>({{PodPhase::kUnknown, wire::PodPhase::UNKNOWN},
                                                                    {PodPhase::kPending, wire::PodPhase::PENDING},
                                                                    {PodPhase::kRunning, wire::PodPhase::RUNNING},
                                                                    {PodPhase::kSucceeded, wire::PodPhase::SUCCEEDED},
                                                                    {PodPhase::kFailed, wire::PodPhase::FAILED}},
                                                                   PodPhase::kUnknown);

inline constexpr auto kConditions =
    make_map<Condition, wire::Condition>({{Condition::kAbsent, wire::Condition::ABSENT},
                                          {Condition::kTrue, wire::Condition::TRUE},
                                          {Condition::kFalse, wire::Condition::FALSE},
                                          {Condition::kUnknown, wire::Condition::UNKNOWN}},
                                         Condition::kUnknown);

inline constexpr auto kSelectorOperators = make_map<SelectorOperator, wire::SelectorOperator>(
    {{SelectorOperator::kUnknown, wire::SelectorOperator::UNKNOWN},
     {SelectorOperator::kIn, wire::SelectorOperator::IN},
     {SelectorOperator::kNotIn, wire::SelectorOperator::NOT_IN},
     {SelectorOperator::kExists, wire::SelectorOperator::EXISTS},
     {SelectorOperator::kDoesNotExist, wire::SelectorOperator::DOES_NOT_EXIST},
     {SelectorOperator::kGt, wire::SelectorOperator::GT},
     {SelectorOperator::kLt, wire::SelectorOperator::LT}},
    SelectorOperator::kUnknown);

inline constexpr auto kTolerationOperators = make_map<TolerationOperator, wire::TolerationOperator>(
    {{TolerationOperator::kEqual, wire::TolerationOperator::EQUAL},
     {TolerationOperator::kExists, wire::TolerationOperator::EXISTS},
     {TolerationOperator::kGt, wire::TolerationOperator::GT},
     {TolerationOperator::kLt, wire::TolerationOperator::LT},
     {TolerationOperator::kUnknown, wire::TolerationOperator::UNKNOWN}},
    TolerationOperator::kUnknown);

inline constexpr auto kTaintEffects =
    make_map<TaintEffect, wire::TaintEffect>({{TaintEffect::kAny, wire::TaintEffect::ANY},
                                              {TaintEffect::kNoSchedule, wire::TaintEffect::NO_SCHEDULE},
                                              {TaintEffect::kPreferNoSchedule, wire::TaintEffect::PREFER_NO_SCHEDULE},
                                              {TaintEffect::kNoExecute, wire::TaintEffect::NO_EXECUTE},
                                              {TaintEffect::kUnknown, wire::TaintEffect::UNKNOWN}},
                                             TaintEffect::kUnknown);

inline constexpr auto kProtocols = make_map<Protocol, wire::Protocol>({{Protocol::kTcp, wire::Protocol::TCP},
                                                                       {Protocol::kUdp, wire::Protocol::UDP},
                                                                       {Protocol::kSctp, wire::Protocol::SCTP}},
                                                                      Protocol::kTcp);

}  // namespace inquest::trace
