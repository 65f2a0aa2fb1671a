// The command line as a function: arguments in, text and an exit code out. main.cpp makes it a process.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace inquest::cli {

// `args` without the program's name. Never throws for what a user or a file can do.
ExitCode run(const std::vector<std::string>& args, Terminal& terminal);

}  // namespace inquest::cli
