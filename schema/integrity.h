// What proves that a trace is as it was written: a CRC32C a batch, a SHA-256 chain over the batches, a SHA-256 over the
// summary. Private to schema/. The CRC finds accidents when a batch is read; chain and digest find what was exchanged,
// removed or added. None of them is a signature: whoever can write the file can also recompute them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "schema/reader.h"
#include "schema/record.h"

struct evp_md_ctx_st;

namespace inquest::trace {

inline constexpr size_t kSha256Bytes = 32;

class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// Appends a number, 8 bytes, and a text behind its size, so that no two sequences of values have the same bytes.
void put_value(std::string& out, uint64_t value);
void put_value(std::string& out, int64_t value);
void put_value(std::string& out, std::string_view text);

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
// The link after a batch: over the one before, the columns, the facts as stored, and the SHA-256 of the bodies as
// stored.
std::string chain_next(std::string_view previous, const BatchRow& row, std::string_view facts,
                       std::string_view bodies_sha);

// What the summary says of the other tables; hashes in hexadecimal.
struct Seals {
  std::string chain;           // of the last batch
  std::string dictionary_sha;  // of table dictionary; "" if it is empty
  std::string index_sha;       // of tables label, pod, bind, gap; "" if there is no index
  std::string index = "none";  // none, whole, partial
};

// Over everything of the summary but file_bytes and summary_intact.
std::string summary_digest(const TraceInfo& info, const Seals& seals);

std::string to_hex(std::string_view bytes);

// A random UUID (version 4) as text.
Result<std::string> random_uuid();

}  // namespace inquest::trace
