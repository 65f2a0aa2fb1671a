#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/verb.h"

namespace inquest::cli {
namespace {

std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(record_verb());
  verbs.push_back(import_verb());
  verbs.push_back(info_verb());
  verbs.push_back(records_verb());
  verbs.push_back(verify_verb());
  verbs.push_back(replay_verb());
  verbs.push_back(state_verb());
  verbs.push_back(diff_verb());
  verbs.push_back(matrix_verb());
  verbs.push_back(plan_verb());
  verbs.push_back(policies_verb());
  verbs.push_back(export_verb());
  verbs.push_back(redact_verb());
  verbs.push_back(cut_verb());
  verbs.push_back(merge_verb());
  verbs.push_back(compact_verb());
  verbs.push_back(recover_verb());
  return verbs;
}

// CLI11's help, after an example; without "REQUIRED", which the usage line says, and without double blank lines.
class HelpFormatter : public CLI::Formatter {
 public:
  // An example starts with "inquest"; what it shows starts with `program`.
  HelpFormatter(const std::string& program, std::string_view example) : example_(program) {
    example_.append(example.substr(std::min(example.find(' '), example.size())));
    column_width(46);
    label("REQUIRED", "");
    label("Excludes", "not with");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    for (size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
    return help;
  }

  std::string make_description(const CLI::App* app) const override {
    return "Example:\n  " + example_ + "\n\n" + app->get_description() + "\n";
  }

 private:
  std::string example_;
};

constexpr const char* kAbout =
    "Records what a Kubernetes API said, replays it into a scheduler core with faults, shows the zombies.";
constexpr std::string_view kExample = "inquest import traces/hostport/hostport.jsonl.zst -o hostport.trace";
constexpr const char* kFooter =
    "Exit codes, the first that applies of 2, 5, 1, 4, 3: 0 nothing wrong, 1 findings, 2 usage or input error,\n"
    "3 done but data is missing, 4 verdict unknown, 5 the trace was made by a newer version.";

// '' is no default: a script whose variable is empty would get a file that it does not expect.
std::string named(const std::string& path) { return path.empty() ? "it takes a name, not ''" : ""; }

Error unknown_verb(const std::string& word, const std::vector<std::unique_ptr<Verb>>& verbs) {
  std::string names;
  for (const auto& verb : verbs) names += (names.empty() ? "one of " : ", ") + std::string(verb->name());
  return {ErrorCode::kUsage, "there is no verb '" + word + "'", "", names};
}

std::string names_of(const std::vector<const CLI::App*>& subs) {
  std::string names;
  for (const CLI::App* sub : subs) names += (names.empty() ? "" : ", ") + sub->get_name();
  return names;
}

// What CLI11 found wrong, in our form: it lists what was not expected backwards, and does not name its subcommands.
ExitCode refuse(const CLI::ParseError& error, const CLI::App& app, Terminal& terminal) {
  const std::vector<const CLI::App*> parsed = app.get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
  const std::string verb = parsed.empty() ? "" : " " + parsed.front()->get_name();
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (!parsed.empty()) {
    const CLI::App& sub = *parsed.front();
    const std::vector<std::string> rest = sub.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
      text = "not expected: " + CLI::detail::join(rest, " ");
    if (text == "A subcommand is required") text = "it takes one of " + names_of(sub.get_subcommands({}));
  }
  return terminal.fail({ErrorCode::kUsage, text, "", "see " + app.get_name() + verb + " --help"});
}

// The verbs' subcommands, in their order.
std::vector<CLI::App*> declare(CLI::App& app, const std::string& program,
                               const std::vector<std::unique_ptr<Verb>>& verbs) {
  app.formatter(std::make_shared<HelpFormatter>(program, kExample));
  app.footer(std::string("Each verb has its own --help.\n\n") + kFooter);
  app.set_version_flag("--version", "inquest " INQUEST_VERSION, "Print the version and exit");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.require_subcommand(0, 1);
  std::vector<CLI::App*> subs;
  for (const auto& verb : verbs) {
    CLI::App* sub = app.add_subcommand(std::string(verb->name()), std::string(verb->about()));
    sub->formatter(std::make_shared<HelpFormatter>(program, verb->example()));
    sub->group("Verbs");
    sub->footer(kFooter);
    verb->declare(*sub);
    if (CLI::Option* output = sub->get_option_no_throw("--output")) output->check(CLI::Validator(named, "", "name"));
    subs.push_back(sub);
  }
  return subs;
}

}  // namespace

void look_at_app(const std::function<void(const CLI::App&)>& look) {
  const std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  CLI::App app(kAbout, "inquest");
  declare(app, "inquest", verbs);
  look(app);
}

std::string program_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == "kubectl-inquest" ? "kubectl inquest" : "inquest";
}

ExitCode run(const std::vector<std::string>& args, Terminal& terminal, const std::string& program) {
  const std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  CLI::App app(kAbout, program);
  const std::vector<CLI::App*> subs = declare(app, program, verbs);
  if (!args.empty() && !args.front().starts_with('-') &&
      std::none_of(verbs.begin(), verbs.end(), [&](const auto& verb) { return verb->name() == args.front(); })) {
    return terminal.fail(unknown_verb(args.front(), verbs));
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& asked) {                               // --help, --version
    app.exit(asked, terminal.out, terminal.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return refuse(error, app, terminal);
  }
  for (size_t i = 0; i < subs.size(); ++i) {
    if (subs[i]->parsed()) return verbs[i]->run(terminal);
  }
  terminal.err << app.help();
  return ExitCode::kBadInput;
}

}  // namespace inquest::cli
