// HttpServer: answers GET requests, in a thread of its own, over kj-http. For metrics, health and pages, not for load.
//
// Binds the address it is told, loopback unless the user says otherwise. Other methods are answered 405, heads beyond
// kj's limit 431, a client that is slow with its head is cut off after 15 s. No type of kj goes further.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace inquest::http {

struct Answer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

class Server {
 public:
  // By the path of a request, without its query. Called from the server's thread, one call at a time; does not throw.
  using Handler = std::function<Answer(const std::string& path)>;

  // `address`: "127.0.0.1:9464", "[::1]:0"; port 0 takes any. An error if it is no address or is taken.
  static Result<Server> start(const std::string& address, Handler handler);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // ends the thread; open connections are dropped

  uint16_t port() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace inquest::http
