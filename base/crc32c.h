// CRC-32C (Castagnoli), the checksum of batches. Own code because Debian 12 packages no C or C++ library of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace inquest {

// The CRC of `bytes`; of a concatenation: crc32c(b, crc32c(a)).
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace inquest
