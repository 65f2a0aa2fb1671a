// Exit codes: a contract (README.md). Where several apply, the first of 2, 5, 1, 4, 3.
#pragma once

#include "base/result.h"

namespace inquest::cli {

enum class ExitCode : int {
  kOk = 0,        // nothing wrong
  kFindings = 1,  // a violated run, a difference, a failed verify
  kBadInput = 2,  // usage or input error
  kMissing = 3,   // done, but data is missing
  kUnknown = 4,   // the verdict is unknown
  kNewer = 5,     // the trace was made by a newer version
};

// Smaller comes first.
constexpr int rank(ExitCode code) {
  switch (code) {
    case ExitCode::kBadInput:
      return 0;
    case ExitCode::kNewer:
      return 1;
    case ExitCode::kFindings:
      return 2;
    case ExitCode::kUnknown:
      return 3;
    case ExitCode::kMissing:
      return 4;
    case ExitCode::kOk:
      break;
  }
  return 5;
}

constexpr ExitCode first_of(ExitCode a, ExitCode b) { return rank(a) <= rank(b) ? a : b; }

constexpr ExitCode exit_code_of(ErrorCode code) {
  return code == ErrorCode::kNewer ? ExitCode::kNewer : ExitCode::kBadInput;
}

}  // namespace inquest::cli
