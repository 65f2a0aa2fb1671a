#include "recorder/looks_like.h"

#include <algorithm>
#include <cctype>

#include "recorder/redact.h"

namespace inquest::recorder {
namespace {

constexpr size_t kShown = 80;

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Looks html(std::string_view head) {
  const std::string low = lower(head);
  const size_t tag = low.find("<title");
  const size_t begin = tag == std::string::npos ? tag : low.find('>', tag);
  const size_t end = begin == std::string::npos ? begin : low.find("</title", begin);
  std::string what = "an HTML page";
  if (end != std::string::npos) {
    what += " titled '" + printable(head.substr(begin + 1, end - begin - 1)) + "'";
  } else if (low.find("<html") == std::string::npos && low.find("<!doctype html") == std::string::npos) {
    what = "XML or HTML";
  }
  return {what, "a proxy or a login page answered in place of the API server?"};
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find_first_of("\r\n")); }

// "I1129 20:03:08.1 …": a component's log.
bool klog(std::string_view text) {
  return text.size() > 5 && std::string_view("IWEF").find(text[0]) != std::string_view::npos &&
         std::all_of(text.begin() + 1, text.begin() + 5, [](char c) { return c >= '0' && c <= '9'; });
}

Looks json_object(const JsonShape& first) {
  if (first.kind == "Table") return {"a Table, as kubectl asks for it", "record plain JSON: Accept: application/json"};
  if (starts_with(first.api_version, "audit.k8s.io/")) {
    return {"an audit " + printable(first.kind), "import reads audit events, one a line"};
  }
  if (first.has_type && first.has_object) {
    return {"raw watch frames without arrival times", "record them as capture lines (recorder/README.md)"};
  }
  if (first.kind == "Status") return {"a Kubernetes Status, an error answer", ""};
  if (!first.kind.empty() && !first.api_version.empty()) {
    return {"a Kubernetes " + printable(first.kind) + ", as kubectl prints it",
            "one object says nothing about time; import reads capture lines, audit logs and bind logs"};
  }
  return {"JSON lines of an unknown kind", "import reads capture lines, audit logs and bind logs"};
}

}  // namespace

std::string printable(std::string_view text) {
  Redactor redactor({});
  text = redactor.redact_text(text);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  std::string out;
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > kShown) out.replace(kShown - 3, 3, "...");
  return out;
}

Looks looks_like_bytes(std::string_view head) {
  if (starts_with(head, "\xff\xfe") || starts_with(head, std::string_view("\xfe\xff", 2))) {
    return {"UTF-16 text", "PowerShell's > writes that; convert it with: iconv -f UTF-16 -t UTF-8"};
  }
  if (starts_with(head, "SQLite format 3")) return {"a SQLite file", "a trace needs no import"};
  if (starts_with(head, std::string_view("k8s\0", 4))) return {"Kubernetes protobuf", "record JSON"};
  if (starts_with(head,
                  "\xfd"
                  "7zXZ"))
    return {"xz data", "unpack it first; gzip and zstd are read as they are"};
  if (starts_with(head, "BZh")) return {"bzip2 data", "unpack it first; gzip and zstd are read as they are"};
  if (starts_with(head, "PK\x03\x04")) return {"a ZIP archive", "unpack it first; gzip and zstd are read as they are"};
  const auto control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b');
  };
  if (std::any_of(head.begin(), head.end(), control)) return {"binary data", ""};
  return {};
}

Looks looks_like_text(std::string_view head, const JsonShape& first) {
  if (starts_with(head, "\xef\xbb\xbf")) head.remove_prefix(3);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  head = begin == std::string_view::npos ? std::string_view() : head.substr(begin);
  const std::string_view line = first_line(head);
  if (first.whole) return json_object(first);
  if (starts_with(head, "<")) return html(head);
  if (starts_with(head, "{")) {
    if (line.size() <= 2) {
      return {"JSON over several lines, as kubectl -o json prints it", "import reads one JSON object a line"};
    }
    return {"damaged JSON", "was the start of the file cut off?"};
  }
  if (starts_with(head, "[")) return {"a JSON array", "import reads one JSON object a line"};
  for (const std::string_view prefix :
       {"Error from server", "error:", "Unable to connect to the server", "The connection to the server"}) {
    if (starts_with(head, prefix)) return {"an error of kubectl: '" + printable(line) + "'", ""};
  }
  if (starts_with(line, "NAME ") || starts_with(line, "NAMESPACE ")) {
    return {"a table, as kubectl get prints it", "import reads capture lines, audit logs and bind logs"};
  }
  if (starts_with(line, "apiVersion:") || starts_with(line, "kind:") || starts_with(line, "---") ||
      ends_with(line, ":")) {
    return {"YAML", "import reads one JSON object a line"};
  }
  if (klog(line)) return {"a component's log", "import reads capture lines, audit logs and bind logs"};
  return {"text that is not JSON", "import reads capture lines, audit logs and bind logs"};
}

}  // namespace inquest::recorder
