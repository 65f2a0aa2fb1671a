#include "recorder/secret_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace inquest::recorder {
namespace {

// Each secret as #.
std::string marked(const std::string& text) {
  std::vector<TextSecret> found;
  find_text_secrets(text, found);
  std::string out;
  const char* from = text.data();
  for (const TextSecret& secret : found) {
    EXPECT_LE(from, secret.begin) << text;
    EXPECT_LT(secret.begin, secret.end) << text;
    out.append(from, secret.begin).append("#");
    from = secret.end;
  }
  return out.append(from, text.data() + text.size());
}

constexpr const char* kJwt =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIiwic3ViIjoiYSJ9.c2lnbmF0dXJl_of-it";

TEST(SecretText, IsFound) {
  const std::string jwt = kJwt;
  const std::pair<std::string, std::string> cases[] = {
      {"Bearer hunter2", "Bearer #"},
      {"sent with bearer  abc.def-123~+/==, and failed", "sent with bearer  #, and failed"},
      {R"({"message":"invalid: BEARER abcdefghijklmnopqrstuvwxyz\n"})", R"({"message":"invalid: BEARER #\n"})"},
      {"curl -H 'Authorization: Basic dXNlcjpwdw==' https://a/b", "curl -H 'Authorization: Basic #' https://a/b"},
      {R"(authorization: Digest username=\"u\", response=\"6629\"\nHost: a)", R"(authorization: Digest #\nHost: a)"},
      {"Authorization:hunter2-and-more", "Authorization:#"},
      {"Authorization: " + jwt, "Authorization: #"},
      {"/api/v1/pods?token=hunter2", "/api/v1/pods?token=#"},
      {"/api?watch=1&access_token=a%2Fb.c-d&limit=500", "/api?watch=1&access_token=#&limit=500"},
      {R"("requestURI":"/api?access_token=hunter2\u0026watch=1")",
       R"("requestURI":"/api?access_token=#\u0026watch=1")"},
      {R"(/api?access_token=hun\u002fter\/2\u0026watch=1)", R"(/api?access_token=#\u0026watch=1)"},
      {"PGPASSWORD=hunter2 psql", "PGPASSWORD=# psql"},
      {"--db-password='a b' --x", "--db-password='#' --x"},
      {R"(export API_TOKEN=\"a b\" X=1)", R"(export API_TOKEN=\"#\" X=1)"},
      {"Server=db;Password=a(b);User=x", "Server=db;Password=#;User=x"},
      {"--clientSecret=abc --oauth.client-secret=def", "--clientSecret=# --oauth.client-secret=#"},
      {"AWS_SECRET_ACCESS_KEY=abc/def+g==", "AWS_SECRET_ACCESS_KEY=#"},
      {"https://bucket/key?X-Amz-Signature=abc123&X-Amz-Date=1", "https://bucket/key?X-Amz-Signature=#&X-Amz-Date=1"},
      {"password=password=x", "password=#"},
      {"https://user:hunter2@example.com/a", "https://user:#@example.com/a"},
      {"postgres://u:p@ss:w@db:5432/x?y=1", "postgres://u:#@db:5432/x?y=1"},
      {R"(https:\/\/user:hunter2@example.com\/a)", R"(https:\/\/user:#@example.com\/a)"},
      {"redis://:hunter2@cache", "redis://:#@cache"},
      {"image user:hunter2@registry.example.com:5000/app:1", "image user:#@registry.example.com:5000/app:1"},
      {"DSN=root:hunter2@tcp(127.0.0.1:3306)/db", "DSN=root:#@tcp(127.0.0.1:3306)/db"},
      {"https://a:b@x/ and https://c:d@y/", "https://a:#@x/ and https://c:#@y/"},
      {"token is " + jwt + ".", "token is #."},
      {"\"" + jwt + "\"", "\"#\""},
      {jwt.substr(0, 60), "#"},
      {R"({"log":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\n"})",
       R"({"log":"-----BEGIN RSA PRIVATE KEY-----#-----END RSA PRIVATE KEY-----\n"})"},
      {"-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----#"},
      {R"({"a":"-----BEGIN EC PRIVATE KEY-----\nMI","b":"c"})", R"({"a":"-----BEGIN EC PRIVATE KEY-----#","b":"c"})"},
      {R"({"message":"bad request: {\"token\":\"hunter2\",\"user\":\"u\"}"})",
       R"({"message":"bad request: {\"token\":\"#\",\"user\":\"u\"}"})"},
      {R"("{\"a\":\"{\\\"password\\\" : \\\"hun\\\\\\\"ter2\\\"}\"}")",
       R"("{\"a\":\"{\\\"password\\\" : \\\"#\\\"}\"}")"},
      {R"("{\"password\":\"hunter2)", R"("{\"password\":\"#)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(marked(text), expected);
}

// What stands in objects, messages and logs every day, and looks a little like one.
TEST(SecretText, OrdinaryTextStays) {
  const std::string texts[] = {
      "the bearer token is invalid",
      "Bearer token authentication is disabled",
      "bearer of news",
      "no Bearer ",
      "Bearer [redacted]",
      "authorization: webhook denied the request",
      "Authorization: ",
      "RBAC authorization mode",
      "Error: token=",
      "token==x",
      "--token=$(TOKEN)",
      "--password=${PASSWORD}",
      "psql --password=$PGPASSWORD",
      "token=<redacted>",
      "password=****",
      "automountServiceAccountToken=false",
      "format token=%s",
      "helm --set x={{ .Values.token }}",
      "password={{ .Values.password }}",
      "token=[redacted]&x=1",
      "PWD=/root OLDPWD=/",
      "monotoken=1 secretName=a tokens=3 passwords=2 design=1",
      "app.kubernetes.io/name=a,tier=b",
      "/api/v1/pods?limit=500&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAsInN0YXJ0IjoiYSJ9",
      "/api/v1/pods?resourceVersion=5&watch=true&timeoutSeconds=300&fieldSelector=spec.nodeName%3Da",
      "registry.example.com:5000/app:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
      "docker-pullable://nginx:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
      R"(User "oidc:jane@example.com" cannot list pods)",
      "mailto:jane@example.com",
      "ssh://git@example.com:22/a",
      "git@example.com:org/repo.git",
      "https://example.com/a:b@c",
      "https://user:[redacted]@example.com",
      "amqp://user:$(PASSWORD)@host",
      "npm:@scope/name@1.0/x",
      "eyJ",
      "eyJhbGciOiJSUzI1NiJ9",
      "eyJab.c",
      "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
      "-----BEGIN PUBLIC KEY-----\nMI",
      "-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----",
      R"({"f:token":{},"k:{\"token\":1}":{},"k:{\"uid\":\"a\"}":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}})",
      R"("k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{}})",
      "kubelet v1.36.2 (linux/amd64) kubernetes/abc",
      "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. no new claims",
      "system:serviceaccount:kube-system:token-cleaner",
      "Successfully assigned ns/a to b",
      "a=b",
      "=",
      "@",
      "yJ",
      "",
      R"({"secret":{"secretName":"a","defaultMode":420},"key":"token","path":"token"})",
  };
  for (const std::string& text : texts) EXPECT_EQ(marked(text), text);
}

// At every place of the blocks that are looked at at once, and at the ends.
TEST(SecretText, IsFoundAnywhere) {
  for (size_t before = 0; before < 140; ++before) {
    for (const size_t behind : {size_t{0}, size_t{1}, size_t{100}}) {
      const std::string text = std::string(before, ' ') + "token=ab" + std::string(behind, ' ');
      ASSERT_EQ(marked(text), std::string(before, ' ') + "token=#" + std::string(behind, ' ')) << before;
    }
  }
}

// Texts made to be looked at again and again; each takes hours if that goes with the square of the size.
TEST(SecretText, IsLinear) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string part : {"token=",
                                 "token=$(",
                                 "token='",
                                 "a:b@",
                                 "://a:",
                                 "@",
                                 "bearer ",
                                 "authorization: digest ",
                                 "authorization:",
                                 "authorization: digest $(",
                                 "eyJ",
                                 "eyJaaaaaaaa.",
                                 "-----BEGIN PRIVATE KEY-----",
                                 "-----BEGIN PRIVATE KEY-----[redacted]",
                                 "-----BEGIN PRIVATE KEY----------END ",
                                 "token\\\":\\\"",
                                 "token\\\":\\\"$(",
                                 "token\\\\\\\\",
                                 "token=\\u0040",
                                 "\\",
                                 "n\\"}) {
    std::string text;
    while (text.size() < 4'000'000) text += part;
    std::vector<TextSecret> found;
    find_text_secrets(text, found);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace inquest::recorder
