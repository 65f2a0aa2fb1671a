#include "kube/client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "kube/client/base64.h"

namespace inquest::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::string kPem = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";

Kubeconfig parsed(const std::string& text, const std::string& path = "/etc/k/config") {
  Result<Kubeconfig> config = parse_kubeconfig(text, path);
  EXPECT_TRUE(config.ok()) << config.error().message();
  return config.ok() ? *std::move(config) : Kubeconfig();
}

std::string refusal(const std::string& text) {
  const Result<Kubeconfig> config = parse_kubeconfig(text, "f");
  return config.ok() ? "" : config.error().message();
}

std::string user(const std::string& body) { return "users:\n- name: dev\n  user: " + body + "\n"; }
std::string cluster(const std::string& body) { return "clusters:\n- name: c\n  cluster: " + body + "\n"; }

TEST(Kubeconfig, EveryField) {
  const Kubeconfig config = parsed(
      "apiVersion: v1\nkind: Config\ncurrent-context: main\npreferences: {colors: true}\n"
      "clusters:\n- name: prod\n  cluster:\n    server: https://a:6443/p\n    certificate-authority: ca.crt\n"
      "    tls-server-name: api\n    proxy-url: socks5://p:1\n    disable-compression: yes\n    unknown: [1]\n"
      "    insecure-skip-tls-verify: false\n"
      "    extensions:\n    - name: other\n      extension: {a: 1}\n"
      "    - name: client.authentication.k8s.io/exec\n      extension: {aud: \"1\", n: 2, on: true, l: [a, null]}\n"
      "users:\n- name: dev\n  user:\n    client-certificate: /abs/c.crt\n    client-key: ../k.key\n    token: t\n"
      "    tokenFile: tok\n    username: u\n    password: p\n    as: boss\n    as-uid: \"7\"\n    as-groups: [g1, g2]\n"
      "    as-user-extra: {scopes: [a, b]}\n    auth-provider: {name: oidc, config: {id-token: x}}\n"
      "contexts:\n- name: main\n  context: {cluster: prod, user: dev, namespace: lab}\n");
  ASSERT_EQ(config.clusters.size(), 1u);
  const ClusterEntry& prod = *config.cluster("prod");
  EXPECT_EQ(prod.server, "https://a:6443/p");
  EXPECT_EQ(prod.ca_file, "/etc/k/ca.crt");
  EXPECT_EQ(prod.tls_server_name, "api");
  EXPECT_EQ(prod.proxy_url, "socks5://p:1");
  EXPECT_TRUE(prod.disable_compression);
  EXPECT_FALSE(prod.insecure);
  EXPECT_EQ(prod.exec_config, R"({"aud":"1","n":2,"on":true,"l":["a",null]})");
  const UserEntry& dev = *config.user("dev");
  EXPECT_EQ(dev.certificate_file, "/abs/c.crt");
  EXPECT_EQ(dev.key_file, "/etc/k.key");
  EXPECT_EQ(dev.token.reveal(), "t");
  EXPECT_EQ(dev.token_file, "/etc/k/tok");
  EXPECT_EQ(dev.username, "u");
  EXPECT_EQ(dev.password.reveal(), "p");
  EXPECT_EQ(dev.as, "boss");
  EXPECT_EQ(dev.as_uid, "7");
  EXPECT_THAT(dev.as_groups, ElementsAre("g1", "g2"));
  EXPECT_THAT(dev.as_extra, ElementsAre(Pair("scopes", ElementsAre("a", "b"))));
  EXPECT_EQ(dev.auth_provider, "oidc");
  const ContextEntry& main = *config.context("main");
  EXPECT_EQ(main.cluster + main.user + main.name_space, "proddevlab");
  EXPECT_EQ(config.current_context, "main");
}

TEST(Kubeconfig, JsonIsYaml) {
  EXPECT_EQ(parsed(R"({"clusters":[{"name":"c","cluster":{"server":"http:\/\/a"}}]})").cluster("c")->server,
            "http://a");
}

// incidents F23
TEST(Kubeconfig, NothingAndNullAreAbsent) {
  for (const char* text : {"", "---\n", "null\n", "{}", "clusters: null\nusers:\ncontexts: []\n"}) {
    EXPECT_TRUE(parsed(text).empty()) << text;
  }
  const Kubeconfig none = parsed("users:\n- name: a\n  user: {}\n- name: b\n  user:\n- name: c\n");
  EXPECT_EQ(none.users.size(), 3u);
  const Kubeconfig config =
      parsed(user("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: tool, args: null, env: null}}"));
  ASSERT_TRUE(config.user("dev")->exec);
  EXPECT_EQ(config.user("dev")->exec->command, "tool");
  EXPECT_TRUE(config.user("dev")->exec->args.empty());
}

TEST(Kubeconfig, ExecPlugins) {
  const Kubeconfig config = parsed(
      user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/tool, args: [get, token], "
           "env: [{name: A, value: 1}], installHint: get it, provideClusterInfo: true, interactiveMode: Never}}"));
  const ExecPlugin& exec = *config.user("dev")->exec;
  EXPECT_EQ(exec.command, "/etc/k/bin/tool");
  EXPECT_THAT(exec.args, ElementsAre("get", "token"));
  EXPECT_THAT(exec.env, ElementsAre(Pair("A", "1")));
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(exec.interactive, ExecPlugin::Interactive::kNever);
  const std::string beside = user("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./tool}}");
  EXPECT_EQ(parsed(beside, "config").user("dev")->exec->command, "./tool");

  const auto refused = [](const std::string& body) { return refusal(user("{exec: {" + body + "}}")); };
  EXPECT_EQ(refused("apiVersion: client.authentication.k8s.io/v1"), "f: user dev: exec.command is missing");
  EXPECT_THAT(refused("command: x"), HasSubstr("exec.apiVersion is missing"));
  EXPECT_THAT(refused("command: x, apiVersion: client.authentication.k8s.io/v1alpha1"), HasSubstr("not one that"));
  EXPECT_THAT(refused("command: x, apiVersion: client.authentication.k8s.io/v1"),
              HasSubstr("exec.interactiveMode is missing"));
  EXPECT_THAT(refused("command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Maybe"),
              HasSubstr("must be Never, IfAvailable or Always"));
  EXPECT_THAT(refused("command: x, apiVersion: client.authentication.k8s.io/v1beta1, env: [{value: hidden}]"),
              HasSubstr("exec.env has an entry whose name is none"));
}

// incidents F22
TEST(Kubeconfig, DataInAnyForm) {
  const std::string once = encode_base64(kPem), twice = encode_base64(once);
  std::string broken = once;
  broken.insert(10, "\n      ");
  for (const std::string& value : {once, "|\n      " + broken + "\n", "|-\n      " + broken, "\"" + once + "\"",
                                   "!!binary " + twice, "!!binary |\n      " + twice, "!!binary " + once}) {
    EXPECT_EQ(parsed(cluster("\n    certificate-authority-data: " + value)).cluster("c")->ca_pem, kPem) << value;
  }
  for (const char* value : {"DATA+OMITTED", "REDACTED", "&#61;QUJD", "QUJDREVG"}) {
    const std::string text = refusal(cluster("{certificate-authority-data: \"" + std::string(value) + "\"}"));
    EXPECT_THAT(text, HasSubstr("f: cluster c: certificate-authority-data ")) << value;
    EXPECT_THAT(text, Not(HasSubstr(value)));
  }
  EXPECT_EQ(refusal(user("{client-key-data: QUJDREVG}")), "f: user dev: client-key-data holds no PEM block");
}

// incidents F26
TEST(Kubeconfig, MarksAndLineEndings) {
  const std::string text = "current-context: a\r\nclusters: []\r\n";
  EXPECT_EQ(parsed("\xef\xbb\xbf" + text).current_context, "a");
  std::string wide = "\xff\xfe";
  for (const char c : text) wide += {c, '\0'};
  EXPECT_EQ(parsed(wide).current_context, "a");
  EXPECT_EQ(refusal("\xb0" + text), "f: no UTF-8: byte 1 is 0xb0");
  EXPECT_EQ(refusal("current-context: \xc3\xa9\xe2\x82"), "f: no UTF-8: byte 20 is 0xe2");
  EXPECT_EQ(refusal(std::string("a: b\0", 5)), "f: no YAML: byte 5 is 0x00");
}

TEST(Kubeconfig, WrongTypesAndDoublesNameTheField) {
  const std::pair<std::string, std::string> rows[] = {
      {"[]", "f: it must be a mapping"},
      {"just text", "f: it must be a mapping"},
      {"clusters: {a: b}", "f: clusters must be a list"},
      {"clusters: [text]", "f: clusters must be a mapping"},
      {"current-context: [a]", "f: current-context must be text"},
      {cluster("{server: [a]}"), "f: cluster c: server must be text"},
      {cluster("{insecure-skip-tls-verify: maybe}"), "f: cluster c: insecure-skip-tls-verify must be true or false"},
      {cluster("{server: a, server: b}"), "f: cluster c: server is given twice"},
      {user("{token: {a: hidden}}"), "f: user dev: token must be text"},
      {user("{as-groups: boss}"), "f: user dev: as-groups must be a list"},
      {user("{}") + "- name: dev\n", "f: users names 'dev' twice"},
      {"a: [b", "f:1: no YAML: end of sequence flow not found"},
      {"a: 1\n---\nb: 2\n",
       "f: it holds several YAML documents (kubectl does not read such a file either; put each in a file of its own "
       "and "
       "list them in KUBECONFIG)"},
      {std::string(100'000, '['), "f:1: it is nested too deeply"},
      {std::string((size_t{4} << 20) + 1, ' '), "f: it is larger than 4 MiB"},
  };
  for (const auto& [text, message] : rows) EXPECT_EQ(refusal(text), message) << text.substr(0, 100);
}

TEST(Kubeconfig, AnAliasThatRepeatsItselfFillsNoMemory) {
  std::string text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string from = std::to_string(i - 1);
    text += "b" + from + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + from;
    text += "]\n";
  }
  text += cluster("{extensions: [{name: client.authentication.k8s.io/exec, extension: *a11}]}");
  EXPECT_EQ(refusal(text), "f: cluster c: extension is larger than 64 KiB");
}

// --- several files (K1, K2, K10; incidents F25)
// -----------------------------------------------------------------------

TEST(KubeconfigFiles, WhereTheyAreLookedFor) {
  EXPECT_THAT(kubeconfig_paths({"", "a:b::c:b:", "/h"}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(kubeconfig_paths({"x", "a:b", "/h"}), ElementsAre("x"));
  EXPECT_THAT(kubeconfig_paths({"", "", "/h"}), ElementsAre("/h/.kube/config"));
  EXPECT_THAT(kubeconfig_paths({"", ":", "/h"}), ElementsAre("/h/.kube/config"));
  EXPECT_TRUE(kubeconfig_paths({"", "", ""}).empty());
}

TEST(KubeconfigFiles, TheFirstThatNamesAnEntryWins) {
  const TestFolder folder;
  const std::string a = folder.write("a", "contexts:\n- {name: main, context: {cluster: c, user: dev}}\n");
  const std::string b =
      folder.write("b", cluster("{server: https://first, certificate-authority: ca}") + "current-context: main\n");
  const std::string c = folder.write(
      "c", cluster("{server: https://second, tls-server-name: n}") + user("{token: t}") + "current-context: other\n");
  const Result<Kubeconfig> all = load_kubeconfig({"", a + ":" + b + ":" + folder.path("none") + ":" + c, ""});
  ASSERT_TRUE(all.ok()) << all.error().message();
  EXPECT_EQ(all->cluster("c")->server, "https://first");
  EXPECT_EQ(all->cluster("c")->tls_server_name, "");  // no field of another file's entry
  EXPECT_EQ(all->cluster("c")->ca_file, folder.path("ca"));
  EXPECT_EQ(all->user("dev")->token.reveal(), "t");
  EXPECT_EQ(all->current_context, "main");
  EXPECT_THAT(all->files, ElementsAre(a, b, c));
  EXPECT_TRUE(all->warnings.empty());
}

TEST(KubeconfigFiles, MissingOnes) {
  const TestFolder folder;
  const std::string none = folder.path("none");
  const Result<Kubeconfig> listed = load_kubeconfig({"", none + ":" + none + "2", ""});
  ASSERT_TRUE(listed.ok());
  EXPECT_THAT(listed->warnings, ElementsAre("no kubeconfig found: " + none + ", " + none + "2"));
  const Result<Kubeconfig> home = load_kubeconfig({"", "", folder.path()});
  ASSERT_TRUE(home.ok());
  EXPECT_TRUE(home->empty() && home->warnings.empty());
  EXPECT_EQ(load_kubeconfig({none, "", ""}).error().message(), none + ": No such file or directory");
  EXPECT_EQ(load_kubeconfig({folder.path(), "", ""}).error().message(), folder.path() + ": Is a directory");
  const std::string bad = folder.write("bad", "a: [");
  EXPECT_THAT(load_kubeconfig({"", none + ":" + bad, ""}).error().message(), HasSubstr(bad + ":1: no YAML"));
}

}  // namespace
}  // namespace inquest::kube
