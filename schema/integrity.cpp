#include "schema/integrity.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

#include "base/crc32c.h"

namespace inquest::trace {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

std::string row_bytes(const BatchRow& row) {
  std::string out;
  out.reserve(7 * sizeof(uint64_t));
  put_value(out, row.id);
  put_value(out, row.first_seq);
  put_value(out, row.last_seq);
  put_value(out, row.first_wall);
  put_value(out, row.last_wall);
  put_value(out, row.body_bytes);
  put_value(out, uint64_t{row.body_crc});
  return out;
}

}  // namespace

void put_value(std::string& out, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xff));
}
void put_value(std::string& out, int64_t value) { put_value(out, static_cast<uint64_t>(value)); }
void put_value(std::string& out, std::string_view text) {
  put_value(out, uint64_t{text.size()});
  out.append(text);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  INQUEST_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
                "OpenSSL offers no SHA-256");
}
void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }
Sha256& Sha256::add(std::string_view bytes) {
  INQUEST_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, bytes.size());
  return *this;
}
std::string Sha256::finish() {
  std::array<unsigned char, kSha256Bytes> digest{};
  unsigned int size = 0;
  INQUEST_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1 && size == digest.size(), size);
  return {digest.begin(), digest.end()};
}

uint32_t batch_crc(const BatchRow& row, std::string_view facts) { return crc32c(facts, crc32c(row_bytes(row))); }

std::string chain_start(std::string_view uuid) { return Sha256().add("inquest trace ").add(uuid).finish(); }

std::string chain_next(std::string_view previous, const BatchRow& row, std::string_view facts,
                       std::string_view bodies_sha) {
  return Sha256().add(previous).add(row_bytes(row)).add(facts).add(bodies_sha).finish();
}

std::string summary_digest(const TraceInfo& info, const Seals& seals) {
  std::string out;
  put_value(out, static_cast<int64_t>(info.format_version));
  for (const std::string* text : {&info.uuid, &info.writer, &info.cluster_version, &info.server, &info.scope}) {
    put_value(out, std::string_view(*text));
  }
  put_value(out, uint64_t{static_cast<uint8_t>(info.state)});
  put_value(out, info.start.ns);
  put_value(out, info.end.ns);
  for (const uint64_t value : {info.records, info.batches, info.body_bytes}) put_value(out, value);
  put_value(out, uint64_t{info.streams.size()});
  for (const StreamSummary& s : info.streams) {
    put_value(out, uint64_t{static_cast<uint8_t>(s.stream.kind)});
    for (const std::string* text : {&s.stream.name, &s.stream.resource, &s.stream.source}) {
      put_value(out, std::string_view(*text));
    }
    for (const uint64_t value :
         {s.lists, s.checkpoints, s.added, s.modified, s.deleted, s.bookmarks, s.errors, s.opens, s.closes, s.gaps,
          s.undecodable, s.bind_requests, s.bind_answers, s.observations, s.first, s.last, s.closed_at}) {
      put_value(out, value);
    }
  }
  put_value(out, uint64_t{info.binds.size()});
  for (const BindCount& bind : info.binds) {
    put_value(out, std::string_view(bind.scheduler));
    put_value(out, uint64_t{bind.code});
    put_value(out, bind.count);
  }
  put_value(out, uint64_t{info.losses.size()});
  for (const TraceLoss& loss : info.losses) {
    put_value(out, std::string_view(loss.source));
    put_value(out, std::string_view(loss.what));
    put_value(out, loss.count);
  }
  for (const std::string* text : {&seals.chain, &seals.dictionary_sha, &seals.index_sha, &seals.index}) {
    put_value(out, std::string_view(*text));
  }
  for (const TraceLoss& note : info.notes) {
    put_value(out, std::string_view(note.source));
    put_value(out, std::string_view("note: " + note.what));
    put_value(out, note.count);
  }
  return Sha256().add(out).finish();
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<std::string> random_uuid() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error{ErrorCode::kIo, "the system gives no random bytes for the trace's UUID", "", ""};
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace inquest::trace
