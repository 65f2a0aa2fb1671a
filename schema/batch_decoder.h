// BatchDecoder: the facts message of one batch → records. Private to schema/.
//
// The message may be hostile: it is copied to aligned memory, traversed within a limit, and every count and reference
// is checked; what does not hold is an Error that names batch and record. The batch's own references become ordinals
// of the catalog once, in load(); after that a record costs only copies of integers.
#pragma once

#include <memory>
#include <string_view>

#include "schema/compress.h"
#include "schema/dictionaries.h"
#include "schema/integrity.h"
#include "schema/record.h"

namespace inquest::trace {

class BatchDecoder {
 public:
  BatchDecoder();
  BatchDecoder(BatchDecoder&&) noexcept;
  BatchDecoder& operator=(BatchDecoder&&) noexcept;
  ~BatchDecoder();

  // `facts` as stored; `streams`: how many the trace has; `catalog_bytes` counts the strings that are new to it.
  Result<void> load(const BatchRow& row, std::string_view facts, const Dictionaries& dictionaries, size_t streams,
                    Catalog& catalog, uint64_t& catalog_bytes);

  const BatchRow& row() const;
  bool holds(Seq seq) const;  // and has been loaded without error
  bool at_end() const;
  void rewind();

  // The next record; not at the end. After an error the batch is as if it had never been loaded.
  Result<void> next(Record& record);
  Seq given() const;  // the record last given; 0: none
  // Of the record last given: where its body begins among the batch's bodies, and its size.
  size_t body_offset() const;
  size_t body_size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::trace
