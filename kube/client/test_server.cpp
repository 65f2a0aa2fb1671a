#include "kube/client/test_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "base/clock.h"

namespace inquest::kube {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string pem_of(const std::function<int(BIO*)>& write) {
  BIO* memory = BIO_new(BIO_s_mem());
  INQUEST_CHECK(write(memory) == 1, "OpenSSL");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string out(data, static_cast<size_t>(size));
  BIO_free(memory);
  return out;
}

template <typename Thing>
Thing* from_pem(const std::string& pem, Thing* (*read)(BIO*, Thing**, pem_password_cb*, void*)) {
  BIO* memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  Thing* out = read(memory, nullptr, nullptr, nullptr);
  BIO_free(memory);
  INQUEST_CHECK(out != nullptr, "no PEM");
  return out;
}

}  // namespace

// --- Peer
// -------------------------------------------------------------------------------------------------------------

void Peer::send(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const auto size = static_cast<int>(std::min<size_t>(bytes.size(), size_t{1} << 20));
    const ssize_t sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), size)
                                         : ::send(fd_, bytes.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) {
      closed_ = true;
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void Peer::answer(int status, std::string_view body, const std::string& headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: " + std::to_string(body.size());
  send(head + "\r\n" + headers + "\r\n");
  send(body);
}

void Peer::open(const std::string& headers, int status) {
  send("HTTP/1.1 " + std::to_string(status) + " x\r\nTransfer-Encoding: chunked\r\n" + headers + "\r\n");
}

void Peer::chunk(std::string_view bytes) {
  if (bytes.empty()) return;
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  send(std::string(size).append(bytes).append("\r\n"));
}

void Peer::end() { send("0\r\n\r\n"); }

void Peer::close() { closed_ = true; }

bool Peer::client_gone() const {
  char byte = 0;
  const ssize_t got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void Peer::wait_until_gone(Duration at_most) {
  const SystemClock clock;
  const Time until = clock.monotonic() + at_most;
  while (!client_gone() && clock.monotonic() < until) {
    pollfd one{fd_, POLLIN, 0};
    ::poll(&one, 1, 20);
  }
}

bool Peer::read(SeenRequest& request) {
  request = {};
  const auto more = [&] {
    char piece[16 << 10];
    const ssize_t got = ssl_ != nullptr ? SSL_read(ssl_, piece, sizeof piece) : ::recv(fd_, piece, sizeof piece, 0);
    if (got > 0) buffer_.append(piece, static_cast<size_t>(got));
    return got > 0;
  };
  while (buffer_.find("\r\n\r\n") == std::string::npos) {
    if (!more()) return false;
  }
  const size_t end = buffer_.find("\r\n\r\n");
  size_t at = buffer_.find("\r\n");
  const std::string line = buffer_.substr(0, at);
  const size_t space = line.find(' ');
  request.method = line.substr(0, space);
  request.path = line.substr(space + 1, line.rfind(' ') - space - 1);
  while (at < end) {
    const size_t next = buffer_.find("\r\n", at + 2);
    const std::string header = buffer_.substr(at + 2, next - at - 2);
    const size_t colon = header.find(": ");
    if (colon != std::string::npos) request.headers[lower(header.substr(0, colon))] = header.substr(colon + 2);
    at = next;
  }
  buffer_.erase(0, end + 4);
  const auto length = request.headers.find("content-length");
  const size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (buffer_.size() < size) {
    if (!more()) return false;
  }
  request.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return true;
}

// --- certificates
// -----------------------------------------------------------------------------------------------------

TestCertificate make_certificate(const std::string& name, int64_t valid_seconds) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  INQUEST_CHECK(key != nullptr, "OpenSSL");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), std::min<long>(-60, valid_seconds - 60));
  X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(certificate, subject);
  const bool address = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  for (const auto& [id, value] : {std::pair<int, std::string>{NID_subject_alt_name, (address ? "IP:" : "DNS:") + name},
                                  {NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
    INQUEST_CHECK(extension != nullptr, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  INQUEST_CHECK(X509_sign(certificate, key, EVP_sha256()) > 0, "OpenSSL");
  TestCertificate out;
  out.certificate_pem = pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
  out.key_pem =
      pem_of([&](BIO* to) { return PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); });
  X509_free(certificate);
  EVP_PKEY_free(key);
  return out;
}

// --- TestServer
// -------------------------------------------------------------------------------------------------------

TestServer::TestServer(Script script) : script_(std::move(script)) { listen(); }

TestServer::TestServer(Script script, const Tls& tls) : script_(std::move(script)) {
  tls_ = SSL_CTX_new(TLS_server_method());
  X509* certificate = from_pem<X509>(tls.own.certificate_pem, PEM_read_bio_X509);
  EVP_PKEY* key = from_pem<EVP_PKEY>(tls.own.key_pem, PEM_read_bio_PrivateKey);
  INQUEST_CHECK(SSL_CTX_use_certificate(tls_, certificate) == 1 && SSL_CTX_use_PrivateKey(tls_, key) == 1, "OpenSSL");
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!tls.clients_pem.empty()) {
    X509* clients = from_pem<X509>(tls.clients_pem, PEM_read_bio_X509);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_), clients);
    X509_free(clients);
    SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  listen();
}

void TestServer::listen() {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT: TLS writes to clients that have gone
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  INQUEST_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  INQUEST_CHECK(::listen(listener_, 64) == 0, "listen");
  socklen_t size = sizeof address;
  INQUEST_CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

TestServer::~TestServer() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
  if (tls_ != nullptr) SSL_CTX_free(tls_);
}

std::string TestServer::url() const {
  return std::string(tls_ != nullptr ? "https" : "http").append("://127.0.0.1:").append(std::to_string(port_));
}

std::vector<SeenRequest> TestServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void TestServer::accept_all() {
  while (!stopping_) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ++connections_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void TestServer::serve(int fd) {
  SSL* ssl = nullptr;
  bool ready = true;
  if (tls_ != nullptr) {
    ssl = SSL_new(tls_);
    SSL_set_fd(ssl, fd);
    ready = SSL_accept(ssl) == 1;
  }
  Peer peer(fd, ssl);
  SeenRequest request;
  while (ready && !stopping_ && !peer.closed() && peer.read(request)) {
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
    }
    script_(request, peer);
  }
  if (ssl != nullptr) SSL_free(ssl);
  const std::lock_guard lock(mutex_);
  std::erase(open_, fd);
  ::close(fd);
}

}  // namespace inquest::kube
