// A program of the build: writes completion for a shell from the options as the verbs declare them, so that it cannot
// drift from them.   inquest_completion bash|fish|kubectl
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "cli/app.h"

namespace {

// Of a verb and of its own subcommands.
std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  std::vector<const CLI::Option*> options = verb.get_options([](const CLI::Option* o) { return o->nonpositional(); });
  for (const CLI::App* sub : verb.get_subcommands({})) {
    for (const CLI::Option* option : options_of(*sub)) options.push_back(option);
  }
  return options;
}

// Every spelling of the options, those alone that take a value if so asked, between `separator`s.
std::string spellings(const CLI::App& verb, bool valued, const char* separator) {
  std::string words;
  const auto add = [&](const char* dashes, const std::string& name) {
    words.append(words.empty() ? "" : separator).append(dashes).append(name);
  };
  for (const CLI::Option* option : options_of(verb)) {
    if (valued && option->get_items_expected_max() == 0) continue;
    for (const std::string& name : option->get_snames()) add("-", name);
    for (const std::string& name : option->get_lnames()) add("--", name);
  }
  return words;
}

std::string names(const std::vector<const CLI::App*>& apps) {
  std::string words;
  for (const CLI::App* app : apps) words.append(words.empty() ? "" : " ").append(app->get_name());
  return words;
}

// _inquest_offer PREVIOUS CURRENT [VERB]: sets `offered`; empty: names of files are meant.
void write_offer(const CLI::App& app) {
  std::cout << "_inquest_offer() {\n  local previous=$1 current=$2 verb=${3-} options subs=\n  offered=\n"
            << "  case $verb in\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    const std::string valued = spellings(*verb, true, "|");
    std::cout << "    " << verb->get_name() << ")\n      options='" << spellings(*verb, false, " ") << "'\n      subs='"
              << names(verb->get_subcommands({})) << "'\n";
    if (!valued.empty()) std::cout << "      case $previous in " << valued << ") return ;; esac\n";
    std::cout << "      ;;\n";
  }
  std::cout
      << "    *) options='" << spellings(app, false, " ") << "' subs='" << names(app.get_subcommands({}))
      << "' ;;\n  esac\n"
      << "  case $current in -*) offered=$options ;; *) [[ $previous != \"$verb\" ]] || offered=$subs ;; esac\n}\n";
}

void write_bash(const CLI::App& app) {
  std::cout << "# bash completion for inquest\n";
  write_offer(app);
  std::cout << R"(_inquest() {
  local offered current=${COMP_WORDS[COMP_CWORD]} previous= verb=
  (( COMP_CWORD < 2 )) || previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  _inquest_offer "$previous" "$current" "$verb"
  if [[ -n $offered ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _inquest inquest
)";
}

// kubectl gives the words after the plugin's name; the last line tells its shell: 4 no files, 0 files.
void write_kubectl(const CLI::App& app) {
  std::cout << "#!/usr/bin/env bash\n# completion for kubectl inquest\n";
  write_offer(app);
  std::cout << R"(current=${*: -1} previous= verb=
(( $# < 2 )) || previous=${*: -2:1} verb=$1
_inquest_offer "$previous" "$current" "$verb"
[[ -n $offered ]] || { echo :0; exit; }
compgen -W "$offered" -- "$current"
echo :4
)";
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' || c == '\\' ? "\\" : "").push_back(c);
  return out.append("'");
}

void write_fish(const CLI::App& app) {
  std::cout << "# fish completion for inquest\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    std::cout << "complete -c inquest -f -n __fish_use_subcommand -a " << verb->get_name() << " -d "
              << quoted(verb->get_description()) << "\n";
    for (const CLI::Option* option : options_of(*verb)) {
      std::cout << "complete -c inquest -n '__fish_seen_subcommand_from " << verb->get_name() << "'";
      for (const std::string& name : option->get_lnames()) std::cout << " -l " << name;
      for (const std::string& name : option->get_snames()) std::cout << " -s " << name;
      std::cout << (option->get_items_expected_max() == 0 ? "" : " -r") << " -d " << quoted(option->get_description())
                << "\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string shell = argc == 2 ? argv[1] : "";
  if (shell != "bash" && shell != "fish" && shell != "kubectl") {
    std::cerr << "usage: inquest_completion bash|fish|kubectl\n";
    return 2;
  }
  inquest::cli::look_at_app(shell == "bash" ? write_bash : shell == "fish" ? write_fish : write_kubectl);
  return std::cout.flush() ? 0 : 2;
}
