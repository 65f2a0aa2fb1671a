// How long to wait before asking again, and until when. Integers only; what is random comes in.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace inquest::reflector {

// Exponential backoff with jitter (kubernetes-facts 5.1).
class Backoff {
 public:
  struct Config {
    Duration initial = Duration::milliseconds(800);
    Duration cap = Duration::seconds(30);
    uint32_t factor = 2;
    uint32_t jitter_percent = 100;                  // the wait lies in [d, d + this much of d)
    Duration reset_after = Duration::seconds(120);  // longer than this after the last: starts anew
  };

  explicit Backoff(const Config& config) : config_(config), next_(config.initial) {}

  // The wait that begins at `now`.
  Duration begin(Time now, uint64_t random);

  // Over what can still matter after `now`.
  uint64_t hash(Time now) const;

 private:
  bool over(Time now) const { return !last_.known() || now - last_ > config_.reset_after; }

  Config config_;
  Duration next_;
  Time last_;
};

// Internal errors of the server are borne for so long since the first of a row; a minute without one ends the row.
class Patience {
 public:
  explicit Patience(Duration limit) : limit_(limit) {}

  // An internal error came. Whether to go on as if nothing had been.
  bool bears(Time now);

  uint64_t hash(Time now) const;

 private:
  static constexpr Duration kRowEndsAfter = Duration::seconds(60);

  bool over(Time now) const { return !last_.known() || now - last_ >= kRowEndsAfter; }

  Duration limit_;  // 0: none is borne
  Time first_, last_;
};

}  // namespace inquest::reflector
