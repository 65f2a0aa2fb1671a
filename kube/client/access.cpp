#include "kube/client/access.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace inquest::kube {
namespace {

constexpr size_t kMaxSmallFile = size_t{1} << 20;  // a token, a namespace

Error about(const std::string& entry, const std::string& text, const std::string& file, std::string next = "") {
  return {ErrorCode::kInput, entry + " " + text, file, std::move(next)};
}

std::string named(const char* kind, const std::string& name) { return std::string(kind).append(" ").append(name); }

// --- the server
// -------------------------------------------------------------------------------------------------------

bool has_tls(const ClusterEntry& cluster, const UserEntry& user) {
  return cluster.insecure || !cluster.ca_file.empty() || !cluster.ca_pem.empty() || !user.certificate_file.empty() ||
         !user.certificate_pem.empty();
}

// With a scheme (https where anything of TLS is configured, as client-go's rest.DefaultServerURL), without the last
// slash.
Result<std::string> server_url(const ClusterEntry& cluster, const UserEntry& user) {
  std::string url = cluster.server;
  const std::string entry = named("cluster", cluster.name);
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    url.insert(0, has_tls(cluster, user) ? "https://" : "http://");
  } else if (url.substr(0, scheme) != "https" && url.substr(0, scheme) != "http") {
    return about(entry, "server: its scheme is neither https nor http", cluster.file);
  }
  const std::string_view host = std::string_view(url).substr(url.find("://") + 3);
  if (host.empty() || host.starts_with('/')) return about(entry, "server: names no host", cluster.file);
  const bool odd = std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  if (odd || host.find('@') != std::string_view::npos || host.find_first_of("?#") != std::string_view::npos) {
    return about(entry, "server: is no address of an API server", cluster.file);
  }
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Result<void> check_proxy(const ClusterEntry& cluster) {
  if (cluster.proxy_url.empty()) return {};
  const std::string& url = cluster.proxy_url;
  const size_t scheme = url.find("://");
  for (const std::string_view known : {"http", "https", "socks5"}) {
    if (scheme != std::string::npos && url.substr(0, scheme) == known && url.size() > scheme + 3) return {};
  }
  return about(named("cluster", cluster.name), "proxy-url: must begin with http://, https:// or socks5://",
               cluster.file);
}

// --- what may not stand beside each other
// -----------------------------------------------------------------------------

Result<void> check_cluster(const ClusterEntry& cluster) {
  const std::string entry = named("cluster", cluster.name);
  if (cluster.server.empty()) return about(entry, "has no server", cluster.file);
  const bool ca = !cluster.ca_file.empty() || !cluster.ca_pem.empty();
  if (!cluster.ca_file.empty() && !cluster.ca_pem.empty()) {
    return about(entry, "has certificate-authority and certificate-authority-data", cluster.file, "keep one of them");
  }
  if (cluster.insecure && ca) {
    return about(entry, "has a certificate authority and insecure-skip-tls-verify", cluster.file, "keep one of them");
  }
  return check_proxy(cluster);
}

Result<void> check_user(const UserEntry& user) {
  const auto error = [&](const std::string& text, std::string next = "") {
    return about(named("user", user.name), text, user.file, std::move(next));
  };
  const bool certificate = !user.certificate_file.empty() || !user.certificate_pem.empty();
  const bool key = !user.key_file.empty() || !user.key_pem.empty();
  if (!user.certificate_file.empty() && !user.certificate_pem.empty()) {
    return error("has client-certificate and client-certificate-data", "keep one of them");
  }
  if (!user.key_file.empty() && !user.key_pem.empty()) {
    return error("has client-key and client-key-data", "keep one of them");
  }
  if (certificate && !key) return error("has a client certificate and no key");
  const bool token = !user.token.empty() || !user.token_file.empty();
  const bool basic = !user.username.empty() || !user.password.empty();
  if (token && basic) return error("has a token and a user name with a password", "keep one of them");
  if (user.exec && !user.auth_provider.empty()) return error("has exec and auth-provider", "keep one of them");
  if (user.auth_provider == "gcp" || user.auth_provider == "azure") {
    return error("auth-provider " + user.auth_provider + " was removed from clients",
                 "use the exec plugin that its vendor provides");
  }
  if (!user.auth_provider.empty()) {
    return error("auth-provider " + user.auth_provider + " is not supported here", "use an exec plugin");
  }
  if (user.as.empty() && (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty())) {
    return error("says as whose groups, uid or extra to act, and not as whom (as)");
  }
  return {};
}

void apply(const Overrides& overrides, ClusterEntry& cluster) {
  if (!overrides.server.empty()) {
    cluster.server = overrides.server;
    cluster.tls_server_name.clear();
  }
  if (!overrides.tls_server_name.empty()) cluster.tls_server_name = overrides.tls_server_name;
  if (overrides.insecure || !overrides.ca_file.empty()) {
    cluster.ca_pem.clear();
    cluster.ca_file = overrides.ca_file;
    cluster.insecure = overrides.insecure;
  }
}

Access join(const ClusterEntry& cluster, const UserEntry& user) {
  Access out;
  out.ca = {cluster.ca_file, Secret(cluster.ca_pem)};
  out.insecure = cluster.insecure;
  out.tls_server_name = cluster.tls_server_name;
  out.proxy_url = cluster.proxy_url;
  out.compress = !cluster.disable_compression;
  out.certificate = {user.certificate_file, Secret(user.certificate_pem)};
  out.key = {user.key_file, user.key_pem};
  out.token = user.token;
  out.token_file = user.token_file;
  out.username = user.username;
  out.password = user.password;
  const bool other = !user.token.empty() || !user.token_file.empty() || !user.username.empty() ||
                     !user.password.empty() || !out.certificate.empty();
  if (!other) out.exec = user.exec;
  out.exec_config = cluster.exec_config;
  out.as = user.as;
  out.as_uid = user.as_uid;
  out.as_groups = user.as_groups;
  out.as_extra = user.as_extra;
  return out;
}

std::string some_names(const std::vector<ContextEntry>& contexts) {
  std::string out;
  for (size_t i = 0; i < contexts.size() && i < 10; ++i) out.append(i == 0 ? "" : ", ").append(contexts[i].name);
  if (contexts.size() > 10) out += ", …";
  return out;
}

Result<ContextEntry> choose_context(const Kubeconfig& config, const Overrides& overrides) {
  const std::string& name = overrides.context.empty() ? config.current_context : overrides.context;
  const std::string file = config.files.empty() ? "" : config.files.front();
  ContextEntry out;
  if (const ContextEntry* found = config.context(name)) {
    out = *found;
  } else if (!name.empty() || (overrides.cluster.empty() && overrides.server.empty())) {
    std::string next = config.contexts.empty() ? "" : "there are: " + some_names(config.contexts);
    if (name.empty()) return Error{ErrorCode::kInput, "no context is chosen", file, std::move(next)};
    return Error{ErrorCode::kInput, "no context is named " + name, file, std::move(next)};
  }
  if (!overrides.cluster.empty()) out.cluster = overrides.cluster;
  if (!overrides.user.empty()) out.user = overrides.user;
  if (!overrides.name_space.empty()) out.name_space = overrides.name_space;
  return out;
}

// --- in a pod
// ---------------------------------------------------------------------------------------------------------

Result<std::string> small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kIo, std::strerror(errno), path, ""};
  std::string text(kMaxSmallFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
  return text;
}

}  // namespace

Result<Access> resolve(const Kubeconfig& config, const Overrides& overrides) {
  INQUEST_TRY(const ContextEntry context, choose_context(config, overrides));
  const std::string where = named("context", context.name);

  ClusterEntry cluster;
  if (const ClusterEntry* found = config.cluster(context.cluster)) {
    cluster = *found;
  } else if (!context.cluster.empty() || overrides.server.empty()) {
    return about(
        where,
        context.cluster.empty() ? "names no cluster" : "names cluster " + context.cluster + ", which is not there",
        context.file);
  }
  UserEntry user;  // none is an anonymous one
  if (const UserEntry* found = config.user(context.user)) {
    user = *found;
  } else if (!context.user.empty()) {
    return about(where, "names user " + context.user + ", which is not there", context.file);
  }

  apply(overrides, cluster);
  INQUEST_TRY_VOID(check_cluster(cluster));
  INQUEST_TRY_VOID(check_user(user));
  Access out = join(cluster, user);
  INQUEST_TRY(out.server, server_url(cluster, user));
  const bool credentials = !out.token.empty() || !out.token_file.empty() || !out.username.empty() || out.exec;
  if (credentials && !out.server.starts_with("https://")) {
    return about(named("cluster", cluster.name), "server: credentials are not sent over plain http", cluster.file,
                 "use https, or a user without credentials");
  }
  out.name_space = context.name_space.empty() ? "default" : context.name_space;
  out.context = context.name;
  return out;
}

Result<Access> in_cluster(const PodEnvironment& environment) {
  Access out;
  const bool v6 = environment.host.find(':') != std::string::npos;
  out.server = "https://";
  out.server.append(v6 ? "[" + environment.host + "]" : environment.host).append(":").append(environment.port);
  out.token_file = environment.folder + "/token";
  INQUEST_TRY_VOID([&]() -> Result<void> {
    const Result<std::string> token = small_file(out.token_file);
    return token.ok() ? Result<void>() : token.error();
  }());
  if (std::filesystem::exists(environment.folder + "/ca.crt")) out.ca.file = environment.folder + "/ca.crt";
  out.name_space = environment.name_space;
  if (out.name_space.empty()) {
    const Result<std::string> file = small_file(environment.folder + "/namespace");
    out.name_space = file.ok() && !file->empty() ? *file : "default";
  }
  return out;
}

Result<Access> find_access(const KubeconfigPlaces& places, const Overrides& overrides, const PodEnvironment& pod,
                           std::vector<std::string>& warnings) {
  INQUEST_TRY(const Kubeconfig config, load_kubeconfig(places));
  warnings.insert(warnings.end(), config.warnings.begin(), config.warnings.end());
  if (!config.empty() || !places.flag.empty() || !overrides.context.empty() || !overrides.server.empty()) {
    return resolve(config, overrides);
  }
  if (!pod.host.empty() && !pod.port.empty()) {
    INQUEST_TRY(Access out, in_cluster(pod));
    if (!overrides.name_space.empty()) out.name_space = overrides.name_space;
    return out;
  }
  std::string looked;
  for (const std::string& path : kubeconfig_paths(places)) looked.append(looked.empty() ? "" : ", ").append(path);
  return Error{ErrorCode::kInput, "no kubeconfig, and this is no pod of a cluster", looked,
               "give one with --kubeconfig, or in KUBECONFIG"};
}

}  // namespace inquest::kube
