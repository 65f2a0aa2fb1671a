// BodyReader: single bodies of a trace, decompressed only as far as needed. Private to schema/.
//
// Keeps what it has decompressed of the last batch, unless that batch is one large record: such a body goes straight
// into the string that is returned. So the memory taken is 16 MiB, or once the body asked for.
#pragma once

#include <memory>
#include <string>

#include "schema/compress.h"
#include "schema/dictionaries.h"
#include "schema/integrity.h"
#include "schema/sqlite.h"

namespace inquest::trace {

class BodyReader {
 public:
  // Database and dictionaries must outlive the reader and stay where they are.
  static Result<std::unique_ptr<BodyReader>> open(Database& database, const Dictionaries& dictionaries);

  // The bytes from `offset` on among the batch's bodies, after its CRC has been checked.
  Result<std::string> read(const BatchRow& row, size_t offset, size_t size);

  // SHA-256 over the parts as stored, for the chain; an Error if body_crc does not match.
  Result<std::string> check(const BatchRow& row);

 private:
  explicit BodyReader(const Dictionaries& dictionaries) : dictionaries_(&dictionaries) {}
  Result<bool> load_part(const BatchRow& row, uint64_t part);
  Result<void> begin(const BatchRow& row);
  Result<size_t> decompress(const BatchRow& row, char* out, size_t size);
  Result<void> skip(const BatchRow& row, size_t size);

  const Dictionaries* dictionaries_;
  Statement get_part_;
  Decompressor decompressor_;
  uint64_t batch_ = 0;  // the one under way; 0: none
  uint64_t next_part_ = 0;
  std::string part_;       // the part under way …
  std::string_view left_;  // … and what of it is not yet used
  size_t position_ = 0;    // bytes decompressed so far
  Buffer kept_;            // those bytes, if the batch is of a usual size
  bool keeps_ = false;
};

}  // namespace inquest::trace
