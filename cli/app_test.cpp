#include "cli/app.h"

#include <gtest/gtest.h>

#include <sstream>

namespace inquest::cli {
namespace {

TEST(ExitCodes, TheFirstOf25143Wins) {
  const ExitCode order[] = {ExitCode::kBadInput, ExitCode::kNewer,   ExitCode::kFindings,
                            ExitCode::kUnknown,  ExitCode::kMissing, ExitCode::kOk};
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 6; ++j) EXPECT_EQ(first_of(order[i], order[j]), order[i < j ? i : j]);
  }
}

TEST(ExitCodes, OfErrors) {
  EXPECT_EQ(exit_code_of(ErrorCode::kUsage), ExitCode::kBadInput);
  EXPECT_EQ(exit_code_of(ErrorCode::kCorrupt), ExitCode::kBadInput);
  EXPECT_EQ(exit_code_of(ErrorCode::kNewer), ExitCode::kNewer);
}

TEST(Terminal, AMessageIsOneLineWhateverIsInIt) {
  std::ostringstream out, err;
  Terminal terminal{out, err, report::Style(report::Colour::kOff)};
  EXPECT_EQ(terminal.fail({ErrorCode::kInput, "bad\x1b[2J", "a\nb", "do this"}), ExitCode::kBadInput);
  EXPECT_EQ(err.str(), "inquest: a\\nb: bad\\x1b[2J (do this)\n");
  EXPECT_EQ(out.str(), "");
}

// Options that a verb declares twice, or that clash, would throw when the app is built.
TEST(App, RunsWithoutAProcess) {
  std::ostringstream out, err;
  Terminal terminal{out, err, report::Style(report::Colour::kOff)};
  EXPECT_EQ(run({"policies"}, terminal), ExitCode::kOk);
  EXPECT_NE(out.str().find("combined (default)"), std::string::npos);
  EXPECT_EQ(run({"info", "/no/such.trace"}, terminal), ExitCode::kBadInput);
  EXPECT_EQ(err.str(), "inquest: /no/such.trace: no such file (check the name)\n");
}

TEST(App, HelpNamesWhatTheUserTyped) {
  EXPECT_EQ(program_of("/usr/bin/inquest"), "inquest");
  EXPECT_EQ(program_of("/usr/bin/kubectl-inquest"), "kubectl inquest");
  EXPECT_EQ(program_of("kubectl-inquest"), "kubectl inquest");
  std::ostringstream out, err;
  Terminal terminal{out, err, report::Style(report::Colour::kOff)};
  EXPECT_EQ(run({"info", "--help"}, terminal, "kubectl inquest"), ExitCode::kOk);
  EXPECT_NE(out.str().find("Usage: kubectl inquest info "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("Example:\n  kubectl inquest info "), std::string::npos) << out.str();
  EXPECT_EQ(run({"info", "--nonsense"}, terminal, "kubectl inquest"), ExitCode::kBadInput);
  EXPECT_NE(err.str().find("see kubectl inquest info --help"), std::string::npos) << err.str();
}

TEST(App, ColoursOnlyWhenAsked) {
  std::ostringstream out, err;
  Terminal terminal{out, err, report::Style(report::Colour::kOn)};
  EXPECT_EQ(terminal.style.bad("x"), "\x1b[1;31mx\x1b[0m");
  EXPECT_EQ(report::Style(report::Colour::kOff).bad("x"), "x");
}

}  // namespace
}  // namespace inquest::cli
