// The client against a scripted server on loopback: heads, bodies, cuts, silence, TLS, credentials.
#include "kube/client/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/test_folder.h"
#include "kube/client/test_server.h"

namespace inquest::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = HttpEnd::Kind;

// Everything that comes of one request.
class Got : public Receiver {
 public:
  void head(const HttpHead& h) override { head_ = h; }
  bool bytes(std::string_view piece) override {
    body_ += piece;
    if (on_bytes) on_bytes();
    return body_.size() < take;
  }
  void end(const HttpEnd& e) override {
    ++ends;
    end_ = e;
  }

  size_t take = SIZE_MAX;  // no more once there is so much
  std::function<void()> on_bytes;
  HttpHead head_;
  std::string body_;
  HttpEnd end_;
  int ends = 0;
};

class ApiTest : public ::testing::Test {
 protected:
  void use(const TestServer& server) { access_.server = server.url(); }
  // Sends and waits for the end, or for `until`.
  void get(Got& got, const ApiRequest& request, const std::function<bool()>& until = {}) {
    if (!api_) api_.emplace(access_, clock_, "inquest/test", false);
    const Result<Api::Id> sent = api_->send(request, got);
    ASSERT_TRUE(sent.ok()) << sent.error().message();
    id_ = *sent;
    wait([&] { return got.ends > 0 || (until && until()); });
  }
  void get(Got& got, const std::string& path = "/x") {
    ApiRequest request;
    request.path = path;
    get(got, request);
  }
  void wait(const std::function<bool()>& done) {
    const Time until = clock_.monotonic() + Duration::seconds(20);
    while (!done() && clock_.monotonic() < until) api_->run(Duration::milliseconds(50));
    ASSERT_TRUE(done());
  }

  SystemClock clock_;
  Access access_;
  std::optional<Api> api_;
  Api::Id id_ = 0;
};

TEST_F(ApiTest, AnAnswer) {
  TestServer server(
      [](const SeenRequest&, Peer& peer) { peer.answer(200, "{}", "Content-Type: application/json\r\n"); });
  use(server);
  access_.server += "/prefix";
  access_.as = "boss";
  access_.as_groups = {"g1", "g2"};
  access_.as_extra = {{"a/b", {"v"}}};
  Got got;
  get(got, "/api/v1/pods?limit=5");
  EXPECT_EQ(got.head_.status, 200);
  EXPECT_EQ(got.head_.content_type, "application/json");
  EXPECT_EQ(got.body_, "{}");
  EXPECT_EQ(got.end_.kind, Kind::kDone);
  ASSERT_EQ(server.seen().size(), 1u);
  auto headers = server.seen()[0].headers;
  EXPECT_EQ(server.seen()[0].path, "/prefix/api/v1/pods?limit=5");
  EXPECT_EQ(headers["user-agent"], "inquest/test");
  EXPECT_EQ(headers["accept"], "application/json");
  EXPECT_EQ(headers["accept-encoding"], "gzip");
  EXPECT_EQ(headers["impersonate-user"], "boss");
  EXPECT_EQ(headers["impersonate-group"], "g2");  // the map keeps the last
  EXPECT_EQ(headers["impersonate-extra-a%2fb"], "v");
  EXPECT_EQ(headers.count("authorization"), 0u);
}

TEST_F(ApiTest, APost) {
  TestServer server([](const SeenRequest& request, Peer& peer) { peer.answer(201, request.body); });
  use(server);
  Got got;
  get(got, {"POST", "/x", "{\"a\":1}", Duration::seconds(10), {}});
  EXPECT_EQ(got.head_.status, 201);
  EXPECT_EQ(got.body_, "{\"a\":1}");
  EXPECT_EQ(server.seen()[0].method, "POST");
  EXPECT_EQ(server.seen()[0].headers.at("content-type"), "application/json");
}

TEST_F(ApiTest, AnErrorAndItsRetryAfter) {
  TestServer server([](const SeenRequest&, Peer& peer) { peer.answer(429, "{\"code\":429}", "Retry-After: 7\r\n"); });
  use(server);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 429);
  EXPECT_EQ(got.head_.retry_after_s, 7u);
  EXPECT_EQ(got.body_, "{\"code\":429}");
}

TEST_F(ApiTest, AnAnswerWithoutABodyHasAHead) {
  TestServer server([](const SeenRequest&, Peer& peer) { peer.answer(204, ""); });
  use(server);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 204);
  EXPECT_EQ(got.ends, 1);
}

TEST_F(ApiTest, EndsOfEveryKind) {
  const std::pair<std::function<void(Peer&)>, Kind> rows[] = {
      {[](Peer& peer) { peer.open(), peer.chunk("{"), peer.close(); }, Kind::kCut},
      {[](Peer& peer) { peer.send("HTTP/1.1 200 x\r\nContent-Length: 10\r\n\r\n12345"), peer.close(); }, Kind::kCut},
      {[](Peer& peer) { peer.close(); }, Kind::kCut},
      {[](Peer& peer) { peer.open(), peer.chunk("{}"), peer.end(); }, Kind::kDone},
      {[](Peer& peer) { peer.send("HTTP/1.0 200 x\r\n\r\nto the end"), peer.close(); }, Kind::kDone},
      {[](Peer& peer) { peer.send("SSH-2.0-x\r\n\r\n"), peer.close(); }, Kind::kBroken},
      {[](Peer& peer) { peer.open(), peer.send("zz\r\n{}\r\n"), peer.close(); }, Kind::kCut},
      {[](Peer& peer) { peer.open("X: " + std::string(70'000, 'x') + "\r\n"), peer.end(); }, Kind::kBroken},
      {[](Peer& peer) { peer.open("Content-Encoding: gzip\r\n"), peer.chunk("none"), peer.end(); }, Kind::kBroken},
  };
  size_t row = 0;
  for (const auto& [script, kind] : rows) {
    TestServer server([run = script](const SeenRequest&, Peer& peer) { run(peer); });
    use(server);
    api_.reset();
    Got got;
    get(got);
    EXPECT_EQ(got.end_.kind, kind) << row << ": " << got.end_.text;
    ++row;
  }
}

TEST_F(ApiTest, NobodyListens) {
  {
    TestServer server([](const SeenRequest&, Peer&) {});
    use(server);
  }
  Got got;
  get(got);
  EXPECT_EQ(got.end_.kind, Kind::kNotReached);
  EXPECT_TRUE(got.end_.refused);
}

TEST_F(ApiTest, AServerThatNeverAnswers) {
  TestServer server([](const SeenRequest&, Peer& peer) { peer.wait_until_gone(Duration::seconds(20)); });
  use(server);
  Got got;
  get(got, {"GET", "/x", "", Duration::milliseconds(200), {}});
  EXPECT_EQ(got.end_.kind, Kind::kTimeOut);
  EXPECT_EQ(got.end_.text, "no answer within the time");
}

TEST_F(ApiTest, AStreamThatFallsSilent) {
  TestServer server([](const SeenRequest&, Peer& peer) {
    peer.open();
    peer.chunk("{}\n");
    peer.wait_until_gone(Duration::seconds(20));
  });
  use(server);
  Got got;
  get(got, {"GET", "/x", "", Duration::seconds(10), Duration::milliseconds(200)});
  EXPECT_EQ(got.body_, "{}\n");
  EXPECT_EQ(got.end_.kind, Kind::kTimeOut);
  EXPECT_EQ(got.end_.text, "no byte for too long");
}

TEST_F(ApiTest, WhoTakesNoMoreHoldsTheServerBack) {
  std::atomic<size_t> sent = 0;
  TestServer server([&](const SeenRequest&, Peer& peer) {
    peer.open();
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 64 && !peer.closed(); ++i) {
      peer.chunk(piece);
      sent += piece.size();
    }
    peer.end();
  });
  use(server);
  Got got;
  got.take = 1;
  ApiRequest request;
  request.path = "/x";
  get(got, request, [&] { return !got.body_.empty(); });
  for (int i = 0; i < 20; ++i) api_->run(Duration::milliseconds(10));
  EXPECT_LT(got.body_.size(), size_t{1} << 20);
  EXPECT_LT(sent, size_t{64} << 20);
  got.take = SIZE_MAX;
  api_->resume(id_);
  wait([&] { return got.ends > 0; });
  EXPECT_EQ(got.body_.size(), size_t{64} << 20);
}

TEST_F(ApiTest, CancelledWithinACall) {
  TestServer server([](const SeenRequest&, Peer& peer) {
    peer.open();
    peer.chunk("{}\n");
    peer.wait_until_gone(Duration::seconds(20));
  });
  use(server);
  Got got;
  got.on_bytes = [&] { api_->cancel(id_); };
  ApiRequest request;
  request.path = "/x";
  get(got, request, [&] { return !got.body_.empty(); });
  for (int i = 0; i < 5; ++i) api_->run(Duration::milliseconds(10));
  EXPECT_EQ(got.ends, 0);
  EXPECT_EQ(got.body_, "{}\n");
}

// --- TLS
// --------------------------------------------------------------------------------------------------------------

TestServer::Script ok() {
  return [](const SeenRequest&, Peer& peer) { peer.answer(200, "{}"); };
}

TEST_F(ApiTest, TlsWithAnAuthority) {
  const TestCertificate own = make_certificate("127.0.0.1");
  TestServer server(ok(), TestServer::Tls{own, ""});
  use(server);
  access_.ca.text = Secret(own.certificate_pem);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 200) << got.end_.text;
}

TEST_F(ApiTest, TlsWithAnAuthorityInAFile) {
  const TestFolder folder;
  const TestCertificate own = make_certificate("127.0.0.1");
  TestServer server(ok(), TestServer::Tls{own, ""});
  use(server);
  access_.ca.file = folder.write("ca.crt", own.certificate_pem);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 200) << got.end_.text;
}

TEST_F(ApiTest, TlsUnderAnotherName) {
  const TestCertificate own = make_certificate("api.example");
  TestServer server(ok(), TestServer::Tls{own, ""});
  use(server);
  access_.ca.text = Secret(own.certificate_pem);
  {
    Got got;
    get(got);
    EXPECT_EQ(got.end_.kind, Kind::kTls) << got.end_.text;
  }
  api_.reset();
  access_.tls_server_name = "api.example";
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 200) << got.end_.text;
  EXPECT_EQ(server.seen()[0].headers.at("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(ApiTest, TlsThatIsNotTrusted) {
  const TestCertificate own = make_certificate("127.0.0.1"), other = make_certificate("127.0.0.1"),
                        over = make_certificate("127.0.0.1", -10);
  TestServer server(ok(), TestServer::Tls{own, ""}), expired(ok(), TestServer::Tls{over, ""});
  use(server);
  access_.ca.text = Secret(other.certificate_pem);
  Got wrong;
  get(wrong);
  EXPECT_EQ(wrong.end_.kind, Kind::kTls);
  EXPECT_THAT(wrong.end_.text, HasSubstr("certificate"));

  api_.reset();
  use(expired);
  access_.ca.text = Secret(over.certificate_pem);
  Got late;
  get(late);
  EXPECT_EQ(late.end_.kind, Kind::kTls);
  EXPECT_THAT(late.end_.text, HasSubstr("expired"));

  api_.reset();
  use(server);
  access_.ca = {};
  access_.insecure = true;
  Got insecure;
  get(insecure);
  EXPECT_EQ(insecure.head_.status, 200) << insecure.end_.text;
  EXPECT_THAT(expired.seen(), IsEmpty());
}

TEST_F(ApiTest, TlsWithACertificateOfOurOwn) {
  const TestFolder folder;
  const TestCertificate own = make_certificate("127.0.0.1"), client = make_certificate("dev");
  TestServer server(ok(), TestServer::Tls{own, client.certificate_pem});
  use(server);
  access_.ca.text = Secret(own.certificate_pem);
  {
    Got got;
    get(got);
    EXPECT_EQ(got.head_.status, 0);
  }
  api_.reset();
  access_.certificate.text = Secret(client.certificate_pem);
  access_.key.file = folder.write("key", client.key_pem);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 200) << got.end_.text;
}

// --- credentials
// ------------------------------------------------------------------------------------------------------

TEST_F(ApiTest, ANewTokenAfter401) {
  const TestFolder folder;
  access_.token_file = folder.write("token", "old");
  TestServer server([&](const SeenRequest& request, Peer& peer) {
    const bool good = request.headers.at("authorization") == "Bearer new";
    folder.write("token", "new");
    peer.answer(good ? 200 : 401, good ? "good" : "bad");
  });
  use(server);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 200);
  EXPECT_EQ(got.body_, "good");
  EXPECT_EQ(server.seen().size(), 2u);
}

TEST_F(ApiTest, A401ThatStays) {
  const TestFolder folder;
  access_.token_file = folder.write("token", "bad");
  TestServer server([](const SeenRequest&, Peer& peer) { peer.answer(401, "no"); });
  use(server);
  Got got;
  get(got);
  EXPECT_EQ(got.head_.status, 401);
  EXPECT_EQ(got.body_, "no");
  EXPECT_EQ(server.seen().size(), 2u);
}

TEST_F(ApiTest, APluginThatFailsSendsNothing) {
  TestServer server(ok());
  use(server);
  access_.exec = ExecPlugin{"v", "/nonexistent/tool", {}, {}, "", false, ExecPlugin::Interactive::kNever};
  Api api(access_, clock_, "x", false);
  Got got;
  const Result<Api::Id> sent = api.send({}, got);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().message(), "/nonexistent/tool: the exec plugin cannot be run: No such file or directory");
  EXPECT_THAT(server.seen(), IsEmpty());
}

TEST_F(ApiTest, NoHeaderCanBeSlippedIn) {
  access_.server = "http://127.0.0.1:1";
  access_.as = "x\r\nImpersonate-Group: system:masters";
  Api api(access_, clock_, "x", false);
  Got got;
  EXPECT_EQ(api.send({}, got).error().message(), "Impersonate-User would hold a line break");
  access_.as.clear();
  access_.token = Secret("t\nhidden");
  Api other(access_, clock_, "x", false);
  EXPECT_EQ(other.send({}, got).error().message(), "a credential holds a line break");
}

TEST_F(ApiTest, ThroughAProxy) {
  TestServer proxy([](const SeenRequest& request, Peer& peer) { peer.answer(200, request.path); });
  access_.server = "http://api.example";
  access_.proxy_url = proxy.url();
  Got got;
  get(got);
  EXPECT_EQ(got.body_, "http://api.example/x");
}

}  // namespace
}  // namespace inquest::kube
