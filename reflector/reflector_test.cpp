// What is no conversation (conversation_test.cpp): figures, and what outputs carry.
#include "reflector/reflector.h"

#include <gtest/gtest.h>

#include "reflector/test_script.h"

namespace inquest::reflector {
namespace {

struct ReflectorTest : testing::Test {
  Catalog catalog;
};

TEST_F(ReflectorTest, WatchListResourceVersion) {  // W9
  Script script(Script::without_jitter(Initial::kStream), catalog);
  script.say("start");
  script.say("open");
  script.say("ADDED p1");
  EXPECT_FALSE(script.reflector.rv().set());
  EXPECT_FALSE(script.reflector.synced());
  script.say("END x2");
  EXPECT_EQ(script.reflector.rv(), Rv::number(2));
  EXPECT_TRUE(script.reflector.synced());
}

TEST_F(ReflectorTest, WatchTimeoutIsBetweenOnceAndTwiceTheLeast) {  // R18
  const auto timeouts = [&](Duration least) {
    Config config = Script::without_jitter(Initial::kList);
    config.min_watch_timeout = least;
    Script script(config, catalog);
    script.say("start");
    script.say("list@1");
    for (int i = 0; i < 200; ++i) {
      script.say("open");
      script.say("later");
      script.say("close");
    }
    std::vector<uint32_t> out;
    for (const WatchRequest& watch : script.watches) out.push_back(watch.timeout_s);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (const Duration least : {Duration{}, Duration::seconds(1), Duration::seconds(300)}) {
    const auto found = timeouts(least);
    EXPECT_GE(found.front(), 300U);
    EXPECT_LT(found.back(), 600U);
    EXPECT_GT(found.back() - found.front(), 200U);
  }
  const auto found = timeouts(Duration::seconds(1800));
  EXPECT_GE(found.front(), 1800U);
  EXPECT_LT(found.back(), 3600U);
}

TEST_F(ReflectorTest, RetryAfterIsHonouredTenTimes) {
  Script script(Script::without_jitter(Initial::kList), catalog);
  script.say("start");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(script.say("list! 429 after=1"), "wait 1s");
    EXPECT_EQ(script.say("wait"), "list@0 limit=500");
  }
  EXPECT_EQ(script.say("list! 429 after=1"), "wait 800ms") << "a list that fails, by the reflector's own rule";
  script.say("wait");
  EXPECT_EQ(script.say("list! 429 after=1"), "wait 1s") << "each request has its own ten";
  script.say("wait");
  script.say("page@5>C1 a1");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(script.say("list! 429 after=1"), "wait 1s");
    EXPECT_EQ(script.say("wait"), "list@ limit=500 more=C1");
  }
}

TEST_F(ReflectorTest, InternalErrorsAreBorneForAWhileIfSoConfigured) {
  Config config = Script::without_jitter(Initial::kList);
  config.bear_internal_errors = Duration::seconds(3);
  Script script(config, catalog);
  script.say("start");
  script.say("list@1");
  const auto fails = [&] {
    script.say("open");
    script.say("later");
    return script.say("error! internal");
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fails(), "cancel watch@1");
  EXPECT_EQ(fails(), "cancel wait 800ms");
  // A row does not outlive the watches behind one list.
  script.say("wait");
  script.say("list@1");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(fails(), "cancel watch@1");
  script.say("relist");
  script.say("list@1");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fails(), "cancel watch@1");
}

TEST_F(ReflectorTest, DeltasSayWhatTheyAre) {
  Script script(Script::without_jitter(Initial::kList), catalog);
  script.say("start");
  script.say("list@1 a1 b1");
  script.say("relist");
  script.deltas.clear();
  script.say("list@2 a1 b2'x");
  ASSERT_EQ(script.deltas.size(), 2U);
  EXPECT_TRUE(script.deltas[0].repeats());
  EXPECT_FALSE(script.deltas[0].collapse());
  EXPECT_FALSE(script.deltas[1].repeats());
  EXPECT_TRUE(script.deltas[1].collapse());
  // A late DELETED of the earlier life takes the later one with it, as in an informer; both are named.
  script.say("open");
  script.say("DELETED b3");
  EXPECT_EQ(script.text(script.deltas.back().object), "b3");
  EXPECT_EQ(script.text(script.deltas.back().before), "b2'x");
  EXPECT_EQ(script.known(), "a1");
}

}  // namespace
}  // namespace inquest::reflector
