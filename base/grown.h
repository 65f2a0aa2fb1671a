// grown(table, ordinal): the entry of a table by ordinal, which grows as ordinals are used. What was never asked for is
// a default Entry. A reference is valid until the table grows again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inquest {

template <typename Entry>
typename std::vector<Entry>::reference grown(std::vector<Entry>& table, uint32_t ordinal) {
  if (ordinal >= table.size()) table.resize(size_t{ordinal} + ordinal / 2 + 16);
  return table[ordinal];
}

}  // namespace inquest
