#include "recorder/body_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace inquest::recorder {
namespace {

constexpr size_t kKeptInMemory = size_t{8} << 20;

Error io_error(const std::string& folder, const char* what) {
  return {ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno), folder, ""};
}

}  // namespace

BodySpool::~BodySpool() {
  if (fd_ >= 0) ::close(fd_);
}

Result<BodySpool::Ref> BodySpool::put(std::string_view body) {
  const Ref ref{written_ + pending_.size(), static_cast<uint32_t>(body.size())};
  pending_.append(body);
  if (pending_.size() > kKeptInMemory) INQUEST_TRY_VOID(flush());
  return ref;
}

Result<void> BodySpool::flush() {
  if (fd_ < 0) {
    std::string name = folder_ + "/.inquest-XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) return io_error(folder_, "a temporary file cannot be made");
    ::unlink(name.c_str());
  }
  size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t n =
        ::pwrite(fd_, pending_.data() + done, pending_.size() - done, static_cast<off_t>(written_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io_error(folder_, "a temporary file cannot be written");
    done += static_cast<size_t>(n);
  }
  written_ += pending_.size();
  pending_.clear();
  return {};
}

Result<std::string> BodySpool::get(Ref ref) {
  if (ref.offset >= written_) return pending_.substr(ref.offset - written_, ref.size);
  std::string body(ref.size, '\0');
  size_t done = 0;
  while (done < body.size()) {
    const ssize_t n = ::pread(fd_, body.data() + done, body.size() - done, static_cast<off_t>(ref.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io_error(folder_, "a temporary file cannot be read");
    done += static_cast<size_t>(n);
  }
  return body;
}

}  // namespace inquest::recorder
