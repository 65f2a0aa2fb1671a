// FaultyVfs: SQLite's file system with an error at the n-th call, or a write that stops half-way. For tests of schema/.
//
// While it lives it is the default VFS of the process, so whatever opens a database goes through it.
#pragma once

#include <cstdint>
#include <memory>

namespace inquest::trace {

enum class FaultKind : uint8_t {
  kNone,      // counts the calls
  kError,     // this call fails with an I/O error, the later ones succeed
  kDead,      // this call and all that follow fail: what a process sees that is about to be killed
  kFull,      // this write and all later ones find the disk full
  kTornDead,  // this write stops half-way and says it succeeded; all that follow fail, as after a power cut
};

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // From now on: the fault strikes call number `at` (1, 2, …); for kFull and kTornDead only writes count.
  void arm(FaultKind kind, uint64_t at);
  uint64_t calls() const;   // since arm()
  uint64_t writes() const;  // since arm()

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace inquest::trace
