// Base64 as the fields of a kubeconfig hold it: white space anywhere, else strict.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inquest::kube {

// The bytes, or nothing if the text is no base64 (RFC 4648, with its padding).
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace inquest::kube
