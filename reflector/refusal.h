// Refusal: how a request or a stream failed, as far as the reflector treats failures differently. The rules that read a
// Status stand here, once, for the live client and for replay.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace inquest::reflector {

struct Refusal {
  enum class Why : uint8_t {
    kOther,
    kConnectionRefused,
    kTooManyRequests,
    kExpired,
    kGone,           // what old servers say for kExpired
    kTooLarge,       // the resourceVersion asked for lies ahead of the server's
    kInternalError,  // also a frame that cannot be decoded
  };
  Why why = Why::kOther;
  // The Retry-After of an HTTP answer that is to be asked again. Asking again is the HTTP client's habit, below the
  // reflector's own (kubernetes-facts 5.11); an ERROR frame has none.
  std::optional<uint32_t> retry_after_s;

  // The resourceVersion that was asked for cannot be had (5.2).
  bool unavailable() const { return expired() || why == Why::kTooLarge; }
  bool expired() const { return why == Why::kExpired || why == Why::kGone; }
  // The server is there but busy, or just not there yet: the watch is asked for again, nothing is listed anew (5.1).
  bool busy() const { return why == Why::kConnectionRefused || why == Why::kTooManyRequests; }
};

// A metav1.Status, or an HTTP answer with no Status for a body: then only `code` is set.
struct StatusCause {
  std::string_view reason, message;
};
struct Status {
  uint16_t code = 0;
  std::string_view reason, message;
  std::span<const StatusCause> causes;
};

// Reason first, code only where the reason says nothing, never the text, except for servers before 1.19 (5.2, 5.5).
Refusal refusal_of(const Status& status, std::optional<uint32_t> retry_after_s = std::nullopt);

// A server-side table in place of the object: asked for by nobody here, and no object (kubernetes-facts 7.4).
bool is_unsupported_table(std::string_view api_version, std::string_view kind);

}  // namespace inquest::reflector
