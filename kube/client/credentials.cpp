#include "kube/client/credentials.h"

#include <fstream>
#include <iterator>

#include "kube/client/base64.h"

namespace inquest::kube {
namespace {

constexpr Duration kTokenFileLasts = Duration::seconds(50);  // a minute, less 10 s of leeway

}  // namespace

Credentials::Credentials(const Access& access, const Clock& clock, bool terminal)
    : access_(&access), clock_(&clock), terminal_(terminal), token_(access.token) {}

void Credentials::read_token_file() {
  const Time now = clock_->monotonic();
  // The token beside a file is the first; the file's counts once it is due (K9).
  if (!token_read_.known() && !access_->token.empty() && !read_now_) {
    token_read_ = now;
    return;
  }
  if (token_read_.known() && now - token_read_ < kTokenFileLasts && !read_now_) return;
  token_read_ = now;
  read_now_ = false;
  std::ifstream file(access_->token_file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  while (!text.empty() && blank(text.front())) text.erase(0, 1);
  if (!text.empty()) token_ = Secret(std::move(text));
}

Result<void> Credentials::run_plugin() {
  if (have_exec_ && clock_->wall() < exec_.expires) return {};
  INQUEST_TRY(ExecCredential fresh, run_exec_plugin(*access_->exec, *access_, terminal_));
  if (have_exec_ && fresh.certificate_pem != exec_.certificate_pem) ++certificates_;
  exec_ = std::move(fresh);
  have_exec_ = true;
  return {};
}

Result<void> Credentials::refresh() {
  if (access_->exec) return run_plugin();
  if (!access_->token_file.empty()) {
    read_token_file();
    if (token_.empty()) {
      return Error{ErrorCode::kInput, "the file holds no token, or cannot be read", access_->token_file, ""};
    }
  }
  return {};
}

Secret Credentials::authorization() const {
  constexpr const char* kHeader = "Authorization: ";
  const Secret& token = access_->exec ? exec_.token : token_;
  if (!token.empty()) return Secret(std::string(kHeader).append("Bearer ").append(token.reveal()));
  if (access_->username.empty() && access_->password.empty()) return {};
  const std::string both = access_->username + ":" + access_->password.reveal();
  return Secret(std::string(kHeader).append("Basic ").append(encode_base64(both)));
}

Pem Credentials::certificate() const {
  if (access_->exec && !exec_.certificate_pem.empty()) return {"", Secret(exec_.certificate_pem)};
  return access_->certificate;
}

Pem Credentials::key() const {
  if (access_->exec && !exec_.key_pem.empty()) return {"", exec_.key_pem};
  return access_->key;
}

bool Credentials::refused() {
  if (access_->exec) {
    have_exec_ = false;
    return true;
  }
  read_now_ = true;
  return !access_->token_file.empty();
}

}  // namespace inquest::kube
