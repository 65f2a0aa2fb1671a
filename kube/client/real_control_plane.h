// For tests: a real etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback, from the folder that
// KUBEBUILDER_ASSETS names (envtest's convention), and what a test asks of them. Kubelets are played by PlayedKubelets.
// Programs end with this object, or with the test should that be killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/test_folder.h"
#include "kube/client/test_server.h"

namespace inquest::kube {

struct ApiAnswer {
  int status = 0;  // 0: no answer
  std::string body;
};

// Requests one after the other, as a user who may do anything. Not for several threads at once.
class ApiCaller {
 public:
  ApiCaller(std::string server, std::string certificate_file, std::string token);
  ~ApiCaller();
  ApiCaller(const ApiCaller&) = delete;
  ApiCaller& operator=(const ApiCaller&) = delete;

  ApiAnswer call(const std::string& method, const std::string& path, const std::string& body = "");

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  std::string server_, certificate_file_, token_;
};

class RealControlPlane {
 public:
  // Why there is none to be had: KUBEBUILDER_ASSETS is not set, or a program is missing there; "": there is one.
  static std::string missing();

  // etcd and the API server, answering.
  RealControlPlane();
  ~RealControlPlane();
  RealControlPlane(const RealControlPlane&) = delete;
  RealControlPlane& operator=(const RealControlPlane&) = delete;

  // Deployments, ReplicaSets, the garbage collector; the default scheduler.
  void start_controllers();
  void kill_api_server();
  void start_api_server();
  // Forgets in etcd all that was before now.
  void compact();

  std::string kubeconfig() const;
  std::unique_ptr<ApiCaller> caller() const;
  // Its own, for the test's thread.
  ApiAnswer call(const std::string& method, const std::string& path, const std::string& body = "");

 private:
  class Program;
  std::unique_ptr<Program> start(const std::string& name, const std::vector<std::string>& flags) const;
  std::string server() const { return "https://127.0.0.1:" + std::to_string(api_port_); }

  TestFolder folder_;
  uint16_t etcd_port_ = 0, api_port_ = 0;
  std::unique_ptr<Program> etcd_, api_, controllers_, scheduler_;
  std::unique_ptr<ApiCaller> caller_, etcd_caller_;
};

// Nodes, and what kubelets would say: a pod bound to a node runs soon after; one that is to be deleted goes. In a
// thread of its own.
class PlayedKubelets {
 public:
  PlayedKubelets(RealControlPlane& cluster, int nodes);
  ~PlayedKubelets();
  PlayedKubelets(const PlayedKubelets&) = delete;
  PlayedKubelets& operator=(const PlayedKubelets&) = delete;

 private:
  void play();

  std::unique_ptr<ApiCaller> caller_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace inquest::kube
