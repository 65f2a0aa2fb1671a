// Verb: one word of the command line, with its options. One file each; app.cpp holds the list.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace CLI {
class App;
}

namespace inquest::cli {

class Verb {
 public:
  virtual ~Verb() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view about() const = 0;    // one line
  virtual std::string_view example() const = 0;  // a command that works; --help starts with it
  // Options bind to members, so the verb must outlive the app.
  virtual void declare(CLI::App& app) = 0;
  // Called once, after the options were parsed.
  virtual ExitCode run(Terminal& terminal) = 0;
};

std::unique_ptr<Verb> record_verb();
std::unique_ptr<Verb> import_verb();
std::unique_ptr<Verb> info_verb();
std::unique_ptr<Verb> verify_verb();
std::unique_ptr<Verb> records_verb();
std::unique_ptr<Verb> export_verb();
std::unique_ptr<Verb> redact_verb();
std::unique_ptr<Verb> cut_verb();
std::unique_ptr<Verb> merge_verb();
std::unique_ptr<Verb> compact_verb();
std::unique_ptr<Verb> recover_verb();
std::unique_ptr<Verb> replay_verb();
std::unique_ptr<Verb> state_verb();
std::unique_ptr<Verb> diff_verb();
std::unique_ptr<Verb> matrix_verb();
std::unique_ptr<Verb> plan_verb();
std::unique_ptr<Verb> policies_verb();

}  // namespace inquest::cli
