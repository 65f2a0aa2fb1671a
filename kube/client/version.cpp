#include "kube/client/version.h"

#include <simdjson.h>

#include "kube/client/status.h"

namespace inquest::kube {
namespace {

constexpr size_t kMaxAnswer = size_t{1} << 20;

class Answer : public Receiver {
 public:
  void head(const HttpHead& h) override { head_ = h; }
  bool bytes(std::string_view piece) override {
    if (body.size() + piece.size() <= kMaxAnswer) body += piece;
    return true;
  }
  void end(const HttpEnd& e) override {
    end_ = e;
    over = true;
  }

  HttpHead head_;
  std::string body;
  HttpEnd end_;
  bool over = false;
};

const char* advice(HttpEnd::Kind kind) {
  switch (kind) {
    case HttpEnd::Kind::kTls:
      return "look at the cluster's certificate-authority, or at the user's certificate";
    case HttpEnd::Kind::kNotReached:
    case HttpEnd::Kind::kTimeOut:
      return "is the server up, and the address right?";
    case HttpEnd::Kind::kDone:
    case HttpEnd::Kind::kCut:
    case HttpEnd::Kind::kBroken:
      break;
  }
  return "is this the address of an API server?";
}

}  // namespace

Result<std::string> server_version(Api& api) {
  Answer answer;
  ApiRequest request;
  request.path = "/version";
  request.silence = Duration::seconds(60);
  INQUEST_TRY_VOID([&]() -> Result<void> {
    const Result<Api::Id> sent = api.send(std::move(request), answer);
    return sent.ok() ? Result<void>() : sent.error();
  }());
  while (!answer.over) api.run(Duration::seconds(1));
  const std::string& server = api.access().server;
  if (answer.end_.kind != HttpEnd::Kind::kDone) {
    return Error{ErrorCode::kIo, "the server is not reached: " + answer.end_.text, server, advice(answer.end_.kind)};
  }
  if (answer.head_.status == 401) {
    return Error{
        ErrorCode::kInput,
        "the server does not know the user: " + read_refusal(401, answer.head_.content_type, 0, answer.body).text,
        server, "look at the user's entry in the kubeconfig"};
  }
  if (answer.head_.status != 200) return std::string();
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view version;
  if (parser.parse(answer.body).get(root) != simdjson::SUCCESS ||
      root["gitVersion"].get(version) != simdjson::SUCCESS) {
    return Error{ErrorCode::kInput, "what answers there is no API server", server, "is this the right address?"};
  }
  return std::string(version.substr(0, 100));
}

}  // namespace inquest::kube
