#include "kube/client/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/test_folder.h"

namespace inquest::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kVersion = "client.authentication.k8s.io/v1";

ExecPlugin plugin(const std::string& command) {
  ExecPlugin out;
  out.api_version = kVersion;
  out.command = command;
  out.install_hint = "install it";
  return out;
}

std::string credential(const std::string& status, const std::string& version = kVersion) {
  return R"({"apiVersion":")" + version + R"(","kind":"ExecCredential","status":{)" + status + "}}";
}

TEST(ExecPluginTest, WhatItIsTold) {
  ExecPlugin p = plugin("x");
  Access access;
  access.server = "https://a";
  EXPECT_EQ(exec_info(p, access, false),
            R"({"apiVersion":")" + kVersion + R"(","kind":"ExecCredential","spec":{"interactive":false}})");
  p.provide_cluster_info = true;
  access.ca.text = Secret("ABC");
  access.tls_server_name = "n\"";
  access.compress = false;
  access.exec_config = R"({"aud":1})";
  EXPECT_EQ(exec_info(p, access, true),
            R"({"apiVersion":")" + kVersion +
                R"(","kind":"ExecCredential","spec":{"interactive":true,"cluster":{)"
                R"("server":"https://a","tls-server-name":"n\"","certificate-authority-data":"QUJD",)"
                R"("disable-compression":true,"config":{"aud":1}}}})");
}

TEST(ExecPluginTest, WhatItPrints) {
  const ExecPlugin p = plugin("/bin/tool");
  Result<ExecCredential> got =
      parse_exec_credential(p, credential(R"("token":"hidden","expirationTimestamp":"2026-11-30T10:00:00Z")"));
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got->token.reveal(), "hidden");
  EXPECT_EQ(got->expires.ns, 1796032800'000000000);
  got = parse_exec_credential(p, credential(R"("clientCertificateData":"c","clientKeyData":"hidden")"));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->key_pem.reveal(), "hidden");
  EXPECT_EQ(got->expires, Time::never());

  const std::pair<std::string, const char*> rows[] = {
      {"", "printed no JSON object"},
      {"hidden", "printed no JSON object"},
      {"[]", "printed no JSON object"},
      {R"({"token":"hidden"})", "printed no ExecCredential"},
      {credential(R"("token":"hidden")", "v2"), "printed another apiVersion than the one asked for"},
      {credential(""), "printed neither a token nor a certificate"},
      {credential(R"("token":null)"), "printed neither a token nor a certificate"},
      {credential(R"("clientKeyData":"hidden")"), "printed a certificate without its key"},
      {credential(R"("token":"hidden","expirationTimestamp":"soon")"), "expirationTimestamp that is no time"},
      {std::string(100'000, '['), "printed no JSON object"},
  };
  for (const auto& [printed, text] : rows) {
    const Result<ExecCredential> bad = parse_exec_credential(p, printed);
    ASSERT_FALSE(bad.ok()) << printed;
    EXPECT_THAT(bad.error().message(), HasSubstr(std::string("/bin/tool: the exec plugin "))) << printed;
    EXPECT_THAT(bad.error().message(), HasSubstr(text)) << printed;
    EXPECT_THAT(bad.error().message(), Not(HasSubstr("hidden"))) << printed;
  }
}

class RunExecPlugin : public ::testing::Test {
 protected:
  ExecPlugin script(const std::string& text) {
    const std::string path = folder_.write("tool", "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return plugin(path);
  }
  std::string failure(const ExecPlugin& p, bool terminal = false, Duration limit = Duration::seconds(20)) {
    const Result<ExecCredential> got = run_exec_plugin(p, Access(), terminal, limit);
    return got.ok() ? "" : got.error().text + "|" + got.error().next;
  }

  TestFolder folder_;
};

TEST_F(RunExecPlugin, GetsItsArgumentsAndEnvironment) {
  ExecPlugin p = script(
      "case $KUBERNETES_EXEC_INFO in *ExecCredential*) ;; *) exit 9;; esac\n"
      "cat >/dev/null\n"  // its standard input is empty
      "printf '%s' '" +
      credential(R"("token":"'"$1-$A"'")") + "'\n");
  p.args = {"a b; exit 3"};
  p.env = {{"A", "$(b)"}};
  const Result<ExecCredential> got = run_exec_plugin(p, Access(), false);
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got->token.reveal(), "a b; exit 3-$(b)");
}

TEST_F(RunExecPlugin, Failures) {
  EXPECT_EQ(failure(plugin(folder_.path("none"))),
            "the exec plugin cannot be run: No such file or directory|install it");
  EXPECT_EQ(failure(script("echo hidden; exit 4")), "the exec plugin failed with exit code 4|install it");
  EXPECT_EQ(failure(script("kill -9 $$")), "the exec plugin failed with exit code 137|install it");
  EXPECT_EQ(failure(script("exec yes")), "the exec plugin did not end in time, or printed more than 1 MiB|");
  ExecPlugin always = script("exit 0");
  always.interactive = ExecPlugin::Interactive::kAlways;
  EXPECT_EQ(failure(always), "the exec plugin must be interactive, and the standard input is no terminal|");
}

TEST_F(RunExecPlugin, OneThatHangsIsEnded) {
  const SystemClock clock;
  const Time begin = clock.monotonic();
  EXPECT_EQ(failure(script("exec sleep 60"), false, Duration::milliseconds(100)),
            "the exec plugin did not end in time, or printed more than 1 MiB|");
  EXPECT_LT(clock.monotonic() - begin, Duration::seconds(20));
}

}  // namespace
}  // namespace inquest::kube
