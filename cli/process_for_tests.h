// For tests: the program as a process, in a folder of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/test_folder.h"

namespace inquest::cli {

struct Ran {
  int exit = -1;  // 128 + n: ended by signal n
  std::string out, err;
  int64_t max_rss_kb = 0;  // of memory; never less than the test's own
};

// Programs run in it.
class Workplace : public TestFolder {
 public:
  // inquest ARGS, bound by file permissions even for root; `out_to`: a file that takes its output in place of Ran::out.
  Ran run(const std::vector<std::string>& args, const std::string& out_to = "") const;
  // The same; `meanwhile` is called with the process's id while it runs, and may end it.
  Ran run_while(const std::vector<std::string>& args, const std::function<void(int pid)>& meanwhile) const;
  // How long it takes, and the same killed (SIGKILL) after so long, unless it has ended before.
  int64_t time_us(const std::vector<std::string>& args) const;
  void run_killed(const std::vector<std::string>& args, int64_t after_us) const;
  // The trace of traces/NAME/*, imported; NAME.trace.
  std::string imported(const std::string& name) const;

 private:
  int start(const std::vector<std::string>& args, const std::string& out) const;
  Ran wait_for(int child) const;
};

// A file of the repository, whatever folder the test runs in.
std::string in_repository(const std::string& name);

// One line of a capture: kind is list, open, frame or close.
std::string capture_line(int64_t t, const std::string& stream, const std::string& kind, const std::string& body);

}  // namespace inquest::cli
