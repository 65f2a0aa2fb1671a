// Access: how to reach one API server as one user: what a kubeconfig's context, the command line's overrides and the
// environment of a pod come to (kubernetes-facts 8.1, 8.2, 8.4; client-go's clientcmd and rest.InClusterConfig).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/secret.h"

namespace inquest::kube {

// From the command line. Empty: what the kubeconfig says.
struct Overrides {
  std::string context, cluster, user, name_space;
  std::string server;   // clears tls-server-name, which belongs to another one
  std::string ca_file;  // clears CA data and insecure
  std::string tls_server_name;
  bool insecure = false;  // clears the CA
};

struct Access {
  std::string server;      // "https://host:port/prefix", no slash at its end
  std::string name_space;  // "default" if nothing says otherwise
  std::string context;     // "" in a cluster
  Pem ca, certificate, key;
  bool insecure = false;
  std::string tls_server_name, proxy_url;
  bool compress = true;  // answers may come compressed
  Secret token;
  std::string token_file;  // read again each minute; its last value wins over `token`
  std::string username;
  Secret password;
  std::optional<ExecPlugin> exec;  // only where no other credentials are given
  std::string exec_config;         // JSON for it, of the cluster
  std::string as, as_uid;          // impersonation
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> as_extra;
};

// The context named by `overrides`, else current-context. Errors name entry and field: none such, no server, both of
// two fields of which one is allowed, a proxy URL that is none.
Result<Access> resolve(const Kubeconfig& config, const Overrides& overrides);

// What a pod is given: where the API server is, and a folder with token, ca.crt and namespace.
struct PodEnvironment {
  std::string host, port;  // KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT; empty outside of a cluster
  std::string name_space;  // POD_NAMESPACE, which wins over the folder's
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
Result<Access> in_cluster(const PodEnvironment& environment);

// A kubeconfig if there is one, else the pod's own; an error that says where was looked if there is neither. An
// explicit file or context never falls back to the pod.
Result<Access> find_access(const KubeconfigPlaces& places, const Overrides& overrides, const PodEnvironment& pod,
                           std::vector<std::string>& warnings);

}  // namespace inquest::kube
