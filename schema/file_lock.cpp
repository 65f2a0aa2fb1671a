#include "schema/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace inquest::trace {

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

Result<FileLock> FileLock::open(const std::string& path, int flags) {
  FileLock lock;
  lock.file_ = ::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644);
  if (lock.file_ < 0 && errno == EEXIST) {
    return Error{ErrorCode::kUsage, "exists already", path, "choose another name, or say that it is to be replaced"};
  }
  if (lock.file_ < 0) {
    return Error{ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(errno), path,
                 "check the name and the permissions of its folder"};
  }
  if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{ErrorCode::kUsage, "is being written by another process", path,
                 "wait until it has finished, or choose another name"};
  }
  return lock;
}

Result<FileLock> FileLock::create(const std::string& path) { return open(path, O_CREAT | O_EXCL); }
Result<FileLock> FileLock::take(const std::string& path) { return open(path, 0); }

Result<void> FileLock::check_unlocked(const std::string& path) {
  FileLock probe;
  probe.file_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe would wait for its writer
  if (probe.file_ < 0 || flock(probe.file_, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return Error{ErrorCode::kUsage, "is being written by another process", path, "wait until it has finished"};
}

void remove_with_companions(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) ::unlink((path + suffix).c_str());
}

Result<void> remove_existing(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return {};
  INQUEST_TRY(const FileLock lock, FileLock::take(path));
  remove_with_companions(path);
  return {};
}

}  // namespace inquest::trace
