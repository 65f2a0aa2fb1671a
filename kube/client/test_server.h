// For tests: a server on loopback that does what a script says, over plain HTTP or TLS. Each connection has a thread of
// its own, in which the script runs for each request that comes on it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.h"

struct ssl_st;      // OpenSSL's SSL
struct ssl_ctx_st;  // and SSL_CTX

namespace inquest::kube {

struct SeenRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// One request's connection, as the script sees it. Writing to a client that has gone does nothing.
class Peer {
 public:
  Peer(int fd, ssl_st* ssl) : fd_(fd), ssl_(ssl) {}

  void send(std::string_view bytes);
  // An answer with its length; or the head of one whose body comes in chunks.
  void answer(int status, std::string_view body, const std::string& headers = "");
  void open(const std::string& headers = "", int status = 200);
  void chunk(std::string_view bytes);
  void end();    // of the chunks
  void close();  // the connection, after the script
  bool closed() const { return closed_; }
  bool client_gone() const;  // closed its end
  // Waits, at most so long, until the client goes.
  void wait_until_gone(Duration at_most);

  // For TestServer.
  bool read(SeenRequest& request);

 private:
  int fd_;
  ssl_st* ssl_;
  bool closed_ = false;
  std::string buffer_;
};

// A certificate for a name, signed by itself, and its key.
struct TestCertificate {
  std::string certificate_pem, key_pem;
};
TestCertificate make_certificate(const std::string& name, int64_t valid_seconds = 3600);

class TestServer {
 public:
  using Script = std::function<void(const SeenRequest&, Peer&)>;
  struct Tls {
    TestCertificate own;
    std::string clients_pem;  // clients must show a certificate signed by it; "": they need none
  };

  explicit TestServer(Script script);
  TestServer(Script script, const Tls& tls);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  uint16_t port() const { return port_; }
  std::string url() const;
  std::vector<SeenRequest> seen() const;
  size_t connections() const { return connections_; }

 private:
  void listen();
  void accept_all();
  void serve(int fd);

  Script script_;
  ssl_ctx_st* tls_ = nullptr;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<size_t> connections_ = 0;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace inquest::kube
