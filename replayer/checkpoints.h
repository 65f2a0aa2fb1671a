// Checkpoints: lists that opened no watch are a second truth. The watch folded up to such a list's resourceVersion must
// equal it, so that "the watch lied" and "the scheduler missed it" can be told apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/reader.h"

namespace inquest::replayer {

// One object in which a checkpoint and the folded watch differ.
struct CheckpointDifference {
  trace::Seq seq = 0;  // of the list
  std::string stream;  // "pods"
  std::string object;  // "sched-lab/pod1 (uid 6744d1bf…)"
  std::string what;    // "in the list at rv 658, not in the folded watch"
};

struct CheckpointReport {
  uint64_t checkpoints = 0;
  uint64_t equal = 0;
  uint64_t not_compared = 0;  // the watch did not reach the list's resourceVersion, or a gap lies before it
  uint64_t not_kept = 0;      // objects beyond kMaxFolded: lists of their streams are not compared either
  uint64_t differences = 0;
  std::vector<CheckpointDifference> first;  // at most kKeptDifferences of them
};
inline constexpr size_t kKeptDifferences = 20;
inline constexpr size_t kMaxFolded = size_t{2} << 20;  // objects alive at one instant, of all streams
inline constexpr size_t kMaxCheckpoints = 500'000;     // that are compared

// Compares uid, resourceVersion and nodeName of every object. Walks the trace twice, in bounded memory, and empties the
// reader's catalog on the way; rewinds the reader first and after.
Result<CheckpointReport> compare_checkpoints(trace::TraceReader& reader);

}  // namespace inquest::replayer
