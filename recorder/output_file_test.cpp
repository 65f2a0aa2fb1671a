#include "recorder/output_file.h"

#include <gtest/gtest.h>

#include "recorder/body_spool.h"
#include "recorder/test_files.h"

namespace inquest::recorder {
namespace {

using Existing = OutputFile::Existing;

TEST(OutputFile, StandsUnderItsNameOnlyWhenFinished) {
  const TestFolder folder;
  {
    auto output = OutputFile::prepare(folder.path("x.trace"), Existing::kRefuse);
    ASSERT_TRUE(output.ok());
    std::ofstream(output->temporary()) << "half";
    std::ofstream(output->temporary() + "-wal") << "half";
  }
  EXPECT_EQ(folder.listing(), "");
  auto output = OutputFile::prepare(folder.path("x.trace"), Existing::kRefuse);
  ASSERT_TRUE(output.ok());
  std::ofstream(output->temporary()) << "whole";
  EXPECT_TRUE(output->finish().ok());
  EXPECT_EQ(folder.listing(), "x.trace");
  EXPECT_EQ(read_file(folder.path("x.trace")), "whole");
}

TEST(OutputFile, RefusesOrReplacesWhatIsThere) {
  const TestFolder folder;
  const std::string path = folder.write("x.trace", "old");
  const auto refused = OutputFile::prepare(path, Existing::kRefuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  folder.write("x.trace-wal", "of the old one");
  auto output = OutputFile::prepare(path, Existing::kReplace);
  ASSERT_TRUE(output.ok());
  std::ofstream(output->temporary()) << "new";
  EXPECT_EQ(read_file(path), "old");
  EXPECT_TRUE(output->finish().ok());
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(folder.listing(), "x.trace");
}

TEST(OutputFile, RefusesANameThatWasTakenMeanwhile) {
  const TestFolder folder;
  {
    auto output = OutputFile::prepare(folder.path("x.trace"), Existing::kRefuse);
    ASSERT_TRUE(output.ok());
    std::ofstream(output->temporary()) << "mine";
    folder.write("x.trace", "another's");
    EXPECT_FALSE(output->finish().ok());
  }
  EXPECT_EQ(folder.listing(), "x.trace");
  EXPECT_EQ(read_file(folder.path("x.trace")), "another's");
}

TEST(OutputFile, SaysWhyItCannotBe) {
  const TestFolder folder;
  EXPECT_FALSE(OutputFile::prepare(folder.path(""), Existing::kReplace).ok());
  const auto orphan = OutputFile::prepare(folder.path("none/x.trace"), Existing::kRefuse);
  ASSERT_FALSE(orphan.ok());
  EXPECT_EQ(orphan.error().text, "there is no such folder");
}

TEST(BodySpool, GivesBackWhatWasPut) {
  const TestFolder folder;
  BodySpool spool(folder.path(""));
  std::vector<std::pair<std::string, BodySpool::Ref>> kept;
  for (int i = 0; i < 40; ++i) {
    std::string body(static_cast<size_t>(i) * 25'000, static_cast<char>('a' + i % 26));  // 20 MB in all
    auto ref = spool.put(body);
    ASSERT_TRUE(ref.ok());
    kept.emplace_back(std::move(body), ref.value());
  }
  EXPECT_EQ(folder.listing(), "");
  for (const auto& [body, ref] : kept) EXPECT_EQ(spool.get(ref).value(), body);
  BodySpool nowhere(folder.path("none"));
  EXPECT_TRUE(nowhere.put("small").ok());
  EXPECT_FALSE(nowhere.put(std::string(size_t{9} << 20, 'x')).ok());
}

}  // namespace
}  // namespace inquest::recorder
