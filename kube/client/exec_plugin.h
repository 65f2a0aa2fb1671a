// Credentials from a program that the kubeconfig names (kubernetes-facts 8.3; client-go's exec plugins).
//
// The program is run without a shell, with this process's environment, what the kubeconfig adds, and
// KUBERNETES_EXEC_INFO. Its standard error is passed through; its standard input is this process's if both it and the
// terminal allow, else empty. It blocks its caller; one that is not interactive is ended after a minute.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/client/access.h"
#include "kube/client/secret.h"

namespace inquest::kube {

// What it printed. A token, or a certificate with its key, or both.
struct ExecCredential {
  Secret token;
  std::string certificate_pem;
  Secret key_pem;
  Time expires = Time::never();
};

// What it is told in KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const Access& access, bool interactive);

// Reads what it printed. Errors say what is wrong with it and quote none of it.
Result<ExecCredential> parse_exec_credential(const ExecPlugin& plugin, const std::string& printed);

// Errors: it cannot be run (with its installHint), fails, hangs, prints rubbish, must be interactive and cannot.
Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access, bool terminal,
                                       Duration limit = Duration::seconds(60));

}  // namespace inquest::kube
