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

// UTF-16 with a byte order mark → UTF-8. A lone surrogate or a last odd byte becomes U+FFFD.
class Utf16Source : public ByteSource {
 public:
  enum class Order : uint8_t { kLittle, kBig };
  Utf16Source(std::unique_ptr<PlainSource> plain, Order order)
      : plain_(std::move(plain)), order_(order), input_(kChunk) {}

  size_t read(char* to, size_t size) override {
    while (taken_ == text_.size() && refill()) {
    }
    const size_t n = std::min(size, text_.size() - taken_);
    std::memcpy(to, text_.data() + taken_, n);
    taken_ += n;
    return n;
  }

 private:
  // False at the end of the input.
  bool refill() {
    if (ended_) return false;
    text_.clear();
    taken_ = 0;
    const size_t got = plain_->read(input_.data(), input_.size());
    for (size_t i = 0; i < got; ++i) take(static_cast<unsigned char>(input_[i]));
    if (got > 0) return true;
    damage_ = plain_->damage();
    ended_ = true;
    if (high_ != 0 || half_) put(kReplacement);
    return !text_.empty();
  }

  void take(uint32_t byte) {
    half_ = !half_;
    if (half_) {
      first_ = byte;
      return;
    }
    const uint32_t unit = order_ == Order::kLittle ? first_ | (byte << 8) : (first_ << 8) | byte;
    const bool low = unit >= 0xdc00 && unit <= 0xdfff, high = unit >= 0xd800 && unit < 0xdc00;
    if (high_ != 0 && low) {
      put(0x10000 + ((high_ - 0xd800) << 10) + (unit - 0xdc00));
      high_ = 0;
      return;
    }
    if (high_ != 0) put(kReplacement);
    high_ = high ? unit : 0;
    if (low) return put(kReplacement);
    if (!high && !(at_start_ && unit == 0xfeff)) put(unit);
    at_start_ = false;
  }

  void put(uint32_t c) {
    const auto add = [&](uint32_t byte) { text_ += static_cast<char>(byte); };
    if (c < 0x80) return add(c);
    if (c < 0x800) {
      add(0xc0 | (c >> 6));
    } else if (c < 0x10000) {
      add(0xe0 | (c >> 12));
      add(0x80 | ((c >> 6) & 0x3f));
    } else {
      add(0xf0 | (c >> 18));
      add(0x80 | ((c >> 12) & 0x3f));
      add(0x80 | ((c >> 6) & 0x3f));
    }
    add(0x80 | (c & 0x3f));
  }

  static constexpr uint32_t kReplacement = 0xfffd;
  std::unique_ptr<PlainSource> plain_;
  Order order_;
  std::vector<char> input_;
  std::string text_;
  size_t taken_ = 0;
  uint32_t first_ = 0, high_ = 0;
  bool half_ = false, at_start_ = true, ended_ = false;
};

Error open_error(const std::string& path, int number) {
  switch (number) {
    case ENOENT:
      return {ErrorCode::kInput, "no such file", path, "check the name"};
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
    return Error{ErrorCode::kInput, "is a folder, not a file", path, "name the files in it"};
  }
  const std::string_view magic = plain->peek(4);
  if (magic.substr(0, 2) == "\x1f\x8b") return std::unique_ptr<ByteSource>(new GzipSource(std::move(plain)));
  if (magic.substr(0, 2) == "\xff\xfe") {
    return std::unique_ptr<ByteSource>(new Utf16Source(std::move(plain), Utf16Source::Order::kLittle));
  }
  if (magic.substr(0, 2) == "\xfe\xff") {
    return std::unique_ptr<ByteSource>(new Utf16Source(std::move(plain), Utf16Source::Order::kBig));
  }
  const bool skippable = magic.size() == 4 && (magic[0] & 0xf0) == 0x50 && magic.substr(1) == "\x2a\x4d\x18";
  if (magic == "\x28\xb5\x2f\xfd" || skippable) {
    return std::unique_ptr<ByteSource>(new ZstdSource(std::move(plain)));
  }
  return std::unique_ptr<ByteSource>(std::move(plain));
}

}  // namespace inquest::recorder
