// Limits of a trace, all in one place. A trace may come from a stranger: whatever counts or sizes it names are held
// against these before memory is taken. The writer keeps them too, so that what it wrote can always be read. Together
// they keep writing, reading, checking, compacting and recovering below 256 MB, whatever the input.
// docs/trace-format.md repeats and explains them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace inquest::trace {

// Of a batch. The writer's own batches are far smaller (WriterOptions); a LIST can make one large.
inline constexpr size_t kMaxBatchRecords = 65'536;
inline constexpr size_t kMaxBatchObjects = 262'144;          // Kubernetes supports 150,000 pods in a cluster
inline constexpr size_t kMaxBatchEntries = size_t{4} << 20;  // of any dictionary or row list
// Labels, taints, tolerations, terms, values, …, extended resources and ports. They take little or no room in a
// message: many shapes may name one long text, and each keeps it for itself; hence text_parts().
inline constexpr size_t kMaxBatchParts = size_t{2} << 20;
inline constexpr size_t kMaxFactsBytes = size_t{32} << 20;   // uncompressed
inline constexpr size_t kMaxBodiesBytes = size_t{64} << 20;  // uncompressed
// The writer's batches of several records end here; a larger one is a single record, and its bodies are not kept in
// memory as a whole.
inline constexpr size_t kMaxSharedBodies = size_t{16} << 20;

// What a text that a shape keeps counts as, besides the resource or port that it belongs to.
constexpr size_t text_parts(std::string_view text) { return text.size() / 16; }

// Of bodies as they lie in the file.
inline constexpr size_t kPartBytes = size_t{1} << 20;  // of one row of table body
inline constexpr uint64_t kMaxParts = 1024;            // of one batch
inline constexpr int kWindowLog = 24;                  // no zstd frame looks further back than 16 MiB

inline constexpr size_t kMaxStoredBytes = kMaxFactsBytes + (size_t{1} << 20);  // a blob as it lies in the file

// A message may be traversed this many times over; more means that pointers share their targets to multiply work.
inline constexpr size_t kTraversalFactor = 2;

// Of all strings, labels, taints and placements that one reader takes into its catalog.
inline constexpr uint64_t kMaxCatalogBytes = uint64_t{2} << 30;

// Of the summary.
inline constexpr size_t kMaxStreams = 65'535;
inline constexpr size_t kMaxSummaryRows = 65'536;             // of bind_count and loss, each
inline constexpr size_t kMaxSummaryText = size_t{64} << 10;   // of any text in it
inline constexpr size_t kMaxSummaryBytes = size_t{16} << 20;  // of all its texts
inline constexpr size_t kMaxUnanswered = 500'000;             // binds waited for; the oldest then count as unanswered

// Of the index.
inline constexpr size_t kMaxIndexRows = 500'000;  // pods, binds, gaps, each
inline constexpr size_t kMaxIndexText = 1'024;    // of a text in it

inline constexpr size_t kMaxDictionaryBytes = size_t{64} << 10;

// How long to wait for another process's lock on the file.
inline constexpr int kBusyMilliseconds = 1000;

}  // namespace inquest::trace
