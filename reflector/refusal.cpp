#include "reflector/refusal.h"

#include <algorithm>

namespace inquest::reflector {

namespace {

using Why = Refusal::Why;

constexpr std::string_view kTooLargeText = "Too large resource version";

// The reasons that apimachinery knows; a code counts only beside another one.
constexpr std::string_view kReasons[] = {"Unauthorized",
                                         "Forbidden",
                                         "NotFound",
                                         "AlreadyExists",
                                         "Conflict",
                                         "Gone",
                                         "Invalid",
                                         "ServerTimeout",
                                         "Timeout",
                                         "TooManyRequests",
                                         "BadRequest",
                                         "MethodNotAllowed",
                                         "NotAcceptable",
                                         "RequestEntityTooLarge",
                                         "UnsupportedMediaType",
                                         "InternalError",
                                         "Expired",
                                         "ServiceUnavailable",
                                         "StoreReadError"};

bool too_large(const Status& status, bool timeout) {
  const auto any = [&](auto&& says) { return std::any_of(status.causes.begin(), status.causes.end(), says); };
  if (any([](const StatusCause& cause) { return cause.reason == "ResourceVersionTooLarge"; })) return true;
  if (!timeout) return false;
  return any([](const StatusCause& cause) { return cause.message.find(kTooLargeText) != std::string_view::npos; }) ||
         status.message.find(kTooLargeText) != std::string_view::npos;
}

Why why_of(const Status& status) {
  const bool known = std::find(std::begin(kReasons), std::end(kReasons), status.reason) != std::end(kReasons);
  const auto is = [&](std::string_view reason, uint16_t code) {
    return status.reason == reason || (!known && status.code == code);
  };
  if (too_large(status, is("Timeout", 504))) return Why::kTooLarge;
  if (status.reason == "Expired") return Why::kExpired;
  if (is("Gone", 410)) return Why::kGone;
  if (is("TooManyRequests", 429) || status.code == 429) return Why::kTooManyRequests;
  if (is("InternalError", 500)) return Why::kInternalError;
  return Why::kOther;
}

}  // namespace

Refusal refusal_of(const Status& status, std::optional<uint32_t> retry_after_s) {
  const bool asked_again = status.code == 429 || status.code >= 500;
  return {why_of(status), asked_again ? retry_after_s : std::nullopt};
}

bool is_unsupported_table(std::string_view api_version, std::string_view kind) {
  return kind == "Table" && (api_version == "meta.k8s.io/v1" || api_version == "meta.k8s.io/v1beta1");
}

}  // namespace inquest::reflector
