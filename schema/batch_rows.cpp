#include "schema/batch_rows.h"

#include "schema/limits.h"

namespace inquest::trace {

Result<BatchRows> BatchRows::open(Database& database) {
  BatchRows rows;
  INQUEST_TRY(rows.get_, database.prepare("SELECT first_seq, last_seq, first_wall, last_wall, body_bytes, body_crc, "
                                          "crc, chain, facts FROM batch WHERE id = ?"));
  INQUEST_TRY(rows.find_, database.prepare("SELECT id FROM batch WHERE id > ? ORDER BY id LIMIT 1"));
  return rows;
}

Result<uint64_t> BatchRows::next_id(uint64_t after) {
  find_.reset();
  INQUEST_TRY(const bool found, find_.bind(1, after).step());
  return found ? find_.natural(0) : Result<uint64_t>(uint64_t{0});
}

Result<BatchRows::Row> BatchRows::read(uint64_t id) {
  const auto corrupt = [&](const char* why) {
    return Error{ErrorCode::kCorrupt, why, "batch " + std::to_string(id), ""};
  };
  get_.reset();
  INQUEST_TRY(const bool found, get_.bind(1, id).step());
  if (!found) return corrupt("is missing");
  BatchRow row;
  row.id = id;
  INQUEST_TRY(row.first_seq, get_.natural(0));
  INQUEST_TRY(row.last_seq, get_.natural(1));
  INQUEST_TRY(row.first_wall, get_.integer(2));
  INQUEST_TRY(row.last_wall, get_.integer(3));
  INQUEST_TRY(row.body_bytes, get_.natural(4));
  INQUEST_TRY(const uint64_t body_crc, get_.natural(5));
  INQUEST_TRY(const uint64_t crc, get_.natural(6));
  if (body_crc > UINT32_MAX || crc > UINT32_MAX) return corrupt("a CRC is out of range");
  row.body_crc = static_cast<uint32_t>(body_crc);
  row.crc = static_cast<uint32_t>(crc);
  if (row.first_seq == 0 || row.last_seq < row.first_seq || row.records() > kMaxBatchRecords) {
    return corrupt("names impossible sequence numbers");
  }
  INQUEST_TRY(const std::string_view facts, get_.blob(8, kMaxStoredBytes));
  if (batch_crc(row, facts) != row.crc) return corrupt("the CRC of the facts does not match");
  return Row{row, facts};
}

Result<std::string_view> BatchRows::chain() const { return get_.blob(7, kSha256Bytes); }

}  // namespace inquest::trace
