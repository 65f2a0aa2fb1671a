// Credentials: what a request says of who asks, now; renewed as client-go does (kubernetes-facts 8.1, 8.3).
//
// A tokenFile is read again each minute less 10 s, and after a 401; if that fails the old one stays. A plugin is run
// when its credential is over, and once after a 401. Files of certificates are curl's to read, for each new connection.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "kube/client/access.h"
#include "kube/client/exec_plugin.h"

namespace inquest::kube {

class Credentials {
 public:
  // Both must outlive it. `terminal`: a person sits there whom a plugin may ask.
  Credentials(const Access& access, const Clock& clock, bool terminal);

  // To be called before each request; may run the plugin, and then takes as long as it takes.
  Result<void> refresh();
  // The header "Authorization: …"; empty for who has none.
  Secret authorization() const;
  Pem certificate() const;
  Pem key() const;

  // A request was answered 401. Whether it is worth another try with what refresh() gets now.
  bool refused();
  // Counts up when a client certificate was replaced: connections made with the old one are to be given up.
  uint64_t certificates() const { return certificates_; }

 private:
  void read_token_file();
  Result<void> run_plugin();

  const Access* access_;
  const Clock* clock_;
  bool terminal_;
  Secret token_;
  Time token_read_;
  bool read_now_ = false;
  ExecCredential exec_;
  bool have_exec_ = false;
  uint64_t certificates_ = 0;
};

}  // namespace inquest::kube
