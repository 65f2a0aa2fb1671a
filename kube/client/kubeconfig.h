// Kubeconfig: the files that say which clusters there are and who one is there, read and merged as kubectl does
// (kubernetes-facts 8.1, 8.2; client-go's clientcmd).
//
// A file is YAML or JSON in UTF-8 or UTF-16, at most 4 MiB, one document. Unknown fields are ignored, null is absent,
// an empty file is an empty configuration. Of several files the first that names a cluster, user or context wins for
// the whole entry, and the first current-context that is not empty. Relative paths are those of the file they stand in.
//
// Reading runs nothing and opens no file but the ones named. Messages name file, entry and field, never a value of a
// user entry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client/secret.h"

namespace inquest::kube {

struct ClusterEntry {
  std::string name, server;
  std::string ca_file;
  std::string ca_pem;  // of certificate-authority-data
  bool insecure = false;
  std::string tls_server_name, proxy_url;
  bool disable_compression = false;
  std::string exec_config;  // JSON: the extension client.authentication.k8s.io/exec; "" if there is none
  std::string file;         // it stands in, for messages
};

// A program that prints credentials (8.3).
struct ExecPlugin {
  enum class Interactive : uint8_t { kNever, kIfAvailable, kAlways };

  std::string api_version, command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
  Interactive interactive = Interactive::kIfAvailable;
};

struct UserEntry {
  std::string name;
  std::string certificate_file, key_file;
  std::string certificate_pem;
  Secret key_pem, token, password;
  std::string token_file, username;
  std::optional<ExecPlugin> exec;
  std::string auth_provider;  // its name
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> as_extra;
  std::string file;
};

struct ContextEntry {
  std::string name, cluster, user, name_space;
  std::string file;
};

struct Kubeconfig {
  std::vector<ClusterEntry> clusters;
  std::vector<UserEntry> users;
  std::vector<ContextEntry> contexts;
  std::string current_context;
  std::vector<std::string> files;     // that were read
  std::vector<std::string> warnings;  // "no kubeconfig found: a, b"

  const ClusterEntry* cluster(const std::string& name) const;
  const UserEntry* user(const std::string& name) const;
  const ContextEntry* context(const std::string& name) const;
  bool empty() const { return clusters.empty() && users.empty() && contexts.empty() && current_context.empty(); }
};

// Where to look: --kubeconfig alone if given, else the list in $KUBECONFIG, else .kube/config in the home folder.
struct KubeconfigPlaces {
  std::string flag;      // must exist
  std::string variable;  // paths between colons; those missing are passed over, with a warning if all are
  std::string home;      // whose .kube/config may be missing
};
std::vector<std::string> kubeconfig_paths(const KubeconfigPlaces& places);

// Errors, each with the file: it cannot be read, is no YAML, holds two entries of one name or a field of the wrong
// type.
Result<Kubeconfig> load_kubeconfig(const KubeconfigPlaces& places);

// One file's text; `path` is for messages and for what is relative to its folder.
Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& path);

}  // namespace inquest::kube
