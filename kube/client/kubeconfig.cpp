#include "kube/client/kubeconfig.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <utility>

#include "kube/client/base64.h"
#include "kube/client/yaml_value.h"

namespace inquest::kube {
namespace {

constexpr size_t kMaxFile = size_t{4} << 20;

// --- the fields of one entry
// ------------------------------------------------------------------------------------------

// Where a value stands: file, entry and field, for messages.
struct At {
  const std::string* file;
  std::string entry;  // "user dev"

  Error error(std::string_view field, const std::string& text, std::string next = "") const {
    std::string what = entry;
    if (!field.empty()) what.append(what.empty() ? "" : ": ").append(field);
    return {ErrorCode::kInput, what + (what.empty() ? "" : " ") + text, *file, std::move(next)};
  }
};

template <typename Entry>
using Reader = Result<void> (*)(const At&, std::string_view field, const YAML::Node&, Entry&);

template <typename Entry>
struct Field {
  std::string_view name;
  Reader<Entry> read;
};

// Hands each entry of a mapping that is a field to its reader; others are not ours. Null is absent.
template <typename Entry, size_t N>
Result<void> read_fields(const At& at, std::string_view field, const YAML::Node& node, const Field<Entry> (&fields)[N],
                         Entry& out) {
  if (!node.IsDefined() || node.IsNull()) return {};
  if (!node.IsMap()) return at.error(field, "must be a mapping");
  std::vector<bool> seen(N);
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) continue;
    const auto found = std::find_if(std::begin(fields), std::end(fields),
                                    [&](const Field<Entry>& f) { return f.name == entry.first.Scalar(); });
    if (found == std::end(fields)) continue;
    const auto index = static_cast<size_t>(found - std::begin(fields));
    if (seen[index]) return at.error(found->name, "is given twice");
    seen[index] = true;
    if (entry.second.IsNull()) continue;
    INQUEST_TRY_VOID(found->read(at, found->name, entry.second, out));
  }
  return {};
}

Result<std::string> text_of(const At& at, std::string_view field, const YAML::Node& node) {
  if (!node.IsScalar()) return at.error(field, "must be text");
  return node.Scalar();
}

template <auto Member, typename Entry>
Result<void> text(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  INQUEST_TRY(out.*Member, text_of(at, field, node));
  return {};
}

template <auto Member, typename Entry>
Result<void> secret(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  INQUEST_TRY(std::string value, text_of(at, field, node));
  out.*Member = Secret(std::move(value));
  return {};
}

template <auto Member, typename Entry>
Result<void> flag(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  const std::optional<bool> value = yaml_bool(node);
  if (!value) return at.error(field, "must be true or false");
  out.*Member = *value;
  return {};
}

template <auto Member, typename Entry>
Result<void> texts(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  if (!node.IsSequence()) return at.error(field, "must be a list");
  for (const YAML::Node& item : node) {
    INQUEST_TRY(std::string value, text_of(at, field, item));
    (out.*Member).push_back(std::move(value));
  }
  return {};
}

// Relative to the folder of the file.
template <auto Member, typename Entry>
Result<void> path(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  INQUEST_TRY(const std::string value, text_of(at, field, node));
  if (!value.empty()) out.*Member = (std::filesystem::path(*at.file).parent_path() / value).lexically_normal();
  return {};
}

// What a *-data field holds: PEM in base64, in base64 again where YAML's own !!binary stands before it.
Result<std::string> pem_of(const At& at, std::string_view field, const YAML::Node& node) {
  INQUEST_TRY(std::string value, text_of(at, field, node));
  if (value.empty()) return value;
  constexpr std::string_view kBegin = "-----BEGIN ";
  for (int round = node.Tag() == "tag:yaml.org,2002:binary" ? 0 : 1; round < 2; ++round) {
    std::optional<std::string> bytes = decode_base64(value);
    if (!bytes) {
      return at.error(field, "is no base64", "kubectl config view hides it; with --raw it prints what is there");
    }
    value = *std::move(bytes);
    if (value.find(kBegin) != std::string::npos) return value;
  }
  return at.error(field, "holds no PEM block");
}

template <auto Member, typename Entry>
Result<void> pem(const At& at, std::string_view field, const YAML::Node& node, Entry& out) {
  using Value = std::remove_reference_t<decltype(out.*Member)>;
  INQUEST_TRY(std::string value, pem_of(at, field, node));
  out.*Member = Value(std::move(value));
  return {};
}

// --- clusters
// ---------------------------------------------------------------------------------------------------------

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

struct Extension {
  std::string name, json;
};

Result<void> extension_body(const At& at, std::string_view field, const YAML::Node& node, Extension& out) {
  if (out.json = yaml_to_json(node); out.json.empty()) return at.error(field, "is larger than 64 KiB");
  return {};
}

constexpr Field<Extension> kExtensionFields[] = {
    {"name", text<&Extension::name>},
    {"extension", extension_body},
};

Result<void> cluster_extensions(const At& at, std::string_view field, const YAML::Node& node, ClusterEntry& out) {
  if (!node.IsSequence()) return at.error(field, "must be a list");
  for (const YAML::Node& item : node) {
    Extension extension;
    INQUEST_TRY_VOID(read_fields(at, field, item, kExtensionFields, extension));
    if (extension.name == kExecExtension) out.exec_config = extension.json;
  }
  return {};
}

constexpr Field<ClusterEntry> kClusterFields[] = {
    {"server", text<&ClusterEntry::server>},
    {"certificate-authority", path<&ClusterEntry::ca_file>},
    {"certificate-authority-data", pem<&ClusterEntry::ca_pem>},
    {"insecure-skip-tls-verify", flag<&ClusterEntry::insecure>},
    {"tls-server-name", text<&ClusterEntry::tls_server_name>},
    {"proxy-url", text<&ClusterEntry::proxy_url>},
    {"disable-compression", flag<&ClusterEntry::disable_compression>},
    {"extensions", cluster_extensions},
};

// --- users
// ------------------------------------------------------------------------------------------------------------

struct EnvEntry {
  std::string name, value;
};

constexpr Field<EnvEntry> kEnvFields[] = {
    {"name", text<&EnvEntry::name>},
    {"value", text<&EnvEntry::value>},
};

Result<void> exec_env(const At& at, std::string_view field, const YAML::Node& node, ExecPlugin& out) {
  if (!node.IsSequence()) return at.error("exec.env", "must be a list");
  for (const YAML::Node& item : node) {
    EnvEntry entry;
    INQUEST_TRY_VOID(read_fields(at, field, item, kEnvFields, entry));
    if (entry.name.empty() || entry.name.find('=') != std::string::npos) {
      return at.error("exec.env", "has an entry whose name is none");
    }
    out.env.emplace_back(std::move(entry.name), std::move(entry.value));
  }
  return {};
}

// A command with a folder in it is relative to the file; one without is looked for in $PATH.
Result<void> exec_command(const At& at, std::string_view field, const YAML::Node& node, ExecPlugin& out) {
  INQUEST_TRY(out.command, text_of(at, field, node));
  if (out.command.find('/') == std::string::npos) return {};
  INQUEST_TRY_VOID(path<&ExecPlugin::command>(at, field, node, out));
  if (out.command.find('/') == std::string::npos) out.command.insert(0, "./");  // beside a file that is named alone
  return {};
}

Result<void> exec_interactive(const At& at, std::string_view, const YAML::Node& node, ExecPlugin& out) {
  constexpr std::pair<std::string_view, ExecPlugin::Interactive> kModes[] = {
      {"Never", ExecPlugin::Interactive::kNever},
      {"IfAvailable", ExecPlugin::Interactive::kIfAvailable},
      {"Always", ExecPlugin::Interactive::kAlways},
  };
  for (const auto& [name, mode] : kModes) {
    if (!node.IsScalar() || node.Scalar() != name) continue;
    out.interactive = mode;
    return {};
  }
  return at.error("exec.interactiveMode", "must be Never, IfAvailable or Always");
}

constexpr Field<ExecPlugin> kExecFields[] = {
    {"apiVersion", text<&ExecPlugin::api_version>},
    {"command", exec_command},
    {"args", texts<&ExecPlugin::args>},
    {"env", exec_env},
    {"installHint", text<&ExecPlugin::install_hint>},
    {"provideClusterInfo", flag<&ExecPlugin::provide_cluster_info>},
    {"interactiveMode", exec_interactive},
};

constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

Result<void> user_exec(const At& at, std::string_view field, const YAML::Node& node, UserEntry& out) {
  ExecPlugin exec;
  INQUEST_TRY_VOID(read_fields(at, field, node, kExecFields, exec));
  if (exec.command.empty()) return at.error("exec.command", "is missing");
  if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
    return at.error("exec.apiVersion", exec.api_version.empty() ? "is missing" : "is not one that clients know",
                    "it must be " + std::string(kExecV1) + " or /v1beta1");
  }
  const YAML::Node mode = node["interactiveMode"];
  if (exec.api_version == kExecV1 && (!mode.IsDefined() || mode.IsNull())) {
    return at.error("exec.interactiveMode", "is missing", "with " + std::string(kExecV1) + " it must be given");
  }
  out.exec = std::move(exec);
  return {};
}

struct Provider {
  std::string name;
};
constexpr Field<Provider> kProviderFields[] = {{"name", text<&Provider::name>}};

Result<void> user_provider(const At& at, std::string_view field, const YAML::Node& node, UserEntry& out) {
  Provider provider;
  INQUEST_TRY_VOID(read_fields(at, field, node, kProviderFields, provider));
  out.auth_provider = std::move(provider.name);
  return {};
}

Result<void> user_extra(const At& at, std::string_view field, const YAML::Node& node, UserEntry& out) {
  if (!node.IsMap()) return at.error(field, "must be a mapping");
  for (const auto& entry : node) {
    if (!entry.first.IsScalar() || !entry.second.IsSequence()) return at.error(field, "must be names and lists");
    std::vector<std::string> values;
    for (const YAML::Node& item : entry.second) {
      INQUEST_TRY(std::string value, text_of(at, field, item));
      values.push_back(std::move(value));
    }
    out.as_extra.emplace_back(entry.first.Scalar(), std::move(values));
  }
  return {};
}

constexpr Field<UserEntry> kUserFields[] = {
    {"client-certificate", path<&UserEntry::certificate_file>},
    {"client-certificate-data", pem<&UserEntry::certificate_pem>},
    {"client-key", path<&UserEntry::key_file>},
    {"client-key-data", pem<&UserEntry::key_pem>},
    {"token", secret<&UserEntry::token>},
    {"tokenFile", path<&UserEntry::token_file>},
    {"username", text<&UserEntry::username>},
    {"password", secret<&UserEntry::password>},
    {"exec", user_exec},
    {"auth-provider", user_provider},
    {"as", text<&UserEntry::as>},
    {"as-uid", text<&UserEntry::as_uid>},
    {"as-groups", texts<&UserEntry::as_groups>},
    {"as-user-extra", user_extra},
};

constexpr Field<ContextEntry> kContextFields[] = {
    {"cluster", text<&ContextEntry::cluster>},
    {"user", text<&ContextEntry::user>},
    {"namespace", text<&ContextEntry::name_space>},
};

// --- the file
// ---------------------------------------------------------------------------------------------------------

struct Named {
  std::string name;
  YAML::Node body;
};

template <const std::string_view& Kind>
Result<void> named_body(const At&, std::string_view, const YAML::Node& node, Named& out) {
  out.body = node;
  return {};
}

// The list `clusters`, whose entries are {name, cluster}; users and contexts likewise.
template <const std::string_view& Kind, auto Member, typename Entry, size_t N>
Result<void> read_list(const At& at, std::string_view field, const YAML::Node& node, const Field<Entry> (&fields)[N],
                       Kubeconfig& out) {
  static constexpr Field<Named> named_fields[] = {{"name", text<&Named::name>}, {Kind, named_body<Kind>}};
  if (!node.IsSequence()) return at.error(field, "must be a list");
  auto& entries = out.*Member;
  for (const YAML::Node& item : node) {
    Named named;
    INQUEST_TRY_VOID(read_fields(at, field, item, named_fields, named));
    for (const Entry& before : entries) {
      if (before.name == named.name) return at.error(field, "names '" + named.name + "' twice");
    }
    Entry entry;
    entry.name = named.name;
    entry.file = *at.file;
    const At inside{at.file, std::string(Kind) + " " + named.name};
    INQUEST_TRY_VOID(read_fields(inside, "", named.body, fields, entry));
    entries.push_back(std::move(entry));
  }
  return {};
}

constexpr std::string_view kCluster = "cluster", kUser = "user", kContext = "context";

constexpr Field<Kubeconfig> kFileFields[] = {
    {"clusters",
     [](const At& at, std::string_view field, const YAML::Node& node, Kubeconfig& out) {
       return read_list<kCluster, &Kubeconfig::clusters>(at, field, node, kClusterFields, out);
     }},
    {"users", [](const At& at, std::string_view field, const YAML::Node& node,
                 Kubeconfig& out) { return read_list<kUser, &Kubeconfig::users>(at, field, node, kUserFields, out); }},
    {"contexts",
     [](const At& at, std::string_view field, const YAML::Node& node, Kubeconfig& out) {
       return read_list<kContext, &Kubeconfig::contexts>(at, field, node, kContextFields, out);
     }},
    {"current-context", text<&Kubeconfig::current_context>},
};

Result<std::string> read_text(const std::string& path) {
  const auto failed = [&](int code) { return Error{ErrorCode::kIo, std::strerror(code), path, ""}; };
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return failed(EISDIR);
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(errno);
  std::string text(kMaxFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return failed(EIO);
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool missing(const std::string& path) {
  std::error_code code;
  return std::filesystem::status(path, code).type() == std::filesystem::file_type::not_found;
}

template <typename Entry>
void merge_entries(std::vector<Entry>& into, std::vector<Entry> more) {
  const size_t before = into.size();
  for (Entry& entry : more) {
    const bool known = std::any_of(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(before),
                                   [&](const Entry& other) { return other.name == entry.name; });
    if (!known) into.push_back(std::move(entry));
  }
}

void merge(Kubeconfig& into, Kubeconfig more) {
  merge_entries(into.clusters, std::move(more.clusters));
  merge_entries(into.users, std::move(more.users));
  merge_entries(into.contexts, std::move(more.contexts));
  if (into.current_context.empty()) into.current_context = std::move(more.current_context);
}

template <typename Entry>
const Entry* find_named(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const ClusterEntry* Kubeconfig::cluster(const std::string& name) const { return find_named(clusters, name); }
const UserEntry* Kubeconfig::user(const std::string& name) const { return find_named(users, name); }
const ContextEntry* Kubeconfig::context(const std::string& name) const { return find_named(contexts, name); }

std::vector<std::string> kubeconfig_paths(const KubeconfigPlaces& places) {
  if (!places.flag.empty()) return {places.flag};
  std::vector<std::string> paths;
  std::string_view rest = places.variable;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    std::string path(rest.substr(0, end));
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (paths.empty() && !places.home.empty()) paths.push_back(places.home + "/.kube/config");
  return paths;
}

Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& path) {
  INQUEST_TRY(const std::vector<YAML::Node> documents, load_documents(text, path, kMaxFile));
  if (documents.size() > 1) {
    return Error{ErrorCode::kInput, "it holds several YAML documents", path,
                 "kubectl does not read such a file either; put each in a file of its own and list them in KUBECONFIG"};
  }
  Kubeconfig out;
  out.files.push_back(path);
  if (documents.empty() || documents.front().IsNull()) return out;
  INQUEST_TRY_VOID(read_fields(At{&path, ""}, "it", documents.front(), kFileFields, out));
  return out;
}

Result<Kubeconfig> load_kubeconfig(const KubeconfigPlaces& places) {
  const std::vector<std::string> paths = kubeconfig_paths(places);
  Kubeconfig all;
  for (const std::string& path : paths) {
    if (places.flag.empty() && missing(path)) continue;
    INQUEST_TRY(const std::string text, read_text(path));
    INQUEST_TRY(Kubeconfig one, parse_kubeconfig(text, path));
    merge(all, std::move(one));
    all.files.push_back(path);
  }
  if (all.files.empty() && !places.variable.empty()) {
    std::string warning = "no kubeconfig found: ";
    for (const std::string& path : paths) warning.append(&path == &paths.front() ? "" : ", ").append(path);
    all.warnings.push_back(std::move(warning));
  }
  return all;
}

}  // namespace inquest::kube
