#include "schema/compress.h"

#define ZDICT_STATIC_LINKING_ONLY  // for the one trainer that is fast
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "schema/limits.h"

namespace inquest::trace {
namespace {

constexpr int kDictionaryLevel = 3;  // docs/trace-format.md has the figures

Error zstd_error(const char* what, size_t code) {
  return {ErrorCode::kCorrupt, std::string(what) + ZSTD_getErrorName(code), "", ""};
}

Result<size_t> content_size(std::string_view frame, size_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return Error{ErrorCode::kCorrupt, "not a zstd frame", "", ""};
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) return Error{ErrorCode::kCorrupt, "a zstd frame without its size", "", ""};
  if (size > limit) {
    return Error{ErrorCode::kOutOfLimit,
                 "holds " + std::to_string(size) + " bytes, the limit is " + std::to_string(limit), "", ""};
  }
  return static_cast<size_t>(size);
}

}  // namespace

void Dictionary::Free::operator()(ZSTD_CDict_s* dictionary) const { ZSTD_freeCDict(dictionary); }
void Dictionary::Free::operator()(ZSTD_DDict_s* dictionary) const { ZSTD_freeDDict(dictionary); }

Dictionary::Dictionary(std::string bytes)
    : bytes_(std::move(bytes)),
      compress_(ZSTD_createCDict(bytes_.data(), bytes_.size(), kDictionaryLevel)),
      decompress_(ZSTD_createDDict(bytes_.data(), bytes_.size())) {}

std::string Dictionary::train(std::string_view samples, std::span<const size_t> sizes, unsigned id) {
  std::string bytes(kMaxDictionaryBytes / 2, '\0');
  ZDICT_fastCover_params_t parameters{};
  parameters.k = 1024;
  parameters.d = 8;
  parameters.f = 20;
  parameters.accel = 1;
  parameters.zParams.compressionLevel = kDictionaryLevel;
  parameters.zParams.dictID = id;
  const size_t size = ZDICT_trainFromBuffer_fastCover(bytes.data(), bytes.size(), samples.data(), sizes.data(),
                                                      static_cast<unsigned>(sizes.size()), parameters);
  bytes.resize(ZDICT_isError(size) != 0 ? 0 : size);
  return bytes;
}

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Compressor::Compressor(const Settings& settings) : context_(ZSTD_createCCtx()) {
  INQUEST_CHECK(context_ != nullptr, "out of memory");
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, settings.level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, settings.window_log);
}

Result<void> Compressor::compress(std::span<const std::string_view> pieces, const Dictionary* dictionary,
                                  const Sink& sink) {
  uint64_t total = 0;
  for (const std::string_view piece : pieces) total += piece.size();
  ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(context_.get(), total);
  ZSTD_CCtx_refCDict(context_.get(), dictionary == nullptr ? nullptr : dictionary->compress_.get());
  ZSTD_outBuffer out{part_.take(kPartBytes), kPartBytes, 0};
  for (size_t i = 0; i < pieces.size() || pieces.empty(); ++i) {
    const std::string_view piece = pieces.empty() ? std::string_view() : pieces[i];
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    const bool last = i + 1 >= pieces.size();
    while (true) {
      const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) return zstd_error("zstd cannot compress: ", left);
      const bool done = last ? left == 0 : in.pos == in.size;
      if (out.pos == out.size || (last && done)) {
        INQUEST_TRY_VOID(sink({part_.data(), out.pos}));
        out.pos = 0;
      }
      if (done) break;
    }
    if (last) break;
  }
  return {};
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  INQUEST_CHECK(context_ != nullptr, "out of memory");
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kWindowLog);
}

Result<void> Decompressor::decompress(std::string_view frame, size_t limit, const Dictionary* dictionary,
                                      Buffer& bytes) {
  INQUEST_TRY(const size_t size, content_size(frame, limit));
  char* out = bytes.take(size);
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  ZSTD_DCtx_refDDict(context_.get(), dictionary == nullptr ? nullptr : dictionary->decompress_.get());
  const size_t done = ZSTD_decompressDCtx(context_.get(), out, bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(done) != 0) return zstd_error("damaged zstd frame: ", done);
  if (done != size) return Error{ErrorCode::kCorrupt, "a zstd frame shorter than it says", "", ""};
  return {};
}

Result<void> Decompressor::begin(std::string_view first_piece, size_t limit, const Dictionary* dictionary) {
  INQUEST_TRY_VOID(content_size(first_piece, limit));
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  ZSTD_DCtx_refDDict(context_.get(), dictionary == nullptr ? nullptr : dictionary->decompress_.get());
  at_end_ = false;
  return {};
}

Result<size_t> Decompressor::read(std::string_view& in, char* out, size_t size) {
  ZSTD_outBuffer to{out, size, 0};
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  while (to.pos < to.size && !at_end_) {
    const size_t before_in = from.pos, before_out = to.pos;
    const size_t left = ZSTD_decompressStream(context_.get(), &to, &from);
    if (ZSTD_isError(left) != 0) return zstd_error("damaged zstd frame: ", left);
    at_end_ = left == 0;
    if (from.pos == before_in && to.pos == before_out) break;  // wants more input
  }
  in.remove_prefix(from.pos);
  return to.pos;
}

unsigned dictionary_of(std::string_view frame) { return ZSTD_getDictID_fromFrame(frame.data(), frame.size()); }

}  // namespace inquest::trace
