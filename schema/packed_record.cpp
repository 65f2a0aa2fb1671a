#include "schema/packed_record.h"

#include "schema/batch_decoder.h"
#include "schema/batch_encoder.h"
#include "schema/compress.h"
#include "schema/dictionaries.h"
#include "schema/limits.h"

namespace inquest::trace {

struct RecordPacker::Impl {
  Compressor compressor{Compressor::Settings{1, 0}};
  BatchDecoder decoder;
  Dictionaries none;
};

RecordPacker::RecordPacker() : impl_(std::make_unique<Impl>()) {}
RecordPacker::~RecordPacker() = default;

Result<std::string> RecordPacker::pack(const Record& record, const Catalog& catalog) {
  if (record.objects.size() > kMaxBatchObjects) {
    return Error{ErrorCode::kOutOfLimit, "more objects than a batch may hold", "", ""};
  }
  // A new one each time: its tables grow with the catalog's ordinals, and catalogs come and go.
  BatchEncoder encoder(catalog);
  encoder.add(record, 1, 0);
  std::string out;
  INQUEST_TRY_VOID(encoder.encode([&](std::span<const std::string_view> pieces) {
    return impl_->compressor.compress(pieces, nullptr, [&](std::string_view part) -> Result<void> {
      out.append(part);
      return {};
    });
  }));
  return out;
}

Result<Record> RecordPacker::unpack(std::string_view bytes, Catalog& catalog) {
  BatchRow row;
  row.id = row.first_seq = row.last_seq = 1;
  uint64_t catalog_bytes = 0;
  INQUEST_TRY_VOID(impl_->decoder.load(row, bytes, impl_->none, kMaxStreams, catalog, catalog_bytes));
  Record record;
  INQUEST_TRY_VOID(impl_->decoder.next(record));
  record.seq = 0;
  return record;
}

}  // namespace inquest::trace
