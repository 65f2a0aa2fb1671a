// What the API server's answer to a bind means (kubernetes-facts 6.2).
#pragma once

#include <cstdint>
#include <string_view>

namespace inquest::kube {

enum class BindAnswer : uint8_t {
  kBound,            // 201
  kAlreadyAssigned,  // 409: the pod has a node, perhaps the one asked for
  kUidMismatch,      // 409: another pod has the name now
  kVersionMismatch,  // 409: the resourceVersion given is not the pod's
  kBeingDeleted,     // 409: the pod has a deletionTimestamp
  kGated,            // 409: the pod has scheduling gates
  kOtherConflict,    // 409 of another wording
  kNotFound,         // 404: no such pod
  kRefused,          // any other 4xx but 408 and 499: the request was not applied
  kServerError,      // 5xx, 408, 499, or a code that means nothing: whether it was applied is not known
  kNoAnswer,         // no HTTP answer at all (code 0): likewise not known
};

// Code and reason lead; a message only tells the conflicts apart, which share both.
BindAnswer classify_bind_answer(int code, std::string_view reason, std::string_view message);

// Whether the pod may be bound all the same: the outcome must be read from the API.
constexpr bool outcome_unknown(BindAnswer answer) {
  return answer == BindAnswer::kServerError || answer == BindAnswer::kNoAnswer;
}

// The node in 'is already assigned to node "N"'; empty if the message names none. A view into the message.
std::string_view assigned_node(std::string_view message);

// "already-assigned", for tables and JSON.
std::string_view name_of(BindAnswer answer);

}  // namespace inquest::kube
