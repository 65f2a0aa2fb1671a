// Damaged traces: whatever byte is wrong, somebody says so, or it did not matter; and nothing crashes.
#include <gtest/gtest.h>

#include <string>

#include "schema/trace_fixture.h"

namespace inquest::trace {
namespace {

enum class Outcome { kDetected, kHarmless, kSilent };

Outcome outcome(const std::string& path, const Content& intact) {
  auto reader = TraceReader::open(path);
  if (!reader.ok()) return Outcome::kDetected;
  const auto damage = reader->check_integrity();
  if (!damage.ok() || damage->has_value()) {
    (void)read_all(path);  // must not crash
    return Outcome::kDetected;
  }
  const Content content = read_all(path);
  if (!content.error.empty()) return Outcome::kDetected;
  return content == intact ? Outcome::kHarmless : Outcome::kSilent;
}

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    Sample sample;
    write_sample(sample, path_);
    bytes_ = read_file(path_);
    intact_ = read_all(path_);
    ASSERT_EQ(intact_.error, "");
  }

  TestFolder dir_;
  std::string path_ = dir_.path("x.trace");
  std::string bytes_;
  Content intact_;
};

// Flips one byte in `stride`; how often that was detected.
void flip(const std::string& path, const std::string& bytes, const Content& intact, size_t stride, size_t& detected) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (size_t at = 0; at < bytes.size(); at += stride) {
    // Unused space, all zeros, is tried at some places only.
    const bool unused = at > 32 && bytes.find_first_not_of('\0', at - 32) > at + 32;
    if (unused && at / stride % 64 != 0) continue;
    file.seekp(static_cast<std::streamoff>(at))
        .put(static_cast<char>(bytes[at] ^ (at % 3 == 0 ? 255 : 1 << at % 8)))
        .flush();
    const Outcome result = outcome(path, intact);
    file.seekp(static_cast<std::streamoff>(at)).put(bytes[at]).flush();
    ASSERT_NE(result, Outcome::kSilent) << "byte " << at;
    detected += result == Outcome::kDetected;
  }
}

TEST_F(Damage, AFlippedByteIsDetectedOrHarmless) {
  size_t detected = 0;
  flip(path_, bytes_, intact_, 41, detected);
  EXPECT_GT(detected, 90U);
}

using DamageSlow = Damage;
TEST_F(DamageSlow, EveryFlippedByteIsDetectedOrHarmless) {
  size_t detected = 0;
  flip(path_, bytes_, intact_, 1, detected);
  EXPECT_GT(detected, 3000U);
}

TEST_F(Damage, EveryTruncationIsDetectedOrHarmless) {
  for (size_t size = 0; size < bytes_.size(); size += 512) {
    write_file(path_, bytes_.substr(0, size));
    const Outcome result = outcome(path_, intact_);
    ASSERT_NE(result, Outcome::kSilent) << size << " bytes";
    // Within the last page, what is missing may belong to a view, which nobody here reads.
    if (size + 4096 <= bytes_.size()) {
      ASSERT_EQ(result, Outcome::kDetected) << size << " bytes";
    }
  }
}

TEST_F(Damage, TheFirstBadBatchIsNamed) {
  TestFolder dir;
  Sample sample;
  const std::string path = dir.path("y.trace");
  auto writer = TraceWriter::create(path, {}, sample.catalog);
  ASSERT_TRUE(writer.ok() && writer->add_stream(sample.streams[0]).ok());
  for (uint64_t i = 1; i <= 30; ++i) {
    ASSERT_TRUE(writer->append(sample.frame("pod", i), i % 10 == 2 ? "body " + std::to_string(i) : "").ok());
    if (i % 10 == 0) {
      ASSERT_TRUE(writer->flush().ok());
    }
  }
  ASSERT_TRUE(writer->close().ok());
  const std::string bytes = read_file(path);
  size_t at = 0;  // of the second batch's only body, which is too short to be compressed
  ASSERT_NE(at = bytes.find("body 12"), std::string::npos);
  std::string damaged = bytes;
  damaged[at] = 'B';
  write_file(path, damaged);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  const auto damage = reader->check_integrity();
  ASSERT_TRUE(damage.ok() && damage->has_value());
  EXPECT_EQ((*damage)->batch, 2U);
  EXPECT_EQ((*damage)->first, 11U);
  EXPECT_EQ((*damage)->last, 20U);
  EXPECT_EQ(*reader->body(2), "body 2");  // what is whole can still be read
  const auto body = reader->body(12);
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(body.error().message().find("batch 2"), std::string::npos) << body.error().message();
  EXPECT_EQ((*reader->record(12)).rv, 12U);
}

}  // namespace
}  // namespace inquest::trace
