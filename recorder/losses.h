// Losses: what of the inputs could not be kept, for the report and for the trace. Bounded, however bad the input.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "recorder/import.h"
#include "schema/writer.h"

namespace inquest::recorder {

inline constexpr size_t kLossesShown = 20;

class Losses {
 public:
  // Kept::kNo goes into the trace's own list of losses; bytes kept as a kUndecodable record speak for themselves there.
  enum class Kept : uint8_t { kNo, kAsBytes };
  void add(const std::string& source, const std::string& place, const std::string& text, Kept kept = Kept::kNo) {
    ++count_;
    if (shown_.size() < kLossesShown) shown_.push_back({place, text});
    if (kept == Kept::kAsBytes) return;
    auto key = std::make_pair(source, text);
    if (groups_.size() >= kGroups && groups_.find(key) == groups_.end()) key.second = "lines of other kinds of damage";
    ++groups_[key];
  }

  uint64_t count() const { return count_; }
  const std::vector<ImportLoss>& shown() const { return shown_; }
  void tell(trace::TraceWriter& writer) const {
    for (const auto& [key, count] : groups_) writer.add_loss(key.first, key.second, count);
  }

 private:
  static constexpr size_t kGroups = 100;
  std::vector<ImportLoss> shown_;
  uint64_t count_ = 0;
  std::map<std::pair<std::string, std::string>, uint64_t> groups_;
};

// Fields that could not be decoded, and what else is odd without anything being lost.
class Warnings {
 public:
  void add(const std::string& place, const std::string& text, uint64_t count = 1) {
    count_ += count;
    if (shown_.size() < kLossesShown) shown_.push_back(place + ": " + text);
  }
  void count_more(uint64_t count) { count_ += count; }
  uint64_t count() const { return count_; }
  const std::vector<std::string>& shown() const { return shown_; }

 private:
  std::vector<std::string> shown_;
  uint64_t count_ = 0;
};

}  // namespace inquest::recorder
