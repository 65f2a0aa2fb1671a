// For tests: pods and nodes behind an API server of a few answers: lists in pages, watches from a resourceVersion, 410
// for what was compacted, cuts and silence on demand. Safe to call from any thread.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kube/client/test_server.h"

namespace inquest::kube {

class TestCluster {
 public:
  TestCluster();
  explicit TestCluster(const TestServer::Tls& tls);
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  std::string url() const { return server_->url(); }
  TestServer& server() { return *server_; }
  // A kubeconfig that reaches it.
  std::string kubeconfig() const;

  void put_pod(const std::string& name, const std::string& node = "", const std::string& more = "");
  void delete_pod(const std::string& name);
  void put_node(const std::string& name);
  void bookmark();  // on every open watch
  // A frame as it is, to every open watch of pods.
  void send_raw(const std::string& bytes);

  void cut_watches();                             // closes every open watch
  void compact();                                 // forgets what was: a watch from before is 410
  void mute(bool silent);                         // watches say nothing meanwhile, though they stay open
  void refuse(int status);                        // every list and watch, until 0
  void set_page(size_t items) { page_ = items; }  // a page has at most so many, whatever is asked for
  uint64_t rv() const;
  size_t open_watches() const;
  size_t watches_begun() const;

 private:
  struct Event {
    uint64_t rv;
    std::string resource, type, object;
  };
  void serve(const SeenRequest& request, Peer& peer);
  void list(const SeenRequest& request, const std::string& resource, Peer& peer);
  void watch(const SeenRequest& request, const std::string& resource, Peer& peer);
  void change(const std::string& resource, const std::string& name, const std::string& type, const std::string& object);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::map<std::string, std::string>> objects_;  // by resource and name
  std::vector<Event> events_;
  uint64_t rv_ = 100, compacted_ = 0;
  uint64_t cuts_ = 0, raws_ = 0;
  std::string raw_;
  bool muted_ = false, stopping_ = false;
  int refused_ = 0;
  size_t page_ = SIZE_MAX, watches_ = 0, begun_ = 0;
  std::unique_ptr<TestServer> server_;
};

}  // namespace inquest::kube
