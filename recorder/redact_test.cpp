#include "recorder/redact.h"

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "recorder/export.h"
#include "recorder/import.h"
#include "recorder/test_files.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

std::string redact(const std::string& body, std::vector<std::string> annotations = {}) {
  Redactor redactor({Redact::kOn, std::move(annotations)});
  return std::string(redactor.redact(body));
}

TEST(Redactor, TakesOutNothingButSecrets) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"spec":{"containers":[{"env":[{"name":"A","value":"x\"y"},{"name":"B","valueFrom":{"secretKeyRef":{"key":"k"}}}]}]}})",
       R"({"spec":{"containers":[{"env":[{"name":"A","value":"[redacted]"},{"name":"B","valueFrom":{"secretKeyRef":{"key":"k"}}}]}]}})"},
      {R"({"type":"ADDED","object":{"spec":{"template":{"spec":{"initContainers":[{ "env" : [ { "value" : "x" , "name" : "A" } ] }]}}}}})",
       R"({"type":"ADDED","object":{"spec":{"template":{"spec":{"initContainers":[{ "env" : [ { "value" : "[redacted]" , "name" : "A" } ] }]}}}}})"},
      {R"({"\u0065nv":[{"v\u0061lue":"x"}]})", R"({"\u0065nv":[{"v\u0061lue":"[redacted]"}]})"},
      {R"({"env":[{"value":12},{"value":["a"]},{"value":null},{"value":""},{"value":"[redacted]"}]})",
       R"({"env":[{"value":"[redacted]"},{"value":"[redacted]"},{"value":null},{"value":""},{"value":"[redacted]"}]})"},
      {R"({"metadata":{"annotations":{"a":"1","kubectl.kubernetes.io/last-applied-configuration":"{\"env\":1}","b":"2"}}})",
       R"({"metadata":{"annotations":{"a":"1","kubectl.kubernetes.io/last-applied-configuration":"[redacted]","b":"2"}}})"},
      {R"({"kind":"Secret","data":{"a":"eA==","b":""},"stringData":{"c":"x"},"type":"Opaque"})",
       R"({"kind":"Secret","data":{"a":"[redacted]","b":""},"stringData":{"c":"[redacted]"},"type":"Opaque"})"},
      {R"({"data":{"a":"eA=="},"kind":"Secret"})", R"({"data":{"a":"[redacted]"},"kind":"Secret"})"},
      {R"({"kind":"ConfigMap","data":{"a":"x"}})", R"({"kind":"ConfigMap","data":{"a":"x"}})"},
      // Of an audit event: a patch has no kind, or is a list of operations.
      {R"({"kind":"Event","requestObject":{"data":{"a":"x"}},"responseObject":{"kind":"ConfigMap","data":{"a":"x"}}})",
       R"({"kind":"Event","requestObject":{"data":{"a":"[redacted]"}},"responseObject":{"kind":"ConfigMap","data":{"a":"x"}}})"},
      {R"({"kind":"Event","requestObject":[{"op":"add","value":"x","path":"/data/k"},{"path":"/metadata/labels/a","value":"x"}]})",
       R"({"kind":"Event","requestObject":[{"op":"add","value":"[redacted]","path":"/data/k"},{"path":"/metadata/labels/a","value":"x"}]})"},
      {R"({"user":{"extra":{"authentication.kubernetes.io/credential-id":["JTI=x"],"a":["b"]}}})",
       R"({"user":{"extra":{"authentication.kubernetes.io/credential-id":"[redacted]","a":["b"]}}})"},
      {R"({"message":"GET https://u:x@a/?token=x\u0026b=1","password":"x","n":{"Authorization":"x"}})",
       R"({"message":"GET https://u:[redacted]@a/?token=[redacted]\u0026b=1","password":"[redacted]","n":{"Authorization":"[redacted]"}})"},
      // Readers of JSON do not agree on which of two kinds counts.
      {R"({"kind":"Secret","kind":"Pod","data":{"a":"x"}})",
       R"({"kind":"Secret","kind":"Pod","data":{"a":"[redacted]"}})"},
      {R"({"kind":"\u0053ecret","data":{"a":"x"}})", R"({"kind":"\u0053ecret","data":{"a":"[redacted]"}})"},
      {R"({"kind":"Secret","data":"x","stringData":["x"]})",
       R"({"kind":"Secret","data":"[redacted]","stringData":"[redacted]"})"},
      {R"({"kind":"ConfigMap","data":"x"})", R"({"kind":"ConfigMap","data":"x"})"},
      {R"({"kind":"SecretList","items":[{"data":{"a":"x"}}]})",
       R"({"kind":"SecretList","items":[{"data":{"a":"[redacted]"}}]})"},
      {R"({"items":[{"data":{"a":"x"}}],"kind":"SecretList"})",
       R"({"items":[{"data":{"a":"[redacted]"}}],"kind":"SecretList"})"},
      {R"({"items":[{"data":{"a":"x"}}],"kind":"ConfigMapList"})",
       R"({"items":[{"data":{"a":"x"}}],"kind":"ConfigMapList"})"},
      {R"({"items":[{"data":{"a":"x"}}]})", R"({"items":[{"data":{"a":"[redacted]"}}]})"},
      {R"({"kind":"List","items":[{"kind":"ConfigMap","data":{"a":"x"}},{"kind":"Secret","data":{"a":"x"}}]})",
       R"({"kind":"List","items":[{"kind":"ConfigMap","data":{"a":"x"}},{"kind":"Secret","data":{"a":"[redacted]"}}]})"},
      {R"({"kind":"TokenReview","spec":{"token":"x"}})", R"({"kind":"TokenReview","spec":{"token":"[redacted]"}})"},
      {R"({"headers":["Bearer abc"],"h":{"x":"Bearer abc"}})", R"({"headers":["[redacted]"],"h":{"x":"[redacted]"}})"},
      {R"({"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]})",
       R"({"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]})"},
      {R"({"args":["\"env\":[{\"value\":\"x\"}]"],"value":"kept"})",
       R"({"args":["\"env\":[{\"value\":\"x\"}]"],"value":"kept"})"},
      // No JSON: more is taken rather than less.
      {R"({"env":[{"name":"A","value":"secr)", R"({"env":[{"name":"A","value":"[redacted]")"},
      {R"(ecret"},{"name":"A","value":"x"}]} garbage)",
       R"("[redacted]""},{"name":"A","value":"[redacted]"}]} garbage)"},
      {R"({"kind":"Secret","data":{"a":"x","b":"y"},)",
       R"({"kind":"Secret","data":{"a":"[redacted]","b":"[redacted]"},)"},
      {"plain text", "\"[redacted]\""},
      {"<html>502 <a href='https://u:x@h/'>", "<html>502 <a href='https://u:[redacted]@h/'>"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(redact(body), expected);
}

TEST(Redactor, KeepsWhatItIsTold) {
  const std::string body = R"({"metadata":{"annotations":{"vault.example.com/key":"x","other":"y"}}})";
  EXPECT_EQ(redact(body), body);
  EXPECT_EQ(redact(body, {"vault.*"}),
            R"({"metadata":{"annotations":{"vault.example.com/key":"[redacted]","other":"y"}}})");
  Redactor off({Redact::kOff, {}});
  EXPECT_EQ(off.redact(R"({"env":[{"value":"x"}]})"), R"({"env":[{"value":"x"}]})");
}

TEST(Redactor, TakesSecretsOutOfTheFormOfALine) {
  Redactor redactor({Redact::kOn, {}});
  const std::string before = R"({"t":1,"path":"/a?token=x&b=1","headers":{"Authorization":"Basic x"},"body":)";
  const std::string behind = R"(,"token":"y"})";
  size_t hole = before.size();
  const std::string form(redactor.redact_form(before + behind, hole));
  const std::string kept =
      R"({"t":1,"path":"/a?token=[redacted]&b=1","headers":{"Authorization":"[redacted]"},"body":)";
  EXPECT_EQ(form, kept + R"(,"token":"[redacted]"})");
  EXPECT_EQ(form.substr(0, hole), kept);
  hole = 20;  // within a secret
  EXPECT_EQ(redactor.redact_form(R"({"t":1,"token":"0123456789"})", hole), "");
}

TEST(Redactor, IsStableAndSurvivesEveryCut) {
  const std::string body =
      R"({"kind":"Secret","data":{"a":"hunter2"},"x":{"env":[{"name":"A","value":"hunter2"}],"token":"hunter2"}})";
  const std::string once = redact(body);
  EXPECT_EQ(redact(once), once);
  for (size_t i = 0; i <= body.size(); ++i) {
    EXPECT_EQ(redact(body.substr(0, i)).find("hunter"), std::string::npos) << i;
    std::string broken = body;
    if (i < body.size()) broken[i] = '\n';
    if (broken.find("hunter2") != std::string::npos) continue;
  }
}

TEST(Redactor, DeepNestingIsNoStackOverflow) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  EXPECT_EQ(redact(deep), deep);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(redact(objects), objects);
}

// Everything that a trace says: bodies, catalog texts, losses, notes, names of streams.
std::string all_text(const std::string& path) {
  auto reader = trace::TraceReader::open(path);
  if (!reader.ok()) return reader.error().message();
  std::string out;
  for (;;) {
    const auto record = reader->next();
    if (!record.ok() || record.value() == nullptr) break;
    out += *reader->body(record.value()->seq) + "\n";
  }
  for (uint32_t i = 0; i < reader->catalog().strings(); ++i) out.append(reader->catalog().text(StringId{i})) += '\n';
  for (const auto& stream : reader->info().streams) out += stream.stream.name + "\n";
  for (const auto& loss : reader->info().losses) out += loss.what + "\n";
  for (const auto& note : reader->info().notes) out += note.what + "\n";
  return out;
}

std::string capture(const std::string& kind, const std::string& body) {
  std::string out = R"({"t":1,"stream":"s","kind":")" + kind + R"(","body":")";
  escape(body, Escapes::kShort, out);
  return out + "\"}\n";
}

// One secret in every place where one may stand, in every kind of input.
class PlantedTest : public testing::Test {
 protected:
  const std::string env_ = R"("containers":[{"name":"c","env":[{"name":"A","value":"hunter2"}]}])";
  const std::string pod_ =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"5",)"
      R"("annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\"hunter2\"}","my/key":"hunter2"}},"spec":{)" +
      env_ + "}}";
  const std::string secret_ =
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","uid":"v"},"data":{"k":"hunter2"}})";
  const std::string deployment_ =
      R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","uid":"w"},"spec":{"template":{"spec":{)" +
      env_ + "}}}}";

  // Facts are made of its texts.
  const std::string event_ =
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","uid":"x","resourceVersion":"6"},)"
      R"("reason":"token=hunter2","message":"Bearer hunter2","source":{"component":"https://u:hunter2@h/"}})";

  std::vector<std::string> inputs() {
    const std::string list = R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)"
                             R"({"metadata":{"name":"s","uid":"v"},"data":{"k":"hunter2"}}]})";
    const auto frame = [](const std::string& object) { return R"({"type":"ADDED","object":)" + object + "}"; };
    std::string captures = capture("list", list) + capture("frame", frame(pod_)) + capture("frame", frame(secret_)) +
                           capture("frame", frame(deployment_)) + capture("frame", frame(pod_).substr(0, 330)) +
                           capture("frame", frame(secret_) + "}") + "{\"token\":\"hunter2\"," +
                           capture("frame", frame(pod_)).substr(1) + "{\"t\":1,\"stream\":\"s\",\"hunter2";
    captures =
        R"({"t":1,"stream":"s?token=hunter2","kind":"open","path":"/api/v1/pods?watch=1&token=hunter2"})"
        "\n" +
        capture("frame", frame(event_)) +
        capture("frame", R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"Bearer hunter2"}})") +
        R"({"t":1,"stream":"s","kind":"close","reason":"GET https://u:hunter2@h/: EOF"})"
        "\n" +
        captures;
    std::string bare = captures;  // a form that is kept as it is, were it not for the secret
    for (size_t at = 0; (at = bare.find("\\\"name", at)) != std::string::npos;) bare.replace(at, 2, "\\u0022");
    const std::string audit =
        R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"1","stage":"ResponseComplete",)"
        R"("verb":"create","objectRef":{"resource":"secrets"},"requestObject":)" +
        secret_ + R"(,"responseObject":{"kind":"TokenRequest","status":{"token":"hunter2"}}})" + "\n" +
        R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"2","stage":"ResponseComplete","verb":"create",)"
        R"("requestURI":"/api?token=hunter2","user":{"username":"token=hunter2"},"userAgent":"Bearer hunter2",)"
        R"("objectRef":{"resource":"pods","subresource":"binding","namespace":"n","name":"p"},"responseStatus":)"
        R"({"code":500,"reason":"password=hunter2","message":"Authorization: Basic hunter2"},)"
        R"("requestReceivedTimestamp":"2024-01-01T00:00:00Z"})" +
        "\n";
    return {
        folder_.write("captures.jsonl", captures),
        folder_.write("bare.jsonl", bare),
        folder_.write("frames.json",
                      frame(pod_) + "\n" + frame(secret_) + "\n" + frame(deployment_) + "\n{\"type\":\"hunter2"),
        folder_.write("kubectl.json", pod_ + secret_ + "\n" + list),
        folder_.write("audit.log", audit + "{\"kind\":\"Event\",\"data\":\"hunter2\"\n"),
        folder_.write("binds.jsonl", R"({"t":1,"scheduler":"x","request":{"metadata":{"name":"p","annotations":)"
                                     R"({"my/key":"hunter2"}},"target":{"name":"n"}},"code":201})"
                                     "\n"
                                     R"({"t":2,"scheduler":"password=hunter2","request":{"metadata":{"name":"q"},)"
                                     R"("target":{"name":"n"}},"error":"Post https://u:hunter2@h/x: EOF"})"
                                     "\n"),
        folder_.write("objects.yaml",
                      "apiVersion: v1\nkind: Secret\nmetadata: {name: s, uid: v}\ndata:\n  k: hunter2\n---\n"
                      "apiVersion: v1\nkind: Secret\ndata: {k: hunter2, k: hunter2}\n---\n"
                      "# password=hunter2\napiVersion: v1\nkind: Pod\nmetadata: {name: y, uid: yy}\n"),
    };
  }

  TestFolder folder_;
};

TEST_F(PlantedTest, AppearNowhere) {
  ImportOptions options;
  options.inputs = inputs();
  options.output = folder_.path("x.trace");
  options.redact.annotations = {"my/*"};
  const auto report = import_files(options);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(all_text(options.output).find("hunter"), std::string::npos);
  for (const ImportLoss& loss : report->losses) EXPECT_EQ(loss.text.find("hunter"), std::string::npos) << loss.text;
  for (const std::string& text : report->warnings) EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
  for (const uint64_t count : report->redacted) EXPECT_GT(count, 0u);
}

TEST_F(PlantedTest, AreTakenOutOfATraceLater) {
  ImportOptions options;
  options.inputs = inputs();
  options.output = folder_.path("x.trace");
  options.redact.redact = Redact::kOff;
  ASSERT_TRUE(import_files(options).ok());
  EXPECT_NE(all_text(options.output).find("hunter"), std::string::npos);
  const std::string out = folder_.path("y.trace");
  const auto done = redact_trace(options.output, out, {Redact::kOn, {"my/*"}});
  ASSERT_TRUE(done.ok()) << done.error().message();
  const std::string text = all_text(out);
  const size_t at = text.find("hunter");
  EXPECT_EQ(at, std::string::npos) << text.substr(at < 200 ? 0 : at - 200, 300);
  auto before = trace::TraceReader::open(options.output), after = trace::TraceReader::open(out);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->info().records, after->info().records);
  EXPECT_EQ(before->info().losses.size(), after->info().losses.size());
}

}  // namespace
}  // namespace inquest::recorder
