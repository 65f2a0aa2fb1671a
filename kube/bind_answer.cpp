#include "kube/bind_answer.h"

namespace inquest::kube {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The name of a pod stands in quotes in front of these texts and cannot hold spaces, so it cannot imitate one.
BindAnswer classify_conflict(std::string_view message) {
  if (contains(message, "is already assigned to node")) return BindAnswer::kAlreadyAssigned;
  if (contains(message, "is being deleted")) return BindAnswer::kBeingDeleted;
  if (contains(message, "UID in precondition")) return BindAnswer::kUidMismatch;
  if (contains(message, "ResourceVersion in precondition")) return BindAnswer::kVersionMismatch;
  if (contains(message, "schedulingGates")) return BindAnswer::kGated;
  return BindAnswer::kOtherConflict;
}

// Servers before 1.30 and proxies leave the code out now and then; the reason stands for it.
int code_of(std::string_view reason) {
  if (reason == "Conflict" || reason == "AlreadyExists") return 409;
  if (reason == "NotFound") return 404;
  if (reason == "Unauthorized" || reason == "Forbidden" || reason == "BadRequest" || reason == "Invalid" ||
      reason == "TooManyRequests") {
    return 400;
  }
  return reason.empty() ? 0 : 500;
}

// A proxy stopped waiting for the API server (408), or its client hung up (499 of nginx): the server may go on.
constexpr int kRequestTimeout = 408, kClientClosed = 499;

}  // namespace

BindAnswer classify_bind_answer(int code, std::string_view reason, std::string_view message) {
  if (code == 0) code = code_of(reason);
  if (code == 0) return BindAnswer::kNoAnswer;
  if (code >= 200 && code < 300) return BindAnswer::kBound;
  if (code == 409) return classify_conflict(message);
  if (code == 404) return BindAnswer::kNotFound;
  if (code == kRequestTimeout || code == kClientClosed) return BindAnswer::kServerError;
  if (code >= 400 && code < 500) return BindAnswer::kRefused;
  return BindAnswer::kServerError;
}

std::string_view assigned_node(std::string_view message) {
  constexpr std::string_view kBefore = "is already assigned to node \"";
  const size_t before = message.find(kBefore);
  if (before == std::string_view::npos) return {};
  const std::string_view rest = message.substr(before + kBefore.size());
  const size_t end = rest.find('"');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::string_view name_of(BindAnswer answer) {
  switch (answer) {
    case BindAnswer::kBound:
      return "bound";
    case BindAnswer::kAlreadyAssigned:
      return "already-assigned";
    case BindAnswer::kUidMismatch:
      return "uid-mismatch";
    case BindAnswer::kVersionMismatch:
      return "version-mismatch";
    case BindAnswer::kBeingDeleted:
      return "being-deleted";
    case BindAnswer::kGated:
      return "gated";
    case BindAnswer::kOtherConflict:
      return "conflict";
    case BindAnswer::kNotFound:
      return "not-found";
    case BindAnswer::kRefused:
      return "refused";
    case BindAnswer::kServerError:
      return "server-error";
    case BindAnswer::kNoAnswer:
      return "no-answer";
  }
  return "";
}

}  // namespace inquest::kube
