#include "recorder/secret_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/byte_block.h"

namespace inquest::recorder {
namespace {

constexpr std::string_view kGone = "[redacted]";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c | 0x20) : c; }
bool is_alnum(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool in_name(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }
bool in_base64url(char c) { return is_alnum(c) || c == '_' || c == '-'; }
bool in_token(char c) { return in_base64url(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='; }

bool is_one_of(char c, std::string_view all) { return all.find(c) != std::string_view::npos; }

bool equal(std::string_view a, std::string_view b) {  // b in lower case
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == y; });
}
bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && equal(text.substr(text.size() - with.size()), with);
}

// The name of a parameter, variable or option whose value is secret.
bool secret_name(std::string_view name) {
  for (const std::string_view whole : {"sig", "jti"}) {
    if (equal(name, whole)) return true;
  }
  for (const std::string_view ending : {"password", "passwd", "passphrase", "apikey", "api_key", "api-key", "_pwd"}) {
    if (ends(name, ending)) return true;
  }
  for (const std::string_view word : {"token", "secret", "access_key", "access-key", "signature"}) {
    if (!ends(name, word)) continue;
    if (name.size() == word.size()) return true;
    const char first = name[name.size() - word.size()], before = name[name.size() - word.size() - 1];
    if (!is_alnum(before) || (is_upper(first) && !is_upper(before))) return true;  // a word of its own
  }
  return false;
}

// The beginning of what is written where a secret would stand.
bool begins_placeholder(std::string_view text) {
  return starts(text, kGone) || starts(text, "$(") || starts(text, "${") || starts(text, "{{");
}

// A whole value that is no secret: a flag, the name of a variable, stars, a format.
bool is_placeholder(std::string_view value) {
  for (const std::string_view word :
       {"", "true", "false", "null", "nil", "none", "yes", "no", "%s", "%v", "%q", "%d"}) {
    if (equal(value, word)) return true;
  }
  const auto in_variable = [](char c) { return is_upper(c) || is_digit(c) || c == '_'; };
  return (value.front() == '$' && std::all_of(value.begin() + 1, value.end(), in_variable)) ||
         std::all_of(value.begin(), value.end(), [](char c) { return c == '*'; });
}

class Finder {
 public:
  Finder(std::string_view text, std::vector<TextSecret>& to)
      : begin_(text.data()), end_(begin_ + text.size()), from_(begin_), to_(&to) {}

  // `at` stands on the second byte of a pair that may_begin() let through.
  void look(const char* at) {
    if (at < from_) return;
    switch (*at) {
      case '=':
        return named(at);
      case '@':
        return user_info(at);
      case 'J':
        return jwt(at);
      case ' ':
        return bearer(at);
      case ':':
        return authorization(at);
      case 'B':
        return private_key(at);
      default:
        return field_in_string(at);
    }
  }

 private:
  std::string_view rest(const char* p) const { return {p, static_cast<size_t>(end_ - p)}; }
  static std::string_view between(const char* p, const char* q) { return {p, static_cast<size_t>(q - p)}; }

  void take(const char* begin, const char* end) {
    if (begin >= end) return;
    to_->push_back({begin, end});
    from_ = end;
  }

  // What stands right before `at` and is part of a name.
  std::string_view name_before(const char* at) const {
    constexpr std::ptrdiff_t kLongest = 64;
    const char* p = at;
    while (p > from_ && at - p < kLongest && in_name(p[-1])) --p;
    return between(p, at);
  }
  bool word_before(const char* at, std::string_view word) const {
    const auto size = static_cast<std::ptrdiff_t>(word.size());
    return at - begin_ >= size && equal(between(at - size, at), word) &&
           (at - begin_ == size || !is_alnum(at[-size - 1]));
  }
  template <typename Part>
  const char* run(const char* p, Part&& part) const {
    while (p < end_ && part(*p)) ++p;
    return p;
  }
  const char* blanks(const char* p) const { return run(p, is_blank); }

  // Of an escape of JSON at p: whether it separates words, and how long it is.
  bool ends_word(const char* p, std::ptrdiff_t& size) const {
    const std::string_view text = rest(p);
    size = std::min<std::ptrdiff_t>(2, end_ - p);
    if (text.size() < 2) return true;
    if (is_one_of(text[1], "\"nrtbf")) return true;
    if (text[1] != 'u') return false;
    size = std::min<std::ptrdiff_t>(6, end_ - p);
    for (const std::string_view code : {"0026", "003c", "003e", "0022", "0027", "0020"}) {
      if (equal(text.substr(2, 4), code)) return true;
    }
    return false;
  }

  // Where the word at p ends that is the value of a parameter.
  const char* end_of_value(const char* p, char quote) const {
    while (p < end_) {
      if (*p == '\\') {
        std::ptrdiff_t size = 0;
        if (ends_word(p, size)) break;
        p += size;
        continue;
      }
      const bool ends =
          static_cast<unsigned char>(*p) < ' ' || *p == '"' || (quote != 0 ? *p == quote : is_one_of(*p, " &;,'`<>"));
      if (ends) break;
      ++p;
    }
    return p;
  }

  void named(const char* at) {
    if (at + 1 >= end_ || at[1] == '=' || !secret_name(name_before(at))) return;
    const char* value = at + 1;
    char quote = 0;
    if (*value == '\'') quote = *value++;
    if (starts(rest(value), "\\\"")) {
      quote = '"';
      value += 2;
    }
    if (begins_placeholder(rest(value))) return;
    const char* end = end_of_value(value, quote);
    if (!is_placeholder(between(value, end))) take(value, end);
  }

  static bool ends_authority(char c) { return static_cast<unsigned char>(c) <= ' ' || is_one_of(c, "/\"<>\\?#"); }

  // A digest, as in image@sha256:0123….
  bool digest(const char* p) const {
    const char* colon = run(p, is_alnum);
    if (colon == p || colon == end_ || *colon != ':') return false;
    const char* stop = std::min(end_, colon + 33);
    return std::all_of(colon + 1, stop, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); });
  }

  void user_info(const char* at) {
    const char* p = at;
    while (p > from_ && !ends_authority(p[-1])) --p;
    const std::string_view before = between(begin_, p);
    const bool url = before.size() >= 2 && before.back() == '/' && (ends(before, "://") || ends(before, ":\\/\\/"));
    from_ = at + 1;
    if (url) {
      const char* end = run(at, [](char c) { return !ends_authority(c); });
      while (end[-1] != '@') --end;  // the last one: a password may hold another
      at = end - 1;
      from_ = end;
    } else {
      const char* start = at;
      while (start > p && !is_one_of(start[-1], ",([{=;'`|")) --start;
      p = start;
    }
    const auto* colon = static_cast<const char*>(std::memchr(p, ':', static_cast<size_t>(at - p)));
    if (colon == nullptr || digest(at + 1)) return;
    if (!url && (colon == p || !before_host(at + 1) || !std::all_of(p, colon, in_name))) return;
    const std::string_view password = between(colon + 1, at);
    if (begins_placeholder(password) || is_placeholder(password)) return;
    to_->push_back({colon + 1, at});
  }

  // host/…, host:port/… or tcp(…: what stands behind the credentials of a reference without a scheme.
  bool before_host(const char* p) const {
    if (starts(rest(p), "tcp(") || starts(rest(p), "unix(")) return true;
    const char* host = run(p, [](char c) { return is_alnum(c) || c == '.' || c == '-'; });
    const char* end = host < end_ && *host == ':' ? run(host + 1, is_digit) : host;
    return host > p && (starts(rest(end), "/") || starts(rest(end), "\\/"));
  }

  void jwt(const char* at) {
    if (at - from_ < 2) return;
    const char* p = at - 2;
    if (*p != 'e' || (p > begin_ && in_base64url(p[-1]))) return;
    const char* header = run(p, in_base64url);
    if (header - p < 8 || header == end_ || *header != '.') return;
    const char* end = run(header, [](char c) { return in_base64url(c) || c == '.'; });
    while (end[-1] == '.') --end;
    if (end - header > 8) take(p, end);
  }

  void bearer(const char* at) {
    if (!word_before(at, "bearer")) return;
    const char* token = blanks(at);
    const char* end = run(token, in_token);
    while (end > token && end[-1] == '.') --end;  // of a sentence
    if (end - token >= 20 || std::any_of(token, end, is_digit)) take(token, end);
  }

  void authorization(const char* at) {
    if (!word_before(at, "authorization")) return;
    const char* p = blanks(at + 1);
    const char* end = run(p, in_token);
    const std::string_view scheme = between(p, end);
    const auto is_scheme = [&](std::string_view name) { return equal(scheme, name); };
    constexpr std::array<std::string_view, 6> kOneWord = {"basic", "bearer", "token", "negotiate", "ntlm", "apikey"};
    constexpr std::array<std::string_view, 3> kLine = {"digest", "aws4-hmac-sha256", "hawk"};
    if (std::any_of(kOneWord.begin(), kOneWord.end(), is_scheme)) {
      p = blanks(end);
      take(p, run(p, in_token));
    } else if (std::any_of(kLine.begin(), kLine.end(), is_scheme)) {
      p = blanks(end);
      end = end_of_line(p);
      if (!begins_placeholder(rest(p))) take(p, end);
      from_ = std::max(from_, end);
    } else if (end - p >= 20 || std::any_of(p, end, is_digit)) {
      take(p, end);
    }
  }
  // Of a line within a string, too.
  const char* end_of_line(const char* p) const {
    while (p < end_ && static_cast<unsigned char>(*p) >= ' ' && *p != '"') {
      if (starts(rest(p), "\\n") || starts(rest(p), "\\r")) break;
      p += *p == '\\' ? 2 : 1;
    }
    return std::min(p, end_);
  }

  // at: the B of -----BEGIN
  void private_key(const char* at) {
    constexpr std::string_view kBegin = "-----BEGIN ", kKey = "PRIVATE KEY", kDashes = "-----", kEnd = "-----END ";
    constexpr size_t kLongest = 64;
    if (at - begin_ < 5 || !starts(rest(at - 5), kBegin)) return;
    const std::string_view label = rest(at - 5 + kBegin.size()).substr(0, kLongest);
    const size_t close = label.find(kDashes);
    if (close == std::string_view::npos || label.substr(0, close).find(kKey) == std::string_view::npos) return;
    const char* body = label.data() + close + kDashes.size();
    if (starts(rest(body), kGone)) return;
    const char* end = body;
    while (end < end_ && *end != '"' && !(*end == '-' && starts(rest(end), kEnd))) end += *end == '\\' ? 2 : 1;
    take(body, std::min(end, end_));
  }

  // "…\"token\":\"abc\"…": `at` is the backslash behind the key.
  void field_in_string(const char* at) {
    const char* p = run(at, [](char c) { return c == '\\'; });
    const auto level = p - at;
    if (p == end_ || *p != '"' || !secret_key(name_before(at))) return;
    p = blanks(p + 1);
    if (p == end_ || *p != ':') return;
    p = blanks(p + 1);
    const char* open = run(p, [](char c) { return c == '\\'; });
    if (open - p != level || open == end_ || *open != '"') return;
    const char* value = open + 1;
    if (begins_placeholder(rest(value))) return;
    const char* end = value;
    for (;;) {
      end = run(end, [](char c) { return c != '\\' && c != '"'; });
      const char* behind = run(end, [](char c) { return c == '\\'; });
      if (behind - end <= level && (behind == end_ || *behind == '"')) break;
      end = behind + (behind < end_ ? 1 : 0);
    }
    if (!is_placeholder(between(value, end))) take(value, end);
  }

  const char* begin_;
  const char* end_;
  const char* from_;  // before it, nothing is looked at again
  std::vector<TextSecret>* to_;
};

// Where a secret may be found around a byte and the one before it, of many at once: nearly all text has none of these
// pairs. 0: not there.
ByteBlock may_begin(ByteBlock before, ByteBlock byte) {
  const ByteBlock low = before | 0x20;
  const auto key = (low == 'n') | (low == 'd') | (low == 't') | (low == 'y');
  const auto hit = (byte == '=') | (byte == '@') | ((byte == 'J') & (before == 'y')) | ((byte == ' ') & (low == 'r')) |
                   ((byte == ':') & (low == 'n')) | ((byte == 'B') & (before == '-')) | ((byte == '\\') & key);
  return reinterpret_cast<ByteBlock>(hit);
}

}  // namespace

void find_text_secrets(std::string_view text, std::vector<TextSecret>& to) {
  if (text.size() < 2) return;
  Finder finder(text, to);
  const auto look = [&](const char* at, ByteBlock hits, size_t count) {
    if (!any_in(hits)) return;
    for (size_t i = 0; i < count; ++i) {
      if (hits[i] != 0) finder.look(at + i);
    }
  };
  size_t at = 1;
  for (; at + kByteBlock <= text.size(); at += kByteBlock) {
    look(text.data() + at, may_begin(load_block(text.data() + at - 1), load_block(text.data() + at)), kByteBlock);
  }
  std::array<char, kByteBlock + 1> last{};
  std::memcpy(last.data(), text.data() + at - 1, text.size() - at + 1);
  look(text.data() + at, may_begin(load_block(last.data()), load_block(last.data() + 1)), text.size() - at);
}

bool secret_key(std::string_view key) {
  static constexpr std::array<std::string_view, 15> kKeys = {
      "token",        "password",      "passwd",        "authorization", "proxy-authorization",
      "access_token", "id_token",      "refresh_token", "accesstoken",   "client_secret",
      "clientsecret", "client-secret", "api_key",       "apikey",        "x-auth-token"};
  // Asked for every key there is, and nearly never true: first what no such key is.
  constexpr auto possible = [](std::string_view text) {
    constexpr std::string_view kLast = "ndtyNDTY";
    return text.size() >= 5 && text.size() <= 19 && kLast.find(text.back()) != std::string_view::npos;
  };
  static_assert(std::all_of(kKeys.begin(), kKeys.end(), possible));
  if (!possible(key)) return false;
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view name) { return equal(key, name); });
}

}  // namespace inquest::recorder
