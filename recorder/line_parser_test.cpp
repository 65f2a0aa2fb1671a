#include "recorder/line_parser.h"

#include <gtest/gtest.h>

namespace inquest::recorder {
namespace {

// A line with the room behind it that the parser wants.
class Text {
 public:
  explicit Text(std::string text, bool terminated = true) : text_(std::move(text)) {
    const size_t size = text_.size();
    text_.resize(size + kLinePadding);
    line_.kind = Line::Kind::kText;
    line_.text = std::string_view(text_).substr(0, size);
    line_.number = 1;
    line_.terminated = terminated;
  }
  const Line& line() const { return line_; }

 private:
  std::string text_;
  Line line_;
};

TEST(LineParser, ReadsCaptureLines) {
  LineParser parser;
  const Text list(
      R"({"t":12,"stream":"pods","kind":"list","path":"/api/v1/pods","status":200,"body":"{\"a\":\"\\u00e9\"}\n"})");
  const auto capture = parser.capture(list.line());
  ASSERT_TRUE(capture.ok()) << capture.error().text;
  EXPECT_EQ(capture.value().kind, CaptureLine::Kind::kList);
  EXPECT_EQ(capture.value().t.ns, 12);
  EXPECT_EQ(capture.value().stream, "pods");
  EXPECT_EQ(capture.value().path, "/api/v1/pods");
  EXPECT_EQ(capture.value().status, 200);
  EXPECT_EQ(capture.value().body, "{\"a\":\"\\u00e9\"}\n");

  const Text close(R"({"reason":"EOF","unknown":[{"t":9}],"kind":"close","stream":"pods","t":13})");
  const auto closed = parser.capture(close.line());
  ASSERT_TRUE(closed.ok()) << closed.error().text;
  EXPECT_EQ(closed.value().reason, "EOF");
  EXPECT_EQ(closed.value().t.ns, 13);

  const Text object(R"({"t":1,"stream":"pods","kind":"frame","body":{"type" : "ADDED"}})");
  const auto embedded = parser.capture(object.line());
  ASSERT_TRUE(embedded.ok()) << embedded.error().text;
  EXPECT_EQ(embedded.value().body, R"({"type" : "ADDED"})");

  const Text twice(R"({"t":1,"t":2,"stream":"a","stream":"b","kind":"close"})");
  EXPECT_EQ(parser.capture(twice.line()).value().stream, "b");
  EXPECT_EQ(parser.capture(twice.line()).value().t.ns, 2);
}

TEST(LineParser, SaysWhatIsWrongWithACaptureLine) {
  const struct {
    std::string text;
    bool terminated;
    const char* error;
  } cases[] = {
      {R"({"t":1,"stream":"pods","kind":"frame","bo)", false, "the last line is cut off"},
      {R"({"t":1,"stream":"pods","kind":"frame","bo)", true, "not valid JSON"},
      {R"({"t":1,"stream":"pods","kind":"frame","body":"x"}})", true, "not valid JSON"},
      {R"({"t":1,"stream":"pods","kind":"frame","body":"x"}{"t":2})", true, "not valid JSON"},
      {R"(42)", true, "not a JSON object"},
      {R"(["t"])", true, "not a JSON object"},
      {R"(x)", true, "not a JSON object"},
      {"{\"t\":1,\"stream\":\"\xff\"}", true, "not valid UTF-8"},
      {R"({"stream":"pods","kind":"close"})", true, "no arrival time t (nanoseconds since 1970, an integer)"},
      {R"({"t":1.5,"stream":"pods","kind":"close"})", true, "no arrival time t (nanoseconds since 1970, an integer)"},
      {R"({"t":-1,"stream":"pods","kind":"close"})", true, "no arrival time t (nanoseconds since 1970, an integer)"},
      {R"({"t":99999999999999999999,"stream":"pods","kind":"close"})", true,
       "no arrival time t (nanoseconds since 1970, an integer)"},
      {R"({"t":1,"kind":"close"})", true, "no stream"},
      {R"({"t":1,"stream":null,"kind":"close"})", true, "no stream"},
      {R"({"t":1,"stream":"pods","kind":"ping"})", true, "its kind is none of list, open, frame, close"},
      {R"({"t":1,"stream":"pods","kind":"frame"})", true, "no body"},
      {R"({"t":1,"stream":"pods","kind":"list"})", true, "no body"},
      {"{\"x\":" + std::string(5000, '[') + std::string(5000, ']') + "}", true, ""},
      {std::string(100000, '{'), true, ""},
      {std::string("{\"t\":1,\"stream\":\"a\0b", 19), false, "the last line is cut off"},
  };
  LineParser parser;
  for (const auto& c : cases) {
    const Text text(c.text, c.terminated);
    const auto capture = parser.capture(text.line());
    ASSERT_FALSE(capture.ok()) << c.text.substr(0, 80);
    if (*c.error != '\0') {
      EXPECT_EQ(capture.error().text, c.error) << c.text.substr(0, 80);
    }
  }
}

TEST(LineParser, ReadsBindLogs) {
  LineParser parser;
  const Text text(
      R"({"t": 5, "t_answer": 7, "scheduler": "toy", "request": {"kind": "Binding", "metadata": {"name": "p", "namespace": "n", "uid": "u"}, "target": {"kind": "Node", "name": "pair-1"}}, "code": 409, "response": {"status": "Failure", "message": "taken", "reason": "Conflict", "code": 409}})");
  const auto bind = parser.bind_log(text.line());
  ASSERT_TRUE(bind.ok()) << bind.error().text;
  EXPECT_EQ(bind.value().name, "p");
  EXPECT_EQ(bind.value().ns, "n");
  EXPECT_EQ(bind.value().uid, "u");
  EXPECT_EQ(bind.value().node, "pair-1");
  EXPECT_EQ(bind.value().scheduler, "toy");
  EXPECT_EQ(bind.value().code, 409);
  EXPECT_EQ(bind.value().reason, "Conflict");
  EXPECT_EQ(bind.value().message, "taken");
  EXPECT_EQ(bind.value().sent.ns, 5);
  EXPECT_EQ(bind.value().answered.ns, 7);
  EXPECT_EQ(bind.value().request.front(), '{');
  EXPECT_EQ(bind.value().request.substr(bind.value().request.size() - 10), R"("pair-1"}})");
  EXPECT_EQ(bind.value().answer.substr(0, 23), R"({"status": "Failure", ")");

  const Text lost(R"({"t":5,"t_answer":9,"request":{"metadata":{"name":"p"},"target":{"name":"n"}},"error":"EOF"})");
  const auto unanswered = parser.bind_log(lost.line());
  ASSERT_TRUE(unanswered.ok()) << unanswered.error().text;
  EXPECT_EQ(unanswered.value().code, 0);
  EXPECT_EQ(unanswered.value().message, "EOF");

  for (const char* bad :
       {R"({"t":5,"request":{"metadata":{"name":"p"}}})", R"({"t":5,"request":{"target":{"name":"n"}}})",
        R"({"request":{"metadata":{"name":"p"},"target":{"name":"n"}}})", R"({"t":5})"}) {
    EXPECT_FALSE(parser.bind_log(Text(bad).line()).ok()) << bad;
  }
}

std::string audit_event(const std::string& verb, const std::string& stage, const std::string& uri,
                        const std::string& ref, const std::string& rest) {
  return R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"id","stage":")" + stage + R"(","requestURI":")" +
         uri + R"(","verb":")" + verb + R"(","user":{"username":"system:kube-scheduler"},"objectRef":{)" + ref +
         R"(},"requestReceivedTimestamp":"2026-11-29T20:03:08.569291Z","stageTimestamp":"2026-11-29T20:03:08.571961Z")" +
         rest + "}";
}
constexpr const char* kRef = R"("resource":"pods","subresource":"binding","namespace":"n","name":"p","uid":"u")";

TEST(LineParser, ReadsBindsOfAuditLogsAtEveryLevel) {
  LineParser parser;
  const struct {
    const char* name;
    std::string rest, node;
    int code;
  } cases[] = {
      {"Metadata", R"(,"responseStatus":{"code":201})", "", 201},
      {"Request",
       R"(,"requestObject":{"metadata":{"name":"p","uid":"u"},"target":{"name":"pair-1"}},"responseStatus":{"code":201})",
       "pair-1", 201},
      {"RequestResponse",
       R"(,"requestObject":{"metadata":{"name":"p","uid":"u"},"target":{"name":"pair-1"}},"responseObject":{"code":409})",
       "pair-1", 409},
  };
  for (const auto& c : cases) {
    const Text text(audit_event("create", "ResponseComplete", "/x/binding", kRef, c.rest));
    const auto bind = parser.audit(text.line());
    ASSERT_TRUE(bind.ok()) << c.name << bind.error().text;
    ASSERT_TRUE(bind.value().has_value()) << c.name;
    EXPECT_EQ(bind.value()->uid, "u") << c.name;
    EXPECT_EQ(bind.value()->ns, "n") << c.name;
    EXPECT_EQ(bind.value()->node, c.node) << c.name;
    EXPECT_EQ(bind.value()->code, c.code) << c.name;
    EXPECT_EQ(bind.value()->user, "system:kube-scheduler") << c.name;
    EXPECT_EQ((bind.value()->answered - bind.value()->sent).ns, 2'670'000) << c.name;
  }
}

TEST(LineParser, PassesOverAuditEventsThatAreNoFinishedBind) {
  LineParser parser;
  const std::string legacy = R"("resource":"bindings","namespace":"n")";
  const std::string named = R"(,"requestObject":{"metadata":{"name":"p"},"target":{"name":"pair-1"}})";
  const struct {
    const char* name;
    std::string text;
    bool bind;
  } cases[] = {
      {"complete", audit_event("create", "ResponseComplete", "/b", kRef, ""), true},
      {"panic", audit_event("create", "Panic", "/b", kRef, ""), true},
      {"received", audit_event("create", "RequestReceived", "/b", kRef, ""), false},
      {"started", audit_event("create", "ResponseStarted", "/b", kRef, ""), false},
      {"another verb", audit_event("get", "ResponseComplete", "/b", kRef, ""), false},
      {"a pod", audit_event("create", "ResponseComplete", "/b", R"("resource":"pods","name":"p")", ""), false},
      {"legacy", audit_event("create", "ResponseComplete", "/b", legacy, named), true},
      {"dry run", audit_event("create", "ResponseComplete", "/b?dryRun=All", kRef, ""), false},
  };
  for (const auto& c : cases) {
    const Text text(c.text);
    const auto bind = parser.audit(text.line());
    ASSERT_TRUE(bind.ok()) << c.name << bind.error().text;
    EXPECT_EQ(bind.value().has_value(), c.bind) << c.name;
  }
  EXPECT_FALSE(parser.audit(Text(audit_event("create", "Panic", "/b", legacy, "")).line()).ok());
  EXPECT_FALSE(parser.audit(Text("nonsense").line()).ok());
}

}  // namespace
}  // namespace inquest::recorder
