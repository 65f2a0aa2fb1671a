// Reads ahead in the captures for the first frames that show accepted binds, to know the clocks before anything is
// merged. Bounded: it ends when kMaxPairs binds have been found for every bind input, or after kReadAhead bytes. Pipes
// are not read ahead.
#pragma once

#include <string>
#include <vector>

#include "recorder/bind_set.h"
#include "recorder/input.h"

namespace inquest::recorder {

inline constexpr uint64_t kMaxPairs = 200;
inline constexpr uint64_t kReadAhead = uint64_t{64} << 20;

// One offset for each input that holds binds and has at least one pair, in the order of the inputs.
struct InputOffset {
  uint32_t input = 0;
  ClockOffset offset;
};
std::vector<InputOffset> estimate_offsets(const std::vector<Input>& inputs, const BindSet& binds);

}  // namespace inquest::recorder
