// The input of the benchmarks: the recording `churn` (its first 60 s are in traces/), repeated with fresh pods, so that
// a figure is over seconds and not milliseconds.
#pragma once

#include <cstdint>
#include <string>

namespace inquest::bench {

// Files in a folder of their own, removed with the object.
class Workload {
 public:
  // `repeats` times the recording: each repeat has pods, names and times of its own and ends with all its pods deleted.
  // Ends the process with a message if the recording is not where it should be.
  explicit Workload(int repeats);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  const std::string& capture() const { return capture_; }  // JSON lines
  uint64_t capture_bytes() const { return capture_bytes_; }
  uint64_t frames() const { return frames_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
  std::string capture_;
  uint64_t capture_bytes_ = 0;
  uint64_t frames_ = 0;
};

}  // namespace inquest::bench
