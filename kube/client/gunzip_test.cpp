#include "kube/client/gunzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace inquest::kube {
namespace {

std::string gzip(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST(Gunzip, SeveralMembersWhereverTheyAreCut) {
  const std::string one = std::string(50'000, 'a') + "\n", two = "{\"b\":1}\n";
  const std::string zipped = gzip(one) + gzip("") + gzip(two);
  for (const size_t size : {size_t{1}, size_t{7}, zipped.size()}) {
    Gunzip gunzip;
    std::string out;
    for (size_t at = 0; at < zipped.size(); at += size) {
      ASSERT_TRUE(gunzip.add(std::string_view(zipped).substr(at, size), out).ok());
    }
    EXPECT_EQ(out, one + two) << size;
  }
}

TEST(Gunzip, AMemberIsThereAtItsEnd) {
  Gunzip gunzip;
  std::string out;
  ASSERT_TRUE(gunzip.add(gzip("first"), out).ok());
  EXPECT_EQ(out, "first");
}

TEST(Gunzip, OtherBytesAreAnError) {
  Gunzip gunzip;
  std::string out;
  EXPECT_EQ(gunzip.add("plain text", out).error().text, "the answer is no gzip, though it says so");
}

}  // namespace
}  // namespace inquest::kube
