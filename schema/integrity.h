// What proves that a trace is as it was written: a CRC32C a batch, a SHA-256 chain over the batches, a SHA-256 over the
// summary. Private to schema/. The CRC finds accidents when a batch is read; chain and digest find what was exchanged,
// removed or added. None of them is a signature: whoever can write the file can also recompute them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/reader.h"
#include "schema/record.h"

namespace inquest::trace {

inline constexpr size_t kSha256Bytes = 32;

// The columns of table batch that stand before the blobs.
struct BatchRow {
  uint64_t id = 0;
  Seq first_seq = 0, last_seq = 0;
  int64_t first_wall = 0, last_wall = 0;
  uint64_t body_bytes = 0;
  uint32_t body_crc = 0;
  uint32_t crc = 0;

  uint64_t records() const { return last_seq - first_seq + 1; }
};

// Column crc: of the columns before it and the facts as stored. body_crc covers the bodies.
uint32_t batch_crc(const BatchRow& row, std::string_view facts);

// The chain's link before the first batch.
std::string chain_start(std::string_view uuid);
// The link after a batch: over the one before, the columns, and both blobs as stored.
std::string chain_next(std::string_view previous, const BatchRow& row, std::string_view facts, std::string_view bodies);

// Over everything of the summary but file_bytes and summary_intact; `chain` is the last batch's, in
// hexadecimal.
std::string summary_digest(const TraceInfo& info, std::string_view chain);

std::string to_hex(std::string_view bytes);

// A random UUID (version 4) as text.
Result<std::string> random_uuid();

}  // namespace inquest::trace
