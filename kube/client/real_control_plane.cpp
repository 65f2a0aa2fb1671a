#include "kube/client/real_control_plane.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <simdjson.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/exec_words.h"

namespace inquest::kube {
namespace {

constexpr const char* kRoom = R"({"cpu":"32","memory":"64Gi","pods":"110"})";
constexpr const char* kToken = "test-of-inquest";
constexpr std::array<const char*, 4> kPrograms = {"etcd", "kube-apiserver", "kube-controller-manager",
                                                  "kube-scheduler"};

std::string assets() {
  const char* value = std::getenv("KUBEBUILDER_ASSETS");
  return value == nullptr ? "" : value;
}

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// A port that nobody listens on, kept by nobody either: another program may be quicker, and then the test fails loudly.
uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool known = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  INQUEST_CHECK(known, "no free port");
  return ntohs(address.sin_port);
}

size_t take(char* data, size_t, size_t size, void* to) {
  static_cast<std::string*>(to)->append(data, size);
  return size;
}

}  // namespace

// --- one program --------------------------------------------------------------------------------------------------

class RealControlPlane::Program {
 public:
  Program(const std::string& file, const std::vector<std::string>& flags, const std::string& log) {
    std::vector<std::string> words{file};
    words.insert(words.end(), flags.begin(), flags.end());
    const std::vector<char*> argv = exec_words(words);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  }

 private:
  pid_t pid_;
};

// --- requests -----------------------------------------------------------------------------------------------------

struct ApiCaller::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }
};

ApiCaller::ApiCaller(std::string server, std::string certificate_file, std::string token)
    : handle_(std::make_unique<Handle>()),
      server_(std::move(server)),
      certificate_file_(std::move(certificate_file)),
      token_(std::move(token)) {}
ApiCaller::~ApiCaller() = default;

ApiAnswer ApiCaller::call(const std::string& method, const std::string& path, const std::string& body) {
  CURL* curl = handle_->curl;
  ApiAnswer out;
  curl_easy_reset(curl);
  const std::string url = server_ + path;
  const std::string type =
      std::string("Content-Type: application/").append(method == "PATCH" ? "merge-patch+json" : "json");
  curl_slist* headers = curl_slist_append(nullptr, type.c_str());
  if (!token_.empty()) headers = curl_slist_append(headers, ("Authorization: Bearer " + token_).c_str());
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_CAINFO, certificate_file_.c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &out.body);
  if (!body.empty()) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  if (curl_easy_perform(curl) == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    out.status = static_cast<int>(status);
  }
  curl_slist_free_all(headers);
  return out;
}

// --- the control plane --------------------------------------------------------------------------------------------

std::string RealControlPlane::missing() {
  const std::string folder = assets();
  if (folder.empty()) return "KUBEBUILDER_ASSETS is not set";
  for (const char* name : kPrograms) {
    const std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) != 0) return "KUBEBUILDER_ASSETS has no " + std::string(name);
  }
  return "";
}

RealControlPlane::RealControlPlane() : etcd_port_(free_port()), api_port_(free_port()) {
  const TestCertificate certificate = make_certificate("127.0.0.1", 86400);
  write_file(folder_.path("server.crt"), certificate.certificate_pem);
  write_file(folder_.path("server.key"), certificate.key_pem);
  write_file(folder_.path("tokens"), std::string(kToken).append(",tester,tester,\"system:masters\"\n"));
  write_file(folder_.path("kubeconfig"), kubeconfig());
  const std::string etcd = "http://127.0.0.1:" + std::to_string(etcd_port_);
  const std::string peer = "http://127.0.0.1:" + std::to_string(free_port());
  etcd_ = start("etcd", {"--data-dir=" + folder_.path("etcd"), "--listen-client-urls=" + etcd,
                         "--advertise-client-urls=" + etcd, "--listen-peer-urls=" + peer,
                         "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer});
  etcd_caller_ = std::make_unique<ApiCaller>(etcd, "", "");
  for (int i = 0; i < 600 && etcd_caller_->call("GET", "/health").status != 200; ++i) pause(50);
  caller_ = caller();
  start_api_server();
}
RealControlPlane::~RealControlPlane() = default;

std::unique_ptr<RealControlPlane::Program> RealControlPlane::start(const std::string& name,
                                                                   const std::vector<std::string>& flags) const {
  return std::make_unique<Program>(assets() + "/" + name, flags, folder_.path(name + ".log"));
}

void RealControlPlane::start_api_server() {
  const std::string key = folder_.path("server.key");
  api_ =
      start("kube-apiserver",
            {"--etcd-servers=http://127.0.0.1:" + std::to_string(etcd_port_), "--bind-address=127.0.0.1",
             "--advertise-address=127.0.0.1", "--secure-port=" + std::to_string(api_port_),
             "--tls-cert-file=" + folder_.path("server.crt"), "--tls-private-key-file=" + key,
             "--service-account-issuer=https://127.0.0.1", "--service-account-key-file=" + folder_.path("server.crt"),
             "--service-account-signing-key-file=" + key, "--token-auth-file=" + folder_.path("tokens"),
             "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--etcd-compaction-interval=0",
             "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"});
  for (int i = 0; i < 1200 && !api_->ended(); ++i) {
    if (call("GET", "/readyz").status == 200 && call("GET", "/api/v1/namespaces/default").status == 200) return;
    pause(50);
  }
  INQUEST_CHECK(false, "kube-apiserver does not get ready: " + read_file(folder_.path("kube-apiserver.log")));
}

void RealControlPlane::kill_api_server() { api_.reset(); }

void RealControlPlane::start_controllers() {
  const std::string config = "--kubeconfig=" + folder_.path("kubeconfig");
  const std::vector<std::string> common = {
      config, "--leader-elect=false", "--port=0", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=500"};
  std::vector<std::string> flags = common;
  flags.emplace_back("--controllers=deployment,replicaset,garbagecollector");
  controllers_ = start("kube-controller-manager", flags);
  scheduler_ = start("kube-scheduler", common);
}

// https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
void RealControlPlane::compact() {
  const ApiAnswer now = etcd_caller_->call("POST", "/v3/kv/range", R"({"key":"AA=="})");
  simdjson::dom::parser parser;
  std::string_view revision;
  INQUEST_CHECK(parser.parse(now.body)["header"]["revision"].get(revision) == simdjson::SUCCESS, now.body);
  const std::string body = R"({"revision":")" + std::string(revision) + R"(","physical":true})";
  const ApiAnswer done = etcd_caller_->call("POST", "/v3/kv/compaction", body);
  INQUEST_CHECK(done.status == 200, done.body);
}

std::string RealControlPlane::kubeconfig() const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: real\nclusters:\n- name: real\n  cluster: {server: \"" +
         server() + "\", certificate-authority: " + folder_.path("server.crt") +
         "}\nusers:\n- name: tester\n  user: {token: " + std::string(kToken) +
         "}\ncontexts:\n- name: real\n  context: {cluster: real, user: tester}\n";
}

std::unique_ptr<ApiCaller> RealControlPlane::caller() const {
  return std::make_unique<ApiCaller>(server(), folder_.path("server.crt"), kToken);
}

ApiAnswer RealControlPlane::call(const std::string& method, const std::string& path, const std::string& body) {
  return caller_->call(method, path, body);
}

// --- kubelets -----------------------------------------------------------------------------------------------------

PlayedKubelets::PlayedKubelets(RealControlPlane& cluster, int nodes) : caller_(cluster.caller()) {
  for (int i = 1; i <= nodes; ++i) {
    std::string node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)";
    node.append(std::to_string(i)).append(R"("},"status":{"capacity":)").append(kRoom);
    node.append(R"(,"allocatable":)").append(kRoom);
    node.append(R"(,"conditions":[{"type":"Ready","status":"True"}]}})");
    const ApiAnswer made = cluster.call("POST", "/api/v1/nodes", node);
    INQUEST_CHECK(made.status == 201, made.body);
  }
  thread_ = std::thread([this] {
    while (!stop_) {
      play();
      pause(100);
    }
  });
}

PlayedKubelets::~PlayedKubelets() {
  stop_ = true;
  thread_.join();
}

void PlayedKubelets::play() {
  const ApiAnswer pods = caller_->call("GET", "/api/v1/pods?fieldSelector=spec.nodeName!%3D");
  simdjson::dom::parser parser;
  simdjson::dom::array items;
  if (pods.status != 200 || parser.parse(pods.body)["items"].get(items) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element pod : items) {
    std::string_view name, space, phase, deleted;
    if (pod["metadata"]["name"].get(name) != simdjson::SUCCESS) continue;
    if (pod["metadata"]["namespace"].get(space) != simdjson::SUCCESS) continue;
    const std::string path = std::string("/api/v1/namespaces/").append(space).append("/pods/").append(name);
    if (pod["metadata"]["deletionTimestamp"].get(deleted) == simdjson::SUCCESS) {
      caller_->call("DELETE", path + "?gracePeriodSeconds=0");
    } else if (pod["status"]["phase"].get(phase) == simdjson::SUCCESS && phase == "Pending") {
      caller_->call("PATCH", path + "/status",
                    R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
    }
  }
}

}  // namespace inquest::kube
