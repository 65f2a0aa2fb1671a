// BodySpool: bodies put aside until their turn comes, in a nameless temporary file, so that memory stays small however
// many there are. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace inquest::recorder {

class BodySpool {
 public:
  struct Ref {
    uint64_t offset = 0;
    uint32_t size = 0;
  };

  // The file is made in `folder` at the first byte and vanishes with this object.
  explicit BodySpool(std::string folder) : folder_(std::move(folder)) {}
  BodySpool(const BodySpool&) = delete;
  BodySpool& operator=(const BodySpool&) = delete;
  ~BodySpool();

  Result<Ref> put(std::string_view body);
  Result<std::string> get(Ref ref);

 private:
  Result<void> flush();

  std::string folder_;
  int fd_ = -1;
  uint64_t written_ = 0;
  std::string pending_;  // bytes [written_, …) not yet in the file
};

}  // namespace inquest::recorder
