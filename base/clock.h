// Clock: where time comes from. Only the program's outer ring holds one (recorder, lab, live, kube/client); everything
// that decides is told the time with its inputs. cli makes the real one, tests make what they need.
#pragma once

#include <ctime>

#include "base/time.h"

namespace inquest {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time wall() const = 0;       // since the Unix epoch; may jump
  virtual Time monotonic() const = 0;  // since some instant; never falls
};

class SystemClock : public Clock {
 public:
  Time wall() const override { return read(CLOCK_REALTIME); }
  Time monotonic() const override { return read(CLOCK_MONOTONIC); }

 private:
  static Time read(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return Time{} + Duration::seconds(now.tv_sec) + Duration{now.tv_nsec};
  }
};

}  // namespace inquest
