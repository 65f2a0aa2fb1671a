// Terminal: where a verb writes. Results go to `out`, diagnostics to `err`; tests give it strings.
#pragma once

#include <ostream>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "report/style.h"

namespace inquest::cli {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  report::Style style;  // of what goes to `out`

  // "inquest: PLACE: TEXT (NEXT)", and the exit code that follows.
  ExitCode fail(const Error& error);
  // "inquest: TEXT", of something that is not right and does not stop us.
  void warn(const std::string& text);
};

}  // namespace inquest::cli
