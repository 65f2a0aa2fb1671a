#include "schema/faulty_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <new>

#include "base/check.h"

namespace inquest::trace {

struct FaultyVfs::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  FaultKind kind = FaultKind::kNone;
  uint64_t at = 0, calls = 0, writes = 0;
  bool dead = false;
};

namespace {

FaultyVfs::State* current = nullptr;

// True: this call, not a write, fails.
bool fails() {
  FaultyVfs::State& s = *current;
  const uint64_t call = ++s.calls;
  if (s.dead) return s.kind != FaultKind::kFull;
  if (call != s.at || (s.kind != FaultKind::kError && s.kind != FaultKind::kDead)) return false;
  s.dead = s.kind == FaultKind::kDead;
  return true;
}

enum class WriteFault : uint8_t { kNone, kError, kFull, kTorn };

WriteFault write_fault() {
  FaultyVfs::State& s = *current;
  ++s.calls;
  const uint64_t write = ++s.writes;
  if (s.dead) return s.kind == FaultKind::kFull ? WriteFault::kFull : WriteFault::kError;
  switch (s.kind) {
    case FaultKind::kNone:
      return WriteFault::kNone;
    case FaultKind::kError:
    case FaultKind::kDead:
      if (s.calls != s.at) return WriteFault::kNone;
      s.dead = s.kind == FaultKind::kDead;
      return WriteFault::kError;
    case FaultKind::kFull:
      if (write < s.at) return WriteFault::kNone;
      s.dead = true;
      return WriteFault::kFull;
    case FaultKind::kTornDead:
      if (write != s.at) return WriteFault::kNone;
      s.dead = true;
      return WriteFault::kTorn;
  }
  return WriteFault::kNone;
}

struct File {
  sqlite3_file base;
  sqlite3_file* real;  // lies right behind this
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }
template <typename... Arguments, typename... Given>
int call(int (*method)(sqlite3_file*, Arguments...), int error, sqlite3_file* file, Given... given) {
  return fails() ? error : method(real(file), given...);
}

int file_close(sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); }
int file_read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
  return call(real(file)->pMethods->xRead, SQLITE_IOERR_READ, file, out, size, at);
}
int file_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  switch (write_fault()) {
    case WriteFault::kError:
      return SQLITE_IOERR_WRITE;
    case WriteFault::kFull:
      return SQLITE_FULL;
    case WriteFault::kTorn:
      return real(file)->pMethods->xWrite(real(file), bytes, size / 2, at);
    case WriteFault::kNone:
      break;
  }
  return real(file)->pMethods->xWrite(real(file), bytes, size, at);
}
int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return call(real(file)->pMethods->xTruncate, SQLITE_IOERR_TRUNCATE, file, size);
}
int file_sync(sqlite3_file* file, int flags) {
  return call(real(file)->pMethods->xSync, SQLITE_IOERR_FSYNC, file, flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return call(real(file)->pMethods->xFileSize, SQLITE_IOERR_FSTAT, file, size);
}
int file_lock(sqlite3_file* file, int lock) { return call(real(file)->pMethods->xLock, SQLITE_IOERR_LOCK, file, lock); }
int file_unlock(sqlite3_file* file, int lock) { return real(file)->pMethods->xUnlock(real(file), lock); }
int file_check_lock(sqlite3_file* file, int* out) {
  return call(real(file)->pMethods->xCheckReservedLock, SQLITE_IOERR_CHECKRESERVEDLOCK, file, out);
}
int file_control(sqlite3_file* file, int op, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), op, argument);
}
int file_sector(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int file_traits(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
int file_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return call(real(file)->pMethods->xShmMap, SQLITE_IOERR_SHMMAP, file, page, size, extend, out);
}
int file_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  const bool unlock = (flags & SQLITE_SHM_UNLOCK) != 0;
  if (!unlock && fails()) return SQLITE_IOERR_SHMLOCK;
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void file_shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int file_shm_unmap(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

const sqlite3_io_methods kMethods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_check_lock,  file_control,   file_sector,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, nullptr,
    nullptr};

int vfs_open(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags, int* out_flags) {
  auto* file = reinterpret_cast<File*>(out);
  file->base.pMethods = nullptr;
  if (fails()) return SQLITE_CANTOPEN;
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code = current->real->xOpen(current->real, name, file->real, flags, out_flags);
  if (file->real->pMethods != nullptr) file->base.pMethods = &kMethods;
  return code;
}
int vfs_delete(sqlite3_vfs*, const char* name, int sync) {
  return fails() ? SQLITE_IOERR_DELETE : current->real->xDelete(current->real, name, sync);
}
int vfs_access(sqlite3_vfs*, const char* name, int flags, int* out) {
  return fails() ? SQLITE_IOERR_ACCESS : current->real->xAccess(current->real, name, flags, out);
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  INQUEST_CHECK(current == nullptr, "one at a time");
  current = state_.get();
  sqlite3_initialize();
  state_->real = sqlite3_vfs_find(nullptr);
  state_->vfs = *state_->real;  // whatever is not replaced works on the real one's data
  state_->vfs.pNext = nullptr;
  state_->vfs.zName = "faulty";
  state_->vfs.szOsFile = static_cast<int>(sizeof(File)) + state_->real->szOsFile;
  state_->vfs.xOpen = vfs_open;
  state_->vfs.xDelete = vfs_delete;
  state_->vfs.xAccess = vfs_access;
  INQUEST_CHECK(sqlite3_vfs_register(&state_->vfs, 1) == SQLITE_OK, "cannot be registered");
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
  sqlite3_vfs_register(state_->real, 1);
  current = nullptr;
}

void FaultyVfs::arm(FaultKind kind, uint64_t at) {
  state_->kind = kind;
  state_->at = at;
  state_->calls = state_->writes = 0;
  state_->dead = false;
}
uint64_t FaultyVfs::calls() const { return state_->calls; }
uint64_t FaultyVfs::writes() const { return state_->writes; }

}  // namespace inquest::trace
