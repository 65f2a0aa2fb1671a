// What this process has of memory, and by how much that grows.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace inquest::bench {

// Of /proc/self/status, in bytes.
inline int64_t process_status(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

// The peak since this was made, beyond what there was then: a process that was forked begins with its parent's.
class MemoryGrowth {
 public:
  MemoryGrowth() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
    before_ = process_status("VmRSS");
  }
  int64_t bytes() const { return process_status("VmHWM") - before_; }

 private:
  int64_t before_ = 0;
};

}  // namespace inquest::bench
