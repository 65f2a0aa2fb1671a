// One value in the query of a URL.
#pragma once

#include <string>
#include <string_view>

namespace inquest::kube {

// Everything but letters, digits and -._~ becomes %XX (RFC 3986).
std::string encode_query(std::string_view value);

}  // namespace inquest::kube
