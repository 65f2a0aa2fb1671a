#include "http/server.h"

#include <fcntl.h>
#include <kj/async-io.h>
#include <kj/compat/http.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <utility>

namespace inquest::http {
namespace {

const char* text_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

class Service : public kj::HttpService {
 public:
  Service(Server::Handler handler, const kj::HttpHeaderTable& table) : handler_(std::move(handler)), table_(table) {}

  kj::Promise<void> request(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders&, kj::AsyncInputStream&,
                            Response& response) override {
    const std::string target(url.cStr(), url.size());
    Answer answer{405, "text/plain; charset=utf-8", "GET only\n"};
    const bool head = method == kj::HttpMethod::HEAD;
    if (method == kj::HttpMethod::GET || head) answer = handler_(target.substr(0, target.find('?')));
    kj::HttpHeaders headers(table_);
    headers.set(kj::HttpHeaderId::CONTENT_TYPE, kj::heapString(answer.content_type.c_str()));
    auto stream = response.send(static_cast<kj::uint>(answer.status), text_of(answer.status), headers,
                                static_cast<uint64_t>(answer.body.size()));
    if (head) return kj::READY_NOW;
    auto body = kj::heapString(answer.body.data(), answer.body.size());
    auto written = stream->write(body.begin(), body.size());
    return written.attach(kj::mv(body), kj::mv(stream));
  }

 private:
  Server::Handler handler_;
  const kj::HttpHeaderTable& table_;
};

// What goes wrong with one client is that client's affair: kj would write it to the standard error.
class Quiet : public kj::HttpServerErrorHandler {
 public:
  kj::Promise<void> handleApplicationError(kj::Exception, kj::Maybe<kj::HttpService::Response&>) override {
    return kj::READY_NOW;
  }
  kj::Promise<void> handleNoResponse(kj::HttpService::Response&) override { return kj::READY_NOW; }
};

}  // namespace

struct Server::State {
  uint16_t port = 0;
  int stop = -1;  // closed, it ends the thread
  std::thread thread;

  ~State() {
    if (stop >= 0) ::close(stop);
    if (thread.joinable()) thread.join();
  }
};

namespace {

// Serves until the other end of `stop` is closed; the port, or why not, goes to `started` first.
void serve(const std::string& address, Server::Handler handler, int stop, std::promise<Result<uint16_t>> started) {
  bool told = false;
  kj::Maybe<kj::Exception> failure = kj::runCatchingExceptions([&] {
    auto io = kj::setupAsyncIo();
    auto end = io.lowLevelProvider->wrapInputFd(
        stop, kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP | kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC);
    auto where = io.provider->getNetwork().parseAddress(address.c_str()).wait(io.waitScope);
    auto receiver = where->listen();
    kj::HttpHeaderTable::Builder builder;
    auto table = builder.build();
    Service service(std::move(handler), *table);
    Quiet quiet;
    kj::HttpServerSettings settings;
    settings.errorHandler = quiet;
    kj::HttpServer server(io.provider->getTimer(), *table, service, settings);
    told = true;
    started.set_value(static_cast<uint16_t>(receiver->getPort()));
    char byte = 0;
    auto stopped = end->tryRead(&byte, 1, 1).ignoreResult();
    server.listenHttp(*receiver).exclusiveJoin(kj::mv(stopped)).wait(io.waitScope);
  });
  KJ_IF_MAYBE (error, failure) {
    if (told) return;
    started.set_value(Error{ErrorCode::kIo, std::string("cannot listen: ") + error->getDescription().cStr(), address,
                            "is the address right, and free?"});
  }
}

}  // namespace

Result<Server> Server::start(const std::string& address, Handler handler) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::kIo, "no pipe", address, ""};
  auto state = std::make_unique<State>();
  state->stop = ends[1];
  std::promise<Result<uint16_t>> started;
  std::future<Result<uint16_t>> port = started.get_future();
  state->thread = std::thread(serve, address, std::move(handler), ends[0], std::move(started));
  INQUEST_TRY(state->port, port.get());
  return Server(std::move(state));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;
uint16_t Server::port() const { return state_->port; }

}  // namespace inquest::http
