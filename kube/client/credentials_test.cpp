#include "kube/client/credentials.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace inquest::kube {
namespace {

class SetClock : public Clock {
 public:
  Time wall() const override { return now; }
  Time monotonic() const override { return now; }
  Time now{1'000'000'000};
};

class CredentialsTest : public ::testing::Test {
 protected:
  std::string token(Credentials& credentials) {
    const Result<void> done = credentials.refresh();
    if (!done.ok()) return done.error().message();
    std::string header = credentials.authorization().reveal();
    constexpr std::string_view kName = "Authorization: ";
    if (header.starts_with(kName)) header.erase(0, kName.size());
    return header;
  }
  // Prints t1, t2, … with these further fields of its status.
  void use_plugin(const std::string& more) {
    std::string script = "#!/bin/sh\necho x >>RUNS\nn=$(wc -l <RUNS)\n";
    script += R"(echo '{"apiVersion":"v","kind":"ExecCredential","status":{"token":"t'"$n"'")";
    script += more;
    script += "}}'\n";
    for (size_t at = 0; (at = script.find("RUNS", at)) != std::string::npos;)
      script.replace(at, 4, folder_.path("runs"));
    const std::string path = folder_.write("tool", script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    access_.exec = ExecPlugin{"v", path, {}, {}, "", false, ExecPlugin::Interactive::kNever};
  }

  TestFolder folder_;
  SetClock clock_;
  Access access_;
};

TEST_F(CredentialsTest, NoneATokenOrAPassword) {
  Credentials none(access_, clock_, false);
  EXPECT_EQ(token(none), "");
  EXPECT_FALSE(none.refused());
  access_.token = Secret("t");
  Credentials some(access_, clock_, false);
  EXPECT_EQ(token(some), "Bearer t");
  access_.token = {};
  access_.username = std::string("u");
  access_.password = Secret("p");
  Credentials basic(access_, clock_, false);
  EXPECT_EQ(token(basic), "Basic dTpw");
}

TEST_F(CredentialsTest, ATokenFileIsReadAgain) {
  access_.token_file = folder_.write("token", " one\n");
  Credentials credentials(access_, clock_, false);
  EXPECT_EQ(token(credentials), "Bearer one");
  folder_.write("token", "two");
  EXPECT_EQ(token(credentials), "Bearer one");
  clock_.now = clock_.now + Duration::seconds(50);
  EXPECT_EQ(token(credentials), "Bearer two");
  folder_.write("token", "three");
  EXPECT_TRUE(credentials.refused());
  EXPECT_EQ(token(credentials), "Bearer three");
  std::filesystem::remove(access_.token_file);
  clock_.now = clock_.now + Duration::seconds(50);
  EXPECT_EQ(token(credentials), "Bearer three");
}

TEST_F(CredentialsTest, ATokenBesideAFileIsTheFirst) {  // K9
  access_.token = Secret("given");
  access_.token_file = folder_.write("token", "filed");
  Credentials credentials(access_, clock_, false);
  EXPECT_EQ(token(credentials), "Bearer given");
  clock_.now = clock_.now + Duration::seconds(50);
  EXPECT_EQ(token(credentials), "Bearer filed");
}

TEST_F(CredentialsTest, AFileWithoutATokenIsAnError) {
  access_.token_file = folder_.path("none");
  Credentials credentials(access_, clock_, false);
  EXPECT_EQ(token(credentials), folder_.path("none") + ": the file holds no token, or cannot be read");
}

TEST_F(CredentialsTest, APluginIsRunOnceAndAgainAfter401) {
  use_plugin("");
  Credentials credentials(access_, clock_, false);
  EXPECT_EQ(token(credentials), "Bearer t1");
  clock_.now = clock_.now + Duration::seconds(1'000'000);
  EXPECT_EQ(token(credentials), "Bearer t1");
  EXPECT_TRUE(credentials.refused());
  EXPECT_EQ(token(credentials), "Bearer t2");
}

TEST_F(CredentialsTest, APluginIsRunAgainWhenItsCredentialIsOver) {
  use_plugin(R"(,"expirationTimestamp":"1970-01-01T00:01:00Z")");
  Credentials credentials(access_, clock_, false);
  EXPECT_EQ(token(credentials), "Bearer t1");
  clock_.now = Time{} + Duration::seconds(59);
  EXPECT_EQ(token(credentials), "Bearer t1");
  clock_.now = Time{} + Duration::seconds(60);
  EXPECT_EQ(token(credentials), "Bearer t2");
}

}  // namespace
}  // namespace inquest::kube
