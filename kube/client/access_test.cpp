#include "kube/client/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "kube/client/base64.h"

namespace inquest::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One context over a cluster and a user.
std::string config(const std::string& cluster, const std::string& user = "{}") {
  return "current-context: main\ncontexts: [{name: main, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: " +
         cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
}

Result<Access> resolved(const std::string& text, const Overrides& overrides = {}) {
  INQUEST_TRY(const Kubeconfig parsed, parse_kubeconfig(text, "/k/f"));
  return resolve(parsed, overrides);
}

std::string refusal(const std::string& text, const Overrides& overrides = {}) {
  const Result<Access> access = resolved(text, overrides);
  return access.ok() ? "" : access.error().message();
}

TEST(Access, TheServersAddress) {
  const std::pair<const char*, const char*> rows[] = {
      {"{server: https://a:6443}", "https://a:6443"},
      {"{server: https://a/k8s/clusters/c1/}", "https://a/k8s/clusters/c1"},
      {"{server: a:8080}", "http://a:8080"},
      {"{server: a:6443, insecure-skip-tls-verify: true}", "https://a:6443"},
      {"{server: a:6443, certificate-authority: ca}", "https://a:6443"},
      {"{server: 'https://[::1]:6443'}", "https://[::1]:6443"},
  };
  for (const auto& [cluster, server] : rows) {
    const Result<Access> access = resolved(config(cluster));
    ASSERT_TRUE(access.ok()) << access.error().message();
    EXPECT_EQ(access->server, server);
    EXPECT_EQ(access->name_space, "default");
  }
}

TEST(Access, WhatContradictsItselfIsRefused) {
  const std::string pem = encode_base64("-----BEGIN X-----\n");
  const std::pair<std::string, std::string> rows[] = {
      {config("{}"), "/k/f: cluster c has no server"},
      {config("{server: ftp://a}"), "/k/f: cluster c server: its scheme is neither https nor http"},
      {config("{server: 'https://'}"), "/k/f: cluster c server: names no host"},
      {config("{server: 'https://user:hidden@a'}"), "/k/f: cluster c server: is no address of an API server"},
      {config("{server: \"https://a\\nb\"}"), "/k/f: cluster c server: is no address of an API server"},
      {config("{server: https://a, insecure-skip-tls-verify: true, certificate-authority: x}"),
       "/k/f: cluster c has a certificate authority and insecure-skip-tls-verify (keep one of them)"},
      {config("{server: https://a, certificate-authority-data: " + pem + ", certificate-authority: x}"),
       "/k/f: cluster c has certificate-authority and certificate-authority-data (keep one of them)"},
      {config("{server: https://a}", "{client-certificate: x}"), "/k/f: user u has a client certificate and no key"},
      {config("{server: https://a}", "{client-certificate: x, client-certificate-data: " + pem + "}"),
       "/k/f: user u has client-certificate and client-certificate-data (keep one of them)"},
      {config("{server: https://a}", "{client-key: x, client-key-data: " + pem + "}"),
       "/k/f: user u has client-key and client-key-data (keep one of them)"},
      {config("{server: https://a}", "{token: x, username: y, password: z}"),
       "/k/f: user u has a token and a user name with a password (keep one of them)"},
      {config("{server: https://a}", "{auth-provider: {name: gcp}}"),
       "/k/f: user u auth-provider gcp was removed from clients (use the exec plugin that its vendor provides)"},
      {config("{server: https://a}", "{as-groups: [x]}"),
       "/k/f: user u says as whose groups, uid or extra to act, and not as whom (as)"},
      {config("{server: http://a}", "{token: hidden}"),
       "/k/f: cluster c server: credentials are not sent over plain http (use https, or a user without credentials)"},
  };
  for (const auto& [text, message] : rows) EXPECT_EQ(refusal(text), message);
}

// K8
TEST(Access, ProxyUrls) {
  for (const char* good : {"socks5://p:1", "http://p", "https://p:8"}) {
    EXPECT_EQ(refusal(config(std::string("{server: https://a, proxy-url: '") + good + "'}")), "") << good;
  }
  for (const char* bad : {"socks6://p", "p:1", "a@b", "http://"}) {
    EXPECT_EQ(refusal(config(std::string("{server: https://a, proxy-url: '") + bad + "'}")),
              "/k/f: cluster c proxy-url: must begin with http://, https:// or socks5://")
        << bad;
  }
}

// K5, K6, K7
TEST(Access, OverridesClearWhatTheyContradict) {
  const std::string text =
      config("{server: https://a, certificate-authority-data: " + encode_base64("-----BEGIN X-----\n") +
             ", tls-server-name: n}");
  Overrides overrides;
  overrides.insecure = true;
  EXPECT_TRUE(resolved(text, overrides)->insecure);
  EXPECT_TRUE(resolved(text, overrides)->ca.empty());
  overrides = {};
  overrides.ca_file = "/other";
  EXPECT_EQ(resolved(text, overrides)->ca.file, "/other");
  EXPECT_TRUE(resolved(text, overrides)->ca.text.empty());
  overrides = {};
  overrides.server = "https://b";
  EXPECT_EQ(resolved(text, overrides)->server, "https://b");
  EXPECT_EQ(resolved(text, overrides)->tls_server_name, "");
  overrides.tls_server_name = "m";
  EXPECT_EQ(resolved(text, overrides)->tls_server_name, "m");
}

TEST(Access, ContextsAndTheirHoles) {
  const std::string text =
      "contexts: [{name: a, context: {cluster: c, namespace: lab}}, {name: b, context: {cluster: none}},"
      " {name: d, context: {cluster: c, user: none}}, {name: e, context: {}}]\n"
      "clusters: [{name: c, cluster: {server: https://a}}]\n";
  Overrides overrides;
  EXPECT_EQ(refusal(text), "/k/f: no context is chosen (there are: a, b, d, e)");
  overrides.context = "z";
  EXPECT_EQ(refusal(text, overrides), "/k/f: no context is named z (there are: a, b, d, e)");
  overrides.context = "b";
  EXPECT_EQ(refusal(text, overrides), "/k/f: context b names cluster none, which is not there");
  overrides.context = "d";
  EXPECT_EQ(refusal(text, overrides), "/k/f: context d names user none, which is not there");
  overrides.context = "e";
  EXPECT_EQ(refusal(text, overrides), "/k/f: context e names no cluster");
  overrides.context = "a";
  EXPECT_EQ(resolved(text, overrides)->name_space, "lab");
  overrides.name_space = "other";
  EXPECT_EQ(resolved(text, overrides)->name_space, "other");
}

TEST(Access, APluginOnlyWithoutOtherCredentials) {
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}";
  EXPECT_TRUE(resolved(config("{server: https://a}", "{" + exec + "}"))->exec);
  EXPECT_FALSE(resolved(config("{server: https://a}", "{token: t, " + exec + "}"))->exec);
  EXPECT_THAT(refusal(config("{server: https://a}", "{auth-provider: {name: x}, " + exec + "}")),
              HasSubstr("has exec and auth-provider"));
}

// K9
TEST(Access, ATokenAndItsFile) {
  const Result<Access> access = resolved(config("{server: https://a}", "{token: t, tokenFile: tok}"));
  EXPECT_EQ(access->token.reveal(), "t");
  EXPECT_EQ(access->token_file, "/k/tok");
}

// --- in a cluster (facts 8.4)
// -----------------------------------------------------------------------------------------

TEST(AccessInPod, FromItsFolder) {
  const TestFolder folder;
  folder.write("token", "t\n");
  folder.write("ca.crt", "x");
  folder.write("namespace", "lab\n");
  PodEnvironment pod{"10.0.0.1", "443", "", folder.path()};
  std::vector<std::string> warnings;
  Result<Access> access = find_access({"", "", ""}, {}, pod, warnings);
  ASSERT_TRUE(access.ok()) << access.error().message();
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->token_file, folder.path("token"));
  EXPECT_EQ(access->ca.file, folder.path("ca.crt"));
  EXPECT_EQ(access->name_space, "lab");
  pod.host = "fd00::1";
  pod.name_space = "own";
  access = in_cluster(pod);
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->name_space, "own");
  pod.folder = folder.path("none");
  EXPECT_EQ(in_cluster(pod).error().message(), folder.path("none/token") + ": No such file or directory");
}

TEST(AccessInPod, AKubeconfigGoesFirst) {
  const TestFolder folder;
  folder.write("token", "t");
  const PodEnvironment pod{"10.0.0.1", "443", "", folder.path()};
  const std::string file = folder.write("config", config("{server: https://a}"));
  std::vector<std::string> warnings;
  EXPECT_EQ(find_access({"", file, ""}, {}, pod, warnings)->server, "https://a");
  EXPECT_EQ(find_access({"", file + "2", ""}, {}, pod, warnings)->server, "https://10.0.0.1:443");
  EXPECT_THAT(warnings, ElementsAre("no kubeconfig found: " + file + "2"));
  EXPECT_EQ(find_access({file + "2", "", ""}, {}, pod, warnings).error().message(),
            file + "2: No such file or directory");
  EXPECT_EQ(find_access({"", "", folder.path()}, {}, {}, warnings).error().message(),
            folder.path() +
                "/.kube/config: no kubeconfig, and this is no pod of a cluster (give one with --kubeconfig, "
                "or in KUBECONFIG)");
}

}  // namespace
}  // namespace inquest::kube
