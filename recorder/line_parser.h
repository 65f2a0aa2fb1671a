// LineParser: one line of an input → what it says. The three shapes of lines are described in recorder/README.md.
//
// Views in the results point into the line or into the parser; they are valid until the parser's next call. Errors say
// what is wrong with the line in words, without quoting it; the place is left to the caller. Unknown fields are passed
// over, of a field given twice the last one counts. Keep one parser per input; not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "recorder/line_source.h"

namespace inquest::recorder {

// {"t", "stream", "kind": list | open | frame | close | origin, "path", "status", "body", "reason"}
struct CaptureLine {
  enum class Kind : uint8_t { kList, kOpen, kFrame, kClose, kOrigin };  // of what a cut was taken out of
  Kind kind = Kind::kFrame;
  Time t;
  std::string_view stream, path, body, reason;
  std::string_view written;  // the text of the body as it stands in the line, without quotes; empty: no body
  bool raw = false;          // the body is no string but JSON
  uint16_t status = 0;
};

// A line of a bind log or a bind in an audit log.
struct BindLine {
  std::string_view ns, name, uid, node;
  std::string_view scheduler;        // of a bind log
  std::string_view user, agent;      // of an audit log
  std::string_view audit_id, stage;  // of an audit log
  std::string_view reason, message;  // of the answer
  std::string_view request, answer;  // the JSON of both, as it stands; empty where the log has none
  uint16_t code = 0;                 // 0: no answer
  Time sent, answered;
};

inline constexpr const char* kNotUtf8 = "not valid UTF-8";  // an error of the parser

class LineParser {
 public:
  LineParser();
  ~LineParser();
  LineParser(LineParser&&) noexcept;
  LineParser& operator=(LineParser&&) noexcept;

  Result<CaptureLine> capture(const Line& line);
  Result<BindLine> bind_log(const Line& line);
  // Nothing: an event that is no finished bind (another verb, another stage, a dry run).
  Result<std::optional<BindLine>> audit(const Line& line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::recorder
