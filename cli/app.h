// The command line as a function: arguments in, text and an exit code out. main.cpp makes it a process.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace inquest::cli {

// `args` without the program's name. `program`: what a user types to start it, for the help. Never throws for what a
// user or a file can do.
ExitCode run(const std::vector<std::string>& args, Terminal& terminal, const std::string& program = "inquest");

// What a user typed to start a program at this path: kubectl runs kubectl-inquest for `kubectl inquest`.
std::string program_of(std::string_view path);

// Calls `look` with every verb and option declared, nothing parsed: what is written about the command line is made of
// it.
void look_at_app(const std::function<void(const CLI::App&)>& look);

}  // namespace inquest::cli
