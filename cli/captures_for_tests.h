// For tests only: a recording of traces/, imported in this process and ready to be replayed.
#pragma once

#include <memory>
#include <string_view>

#include "replayer/recording.h"

namespace inquest::cli {

// "hostport", "burst", "race": the capture with the binds recorded beside it. Made once a process.
const replayer::Recording& capture(std::string_view name);

}  // namespace inquest::cli
