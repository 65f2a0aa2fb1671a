// BatchEncoder: records → the facts message of one batch (trace.capnp). Private to schema/.
//
// Keeps copies of the records until the batch is encoded; ordinals of the catalog become references into the batch's
// own dictionaries then, in order of first appearance. The same records give the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/catalog.h"
#include "schema/record.h"

namespace inquest::trace {

class BatchEncoder {
 public:
  // The catalog must outlive the encoder.
  explicit BatchEncoder(const Catalog& catalog);
  BatchEncoder(BatchEncoder&&) noexcept;
  BatchEncoder& operator=(BatchEncoder&&) noexcept;
  ~BatchEncoder();

  // The record is one of those that writer.h allows; its own seq is ignored.
  void add(const Record& record, Seq seq, size_t body_size);
  size_t records() const { return count_; }
  size_t objects() const { return objects_; }
  const Record& record(size_t i) const { return records_[i]; }

  // Hands the message, as pieces that belong one behind the other, to `use`. Error kOutOfLimit: the message would
  // exceed kMaxFactsBytes.
  using Use = std::function<Result<void>(std::span<const std::string_view>)>;
  Result<void> encode(const Use& use);
  void clear();

 private:
  struct Dictionaries;

  std::unique_ptr<Dictionaries> dictionaries_;
  std::vector<Record> records_;  // the first count_; kept beyond, so that their vectors are used again
  std::vector<uint32_t> body_sizes_;
  size_t count_ = 0, objects_ = 0;
};

}  // namespace inquest::trace
