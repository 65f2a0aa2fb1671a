#include "kube/client/gunzip.h"

#include <zlib.h>

namespace inquest::kube {

struct Gunzip::State {
  z_stream stream{};
  bool between = true;  // two members
};

Gunzip::Gunzip() : state_(std::make_unique<State>()) {
  constexpr int kGzip = 16;
  INQUEST_CHECK(inflateInit2(&state_->stream, kGzip + MAX_WBITS) == Z_OK, "zlib");
}
Gunzip::~Gunzip() {
  if (state_) inflateEnd(&state_->stream);
}
Gunzip::Gunzip(Gunzip&&) noexcept = default;
Gunzip& Gunzip::operator=(Gunzip&&) noexcept = default;

Result<void> Gunzip::add(std::string_view piece, std::string& out) {
  z_stream& z = state_->stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  z.avail_in = static_cast<uInt>(piece.size());
  bool full = false;
  while (z.avail_in > 0 || full) {
    if (state_->between && z.avail_in > 0) {
      INQUEST_CHECK(inflateReset(&z) == Z_OK, "zlib");
      state_->between = false;
    }
    char buffer[size_t{16} << 10];
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof buffer;
    const int code = inflate(&z, Z_SYNC_FLUSH);
    out.append(buffer, sizeof buffer - z.avail_out);
    full = z.avail_out == 0;
    if (code == Z_STREAM_END) {
      state_->between = true;
      full = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return Error{ErrorCode::kInput, "the answer is no gzip, though it says so", "", ""};
    }
  }
  return {};
}

}  // namespace inquest::kube
