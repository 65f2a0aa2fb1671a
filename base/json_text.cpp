#include "base/json_text.h"

#include "base/byte_block.h"

namespace inquest {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void put_utf8(uint32_t c, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// The four digits at text[at]; UINT32_MAX if they are none.
uint32_t hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return UINT32_MAX;
  uint32_t value = 0;
  for (const char c : text.substr(at, 4)) {
    const char low = static_cast<char>(c | 0x20);
    const bool digit = c >= '0' && c <= '9', letter = low >= 'a' && low <= 'f';
    if (!digit && !letter) return UINT32_MAX;
    value = value * 16 + static_cast<uint32_t>(digit ? c - '0' : low - 'a' + 10);
  }
  return value;
}

// The escape \u…. at text[at] (which is the 'u'); the place behind it.
size_t unescape_unicode(std::string_view text, size_t at, std::string& out) {
  constexpr uint32_t kReplacement = 0xfffd;
  const uint32_t first = hex4(text, at + 1);
  if (first == UINT32_MAX) {
    out += "\\u";
    return at + 1;
  }
  if (first < 0xd800 || first > 0xdfff) {
    put_utf8(first, out);
    return at + 5;
  }
  const bool pair = first < 0xdc00 && text.substr(at + 5, 2) == "\\u";
  const uint32_t second = pair ? hex4(text, at + 7) : UINT32_MAX;
  if (second == UINT32_MAX || second < 0xdc00 || second > 0xdfff) {
    put_utf8(kReplacement, out);
    return at + 5;
  }
  put_utf8(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), out);
  return at + 11;
}

void put_unicode(uint32_t c, std::string& out) {
  if (c >= 0x10000) {
    put_unicode(0xd800 + ((c - 0x10000) >> 10), out);
    return put_unicode(0xdc00 + ((c - 0x10000) & 0x3ff), out);
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(c >> shift) & 15];
}

// The character at value[at], and its length; length 0: no UTF-8.
uint32_t decode(std::string_view value, size_t at, size_t& length) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(value[at + i])); };
  const uint32_t lead = byte(0);
  length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (length == 0 || at + length > value.size()) {
    length = 0;
    return 0;
  }
  uint32_t c = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) c = (c << 6) | (byte(i) & 0x3f);
  return c;
}

char short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

// Bytes that are written as more than themselves: `quoted` are quotes and backslashes.
struct Counts {
  size_t quoted = 0, control = 0;
};

Counts count_special(std::string_view text) {
  Counts out;
  const auto count = [&](const ByteBlock& quoted, const ByteBlock& control) {
    for (size_t i = 0; i < kByteBlock; ++i) {
      out.quoted += quoted[i];
      out.control += control[i];
    }
  };
  size_t at = 0;
  while (at + kByteBlock <= text.size()) {
    ByteBlock quoted{}, control{};
    constexpr int kRounds = 255;  // that a byte can count
    for (int i = 0; i < kRounds && at + kByteBlock <= text.size(); ++i, at += kByteBlock) {
      const ByteBlock bytes = load_block(text.data() + at);
      quoted -= reinterpret_cast<ByteBlock>((bytes == '"') | (bytes == '\\'));  // true is -1
      control -= reinterpret_cast<ByteBlock>(bytes < ' ');
    }
    count(quoted, control);
  }
  for (const char c : text.substr(at)) {
    out.quoted += c == '"' || c == '\\' ? 1 : 0;
    out.control += static_cast<unsigned char>(c) < ' ' ? 1 : 0;
  }
  return out;
}

}  // namespace

void unescape(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size();) {
    const size_t slash = text.find('\\', i);
    out.append(text.substr(i, slash == std::string_view::npos ? slash : slash - i));
    if (slash == std::string_view::npos) return;
    if (slash + 1 == text.size()) {
      out += '\\';
      return;
    }
    const char c = text[slash + 1];
    i = slash + 2;
    switch (c) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        i = unescape_unicode(text, slash + 1, out);
        break;
      default:
        out += c;
    }
  }
}

void escape(std::string_view value, Escapes style, std::string& out) {
  const bool html = style == Escapes::kHtml, ascii = style >= Escapes::kAscii;
  for (size_t i = 0; i < value.size();) {
    const char c = value[i];
    const auto byte = static_cast<unsigned char>(c);
    size_t length = 1;
    if (byte >= 0x80 && (html || ascii)) {
      const uint32_t wide = decode(value, i, length);
      if (length > 0 && (ascii || wide == 0x2028 || wide == 0x2029)) {
        put_unicode(wide, out);
      } else {
        if (length == 0) length = 1;
        out.append(value.substr(i, length));
      }
    } else if (const char letter = short_escape(c); letter != 0 && !(html && (c == '\b' || c == '\f'))) {
      out += '\\';
      out += letter;
    } else if (byte < ' ' || (html && (c == '<' || c == '>' || c == '&'))) {
      put_unicode(byte, out);
    } else if (c == '/' && style == Escapes::kSlash) {
      out += "\\/";
    } else {
      out += c;
    }
    i += length;
  }
}

bool is_json_scalar(std::string_view text) {
  if (text == "true" || text == "false") return true;
  size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  const size_t first = i, count = digits();
  if (count == 0 || (count > 1 && text[first] == '0')) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

bool is_short(std::string_view written, std::string_view value) {
  const Counts found = count_special(value);
  if (found.control == 0) return written.size() == value.size() + found.quoted;
  if (written.size() == value.size() + found.quoted + found.control) return true;  // all of them of the short kind
  std::string whole;
  escape(value, Escapes::kShort, whole);
  return whole == written;
}

}  // namespace inquest
