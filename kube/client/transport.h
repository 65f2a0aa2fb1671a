// Transport: HTTP exchanges over libcurl, any number at once in the caller's one thread; no thread is ever started.
//
// HTTP/1.1, each stream on a connection of its own, so that a receiver that takes no more holds back its server alone.
// TLS 1.2 at least. Redirects are not followed. Proxies: the one given, else those of the environment, as curl reads it
// (https_proxy, no_proxy), but for servers on this host itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client/secret.h"

struct pollfd;

namespace inquest::kube {

struct TransportRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Accept: application/json"
  std::vector<Secret> secret_headers;
  std::string body;
  Pem ca, certificate, key;
  bool insecure = false;
  std::string tls_server_name;  // for SNI and the certificate; "": the URL's host
  std::string proxy;
  Duration head_within = Duration::seconds(30);  // from the start to the head of the answer
  Duration silence;                              // at most so long without a byte, after the head; 0: for ever
};

struct HttpHead {
  int status = 0;
  std::string content_type;
  uint32_t retry_after_s = 0;  // 0: none, or no plain number
};

struct HttpEnd {
  enum class Kind : uint8_t {
    kDone,        // the whole answer came
    kCut,         // the connection ended within it, or before it: end of file, reset
    kNotReached,  // no connection: refused, no such host, no route, a proxy that said no
    kTls,         // the certificate, or the handshake
    kTimeOut,     // head_within or silence went by
    kBroken,      // bytes that are no HTTP
  };
  Kind kind = Kind::kDone;
  bool refused = false;  // of kNotReached: nobody listens there
  std::string text;      // for people; no secret, no address beyond the URL's host
};

// What comes of one exchange; called from Transport::run() and resume() alone. A receiver lives until end() or
// cancel().
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void head(const HttpHead& head) = 0;
  // A piece of the body, uncompressed. False: no more until resume(); this piece is taken all the same.
  virtual bool bytes(std::string_view piece) = 0;
  virtual void end(const HttpEnd& end) = 0;  // the last call
};

class Transport {
 public:
  using Id = uint64_t;

  explicit Transport(const Clock& clock);
  ~Transport();
  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) noexcept;

  Id start(TransportRequest request, Receiver& receiver);
  void cancel(Id id);  // nothing more is told; an id that has ended is no matter
  void resume(Id id);

  // Waits for something to happen, at most `wait`, and hands out what came. Ready descriptors of `also` wake it too.
  void run(Duration wait, std::span<pollfd> also = {});

  // New connections only from here on: client certificates have changed.
  void forget_connections();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace inquest::kube
