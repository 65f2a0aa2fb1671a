// ByteSource: the bytes of a file, inflated on the way if they are gzip or zstd, as UTF-8 if they are UTF-16 with a
// mark.
//
// Told apart by the first bytes, not by the name. Memory is bounded whatever the file claims: zstd windows up to 128
// MiB
// (`zstd --long=27`), larger ones are refused. Several gzip members or zstd frames behind each other are one text.
// Not thread-safe. A regular file may be opened twice; a pipe can be read once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace inquest::recorder {

inline constexpr const char* kStdin = "-";

class ByteSource {
 public:
  // "-" is the standard input.
  // Errors: missing, a directory, no permission; each says so.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
  virtual ~ByteSource() = default;

  // Up to `size` bytes into `to`; 0 at the end. After the end, damage() says whether it came too early.
  virtual size_t read(char* to, size_t size) = 0;

  // Empty, or why no more could be read: "the gzip data ends early", "read error: …".
  const std::string& damage() const { return damage_; }

 protected:
  std::string damage_;
};

}  // namespace inquest::recorder
