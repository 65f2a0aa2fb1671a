#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace inquest {
namespace {

struct KnownCrc {
  std::string bytes;
  uint32_t crc;
};

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, GivesThePublishedValues) {
  std::string rising;
  std::string falling;
  for (int i = 0; i < 32; ++i) {
    rising += static_cast<char>(i);
    falling += static_cast<char>(31 - i);
  }
  const std::string scsi_read(
      "\x01\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00\x00\x04\x00"
      "\x00\x00\x00\x14\x00\x00\x00\x18\x28\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00",
      48);
  for (const auto& [bytes, crc] :
       {KnownCrc{"", 0}, KnownCrc{"123456789", 0xe3069283U}, KnownCrc{std::string(32, '\0'), 0x8a9136aaU},
        KnownCrc{std::string(32, '\xff'), 0x62a8ab43U}, KnownCrc{rising, 0x46dd794eU}, KnownCrc{falling, 0x113fdb5cU},
        KnownCrc{scsi_read, 0xd9963a56U}}) {
    EXPECT_EQ(crc32c(bytes), crc) << bytes;
  }
}

TEST(Crc32c, ContinuesAtEverySplit) {
  const std::string all = "The quick brown fox jumps over the lazy dog";
  const std::string_view view = all;
  for (size_t split = 0; split <= all.size(); ++split) {
    EXPECT_EQ(crc32c(view.substr(split), crc32c(view.substr(0, split))), crc32c(all)) << split;
  }
}

TEST(Crc32c, SeesEveryFlippedBit) {
  std::string bytes(40, 'x');
  const uint32_t whole = crc32c(bytes);
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      EXPECT_NE(crc32c(bytes), whole);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace inquest
