// Limits of a trace, all in one place. A trace may come from a stranger: whatever counts or sizes it names are held
// against these before memory is taken. The writer keeps them too, so that what it wrote can always be read.
// docs/trace-format.md repeats and explains them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inquest::trace {

// Of a batch. The writer's own batches are far smaller (kBatchRecords, kBatchBytes); a LIST can make one large.
inline constexpr size_t kMaxBatchRecords = 65'536;
inline constexpr size_t kMaxBatchObjects = 524'288;           // Kubernetes supports 150,000 pods in a cluster
inline constexpr size_t kMaxBatchEntries = size_t{4} << 20;   // of any dictionary or row list
inline constexpr size_t kMaxFactsBytes = size_t{64} << 20;    // uncompressed
inline constexpr size_t kMaxBodiesBytes = size_t{256} << 20;  // uncompressed
inline constexpr size_t kMaxStoredBytes = kMaxBodiesBytes + (size_t{2} << 20);  // a blob as it lies in the file

// A message may be traversed this many times over; more means that pointers share their targets to multiply work.
inline constexpr size_t kTraversalFactor = 2;

// Of all strings that one reader takes into its catalog.
inline constexpr uint64_t kMaxCatalogBytes = uint64_t{2} << 30;

// Of the summary.
inline constexpr size_t kMaxStreams = 65'535;
inline constexpr size_t kMaxSummaryRows = 65'536;            // of bind_count and loss, each
inline constexpr size_t kMaxSummaryText = size_t{64} << 10;  // of any text in it

// How long to wait for another process's lock on the file.
inline constexpr int kBusyMilliseconds = 1000;

}  // namespace inquest::trace
