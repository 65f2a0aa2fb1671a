// The decoder against messages that no checksum protects: a stranger can compute checksums, too.
#include "schema/batch_decoder.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <trace.capnp.h>

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
    ASSERT_TRUE(encoder
                    .encode([&](std::span<const std::string_view> pieces) {
                      for (const std::string_view piece : pieces) message_.append(piece);
                      return Result<void>();
                    })
                    .ok());
    facts_ = compress(message_);
  }

  // The number of records read before the end or an error, which is left in error_.
  size_t decode(const std::string& message) { return decode(row_, compress(message)); }
  static std::string compress(std::string_view bytes) {
    std::string frame;
    const std::string_view pieces[] = {bytes};
    const auto done = Compressor(Compressor::Settings{}).compress(pieces, nullptr, [&](std::string_view part) {
      frame.append(part);
      return Result<void>();
    });
    INQUEST_CHECK(done.ok(), bytes.size());
    return frame;
  }
  size_t decode(const BatchRow& row, std::string_view facts) {
    uint64_t catalog_bytes = 0;
    return decode(row, facts, catalog_bytes);
  }
  size_t decode(const BatchRow& row, std::string_view facts, uint64_t& catalog_bytes) {
    Catalog catalog;
    BatchDecoder decoder;
    error_ = Error{};
    if (auto done = decoder.load(row, facts, Dictionaries(), 2, catalog, catalog_bytes); !done.ok()) {
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
  std::string facts_;
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
  decode(row, facts_);
  EXPECT_THAT(error_.text, HasSubstr("another number of records"));
  row = row_;
  row.body_bytes += 1;
  decode(row, facts_);
  EXPECT_THAT(error_.text, HasSubstr("another size of bodies"));
  row.body_bytes = uint64_t{1} << 60;
  decode(row, facts_);
  EXPECT_THAT(error_.text, HasSubstr("more bytes of bodies"));
}

TEST_F(DecoderTest, AFrameThatUnpacksBeyondTheLimitIsRefusedBeforeMemoryIsTaken) {
  const std::string bomb = compress(std::string(kMaxFactsBytes + 8, '\0'));
  EXPECT_LT(bomb.size(), 10'000U);
  decode(row_, bomb);
  EXPECT_EQ(error_.code, ErrorCode::kOutOfLimit);
  for (const char* bytes : {"", "garbage", "\x28\xb5\x2f\xfd"}) {
    decode(row_, bytes);
    EXPECT_EQ(error_.code, ErrorCode::kCorrupt) << bytes;
  }
}

// Each shape keeps its texts for itself, so one of a megabyte could otherwise fill any memory.
TEST_F(DecoderTest, ATextThatManyShapesNameIsCountedForEach) {
  const std::string text(1'000'000, 'x');
  for (const bool port : {false, true}) {
    capnp::MallocMessageBuilder message;
    auto batch = message.initRoot<wire::Batch>();
    batch.setText(kj::arrayPtr(reinterpret_cast<const kj::byte*>(text.data()), text.size()));
    batch.initTextSizes(1).set(0, static_cast<uint32_t>(text.size()));
    auto shapes = batch.initShapes(40);
    for (unsigned i = 0; i < shapes.size(); ++i) {
      shapes[i].setNonzeroMemory(i);
      if (port) {
        shapes[i].initPorts(1)[0].setIp(1);
      } else {
        shapes[i].initRequests().initExtended(1)[0].setName(1);
      }
    }
    const auto words = capnp::messageToFlatArray(message);
    const auto bytes = words.asBytes();
    BatchRow row;
    row.id = row.first_seq = 1;
    decode(row, compress({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}));
    EXPECT_THAT(error_.text, HasSubstr("more parts of shapes"));
  }
}

// A batch of few bytes could otherwise fill a catalog, since an empty term takes no room in a message.
TEST_F(DecoderTest, WhatEntersTheCatalogIsCounted) {
  uint64_t all = 0;
  decode(row_, facts_, all);
  EXPECT_EQ(error_.text, "");
  uint64_t bytes = kMaxCatalogBytes - all;
  decode(row_, facts_, bytes);
  EXPECT_EQ(error_.text, "");
  bytes = kMaxCatalogBytes - all + 1;
  decode(row_, facts_, bytes);
  EXPECT_THAT(error_.text, HasSubstr("more shapes and selectors than a catalog may hold"));
}

}  // namespace
}  // namespace inquest::trace
