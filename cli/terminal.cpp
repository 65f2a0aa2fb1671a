#include "cli/terminal.h"

#include "report/text.h"

namespace inquest::cli {

ExitCode Terminal::fail(const Error& error) {
  // Each part for itself: a long place must not hide the text, nor a name from a trace act on the terminal.
  const Error safe{error.code, report::printable(error.text), report::printable(error.place),
                   report::printable(error.next)};
  err << "inquest: " << safe.message() << "\n";
  return exit_code_of(error.code);
}

void Terminal::warn(const std::string& text) { err << "inquest: " << report::printable(text) << "\n"; }

}  // namespace inquest::cli
