#include "kube/client/status.h"

#include <simdjson.h>

#include <algorithm>
#include <vector>

namespace inquest::kube {
namespace {

constexpr size_t kMaxMessage = 300;

std::string_view text_of(simdjson::simdjson_result<simdjson::dom::element> value) {
  std::string_view out;
  return value.get(out) == simdjson::SUCCESS ? out : std::string_view();
}

// For one line of a terminal.
std::string plain(std::string_view text) {
  size_t size = std::min(text.size(), kMaxMessage);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  std::string out(text.substr(0, size));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return out;
}

std::string describe(const DecodedStatus& status, bool is_status, std::string_view content_type) {
  std::string out = std::to_string(status.code);
  if (!status.reason.empty()) out.append(" ").append(plain(status.reason));
  if (!status.message.empty()) out.append(": ").append(plain(status.message));
  if (!is_status && !content_type.empty()) out.append(", ").append(plain(content_type));
  if (!is_status) out.append(content_type.starts_with("text/html") ? ": a proxy's page, it seems" : ", no Status");
  return out;
}

}  // namespace

RefusedAnswer read_refusal(int http_status, std::string_view content_type, uint32_t retry_after_s,
                           std::string_view body) {
  RefusedAnswer out;
  out.status.code = http_status;
  reflector::Status status;
  status.code = static_cast<uint16_t>(http_status);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::vector<reflector::StatusCause> causes;
  const bool is_status =
      parser.parse(body.data(), body.size()).get(root) == simdjson::SUCCESS && text_of(root["kind"]) == "Status";
  if (is_status) {
    int64_t code = 0;
    if (root["code"].get(code) == simdjson::SUCCESS && code > 0 && code < 1000) {
      status.code = static_cast<uint16_t>(code);
      out.status.code = static_cast<int>(code);
    }
    status.reason = text_of(root["reason"]);
    status.message = text_of(root["message"]);
    simdjson::dom::array list;
    if (root["details"]["causes"].get(list) == simdjson::SUCCESS) {
      for (const simdjson::dom::element cause : list) {
        causes.push_back({text_of(cause["reason"]), text_of(cause["message"])});
      }
    }
    status.causes = causes;
    out.status.reason = status.reason;
    out.status.message = status.message;
  }
  // Only these are asked again for their Retry-After (kubernetes-facts 5.11).
  const bool again = retry_after_s > 0 && (http_status == 429 || http_status >= 500);
  out.refusal = reflector::refusal_of(status, again ? std::optional<uint32_t>(retry_after_s) : std::nullopt);
  out.text = describe(out.status, is_status, content_type);
  return out;
}

}  // namespace inquest::kube
