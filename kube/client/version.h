// The first question to a server: is it there, does it know who asks, what is it.
#pragma once

#include <string>

#include "base/result.h"
#include "kube/client/api.h"

namespace inquest::kube {

// "v1.32.4", from GET /version; "" if the user may not know. Errors, each one line: the server cannot be reached, its
// certificate is not trusted, it does not know the user, something else answers.
Result<std::string> server_version(Api& api);

}  // namespace inquest::kube
