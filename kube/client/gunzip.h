// Gunzip: gzip that comes in pieces → its bytes, as far as they are there already. Several members one behind the other
// are one text (kubernetes-facts 7.3: a server may close a member at each flush of a watch).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace inquest::kube {

class Gunzip {
 public:
  Gunzip();
  ~Gunzip();
  Gunzip(Gunzip&&) noexcept;
  Gunzip& operator=(Gunzip&&) noexcept;

  // Appends what the piece gives to `out`, which the caller bounds by the size of the pieces: one byte of gzip is at
  // most about a thousand of text.
  Result<void> add(std::string_view piece, std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace inquest::kube
