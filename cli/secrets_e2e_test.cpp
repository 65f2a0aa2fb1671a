// A secret in every place where the kinds of recorder/redact.h allow one: found again nowhere, neither in what any verb
// prints nor in any byte of what it writes.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cli/process_for_tests.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

// Bodies, and the texts of the facts, which the file holds compressed.
std::string unpacked(const std::string& path) {
  std::string out;
  auto reader = trace::TraceReader::open(path);
  if (!reader.ok()) return out;
  for (;;) {
    const auto record = reader->next();
    if (!record.ok() || record.value() == nullptr) break;
    const auto body = reader->body(record.value()->seq);
    if (body.ok()) out.append(*body).append("\n");
  }
  for (uint32_t i = 0; i < reader->catalog().strings(); ++i) {
    out.append(reader->catalog().text(StringId{i})).append("\n");
  }
  return out;
}

class Secrets : public testing::Test {
 protected:
  // Each of its own, so that a test that fails says which place leaks.
  std::string plant(const std::string& what) {
    planted_.push_back("plant-" + what + "-9z");
    return planted_.back();
  }

  void look_at(const std::string& text, const std::string& where) {
    for (const std::string& secret : planted_) {
      if (text.find(secret) == std::string::npos) continue;
      if (expected_) {
        found_.insert(secret);
      } else {
        ADD_FAILURE() << secret << " stands in " << where;
      }
    }
  }
  void look_at_files() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place_.path("."))) {
      const std::string name = std::filesystem::path(entry.path()).lexically_relative(place_.path(".")).string();
      if (!entry.is_regular_file() || name.starts_with("in/") || name.starts_with("raw.")) continue;
      look_at(read_file(entry.path()), name);
      if (entry.path().extension() == ".trace") look_at(unpacked(entry.path()), name + ", unpacked");
    }
  }
  void run(const std::vector<std::string>& args, const std::set<int>& exits = {0, 1, 3, 4}) {
    const Ran ran = place_.run(args);
    EXPECT_TRUE(exits.contains(ran.exit)) << args[0] << " ended with " << ran.exit << "\n" << ran.err;
    look_at(ran.out, "the output of " + args[0]);
    look_at(ran.err, "the messages of " + args[0]);
  }

  std::vector<std::string> inputs();
  std::string pod(const std::string& at);
  std::string captures();
  std::string audit();
  std::string yaml();
  void look_everywhere(const std::string& trace);

  Workplace place_;
  std::vector<std::string> planted_;
  bool expected_ = false;
  std::set<std::string> found_;
};

std::string secret_object(const std::string& field, const std::string& value) {
  return R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"n","uid":"s","resourceVersion":"3"},")" +
         field + R"(":{"k":")" + value + R"("}})";
}

std::string frame(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}

std::string Secrets::pod(const std::string& at) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u-)" + at +
         R"(","resourceVersion":"5","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\")" +
         plant(at + "-applied") + R"(\"}","team/key":")" + plant(at + "-annotation") +
         R"("},"managedFields":[{"manager":"token=)" + plant(at + "-manager") +
         R"("}]},"spec":{"schedulerName":"s","containers":[{"name":"c","image":"u:)" + plant(at + "-image") +
         R"(@example.com/a:1","args":["--password=)" + plant(at + "-argument") + R"(","--dsn=mysql://u:)" +
         plant(at + "-dsn") + R"(@db/x"],"env":[{"name":"A","value":")" + plant(at + "-env") +
         R"("}]}]},"status":{"phase":"Pending","message":"sent Authorization: Basic )" + plant(at + "-header") +
         R"( and -----BEGIN PRIVATE KEY-----\n)" + plant(at + "-pem") + R"(\n-----END PRIVATE KEY-----"}})";
}

std::string Secrets::captures() {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto line = [](const std::string& kind, const std::string& body) {
    return capture_line(2 * kSecond, "pods", kind, body);
  };
  std::string cut = frame("ADDED", pod("cut"));
  cut.resize(cut.find("-env-9z") + 9);
  std::string bytes = line("frame", frame("MODIFIED", pod("bytes")));
  bytes.replace(bytes.find("Pending"), 7, "Pend\xff\xfe!");
  const std::string event =
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","uid":"e","resourceVersion":"7"},)"
      R"("reason":"token=)" +
      plant("event-reason") + R"(","message":"Bearer )" + plant("event-message") +
      R"(","source":{"component":"https://u:)" + plant("event-component") + R"(@h/"}})";
  const std::string status = R"({"kind":"Status","code":410,"message":"Bearer )" + plant("error-message") + "\"}";
  std::string out = R"({"t":1000000000,"stream":"pods","kind":"list","path":"/api/v1/pods?token=)" +
                    plant("list-path") + R"(","status":200,"body":"{\"kind\":\"PodList\",\"metadata\":)" +
                    R"({\"resourceVersion\":\"1\"},\"items\":[]}"})" + "\n";
  out += R"({"t":1000000000,"stream":"pods","kind":"open","path":"/api/v1/pods?watch=1&resourceVersion=1&token=)" +
         plant("open-path") + R"(","status":200})" + "\n";
  out += R"({"t":1000000000,"stream":"pods?token=)" + plant("stream") + R"(","kind":"open"})" + "\n";
  out += line("frame", frame("ADDED", pod("frame"))) + line("frame", frame("ADDED", event)) + bytes;
  out += line("frame", frame("ADDED", secret_object("data", plant("data"))));
  out += line("list", R"({"kind":"SecretList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"s",)"
                      R"("uid":"s"},"data":{"k":")" +
                          plant("list-data") + R"("}}]})");
  out += line("frame", cut) + line("frame", frame("ADDED", secret_object("stringData", plant("stringdata"))) + "}");
  out += line("frame", "bytes that are nothing, " + plant("nothing"));
  out += R"({"t":3000000000,"stream":"pods","kind":"frame","headers":{"Authorization":"Basic )" + plant("form") +
         R"("},"body": )" + frame("ADDED", pod("raw")) + "}\n";
  out += line("frame", frame("ERROR", status));
  out +=
      R"({"t":4000000000,"stream":"pods","kind":"close","reason":"GET https://u:)" + plant("close") + R"(@h/: EOF"})";
  return out + "\n{\"t\":5,\"stream\":\"pods\",\"kind\":\"frame\",\"body\":\"" + plant("unfinished");
}

std::string Secrets::audit() {
  const std::string head = R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse",)"
                           R"("stage":"ResponseComplete","requestReceivedTimestamp":"2024-01-01T00:00:00Z",)"
                           R"("stageTimestamp":"2024-01-01T00:00:01Z","verb":"create",)";
  std::string out = head + R"("auditID":"1","objectRef":{"resource":"secrets"},"requestObject":)" +
                    secret_object("data", plant("audit-data")) +
                    R"(,"responseObject":{"kind":"TokenRequest","status":{"token":")" + plant("audit-token") +
                    "\"}}}\n";
  out += head + R"("auditID":"2","objectRef":{"resource":"secrets"},"requestObject":{"data":{"k":")" +
         plant("audit-patch") + "\"}}}\n";
  out += head + R"("auditID":"3","objectRef":{"resource":"secrets"},"requestObject":[{"op":"add","path":"/data/k",)" +
         R"("value":")" + plant("audit-operation") + "\"}]}\n";
  out += head + R"("auditID":"4","requestURI":"/api?access_token=)" + plant("audit-uri") +
         R"(\u0026x=1","user":{"username":"token=)" + plant("audit-user") +
         R"(","extra":{"authentication.kubernetes.io/credential-id":["JTI=)" + plant("audit-credential") +
         R"("]}},"userAgent":"toy/1 Bearer )" + plant("audit-agent") +
         R"(","objectRef":{"resource":"pods","subresource":"binding","namespace":"n","name":"p","uid":"u-frame"},)" +
         R"("responseStatus":{"code":500,"reason":"password=)" + plant("audit-reason") + R"(","message":"Bearer )" +
         plant("audit-message") + R"("},"requestObject":{"metadata":{"annotations":{"team/key":")" +
         plant("audit-annotation") + R"("}},"target":{"name":"n1"}}})" + "\n";
  return out + R"({"kind":"Event","data":")" + plant("audit-damaged") + "\"\n";
}

std::string Secrets::yaml() {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: y, uid: y}\ndata:\n  k: " + plant("yaml-data") +
         "\n---\napiVersion: v1\nkind: Secret\ndata: {k: " + plant("yaml-first") + ", k: " + plant("yaml-twice") +
         "}\n---\n# password=" + plant("yaml-comment") + "\napiVersion: v1\nkind: Pod\nmetadata: {name: y, uid: z}\n";
}

std::vector<std::string> Secrets::inputs() {
  std::filesystem::create_directory(place_.path("in"));
  place_.write("in/captures.jsonl", captures());
  place_.write("in/audit.log", audit());
  place_.write(
      "in/binds.jsonl",
      R"({"t":2000000000,"t_answer":2000000001,"scheduler":"toy","request":{"metadata":{"name":"p","namespace":"n",)"
      R"("uid":"u-frame","annotations":{"team/key":")" +
          plant("bind-annotation") + R"("}},"target":{"name":"n1"}},"error":"Post https://u:)" + plant("bind-error") +
          "@h/x: EOF\"}\n");
  place_.write("in/kubectl.json", pod("kubectl") + "\n" + secret_object("data", plant("kubectl-data")));
  place_.write("in/frames.json", frame("ADDED", pod("watch")) + "\n{\"type\":\"" + plant("frames-unfinished"));
  place_.write("in/objects.yaml", yaml());
  return {"in/captures.jsonl", "in/audit.log",   "in/binds.jsonl",
          "in/kubectl.json",   "in/frames.json", "in/objects.yaml"};
}

// All verbs that read a trace, and all that make one of it.
void Secrets::look_everywhere(const std::string& trace) {
  run({"info", trace, "--pods"});
  run({"info", trace, "--json"});
  run({"records", trace, "--body"});
  run({"records", trace, "--body", "--json"});
  run({"records", trace, "--diff"});
  run({"verify", trace});
  run({"verify", trace, "--json"});
  run({"replay", trace, "--scheduler-name", "s", "-o", "x.run.json"});
  run({"replay", trace, "--scheduler-name", "s", "--drop", "pods ADDED", "--json"});
  run({"export", trace, "-o", "lines", "--force"});
  run({"cut", trace, "-o", "cut.trace", "--to", "+1h", "--force"});
  run({"cut", trace, "-o", "one.trace", "--uid", "u-frame", "--force"});
  run({"compact", trace, "-o", "compact.trace", "--force"});
  run({"merge", trace, "cut.trace", "-o", "merged.trace", "--force"}, {0, 1, 2, 3});
  std::string damaged = place_.read(trace);
  for (size_t at = damaged.size() / 2; at < damaged.size() / 2 + 5000; ++at) damaged[at] ^= 0x55;
  place_.write("damaged.trace", damaged);
  run({"verify", "damaged.trace"}, {0, 1, 2, 3});
  run({"replay", "damaged.trace"}, {0, 1, 2, 3, 4});
  run({"recover", "damaged.trace", "-o", "recovered.trace", "--force"}, {0, 2, 3});
  look_at_files();
}

TEST_F(Secrets, StandInNothingThatIsMadeOfAnImport) {
  std::vector<std::string> args{"import"};
  for (const std::string& input : inputs()) args.push_back(input);
  args.insert(args.end(), {"-o", "x.trace", "--redact-annotation", "team/*"});
  run(args, {1, 3});  // a checkpoint differs
  look_everywhere("x.trace");
}

TEST_F(Secrets, StandInNothingThatIsMadeOfARedactedTrace) {
  std::vector<std::string> args{"import"};
  for (const std::string& input : inputs()) args.push_back(input);
  args.insert(args.end(), {"-o", "raw.trace", "--no-redact"});
  expected_ = true;
  run(args, {1, 3});  // a checkpoint differs
  look_at(unpacked(place_.path("raw.trace")), "");
  EXPECT_GT(found_.size(), planted_.size() - 8) << "what is planted has to be there before";
  expected_ = false;
  run({"redact", "raw.trace", "-o", "x.trace", "--annotation", "team/*"}, {0, 3});
  look_everywhere("x.trace");
}

// One input alone, as messages differ when nothing in it can be used.
TEST_F(Secrets, StandInNoMessageAboutBadInput) {
  place_.write("page.html", "<html><title>https://u:" + plant("title") + "@h/</title>");
  place_.write("kubectl.txt", "error: Get https://u:" + plant("kubectl") + "@h/: EOF\n");
  place_.write("json.jsonl", "{\"token\":\"" + plant("json") + "\"\n");
  place_.write("text.jsonl", plant("text") + "\n");
  place_.write("objects.yaml", "kind: Secret\ndata: {k: [" + plant("yaml") + "\n");
  for (const char* name : {"page.html", "kubectl.txt", "json.jsonl", "text.jsonl", "objects.yaml"}) {
    run({"import", name, "-o", "x.trace"}, {2});
    run({"info", name}, {2});
  }
}

}  // namespace
}  // namespace inquest::cli
