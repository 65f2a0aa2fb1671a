#include "kube/client/test_cluster.h"

#include <algorithm>
#include <chrono>

namespace inquest::kube {
namespace {

std::string parameter(const std::string& path, const std::string& name) {
  const size_t question = path.find('?');
  size_t at = question;
  while (at != std::string::npos) {
    const size_t end = std::min(path.find('&', at + 1), path.size());
    const std::string item = path.substr(at + 1, end - at - 1);
    if (item.starts_with(name + "=")) return item.substr(name.size() + 1);
    at = end == path.size() ? std::string::npos : end;
  }
  return "";
}

std::string status(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message + R"(","reason":")" + reason +
         R"(","code":)" + std::to_string(code) + "}";
}

std::string kind_of(const std::string& resource) { return resource == "pods" ? "Pod" : "Node"; }

std::string with_rv(std::string object, uint64_t rv) {
  const size_t at = object.find("RV");
  return object.replace(at, 2, std::to_string(rv));
}

}  // namespace

TestCluster::TestCluster() {
  server_ = std::make_unique<TestServer>([this](const SeenRequest& request, Peer& peer) { serve(request, peer); });
}
TestCluster::TestCluster(const TestServer::Tls& tls) {
  server_ = std::make_unique<TestServer>([this](const SeenRequest& request, Peer& peer) { serve(request, peer); }, tls);
}
TestCluster::~TestCluster() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  server_.reset();
}

std::string TestCluster::kubeconfig() const {
  return "current-context: lab\ncontexts: [{name: lab, context: {cluster: lab, user: dev}}]\n"
         "clusters: [{name: lab, cluster: {server: '" +
         url() + "'}}]\nusers: [{name: dev, user: {}}]\n";
}

uint64_t TestCluster::rv() const {
  const std::lock_guard lock(mutex_);
  return rv_;
}

size_t TestCluster::open_watches() const {
  const std::lock_guard lock(mutex_);
  return watches_;
}

size_t TestCluster::watches_begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

void TestCluster::change(const std::string& resource, const std::string& name, const std::string& type,
                         const std::string& object) {
  const std::lock_guard lock(mutex_);
  ++rv_;
  std::string text = with_rv(object, rv_);
  auto& objects = objects_[resource];
  const bool known = objects.count(name) > 0;
  if (type == "DELETED") {
    objects.erase(name);
  } else {
    objects[name] = text;
  }
  events_.push_back({rv_, resource, type == "PUT" ? (known ? "MODIFIED" : "ADDED") : type, std::move(text)});
  changed_.notify_all();
}

void TestCluster::put_pod(const std::string& name, const std::string& node, const std::string& more) {
  change("pods", name, "PUT",
         R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"lab","name":")" + name + R"(","uid":"u-)" + name +
             R"(","resourceVersion":"RV"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"100m"}})" +
             more + "}]" + (node.empty() ? "" : R"(,"nodeName":")" + node + "\"") +
             R"(},"status":{"phase":"Pending"}})");
}

void TestCluster::delete_pod(const std::string& name) {
  change("pods", name, "DELETED",
         R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"lab","name":")" + name + R"(","uid":"u-)" + name +
             R"(","resourceVersion":"RV"},"spec":{"containers":[]},"status":{"phase":"Running"}})");
}

void TestCluster::put_node(const std::string& name) {
  change("nodes", name, "PUT",
         R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"u-)" + name +
             R"(","resourceVersion":"RV"},"status":{"allocatable":{"cpu":"2","memory":"2Gi","pods":"110"}}})");
}

void TestCluster::bookmark() {
  const std::lock_guard lock(mutex_);
  for (const char* resource : {"pods", "nodes"}) {
    events_.push_back({rv_, resource, "BOOKMARK",
                       R"({"kind":")" + kind_of(resource) + R"(","apiVersion":"v1","metadata":{"resourceVersion":")" +
                           std::to_string(rv_) + "\"}}"});
  }
  changed_.notify_all();
}

void TestCluster::send_raw(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  raw_ = bytes;
  ++raws_;
  changed_.notify_all();
}

void TestCluster::cut_watches() {
  const std::lock_guard lock(mutex_);
  ++cuts_;
  changed_.notify_all();
}

void TestCluster::compact() {
  const std::lock_guard lock(mutex_);
  compacted_ = rv_;
}

void TestCluster::mute(bool silent) {
  const std::lock_guard lock(mutex_);
  muted_ = silent;
  changed_.notify_all();
}

void TestCluster::refuse(int code) {
  const std::lock_guard lock(mutex_);
  refused_ = code;
}

void TestCluster::serve(const SeenRequest& request, Peer& peer) {
  const std::string path = request.path.substr(0, request.path.find('?'));
  if (path == "/version") return peer.answer(200, R"({"major":"1","minor":"32","gitVersion":"v1.32.4"})");
  const std::string resource = path.substr(path.rfind('/') + 1);
  {
    const std::lock_guard lock(mutex_);
    if (refused_ != 0) return peer.answer(refused_, status(refused_, "Refused", "not now"));
  }
  if (resource != "pods" && resource != "nodes") return peer.answer(404, status(404, "NotFound", "no such resource"));
  parameter(request.path, "watch") == "1" ? watch(request, resource, peer) : list(request, resource, peer);
}

void TestCluster::list(const SeenRequest& request, const std::string& resource, Peer& peer) {
  std::string items, more;
  uint64_t rv = 0;
  {
    const std::lock_guard lock(mutex_);
    rv = rv_;
    const std::string limit = parameter(request.path, "limit"), from = parameter(request.path, "continue");
    size_t left = std::min<size_t>(page_, limit.empty() ? SIZE_MAX : std::stoul(limit));
    for (const auto& [name, object] : objects_[resource]) {
      if (name <= from) continue;
      if (left-- == 0) break;
      items += (items.empty() ? "" : ",") + object;
      more = name;
    }
    if (objects_[resource].empty() || more == objects_[resource].rbegin()->first) more.clear();
  }
  std::string body = R"({"kind":")" + kind_of(resource) + R"(List","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     std::to_string(rv) + "\"";
  if (!more.empty()) body += R"(,"continue":")" + more + "\"";
  peer.answer(200, body + R"(},"items":[)" + items + "]}", "Content-Type: application/json\r\n");
}

void TestCluster::watch(const SeenRequest& request, const std::string& resource, Peer& peer) {
  const std::string from = parameter(request.path, "resourceVersion");
  std::unique_lock lock(mutex_);
  ++begun_;
  const uint64_t rv = from.empty() ? rv_ : std::stoull(from);
  peer.open("Content-Type: application/json\r\n");
  if (rv < compacted_) {
    peer.chunk(R"({"type":"ERROR","object":)" + status(410, "Expired", "too old resource version") + "}\n");
    return peer.end();
  }
  size_t next = 0;
  while (next < events_.size() && events_[next].rv <= rv) ++next;
  const uint64_t cuts = cuts_;
  uint64_t raws = raws_;
  ++watches_;
  while (!stopping_ && cuts_ == cuts && !peer.client_gone() && !peer.closed()) {
    std::string out;
    for (; !muted_ && next < events_.size(); ++next) {
      const Event& event = events_[next];
      if (event.resource == resource) out += R"({"type":")" + event.type + R"(","object":)" + event.object + "}\n";
    }
    if (raws != raws_ && resource == "pods") out += raw_;
    raws = raws_;
    if (out.empty()) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      continue;
    }
    lock.unlock();
    peer.chunk(out);
    lock.lock();
  }
  --watches_;
  peer.close();
}

}  // namespace inquest::kube
