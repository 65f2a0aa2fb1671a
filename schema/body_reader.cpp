#include "schema/body_reader.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "schema/limits.h"

namespace inquest::trace {
namespace {

Error damaged(const BatchRow& row, const Error& why) {
  return {why.code, "bodies: " + why.text, "batch " + std::to_string(row.id), ""};
}

Error ends_early(const BatchRow& row) {
  return damaged(row, {ErrorCode::kCorrupt, "they end before the record's", "", ""});
}

// With a line feed after each body.
size_t content_limit(const BatchRow& row) { return row.body_bytes + row.records(); }

}  // namespace

Result<std::unique_ptr<BodyReader>> BodyReader::open(Database& database, const Dictionaries& dictionaries) {
  std::unique_ptr<BodyReader> reader(new BodyReader(dictionaries));
  INQUEST_TRY(reader->get_part_, database.prepare("SELECT data FROM body WHERE id = ?"));
  return reader;
}

// False: there is no such part.
Result<bool> BodyReader::load_part(const BatchRow& row, uint64_t part) {
  get_part_.reset();
  INQUEST_TRY(const bool found, get_part_.bind(1, row.id * kMaxParts + part).step());
  if (found) {
    const auto blob = get_part_.blob(0, kPartBytes);
    if (!blob.ok()) return blob.error();
    part_.assign(*blob);
  }
  get_part_.reset();  // so that no read transaction stays open
  return found;
}

Result<std::string> BodyReader::check(const BatchRow& row) {
  batch_ = 0;
  Sha256 sha;
  uint32_t crc = 0;
  for (uint64_t part = 0; part < kMaxParts; ++part) {
    INQUEST_TRY(const bool found, load_part(row, part));
    if (!found) break;
    crc = crc32c(part_, crc);
    sha.add(part_);
  }
  if (crc != row.body_crc) return damaged(row, {ErrorCode::kCorrupt, "their CRC does not match", "", ""});
  return sha.finish();
}

Result<void> BodyReader::begin(const BatchRow& row) {
  if (row.body_bytes > kMaxBodiesBytes || row.id > INT64_MAX / kMaxParts) {
    return damaged(row, {ErrorCode::kOutOfLimit, "more bytes than a batch may hold", "", ""});
  }
  uint32_t crc = 0;
  uint64_t parts = 0;
  for (; parts < kMaxParts; ++parts) {
    INQUEST_TRY(const bool found, load_part(row, parts));
    if (!found) break;
    crc = crc32c(part_, crc);
  }
  if (crc != row.body_crc || parts == 0) {
    return damaged(row, {ErrorCode::kCorrupt, "their CRC does not match", "", ""});
  }
  if (parts != 1) INQUEST_TRY_VOID(load_part(row, 0));
  const auto dictionary = dictionaries_->find(dictionary_of(part_));
  if (!dictionary.ok()) return damaged(row, dictionary.error());
  if (const auto done = decompressor_.begin(part_, content_limit(row), *dictionary); !done.ok()) {
    return damaged(row, done.error());
  }
  next_part_ = 1;
  left_ = part_;
  position_ = 0;
  keeps_ = content_limit(row) <= kMaxSharedBodies + kMaxBatchRecords;
  if (keeps_) kept_.take(content_limit(row));
  batch_ = row.id;
  return {};
}

Result<size_t> BodyReader::decompress(const BatchRow& row, char* out, size_t size) {
  size_t done = 0;
  while (done < size && !decompressor_.at_end()) {
    const auto bytes = decompressor_.read(left_, out + done, size - done);
    if (!bytes.ok()) return damaged(row, bytes.error());
    done += *bytes;
    if (done == size || decompressor_.at_end()) break;
    INQUEST_TRY(const bool found, load_part(row, next_part_));
    if (!found) break;
    ++next_part_;
    left_ = part_;
  }
  position_ += done;
  return done;
}

Result<void> BodyReader::skip(const BatchRow& row, size_t size) {
  char scratch[32768];
  while (size > 0) {
    INQUEST_TRY(const size_t done, decompress(row, scratch, std::min(size, sizeof scratch)));
    if (done == 0) return ends_early(row);
    size -= done;
  }
  return {};
}

Result<std::string> BodyReader::read(const BatchRow& row, size_t offset, size_t size) {
  const size_t limit = content_limit(row);
  if (offset > limit || size > limit - offset) return ends_early(row);
  if (batch_ != row.id || (!keeps_ && offset < position_)) {
    batch_ = 0;
    INQUEST_TRY_VOID(begin(row));
  }
  const uint64_t batch = std::exchange(batch_, 0);  // after an error, the next call begins anew
  std::string body;
  if (keeps_) {
    if (offset + size > position_) {
      INQUEST_TRY_VOID(decompress(row, kept_.data() + position_, offset + size - position_));
    }
    if (offset + size > position_) return ends_early(row);
    body = kept_.view().substr(offset, size);
  } else {
    INQUEST_TRY_VOID(skip(row, offset - position_));
    body.resize(size);
    INQUEST_TRY(const size_t done, decompress(row, body.data(), size));
    if (done != size) return ends_early(row);
  }
  batch_ = batch;
  return body;
}

}  // namespace inquest::trace
