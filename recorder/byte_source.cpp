#include "recorder/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace inquest::recorder {
namespace {

constexpr size_t kChunk = size_t{256} << 10;
constexpr int kMaxWindowLog = 27;  // zstd --long=27: 128 MiB

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(int fd) : fd_(fd) {}
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;
  ~PlainSource() override { ::close(fd_); }

  // The first bytes, without consuming them.
  std::string_view peek(size_t size) {
    while (ahead_.size() < size) {
      char buffer[64];
      const size_t got = read_fd(buffer, std::min(sizeof buffer, size - ahead_.size()));
      if (got == 0) break;
      ahead_.append(buffer, got);
    }
    return ahead_;
  }

  size_t read(char* to, size_t size) override {
    if (taken_ < ahead_.size()) {
      const size_t n = std::min(size, ahead_.size() - taken_);
      std::memcpy(to, ahead_.data() + taken_, n);
      taken_ += n;
      return n;
    }
    return read_fd(to, size);
  }

 private:
  size_t read_fd(char* to, size_t size) {
    for (;;) {
      const ssize_t got = ::read(fd_, to, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR) continue;
      damage_ = std::string("read error: ") + std::strerror(errno);
      return 0;
    }
  }

  int fd_;
  std::string ahead_;
  size_t taken_ = 0;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> plain) : plain_(std::move(plain)), input_(kChunk) {
    INQUEST_CHECK(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  size_t read(char* to, size_t size) override {
    size = std::min(size, kChunk * 4);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && damage_.empty() && refill()) step();
    return size - stream_.avail_out;
  }

 private:
  // False at the end of the input.
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const size_t got = plain_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got > 0) return true;
    if (!plain_->damage().empty()) {
      damage_ = plain_->damage();
    } else if (inside_) {
      damage_ = "the gzip data ends early";
    }
    return false;
  }

  void step() {
    if (!inside_) {  // the next member
      inflateReset(&stream_);
      inside_ = true;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      inside_ = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damage_ = "the gzip data is damaged";
    }
  }

  std::unique_ptr<PlainSource> plain_;
  std::vector<char> input_;
  z_stream stream_{};
  bool inside_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> plain)
      : plain_(std::move(plain)), input_(ZSTD_DStreamInSize()), context_(ZSTD_createDCtx()) {
    INQUEST_CHECK(context_ != nullptr, "zstd");
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDCtx(context_); }

  size_t read(char* to, size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0 && damage_.empty()) {
      // A full output buffer may have left bytes inside the decoder, so it is asked before more input is read.
      const bool more_input = in_.pos < in_.size || flushing_ || refill();
      if (!more_input) break;
      const size_t before = in_.pos;
      const size_t code = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(code)) {
        damage_ = ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge
                      ? "its zstd window is larger than 128 MiB (--long=27 is the most that is read)"
                      : "the zstd data is damaged";
        break;
      }
      if (in_.pos > before || out.pos > 0) inside_ = code != 0;  // 0: a frame is complete
      flushing_ = out.pos == out.size;
    }
    return out.pos;
  }

 private:
  bool refill() {
    const size_t got = plain_->read(input_.data(), input_.size());
    in_ = {input_.data(), got, 0};
    if (got > 0) return true;
    if (!plain_->damage().empty()) {
      damage_ = plain_->damage();
    } else if (inside_) {
      damage_ = "the zstd data ends early";
    }
    return false;
  }

  std::unique_ptr<PlainSource> plain_;
  std::vector<char> input_;
  ZSTD_DCtx* context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_ = false, flushing_ = false;
};

Error open_error(const std::string& path, int number) {
  switch (number) {
    case ENOENT:
      return {ErrorCode::kInput, "there is no such file", path, ""};
    case EACCES:
      return {ErrorCode::kIo, "no permission to read it", path, ""};
    default:
      return {ErrorCode::kIo, std::string("cannot be opened: ") + std::strerror(number), path, ""};
  }
}

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
  const int fd =
      path == kStdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return open_error(path, errno);
  auto plain = std::make_unique<PlainSource>(fd);
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kInput, "is a directory, not a file", path, "name the files in it"};
  }
  const std::string_view magic = plain->peek(4);
  if (magic.substr(0, 2) == "\x1f\x8b") return std::unique_ptr<ByteSource>(new GzipSource(std::move(plain)));
  const bool skippable = magic.size() == 4 && (magic[0] & 0xf0) == 0x50 && magic.substr(1) == "\x2a\x4d\x18";
  if (magic == "\x28\xb5\x2f\xfd" || skippable) {
    return std::unique_ptr<ByteSource>(new ZstdSource(std::move(plain)));
  }
  return std::unique_ptr<ByteSource>(std::move(plain));
}

}  // namespace inquest::recorder
