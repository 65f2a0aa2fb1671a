// One record as bytes of its own: for who puts facts aside, and wants neither them nor their names in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/catalog.h"
#include "schema/record.h"

namespace inquest::trace {

// Reuses its buffers. Not thread-safe.
class RecordPacker {
 public:
  RecordPacker();
  ~RecordPacker();

  // The record with all that it names, as a batch holds it, without its seq. Error kOutOfLimit: it is beyond limits.h,
  // a trace would not take it.
  Result<std::string> pack(const Record& record, const Catalog& catalog);
  // What pack() made, by the ordinals of this catalog.
  Result<Record> unpack(std::string_view bytes, Catalog& catalog);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::trace
