// Int128: for sums and products that must be exact whatever a hostile pod asks for.
#pragma once

namespace inquest::scheduler {

__extension__ using Int128 = __int128;

}  // namespace inquest::scheduler
