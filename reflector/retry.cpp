#include "reflector/retry.h"

#include <algorithm>

#include "base/hash.h"

namespace inquest::reflector {

Duration Backoff::begin(Time now, uint64_t random) {
  if (over(now)) next_ = config_.initial;
  last_ = now;
  const Duration wait = next_;
  next_ = std::min(next_ * config_.factor, config_.cap);
  const auto spread = static_cast<uint64_t>((wait * config_.jitter_percent).ns / 100);
  return spread == 0 ? wait : wait + Duration{static_cast<int64_t>(random % spread)};
}

uint64_t Backoff::hash(Time now) const {
  if (over(now)) return 0;
  return combine(static_cast<uint64_t>(last_.ns), static_cast<uint64_t>(next_.ns));
}

bool Patience::bears(Time now) {
  if (over(now)) first_ = now;
  last_ = now;
  if (limit_ <= Duration{}) return false;
  if (now - first_ <= limit_) return true;
  first_ = last_ = {};
  return false;
}

uint64_t Patience::hash(Time now) const {
  if (limit_ <= Duration{} || over(now)) return 0;
  return combine(static_cast<uint64_t>(first_.ns), static_cast<uint64_t>(last_.ns));
}

}  // namespace inquest::reflector
