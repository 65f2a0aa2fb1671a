#include "kube/client/base64.h"

#include <openssl/evp.h>

#include <climits>

namespace inquest::kube {

std::optional<std::string> decode_base64(std::string_view text) {
  std::string packed;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') packed += c;
  }
  if (packed.size() % 4 != 0 || packed.size() > INT_MAX) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < packed.size() && packed[packed.size() - 1 - padding] == '=') ++padding;
  // OpenSSL takes padding anywhere for zeros.
  if (packed.find('=') < packed.size() - padding) return std::nullopt;
  std::string out(packed.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(packed.data()), static_cast<int>(packed.size()));
  if (length < 0) return std::nullopt;
  out.resize(static_cast<size_t>(length) - padding);
  return out;
}

std::string encode_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(length));
  return out;
}

}  // namespace inquest::kube
