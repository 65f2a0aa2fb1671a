// Text for people: amounts, counts and names as they stand in tables.
//
// Names come from a stranger's trace: whatever could move a cursor, colour a terminal or turn text around is shown as
// an escape, and what is too long is cut. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "schema/facts.h"

namespace inquest::report {

// A separator of the parts of a line.
inline constexpr std::string_view kDot = " · ";

// Control characters, bytes that are no UTF-8 and characters that change the direction of text as \n, \x1b, \u{202e};
// at most kMaxShown bytes of text, then "…". The backslash itself stays: this is for eyes, JSON is for programs.
std::string printable(std::string_view text);
inline constexpr size_t kMaxShown = 300;

// A code point at the start of `text` and its length; length 0 if the bytes are no UTF-8.
struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;
};
CodePoint first_code_point(std::string_view text);

std::string count(uint64_t n);                                                      // "24,328"
std::string counted(uint64_t n, std::string_view one, std::string_view many = {});  // "1 pod", "2 pods"
std::string size(uint64_t bytes);                                                   // "96 KiB", of files
std::string cpu(int64_t milli);                                                     // "100m", "2"
std::string memory(int64_t bytes);                                                  // "128Mi" when exact, else bytes
std::string span(Duration duration);                                                // "1 s", "24.031 s"
std::string shape(const PodShape& shape);                                           // "100m cpu · hostPort 8080/TCP"
std::string_view name_of(Verb verb);                                                // "ADDED"
std::string_view name_of(Protocol protocol);                                        // "TCP"
std::string port(const HostPort& port);                                             // "8080/TCP", "10.0.0.1:53/UDP"
std::string short_uid(std::string_view uid);                                        // "7a3e…"
std::string pod_name(const Catalog& catalog, PodId pod);                            // "sched-lab/pod1"

// The parts as lines of at most kLineWidth columns where the parts allow it; `indent` is where the first line starts,
// and the others stand below it if that is not too far right.
std::string wrapped_parts(const std::vector<std::string>& parts, size_t indent);
inline constexpr size_t kLineWidth = 80;

// Adds `part` to a line whose parts are separated by kDot; an empty part is none.
void add_part(std::string& line, std::string_view part);

}  // namespace inquest::report
