// The decoder against messages that no checksum protects: a stranger can compute checksums, too.
#include "schema/batch_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/batch_encoder.h"
#include "schema/limits.h"
#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

using testing::HasSubstr;

class DecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    BatchEncoder encoder(sample_.catalog);
    for (const auto& [record, body] : sample_.records) encoder.add(record, ++row_.last_seq, body.size());
    for (const auto& [record, body] : sample_.records) row_.body_bytes += body.size();
    row_.id = 7;
    row_.first_seq = 1;
    ASSERT_TRUE(encoder.encode(compressor_, facts_).ok());
    Buffer message;
    ASSERT_TRUE(Decompressor().decompress(facts_.view(), kMaxFactsBytes, message).ok());
    message_ = message.view();
  }

  // The number of records read before the end or an error, which is left in error_.
  size_t decode(const std::string& message) {
    Buffer facts;
    INQUEST_CHECK(compressor_.compress(message, facts).ok(), message.size());
    return decode(row_, facts.view());
  }
  size_t decode(const BatchRow& row, std::string_view facts) {
    Catalog catalog;
    uint64_t catalog_bytes = 0;
    BatchDecoder decoder;
    error_ = Error{};
    if (auto done = decoder.load(row, facts, 2, catalog, catalog_bytes); !done.ok()) {
      error_ = done.error();
      return 0;
    }
    Record record;
    size_t count = 0;
    while (!decoder.at_end()) {
      if (auto done = decoder.next(record); !done.ok()) {
        error_ = done.error();
        return count;
      }
      described_ += describe(record, catalog).size();  // follows every ordinal: none may lead outside
      ++count;
    }
    return count;
  }

  Sample sample_;
  BatchRow row_;
  Compressor compressor_;
  Buffer facts_;
  std::string message_;
  Error error_;
  size_t described_ = 0;
};

TEST_F(DecoderTest, IntactMessage) {
  EXPECT_EQ(decode(message_), sample_.records.size());
  EXPECT_EQ(error_.message(), "");
}

TEST_F(DecoderTest, EveryChangedByteIsAnErrorOrOtherFacts) {
  size_t refused = 0;
  for (size_t at = 0; at < message_.size(); ++at) {
    for (const int change : {1, 4, 16, 128, 255}) {
      std::string message = message_;
      message[at] = static_cast<char>(message[at] ^ change);
      decode(message);
      if (error_.text.empty()) continue;
      ++refused;
      EXPECT_TRUE(error_.code == ErrorCode::kCorrupt || error_.code == ErrorCode::kOutOfLimit);
      EXPECT_EQ(error_.place, "batch 7");
    }
  }
  EXPECT_GT(refused, message_.size() / 4);
}

TEST_F(DecoderTest, EveryTruncationIsAnError) {
  for (size_t size = 0; size < message_.size(); ++size) {
    decode(message_.substr(0, size));
    EXPECT_EQ(error_.code, ErrorCode::kCorrupt) << size;
  }
}

TEST_F(DecoderTest, RowsThatDoNotFitTheMessage) {
  BatchRow row = row_;
  row.last_seq += 1;
  decode(row, facts_.view());
  EXPECT_THAT(error_.text, HasSubstr("another number of records"));
  row = row_;
  row.body_bytes += 1;
  decode(row, facts_.view());
  EXPECT_THAT(error_.text, HasSubstr("another size of bodies"));
  row.body_bytes = uint64_t{1} << 60;
  decode(row, facts_.view());
  EXPECT_THAT(error_.text, HasSubstr("more bytes of bodies"));
}

TEST_F(DecoderTest, AFrameThatUnpacksBeyondTheLimitIsRefusedBeforeMemoryIsTaken) {
  Buffer bomb;
  ASSERT_TRUE(compressor_.compress(std::string(kMaxFactsBytes + 8, '\0'), bomb).ok());
  EXPECT_LT(bomb.size(), 10'000U);
  decode(row_, bomb.view());
  EXPECT_EQ(error_.code, ErrorCode::kOutOfLimit);
  for (const char* bytes : {"", "garbage", "\x28\xb5\x2f\xfd"}) {
    decode(row_, bytes);
    EXPECT_EQ(error_.code, ErrorCode::kCorrupt) << bytes;
  }
}

}  // namespace
}  // namespace inquest::trace
