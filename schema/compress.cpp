#include "schema/compress.h"

#include <zstd.h>

#include <string>

namespace inquest::trace {
namespace {

constexpr int kLevel = 3;  // docs/trace-format.md has the figures

}  // namespace

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Compressor::Compressor() : context_(ZSTD_createCCtx()) { INQUEST_CHECK(context_ != nullptr, "out of memory"); }

Result<void> Compressor::compress(std::string_view bytes, Buffer& frame) {
  char* out = frame.take(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compressCCtx(context_.get(), out, frame.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) {
    return Error{ErrorCode::kIo, std::string("zstd cannot compress: ") + ZSTD_getErrorName(size), "", ""};
  }
  frame.shrink(size);
  return {};
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) { INQUEST_CHECK(context_ != nullptr, "out of memory"); }

Result<void> Decompressor::decompress(std::string_view frame, size_t limit, Buffer& bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return Error{ErrorCode::kCorrupt, "not a zstd frame", "", ""};
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) return Error{ErrorCode::kCorrupt, "a zstd frame without its size", "", ""};
  if (size > limit) {
    return Error{ErrorCode::kOutOfLimit,
                 "holds " + std::to_string(size) + " bytes, the limit is " + std::to_string(limit), "", ""};
  }
  char* out = bytes.take(static_cast<size_t>(size));
  const size_t done = ZSTD_decompressDCtx(context_.get(), out, bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(done) != 0) {
    return Error{ErrorCode::kCorrupt, std::string("damaged zstd frame: ") + ZSTD_getErrorName(done), "", ""};
  }
  if (done != size) return Error{ErrorCode::kCorrupt, "a zstd frame shorter than it says", "", ""};
  return {};
}

}  // namespace inquest::trace
