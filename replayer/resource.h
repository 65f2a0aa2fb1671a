// Resource: what a stream of the API is about, as far as a scheduler's view is made of it.
#pragma once

#include <cstdint>

namespace inquest::replayer {

enum class Resource : uint8_t { kPods, kNodes };

}  // namespace inquest::replayer
