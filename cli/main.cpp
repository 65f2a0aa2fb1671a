// The program: arguments in, results to stdout, diagnostics to stderr. A result that cannot be written is an error.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include "cli/app.h"

namespace {

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

// 0, or the errno of the write that failed.
int write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return 0;
}

// What the standard output gets: kept until the end, so that a verb that fails has printed nothing, unless a verb
// flushes because it has more to say than memory should hold. After a failed write nothing more is written.
class Output : public std::stringbuf {
 public:
  int failed() const { return failed_; }

 protected:
  int sync() override {
    if (failed_ == 0) failed_ = write_all(STDOUT_FILENO, str());
    str({});
    return failed_ == 0 ? 0 : -1;
  }

 private:
  int failed_ = 0;
};

int run(int argc, char** argv) {
  using inquest::ErrorCode;
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT: a closed pipe is an error that write() tells
  Output buffer;
  std::ostream out(&buffer);
  const auto colour = wants_colour() ? inquest::report::Colour::kOn : inquest::report::Colour::kOff;
  inquest::cli::Terminal terminal{out, std::cerr, inquest::report::Style(colour)};
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto code = inquest::cli::run(args, terminal, inquest::cli::program_of(argc > 0 ? argv[0] : ""));
  out.flush();
  const int failed = buffer.failed();
  if (failed == 0) return static_cast<int>(code);
  return static_cast<int>(terminal.fail(
      {ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(failed), "standard output", ""}));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory: everything else is an Error long before
    std::cerr << "inquest: " << error.what() << "\n";
    return 2;
  }
}
