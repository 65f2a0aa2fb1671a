// Api: requests to one API server as one user. Puts server, credentials, impersonation, user agent and compression into
// each, and asks once more after a 401 if other credentials may be had.
//
// One thread; receivers are called from run() and resume() alone. Nothing of a credential enters a message.
#pragma once

#include <poll.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client/access.h"
#include "kube/client/credentials.h"
#include "kube/client/transport.h"

namespace inquest::kube {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // with its query, after the server's prefix: "/api/v1/pods?limit=500"
  std::string body;  // JSON; of other methods than GET
  Duration head_within = Duration::seconds(60);
  Duration silence;  // 0: a stream may be silent for ever
};

class Api {
 public:
  using Id = uint64_t;

  // `user_agent`: "inquest/0.1.0". `terminal`: a person sits there, whom an exec plugin may ask.
  Api(Access access, const Clock& clock, std::string user_agent, bool terminal);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // An error if there are no credentials to be had; then nothing was sent.
  Result<Id> send(ApiRequest request, Receiver& receiver);
  void cancel(Id id);
  void resume(Id id);
  void run(Duration wait, std::span<pollfd> also = {});

  const Access& access() const { return access_; }

 private:
  class Call;
  Result<std::vector<std::string>> headers(const ApiRequest& request) const;
  Result<void> start(Call& call);
  void ended(Id id);

  Access access_;
  std::string user_agent_;
  Credentials credentials_;
  Transport transport_;
  std::map<Id, std::unique_ptr<Call>> calls_;
  std::vector<std::unique_ptr<Call>> over_;  // until the next run(): they may still be on the stack
  Id next_id_ = 1;
  uint64_t certificates_ = 0;
};

}  // namespace inquest::kube
