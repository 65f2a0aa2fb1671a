#include "kube/client/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/clock.h"
#include "base/exec_words.h"
#include "base/json_text.h"
#include "base/rfc3339.h"
#include "kube/client/base64.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the caller

namespace inquest::kube {
namespace {

constexpr size_t kMaxPrinted = size_t{1} << 20;

void quote(std::string_view text, std::string& out) {
  out += '"';
  escape(text, Escapes::kShort, out);
  out += '"';
}

void member(const char* name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out.append(",\"").append(name).append("\":");
  quote(value, out);
}

std::string ca_text(const Access& access) {
  if (!access.ca.text.empty() || access.ca.file.empty()) return access.ca.text.reveal();
  std::ifstream file(access.ca.file, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Error failure(const ExecPlugin& plugin, const std::string& text, std::string next = "") {
  return {ErrorCode::kInput, "the exec plugin " + text, plugin.command, std::move(next)};
}

std::vector<std::string> environment(const ExecPlugin& plugin, const std::string& info) {
  std::vector<std::string> out;
  const auto replaced = [&](std::string_view name) {
    if (name == "KUBERNETES_EXEC_INFO") return true;
    for (const auto& [added, value] : plugin.env) {
      if (added == name) return true;
    }
    return false;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!replaced(text.substr(0, text.find('=')))) out.emplace_back(text);
  }
  for (const auto& [name, value] : plugin.env) out.push_back(std::string(name).append("=").append(value));
  out.push_back(std::string("KUBERNETES_EXEC_INFO=").append(info));
  return out;
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// The process, with its standard output at `out`; 0 or the errno of what failed.
int spawn(const ExecPlugin& plugin, const std::string& info, bool interactive, int out, pid_t& pid) {
  std::vector<std::string> args{plugin.command};
  args.insert(args.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> env = environment(plugin, info);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (!interactive) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults, none;  // the program ignores SIGPIPE and may block others; a plugin must not
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int code = ::posix_spawnp(&pid, plugin.command.c_str(), &actions, &attributes, exec_words(args).data(),
                                  exec_words(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

// All that it prints, until it closes its output; nothing if the time is over or it prints too much.
std::optional<std::string> read_all(int fd, Time until) {
  const SystemClock clock;
  std::string out;
  char buffer[4096];
  while (out.size() <= kMaxPrinted) {
    const Duration left = until - clock.monotonic();
    if (left.ns <= 0) return std::nullopt;
    pollfd one{fd, POLLIN, 0};
    const int64_t milliseconds = std::min<int64_t>(left.ns / 1'000'000 + 1, 60'000);
    if (::poll(&one, 1, static_cast<int>(milliseconds)) <= 0) continue;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(buffer, static_cast<size_t>(got));
  }
  return std::nullopt;
}

Result<std::string> printed_by(const ExecPlugin& plugin, const std::string& info, bool interactive, Duration limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(plugin, std::string("cannot be run: ") + std::strerror(errno));
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  pid_t pid = 0;
  if (const int code = spawn(plugin, info, interactive, out.get(), pid); code != 0) {
    return failure(plugin, std::string("cannot be run: ") + std::strerror(code), plugin.install_hint);
  }
  out.reset();
  const Time until = interactive ? Time::never() : SystemClock().monotonic() + limit;
  std::optional<std::string> text = read_all(in.get(), until);
  if (!text) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) return failure(plugin, "did not end in time, or printed more than 1 MiB");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return failure(plugin, "failed with exit code " + std::to_string(code), plugin.install_hint);
  }
  return *std::move(text);
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const Access& access, bool interactive) {
  std::string out = "{\"apiVersion\":";
  quote(plugin.api_version, out);
  out.append(",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":").append(interactive ? "true" : "false");
  if (plugin.provide_cluster_info) {
    out += ",\"cluster\":{\"server\":";
    quote(access.server, out);
    member("tls-server-name", access.tls_server_name, out);
    if (access.insecure) out += ",\"insecure-skip-tls-verify\":true";
    member("certificate-authority-data", encode_base64(ca_text(access)), out);
    member("proxy-url", access.proxy_url, out);
    if (!access.compress) out += ",\"disable-compression\":true";
    if (!access.exec_config.empty()) out.append(",\"config\":").append(access.exec_config);
    out += '}';
  }
  return out += "}}";
}

Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, const std::string& printed) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(printed).get(root) != simdjson::SUCCESS || !root.is_object()) {
    return failure(plugin, "printed no JSON object");
  }
  const auto text = [&](simdjson::simdjson_result<simdjson::dom::element> value) -> std::string {
    std::string_view out;
    return value.get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
  };
  if (text(root["kind"]) != "ExecCredential") return failure(plugin, "printed no ExecCredential");
  if (text(root["apiVersion"]) != plugin.api_version) {
    return failure(plugin, "printed another apiVersion than the one asked for",
                   "it was asked for " + plugin.api_version);
  }
  const auto status = root["status"];
  ExecCredential out;
  out.token = Secret(text(status["token"]));
  out.certificate_pem = text(status["clientCertificateData"]);
  out.key_pem = Secret(text(status["clientKeyData"]));
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return failure(plugin, "printed a certificate without its key, or a key without its certificate");
  }
  if (out.token.empty() && out.key_pem.empty()) return failure(plugin, "printed neither a token nor a certificate");
  if (const std::string expires = text(status["expirationTimestamp"]); !expires.empty()) {
    const std::optional<Time> time = parse_rfc3339(expires);
    if (!time) return failure(plugin, "printed an expirationTimestamp that is no time");
    out.expires = *time;
  }
  return out;
}

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access, bool terminal, Duration limit) {
  const bool interactive = terminal && plugin.interactive != ExecPlugin::Interactive::kNever;
  if (plugin.interactive == ExecPlugin::Interactive::kAlways && !terminal) {
    return failure(plugin, "must be interactive, and the standard input is no terminal");
  }
  INQUEST_TRY(const std::string printed,
              printed_by(plugin, exec_info(plugin, access, interactive), interactive, limit));
  return parse_exec_credential(plugin, printed);
}

}  // namespace inquest::kube
