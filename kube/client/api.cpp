#include "kube/client/api.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace inquest::kube {

namespace {

bool is_header(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

// As client-go escapes a key of `as-user-extra` for the name of a header.
std::string header_name(const std::string& key) {
  constexpr std::string_view kToken = "!#$&'*+-.^_`|~";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kToken.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append("%").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

}  // namespace

// One request, perhaps sent twice. Stands between the transport and the caller's receiver.
class Api::Call : public Receiver {
 public:
  Call(Api& api, Id id, ApiRequest request, Receiver& receiver)
      : api_(&api), id_(id), request_(std::move(request)), receiver_(&receiver) {}

  void head(const HttpHead& head) override {
    again_ = head.status == 401 && !retried_ && api_->credentials_.refused();
    if (!again_) receiver_->head(head);
  }
  bool bytes(std::string_view piece) override { return again_ || receiver_->bytes(piece); }
  void end(const HttpEnd& end) override {
    Receiver* receiver = receiver_;
    if (!std::exchange(again_, false)) {
      api_->ended(id_);
      return receiver->end(end);
    }
    retried_ = true;
    if (const Result<void> started = api_->start(*this); !started.ok()) {
      api_->ended(id_);
      receiver->end({HttpEnd::Kind::kNotReached, false, started.error().message()});
    }
  }

  const ApiRequest& request() const { return request_; }
  Transport::Id exchange = 0;

 private:
  Api* api_;
  Id id_;
  ApiRequest request_;
  Receiver* receiver_;
  bool again_ = false, retried_ = false;
};

Api::Api(Access access, const Clock& clock, std::string user_agent, bool terminal)
    : access_(std::move(access)),
      user_agent_(std::move(user_agent)),
      credentials_(access_, clock, terminal),
      transport_(clock) {}
Api::~Api() = default;

Result<std::vector<std::string>> Api::headers(const ApiRequest& request) const {
  std::vector<std::string> out{"Accept: application/json", "User-Agent: " + user_agent_};
  if (access_.compress) out.emplace_back("Accept-Encoding: gzip");
  if (request.method != "GET") out.emplace_back("Content-Type: application/json");
  if (!access_.as.empty()) out.push_back("Impersonate-User: " + access_.as);
  if (!access_.as_uid.empty()) out.push_back("Impersonate-Uid: " + access_.as_uid);
  for (const std::string& group : access_.as_groups) out.push_back("Impersonate-Group: " + group);
  for (const auto& [key, values] : access_.as_extra) {
    const std::string name = "Impersonate-Extra-" + header_name(key) + ": ";
    for (const std::string& value : values) out.push_back(name + value);
  }
  for (const std::string& header : out) {
    if (is_header(header)) continue;
    return Error{ErrorCode::kInput, header.substr(0, header.find(':')) + " would hold a line break", "", ""};
  }
  return out;
}

Result<void> Api::start(Call& call) {
  INQUEST_TRY_VOID(credentials_.refresh());
  if (certificates_ != credentials_.certificates()) {
    certificates_ = credentials_.certificates();
    transport_.forget_connections();
  }
  const ApiRequest& request = call.request();
  TransportRequest out;
  out.method = request.method;
  out.url = access_.server + request.path;
  out.body = request.body;
  INQUEST_TRY(out.headers, headers(request));
  if (const Secret authorization = credentials_.authorization(); !authorization.empty()) {
    if (!is_header(authorization.reveal())) return Error{ErrorCode::kInput, "a credential holds a line break", "", ""};
    out.secret_headers.push_back(authorization);
  }
  out.ca = access_.ca;
  out.certificate = credentials_.certificate();
  out.key = credentials_.key();
  out.insecure = access_.insecure;
  out.tls_server_name = access_.tls_server_name;
  out.proxy = access_.proxy_url;
  out.head_within = request.head_within;
  out.silence = request.silence;
  call.exchange = transport_.start(std::move(out), call);
  return {};
}

Result<Api::Id> Api::send(ApiRequest request, Receiver& receiver) {
  const Id id = next_id_++;
  auto call = std::make_unique<Call>(*this, id, std::move(request), receiver);
  INQUEST_TRY_VOID(start(*call));
  calls_.emplace(id, std::move(call));
  return id;
}

void Api::cancel(Id id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  transport_.cancel(found->second->exchange);
  ended(id);
}

void Api::resume(Id id) {
  const auto found = calls_.find(id);
  if (found != calls_.end()) transport_.resume(found->second->exchange);
}

void Api::run(Duration wait, std::span<pollfd> also) {
  over_.clear();
  transport_.run(wait, also);
}

// Perhaps from within one of the call's own methods.
void Api::ended(Id id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  over_.push_back(std::move(found->second));
  calls_.erase(found);
}

}  // namespace inquest::kube
