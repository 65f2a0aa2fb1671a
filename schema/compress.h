// zstd behind a few owners, and the uninitialised memory they work on. Private to schema/.
//
// A frame must state its content's size; the size is held against a limit before memory is taken, and the memory is
// not touched before bytes arrive, so that a small file cannot make us fill a large buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

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

// A zstd dictionary, ready for both directions; immutable.
class Dictionary {
 public:
  // Bytes as Dictionary::train made them; with anything else, frames do not decompress, which is noticed.
  explicit Dictionary(std::string bytes);
  // Learns from samples that lie one behind the other; `id` is what frames will name it by. "": there is nothing to
  // learn from them.
  static std::string train(std::string_view samples, std::span<const size_t> sizes, unsigned id);

  const std::string& bytes() const { return bytes_; }

 private:
  friend class Compressor;
  friend class Decompressor;
  struct Free {
    void operator()(ZSTD_CDict_s* dictionary) const;
    void operator()(ZSTD_DDict_s* dictionary) const;
  };
  std::string bytes_;
  std::unique_ptr<ZSTD_CDict_s, Free> compress_;
  std::unique_ptr<ZSTD_DDict_s, Free> decompress_;
};

// The same bytes give the same frame, for one version of the zstd library.
class Compressor {
 public:
  struct Settings {
    int level = 3;
    int window_log = 0;  // 0: as zstd chooses for the level
  };
  using Sink = std::function<Result<void>(std::string_view)>;

  explicit Compressor(const Settings& settings);
  // One frame of all pieces, one behind the other. What comes out goes to `sink` in parts of kPartBytes, the last may
  // be shorter. `dictionary` may be null.
  Result<void> compress(std::span<const std::string_view> pieces, const Dictionary* dictionary, const Sink& sink);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  Buffer part_;
};

class Decompressor {
 public:
  Decompressor();

  // A whole frame. Errors: no zstd frame, one without a size, a size above `limit`, damaged content.
  Result<void> decompress(std::string_view frame, size_t limit, const Dictionary* dictionary, Buffer& bytes);

  // A frame piece by piece: begin with its first piece, then read() while more input is handed in.
  Result<void> begin(std::string_view first_piece, size_t limit, const Dictionary* dictionary);
  // Fills `out` as far as `in` allows; takes what it used off `in`. Returns the number of bytes written.
  Result<size_t> read(std::string_view& in, char* out, size_t size);
  bool at_end() const { return at_end_; }  // the frame has ended

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  bool at_end_ = false;
};

// The number by which a frame names the dictionary it needs; 0: none.
unsigned dictionary_of(std::string_view frame);

}  // namespace inquest::trace
