// zstd behind two owners, and the uninitialised memory they work on. Private to schema/.
//
// A frame must state its content's size; the size is held against a limit before memory is taken, and the memory is
// not touched before bytes arrive, so that a small file cannot make us fill a large buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace inquest::trace {

// Bytes at an address fit for Cap'n Proto's words. Growing loses the content.
class Buffer {
 public:
  char* take(size_t size) {
    if (size > capacity_) {
      words_.reset();
      words_ = std::make_unique_for_overwrite<uint64_t[]>((size + 7) / 8);
      capacity_ = (size + 7) / 8 * 8;
    }
    size_ = size;
    return data();
  }
  void shrink(size_t size) { size_ = size; }
  char* data() { return reinterpret_cast<char*>(words_.get()); }
  size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(words_.get()), size_}; }

 private:
  std::unique_ptr<uint64_t[]> words_;
  size_t size_ = 0, capacity_ = 0;
};

// The same bytes give the same frame, for one version of the zstd library.
class Compressor {
 public:
  Compressor();
  Result<void> compress(std::string_view bytes, Buffer& frame);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class Decompressor {
 public:
  Decompressor();
  // Errors: no zstd frame, one without a size, a size above `limit`, damaged content.
  Result<void> decompress(std::string_view frame, size_t limit, Buffer& bytes);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace inquest::trace
