#include "http/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace inquest::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Sends these bytes and reads to the end.
std::string talk(uint16_t port, const std::string& bytes) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  ::shutdown(fd, SHUT_WR);  // else the server waits for another request
  std::string out;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) out.append(buffer, static_cast<size_t>(got));
  ::close(fd);
  return out;
}
std::string request(const std::string& method, const std::string& path) {
  return method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
}

Answer answer(const std::string& path) {
  if (path == "/healthz") return {200, "text/plain", "ok"};
  return {404, "text/plain", "no " + path};
}

TEST(HttpServer, AnswersByPath) {
  const Result<Server> server = Server::start("127.0.0.1:0", answer);
  ASSERT_TRUE(server.ok()) << server.error().message();
  const std::string good = talk(server->port(), request("GET", "/healthz?verbose=1"));
  EXPECT_THAT(good, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(good, HasSubstr("\r\n\r\nok"));
  EXPECT_THAT(talk(server->port(), request("GET", "/x")), HasSubstr("no /x"));
  EXPECT_THAT(talk(server->port(), request("POST", "/healthz")), StartsWith("HTTP/1.1 405"));
  const std::string head = talk(server->port(), request("HEAD", "/healthz"));
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, Not(HasSubstr("\r\n\r\nok")));
}

TEST(HttpServer, OutlivesBadClients) {
  const Result<Server> server = Server::start("127.0.0.1:0", answer);
  ASSERT_TRUE(server.ok());
  EXPECT_THAT(talk(server->port(), "rubbish\r\n\r\n"), StartsWith("HTTP/1.1 501"));
  talk(server->port(), "GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(talk(server->port(), request("GET", "/healthz")), HasSubstr("ok"));
}

TEST(HttpServer, AnAddressThatIsTakenOrNone) {
  const Result<Server> first = Server::start("127.0.0.1:0", answer);
  ASSERT_TRUE(first.ok());
  const std::string taken = "127.0.0.1:" + std::to_string(first->port());
  const Result<Server> second = Server::start(taken, answer);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message(), StartsWith(taken + ": cannot listen: "));
  EXPECT_FALSE(Server::start("nonsense:port", answer).ok());
}

}  // namespace
}  // namespace inquest::http
