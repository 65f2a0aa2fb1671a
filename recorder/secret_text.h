// Secrets in running text: in messages, paths, user agents, arguments, comments.
//
// What is found, and which part of it is taken out, between > and <:
//   Bearer >abc123<              a word behind "Bearer " in any case, with a digit or of 20 bytes and more
//   Authorization: Basic >abc<   what follows the scheme, of a scheme that has many parts all to the end of the line
//   ?token=>abc<&x=1             the value behind NAME= if the NAME ends as a secret's does (token, access_token,
//                                DB_PASSWORD, client-secret, api_key, signature …)
//   \"token\":\"abc\"            a field of JSON within a string, if its key is one of secret_key()
//   https://user:>abc<@host      the password of a URL; also in user:abc@host/… and user:abc@tcp(…
//   >eyJ….….…<                  a JWT, whole
//   -----BEGIN … PRIVATE KEY-----> … <-----END …
// What stands for a secret stays: true, null, $(NAME), ${NAME}, ***, %s, <token>; so do digests of images, e-mail
// addresses, continue tokens of lists. Limits: a password with a / in a URL, a secret that only its looks betray
// (without a name before it), one written in escapes or in base64.
//
// The text may be JSON, whole or not, or a string of it: a secret ends at a quote or an escape that ends words.
// Linear; no memory.
#pragma once

#include <string_view>
#include <vector>

namespace inquest::recorder {

struct TextSecret {
  const char* begin;
  const char* end;
};

// Appended in their order; they do not overlap.
void find_text_secrets(std::string_view text, std::vector<TextSecret>& to);

// Whether a field of this name holds a secret as a string: token, password, authorization and their like, in any case.
bool secret_key(std::string_view key);

}  // namespace inquest::recorder
