#include "report/text.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "base/duration.h"
#include "report/table.h"

namespace inquest::report {
namespace {

bool turns_text(uint32_t c) {
  return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff ||
         c == 0x061c;
}

std::string escaped(uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x80 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{{{:x}}}", c);
  }
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {};
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  uint32_t value = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, length};
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= kMaxShown) return out + "…";
    const CodePoint c = first_code_point(text);
    if (c.length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    const bool control = c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0);
    if (control || turns_text(c.value)) {
      out += escaped(c.value);
    } else {
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

std::string count(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(uint64_t n, std::string_view one, std::string_view many) {
  if (n == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count(n), one) : fmt::format("{} {}", count(n), many);
}

std::string size(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  uint64_t tenths = bytes;  // of the unit, from KiB on
  while (unit + 1 < kUnits.size() && tenths >= (unit == 0 ? 1024 : 10'240)) {
    tenths = unit == 0 ? (tenths / 1024) * 10 + (tenths % 1024) * 10 / 1024 : tenths / 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  if (tenths >= 100 || tenths % 10 == 0) return fmt::format("{} {}", tenths / 10, kUnits[unit]);
  return fmt::format("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
}

std::string cpu(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

std::string memory(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + std::string(kUnits[unit]);
}

std::string span(Duration duration) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (duration.ns % kSecond == 0) return fmt::format("{} s", duration.ns / kSecond);
  return format_seconds(duration);
}

std::string_view name_of(Verb verb) {
  constexpr std::array<std::string_view, 3> kVerbs = {"ADDED", "MODIFIED", "DELETED"};
  return kVerbs[static_cast<size_t>(verb)];
}

std::string_view name_of(Protocol protocol) {
  constexpr std::array<std::string_view, 3> kProtocols = {"TCP", "UDP", "SCTP"};
  return kProtocols[static_cast<size_t>(protocol)];
}

std::string port(const HostPort& port) {
  const std::string address = port.ip.empty() ? "" : printable(port.ip) + ":";
  return fmt::format("{}{}/{}", address, port.port, name_of(port.protocol));
}

std::string shape(const PodShape& shape) {
  const Resources& requests = shape.requests;
  std::string out;
  if (requests.cpu_milli != 0) add_part(out, cpu(requests.cpu_milli) + " cpu");
  if (requests.memory != 0) add_part(out, memory(requests.memory));
  if (requests.ephemeral != 0) add_part(out, memory(requests.ephemeral) + " ephemeral");
  for (const NamedAmount& amount : requests.extended) {
    add_part(out, fmt::format("{} {}", amount.amount, printable(amount.name)));
  }
  for (const HostPort& taken : shape.ports) add_part(out, "hostPort " + port(taken));
  return out.empty() ? "one pod's place, no requests" : out;
}

std::string short_uid(std::string_view uid) {
  if (uid.empty()) return "none";
  return uid.size() <= 4 ? printable(uid) : printable(uid.substr(0, 4)) + "…";
}

std::string pod_name(const Catalog& catalog, PodId pod) {
  const KeyId key = catalog.key_of(pod);
  return printable(catalog.ns(key)) + "/" + printable(catalog.name(key));
}

std::string wrapped_parts(const std::vector<std::string>& parts, size_t indent) {
  std::string out;
  size_t column = indent;
  const size_t below = indent <= kLineWidth / 3 ? indent : 2;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const size_t takes = width(part) + (out.empty() ? 0 : width(kDot));
    if (!out.empty() && column + takes > kLineWidth) {
      out += "\n" + std::string(below, ' ') + part;
      column = below + width(part);
    } else {
      out += out.empty() ? part : std::string(kDot) + part;
      column += takes;
    }
  }
  return out;
}

void add_part(std::string& line, std::string_view part) {
  if (part.empty()) return;
  if (!line.empty()) line += kDot;
  line += part;
}

}  // namespace inquest::report
