#include "kube/client/query.h"

#include <cctype>

namespace inquest::kube {

std::string encode_query(std::string_view value) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append("%").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

}  // namespace inquest::kube
