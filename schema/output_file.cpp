#include "schema/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "schema/file_lock.h"

namespace inquest::trace {
namespace {

Result<void> sync(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool ok = fd >= 0 && ::fsync(fd) == 0;
  const int number = errno;
  if (fd >= 0) ::close(fd);
  if (ok || number == EINVAL) return {};  // some file systems cannot sync a folder
  return Error{ErrorCode::kIo, std::string("cannot be synced: ") + std::strerror(number), path, ""};
}

constexpr const char* kTemporary = ".partial-";

Error exists_already(const std::string& path) {
  return {ErrorCode::kUsage, "exists already", path, "name another file, or say --force to replace it"};
}

}  // namespace

OutputFile::OutputFile(std::string path, Existing existing) : path_(std::move(path)), existing_(existing) {
  const size_t slash = path_.rfind('/');
  folder_ = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  temporary_ = path_ + kTemporary + std::to_string(::getpid());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      temporary_(std::move(other.temporary_)),
      existing_(other.existing_),
      pending_(other.pending_) {
  other.pending_ = false;
}

OutputFile::~OutputFile() {
  if (pending_) remove_with_companions(temporary_);
}

Result<OutputFile> OutputFile::prepare(const std::string& path, Existing existing) {
  if (path.empty()) return Error{ErrorCode::kUsage, "no name for the file to make", "", "say -o FILE"};
  OutputFile out(path, existing);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return Error{ErrorCode::kUsage, "is a folder, not a file", path, "name a file"};
    if (existing == Existing::kRefuse) return exists_already(path);
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kUsage, "is no regular file", path, "name a file"};
  }
  if (::stat(out.folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kIo, "there is no such folder", out.folder_, "make it first"};
  }
  if (::access(out.folder_.c_str(), W_OK) != 0) {
    return Error{ErrorCode::kIo, "no permission to write into this folder", out.folder_, ""};
  }
  remove_with_companions(out.temporary_);  // of a crashed process that had the same number
  return out;
}

Result<void> OutputFile::finish() {
  // An empty log is what a delete that failed left behind; one with content belongs to the file and would be lost.
  struct stat log {};
  if (::stat((temporary_ + "-wal").c_str(), &log) == 0 && log.st_size > 0) {
    return Error{ErrorCode::kIo, "could not be brought into one file", path_, "try again"};
  }
  for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((temporary_ + suffix).c_str());
  INQUEST_TRY_VOID(sync(temporary_, O_RDONLY));
  if (existing_ == Existing::kRefuse) {
    // link() refuses a name that somebody else has taken meanwhile; where it is not supported, rename() has to do.
    if (::link(temporary_.c_str(), path_.c_str()) == 0) {
      ::unlink(temporary_.c_str());
      pending_ = false;
      return sync(folder_, O_RDONLY | O_DIRECTORY);
    }
    if (errno == EEXIST) return exists_already(path_);
  }
  // What an unclosed trace of that name left beside it must not be taken for the new one's.
  for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((path_ + suffix).c_str());
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot be renamed: ") + std::strerror(errno), path_, ""};
  }
  pending_ = false;
  return sync(folder_, O_RDONLY | O_DIRECTORY);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  if (::stat(a.c_str(), &x) != 0 || ::stat(b.c_str(), &y) != 0) return a == b;
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

std::vector<std::string> leftovers(const std::string& path) {
  std::vector<std::string> out;
  const std::filesystem::path target(path);
  const std::string prefix = target.filename().string() + kTemporary;
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0) continue;
    if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) continue;
    std::string left = target.has_parent_path() ? at->path().string() : name;
    if (FileLock::check_unlocked(left).ok()) out.push_back(std::move(left));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace inquest::trace
