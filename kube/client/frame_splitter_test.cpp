#include "kube/client/frame_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace inquest::kube {
namespace {

using Kind = SplitFrame::Kind;
using ::testing::ElementsAre;
using ::testing::Pair;

using Frames = std::vector<std::pair<Kind, std::string>>;

// The text in pieces of `size` bytes.
Frames split(std::string_view text, size_t size, size_t limit = kMaxFrame) {
  FrameSplitter splitter(limit);
  Frames out;
  const auto take = [&](const SplitFrame& frame) {
    if (frame.kind != Kind::kNone) out.emplace_back(frame.kind, frame.text);
    return frame.kind != Kind::kNone;
  };
  for (size_t at = 0; at < text.size(); at += size) {
    splitter.add(text.substr(at, size));
    while (take(splitter.next())) {
    }
  }
  take(splitter.finish());
  return out;
}

const std::string kFrames[] = {R"({"type":"ADDED","object":{"a":"}{\"[","b":["\\"]}})", R"({"é":"\\\\"})",
                               "{\n  \"a\": 1\n}", "{}"};

TEST(FrameSplitter, WhereverItIsCut) {
  std::string text;
  for (const std::string& frame : kFrames) text += frame + "\n";
  text += " \r\n" + kFrames[0] + kFrames[1];  // back to back
  for (size_t size = 1; size <= text.size(); ++size) {
    EXPECT_THAT(split(text, size), ElementsAre(Pair(Kind::kObject, kFrames[0]), Pair(Kind::kObject, kFrames[1]),
                                               Pair(Kind::kObject, kFrames[2]), Pair(Kind::kObject, kFrames[3]),
                                               Pair(Kind::kObject, kFrames[0]), Pair(Kind::kObject, kFrames[1])))
        << size;
  }
}

TEST(FrameSplitter, TheEndWithinAFrame) {
  EXPECT_THAT(split("{}\n{\"a\":\"x", 3), ElementsAre(Pair(Kind::kObject, "{}"), Pair(Kind::kCut, "{\"a\":\"x")));
  EXPECT_THAT(split("{}\n ", 3), ElementsAre(Pair(Kind::kObject, "{}")));
}

TEST(FrameSplitter, GarbageEndsAtTheNextLineThatIsAnObject) {
  EXPECT_THAT(split("<html>\n<p>{}</p>\n{\"a\":1}\n", 1000),
              ElementsAre(Pair(Kind::kGarbage, "<html>\n<p>{}</p>\n"), Pair(Kind::kObject, "{\"a\":1}")));
  EXPECT_THAT(split("42\n", 1000), ElementsAre(Pair(Kind::kGarbage, "42\n")));
  for (size_t size = 1; size < 8; ++size) {
    const Frames frames = split("<html>\n{\"a\":1}\n", size);
    EXPECT_EQ(frames.back(), std::pair(Kind::kObject, std::string("{\"a\":1}"))) << size;
  }
}

TEST(FrameSplitter, WhatIsTooLongIsPassedOver) {
  const std::string huge = "{\"a\":\"" + std::string(100, 'x') + "\"}";
  for (size_t size : {1u, 7u, 1000u}) {
    EXPECT_THAT(
        split("{}" + huge + "{}", size, 50),
        ElementsAre(Pair(Kind::kObject, "{}"), Pair(Kind::kTooLong, huge.substr(0, 50)), Pair(Kind::kObject, "{}")))
        << size;
  }
}

}  // namespace
}  // namespace inquest::kube
