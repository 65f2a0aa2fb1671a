// When: an instant as people say it on the command line: RFC 3339, +12.5s after the start, or @SEQ.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "schema/record.h"

namespace inquest::cli {

struct When {
  std::optional<trace::Seq> seq;   // @43
  std::optional<Duration> offset;  // +12.5s
  std::optional<Time> time;        // 2026-11-29T20:04:11Z

  // Whether a record stands before this instant.
  bool after(const trace::Record& record, Time origin) const {
    if (seq) return record.seq < *seq;
    return record.wall < (offset ? origin + *offset : *time);
  }
};

// `option` names the option in messages: "--from".
Result<When> parse_when(std::string_view option, std::string_view text);

}  // namespace inquest::cli
