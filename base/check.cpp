#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace inquest {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  std::fprintf(stderr, "inquest: bug at %s:%d: %s does not hold [%s]\n", file, line, condition, values.c_str());
  std::abort();
}

}  // namespace inquest
