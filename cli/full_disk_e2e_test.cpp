// A disk that is full: a small tmpfs in a mount namespace of its own. Whatever is to be made there is refused with a
// reason, leaves no half file behind, and nothing that was there goes.
#include <gtest/gtest.h>

#include <cstdio>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

// What a shell prints that runs in the folder, with `small` on a disk of so many KiB; $INQUEST is the program.
std::string with_small_disk(const Workplace& place, int kilobytes, const std::string& script) {
  place.write("script", "cd '" + place.path("") +
                            "' && mkdir -p small && mount -t tmpfs -o size=" + std::to_string(kilobytes) +
                            "k none small && echo mounted && INQUEST='" INQUEST_BINARY "'\n" + script);
  FILE* shell = popen(("unshare -rm sh '" + place.path("script") + "' 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, shell)) > 0;) out.append(buffer, n);
  pclose(shell);
  return out;
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (with_small_disk(place_, 64, "").find("mounted") == std::string::npos) {
      GTEST_SKIP() << "this user may not mount a tmpfs in a namespace of its own";
    }
    trace_ = place_.imported("churn");
  }
  // Runs a verb that is to make small/NAME; what the shell saw.
  std::string make(const std::string& verb) const {
    return with_small_disk(place_, 300, "$INQUEST " + verb + "\necho exit $?\nls -A small");
  }
  void expect_refused(const std::string& verb) const {
    const std::string out = make(verb);
    EXPECT_NE(out.find("exit 2\n"), std::string::npos) << verb << "\n" << out;
    EXPECT_TRUE(out.find("full") != std::string::npos || out.find("No space left") != std::string::npos) << out;
    EXPECT_EQ(out.find("what was committed is kept"), std::string::npos) << out;
    EXPECT_TRUE(out.ends_with("exit 2\n")) << "something was left behind\n" << verb << "\n" << out;
  }

  Workplace place_;
  std::string trace_;
};

TEST_F(FullDisk, NothingHalfIsLeft) {
  expect_refused("import '" + in_repository("traces/churn/churn.jsonl.zst") + "' -o small/x.trace");
  expect_refused("compact " + trace_ + " -o small/x.trace");
  expect_refused("redact " + trace_ + " -o small/x.trace");
  expect_refused("cut " + trace_ + " -o small/x.trace --to +300s");
  expect_refused("export " + trace_ + " -o small/lines");
  ASSERT_EQ(place_.run({"cut", trace_, "-o", "a.trace", "--to", "+30s"}).exit, 0);
  expect_refused("merge " + trace_ + " a.trace -o small/x.trace");
  EXPECT_EQ(place_.run({"verify", trace_}).exit, 0);
}

TEST_F(FullDisk, WhatWasThereStays) {
  ASSERT_EQ(place_.run({"cut", trace_, "-o", "a.trace", "--to", "+5s"}).exit, 0);
  const std::string out = with_small_disk(place_, 600,
                                          "cp a.trace small/x.trace\n$INQUEST compact " + trace_ +
                                              " -o small/x.trace --force\necho exit $?\ncmp a.trace small/x.trace && "
                                              "echo same\nls -A small");
  EXPECT_TRUE(out.ends_with("exit 2\nsame\nx.trace\n")) << out;
}

TEST_F(FullDisk, ResultsThatCannotBePrintedAreAnError) {
  const std::string out =
      with_small_disk(place_, 64, "$INQUEST records " + trace_ + " --body > small/records\necho exit $?");
  EXPECT_NE(out.find("standard output: cannot be written: No space left on device"), std::string::npos) << out;
  EXPECT_TRUE(out.ends_with("exit 2\n")) << out;
}

}  // namespace
}  // namespace inquest::cli
