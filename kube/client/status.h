// What an HTTP answer that is no success says, for the reflector and for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/decode.h"
#include "reflector/refusal.h"

namespace inquest::kube {

struct RefusedAnswer {
  DecodedStatus status;  // code: the Status's own, else the HTTP answer's
  reflector::Refusal refusal;
  std::string text;  // one line: "403 Forbidden: pods is forbidden: …", "502, text/html: a proxy's page, it seems"
};

// A body that is no Status is not quoted.
RefusedAnswer read_refusal(int http_status, std::string_view content_type, uint32_t retry_after_s,
                           std::string_view body);

}  // namespace inquest::kube
