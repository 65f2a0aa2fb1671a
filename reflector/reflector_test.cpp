// client-go's own cases (kubernetes-facts 10.4) and every rule of 5.1 to 5.11, as conversations.
//
// Not here: R6 and R18 (retry_test.cpp, below: figures, not conversations) and R10, Resync, which a reflector without a
// queue behind it does not have: it re-delivers what is known without asking the server.
#include "reflector/reflector.h"

#include <gtest/gtest.h>

#include "reflector/test_script.h"

namespace inquest::reflector {
namespace {

struct Line {
  const char* in;
  const char* out;
};

struct Case {
  const char* id;
  Initial initial;
  std::vector<Line> lines;
  const char* known;  // at the end
  uint32_t page_size = 0;
};

// Exact waits: 800 ms, 1.6 s, …
Config without_jitter(Initial initial) {
  Config config;
  config.initial = initial;
  config.backoff.jitter_percent = 0;
  return config;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"R1 a type error is skipped, an undecodable frame ends the watch, which is closed once",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"error! internal", "cancel wait 800ms"},
        {"wait", "list@1"}},
       ""},
      {"R1 stop closes what is open",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"stop", "cancel"},
        {"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"stop", "cancel"},
        {"start", "list@1"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"stop", "cancel"},
        {"start", "list@1"},
        {"list! other", "wait 800ms"},
        {"stop", ""}},
       ""},
      {"R2 list, then watch from its version; a clean close goes on from the last event",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"ADDED foo2", "+foo2"},
        {"MODIFIED foo3", "~foo2>foo3"},
        {"DELETED foo4", "-foo4"},
        {"close", "watch@4"}},
       ""},
      {"R3 the version follows the last event, even back; bookmarks count, unknown types too",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@10", "synced@10 watch@10"},
        {"open", ""},
        {"ADDED foo55", "+foo55"},
        {"ADDED bar32", "+bar32"},
        {"close", "watch@32"},
        {"open", ""},
        {"BOOKMARK foo40", ""},
        {"close", "watch@40"},
        {"open", ""},
        {"UNKNOWN foo41", ""},
        {"close", "watch@41"},
        {"open", ""},
        {"DELETED nobody42", ""},
        {"close", "watch@42"}},
       "foo55 bar32"},
      {"R4 six cycles with errors between: the store is what each list says",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"ADDED foo2", "+foo2"},
        {"ADDED bar3", "+bar3"},
        {"error! other", "cancel wait 800ms"},
        {"wait", "list@3"},
        {"list@3 foo2 bar3", ":~foo2>foo2 :~bar3>bar3 synced@3 watch@3"},
        {"open", ""},
        {"DELETED foo4", "-foo4"},
        {"ADDED qux5", "+qux5"},
        {"error! other", "cancel wait 1.6s"},
        {"wait", "list@5"},
        {"list! other", "wait 3.2s"},
        {"wait", "list@5"},
        {"list@5 bar3 qux5", ":~bar3>bar3 :~qux5>qux5 synced@5 watch@5"},
        {"watch! other", "wait 6.4s"},
        {"wait", "list@5"},
        {"list@5 bar3 qux5", ":~bar3>bar3 :~qux5>qux5 synced@5 watch@5"},
        {"open", ""},
        {"ADDED baz6", "+baz6"},
        {"error! other", "cancel wait 12.8s"},
        {"wait", "list@6"},
        {"list@6 bar3 qux5 baz6", ":~bar3>bar3 :~qux5>qux5 :~baz6>baz6 synced@6 watch@6"}},
       "bar3 qux5 baz6"},
      {"R11 a page size of one's own is that of every list",
       Initial::kList,
       {{"start", "list@0 limit=4"},
        {"list@10", "synced@10 watch@10"},
        {"open", ""},
        {"error! expired", "cancel wait 800ms"},
        {"wait", "list@10 limit=4"},
        {"page@10>C1 a1 b1 c1 d1", "list@ limit=4 more=C1"},
        {"page@10>C2 e1 f1 g1 h1", "list@ limit=4 more=C2"},
        {"list@10 i1 j1", ":+a1 :+b1 :+c1 :+d1 :+e1 :+f1 :+g1 :+h1 :+i1 :+j1 synced@10 watch@10"}},
       "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1",
       4},
      {"R13 pages in answer to version 0 mean that there is no watch cache: go on with pages",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"page@10>C1 a1", "list@ limit=500 more=C1"},
        {"list@10 b1", ":+a1 :+b1 synced@10 watch@10"},
        {"open", ""},
        {"error! gone", "cancel wait 800ms"},
        {"wait", "list@10 limit=500"}},
       "a1 b1"},
      {"R14 lists at 0, then at the last version without a limit",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@10 a1 b1 c1 d1", ":+a1 :+b1 :+c1 :+d1 synced@10 watch@10"},
        {"watch! gone", "wait 800ms"},
        {"wait", "list@10"},
        {"list@20 a1 b1 c1 d1 e11", ":~a1>a1 :~b1>b1 :~c1>c1 :~d1>d1 :+e11 synced@20 watch@20"}},
       "a1 b1 c1 d1 e11"},
      {"R21 a table is no object: skipped, and the version stays",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"TABLE foo9", ""},
        {"later", ""},
        {"close", "watch@1"}},
       ""},
      {"5.2 a list whose version is gone is asked for again at once, at no version; the flag goes with success",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@10 a1", ":+a1 synced@10 watch@10"},
        {"open", ""},
        {"error! expired", "cancel wait 800ms"},
        {"wait", "list@10"},
        {"list! expired", "list@"},
        {"list! other", "wait 1.6s"},
        {"wait", "list@ limit=500"},
        {"page@30>C1 a1", "list@ limit=500 more=C1"},
        {"list@30 b20", ":~a1>a1 :+b20 synced@30 watch@30"},
        {"watch! gone", "wait 3.2s"},
        {"wait", "list@30"}},
       "a1 b20"},
      {"5.2 a version that is too large: the same, once an attempt",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list! large", "list@ limit=500"},
        {"list! large", "wait 800ms"},
        {"wait", "list@ limit=500"},
        {"list! large", "list@ limit=500"},
        {"list@7", "synced@7 watch@7"}},
       ""},
      {"5.2 a later page that expired: everything at once, at the first version",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"page@10>C1 a1", "list@ limit=500 more=C1"},
        {"list! expired", "list@0"},
        {"list@12 b2", ":+b2 synced@12 watch@12"}},
       "b2"},
      {"5.2 if that expires too, at no version; old servers' Gone on a later page goes there directly",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"page@10>C1 a1", "list@ limit=500 more=C1"},
        {"list! expired", "list@0"},
        {"list! expired", "list@ limit=500"},
        {"page@10>C1 a1", "list@ limit=500 more=C1"},
        {"list! gone", "wait 800ms"},
        {"wait", "list@ limit=500"}},
       ""},
      {"5.3 after a watch from nowhere the version is not believed until something else than ADDED",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@0", "synced@0 watch@0"},
        {"open", ""},
        {"ADDED a7", "+a7"},
        {"ADDED b3", "+b3"},
        {"close", "watch@0"},
        {"open", ""},
        {"ADDED a7", "~a7>a7"},
        {"MODIFIED b9", "~b3>b9"},
        {"ADDED c8", "+c8"},
        {"close", "watch@8"}},
       "a7 b9 c8"},
      {"5.1 busy or refused at the start of a watch: back off and watch on, never list",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"watch! refused", "wait 800ms"},
        {"wait", "watch@1"},
        {"watch! 429", "wait 1.6s"},
        {"wait", "watch@1"},
        {"open", ""},
        {"ADDED a2", "+a2"},
        {"error! 429", "cancel wait 3.2s"},
        {"wait", "watch@2"}},
       "a2"},
      {"5.1 a very short watch: within a second and without an event, then list",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"close", "wait 800ms"},
        {"wait", "list@1"},
        {"list@1", "synced@1 watch@1"},
        {"open", ""},
        {"later", ""},
        {"close", "watch@1"},
        {"open", ""},
        {"BOOKMARK a2", ""},
        {"close", "watch@2"}},
       ""},
      {"5.11 an end of file instead of an answer is an empty watch that was closed",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"later", ""},
        {"close", "watch@1"},
        {"close", "wait 800ms"}},
       ""},
      {"5.11 Retry-After: the same request again, without a backoff",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list! 429 after=5", "wait 5s"},
        {"wait", "list@0 limit=500"},
        {"list@1", "synced@1 watch@1"},
        {"watch! other after=2", "wait 2s"},
        {"wait", "watch@1"},
        {"watch! 429", "wait 800ms"},
        {"wait", "watch@1"}},
       ""},
      {"5.10 a missed delete and create of one name is an update between two uids",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@1 a1", ":+a1 synced@1 watch@1"},
        {"open", ""},
        {"MODIFIED a5'b", "~a1>a5'b"},
        {"error! expired", "cancel wait 800ms"},
        {"wait", "list@5"},
        {"list@9 a8'c", ":~a5'b>a8'c synced@9 watch@9"}},
       "a8'c"},
      {"X4, X7 what a list lacks is a tombstone with the newest known; unknown deletions are nothing",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@7 foo5 bar6 baz7", ":+foo5 :+bar6 :+baz7 synced@7 watch@7"},
        {"open", ""},
        {"DELETED bar8", "-bar8"},
        {"DELETED bar9", ""},
        {"ADDED bar100", "+bar100"},
        {"relist", "cancel list@100"},
        {"list@101 foo5", ":~foo5>foo5 :xbar100 :xbaz7 synced@101 watch@101"}},
       "foo5"},
      {"a relist on demand: breaks off the watch or its wait; nothing while a list is due",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"relist", ""},
        {"list@1", "synced@1 watch@1"},
        {"relist", "cancel list@1"},
        {"list@2", "synced@2 watch@2"},
        {"watch! 429", "wait 800ms"},
        {"relist", "list@2"},
        {"list! other", "wait 1.6s"},
        {"relist", "wait 1.599s"}},
       ""},
      {"a list that repeats a key: the last one counts",
       Initial::kList,
       {{"start", "list@0 limit=500"}, {"list@3 a1 b1 a2", ":+a1 :+b1 :~a1>a2 synced@3 watch@3"}},
       "a2 b1"},
      {"resourceVersions that are no number are handed back as they came",
       Initial::kList,
       {{"start", "list@0 limit=500"},
        {"list@99999999999999999999 a1", ":+a1 synced@99999999999999999999 watch@99999999999999999999"},
        {"open", ""},
        {"BOOKMARK x007", ""},
        {"close", "watch@007"}},
       "a1"},
      {"W1 a streaming list: one request, the store at the bookmark, then the same watch",
       Initial::kStream,
       {{"start", "stream@"},
        {"open", ""},
        {"ADDED p1", ""},
        {"ADDED q2", ""},
        {"END x2", ":+p1 :+q2 synced@2"},
        {"MODIFIED p3", "~p1>p3"},
        {"close", "watch@3"}},
       "p3 q2"},
      {"W2 the temporary store takes every change; a bookmark without the annotation is no end",
       Initial::kStream,
       {{"start", "stream@"},
        {"open", ""},
        {"ADDED p1", ""},
        {"ADDED q2", ""},
        {"MODIFIED q3", ""},
        {"DELETED p4", ""},
        {"TABLE p5", ""},
        {"BOOKMARK x5", ""},
        {"END x5", ":+q3 synced@5"}},
       "q3"},
      {"W3 cut before the end: what came is dropped, the next begins anew",
       Initial::kStream,
       {{"start", "stream@"},
        {"open", ""},
        {"ADDED p1", ""},
        {"close", "stream@"},
        {"open", ""},
        {"ADDED q2", ""},
        {"END x2", ":+q2 synced@2"}},
       "q2"},
      {"W4 an error that is neither busy nor gone: list and watch, for this cycle",
       Initial::kStream,
       {{"start", "stream@"},
        {"watch! other", "list@0 limit=500"},
        {"list@1 p1", ":+p1 synced@1 watch@1"},
        {"open", ""},
        {"error! expired", "cancel wait 800ms"},
        {"wait", "stream@1"},
        {"close", "list@1"}},
       "p1"},
      {"W5 429 twice: three times the same request, then synced",
       Initial::kStream,
       {{"start", "stream@"},
        {"watch! 429", "wait 800ms"},
        {"wait", "stream@"},
        {"watch! refused", "wait 1.6s"},
        {"wait", "stream@"},
        {"open", ""},
        {"error! 429", "cancel wait 3.2s"},
        {"wait", "stream@"},
        {"open", ""},
        {"ADDED p1", ""},
        {"END x1", ":+p1 synced@1"}},
       "p1"},
      {"W6 gone or too large: at once, at no version",
       Initial::kStream,
       {{"start", "stream@"},
        {"open", ""},
        {"END x5", "synced@5"},
        {"error! gone", "cancel wait 800ms"},
        {"wait", "stream@5"},
        {"watch! expired", "stream@"},
        {"open", ""},
        {"error! large", "cancel stream@"},
        {"open", ""},
        {"END x9", "synced@9"},
        {"error! other", "cancel wait 1.6s"},
        {"wait", "stream@9"}},
       ""},
      {"W8 the watch behind it ends with 410: the store stays until the next list",
       Initial::kStream,
       {{"start", "stream@"},
        {"open", ""},
        {"ADDED p1", ""},
        {"END x1", ":+p1 synced@1"},
        {"ADDED q3", "+q3"},
        {"close", "watch@3"},
        {"watch! expired", "wait 800ms"},
        {"wait", "stream@3"},
        {"open", ""},
        {"ADDED q3", ""},
        {"END x4", ":~q3>q3 :xp1 synced@4"}},
       "q3"},
  };
  return kCases;
}

class Conversation : public testing::TestWithParam<size_t> {};

TEST_P(Conversation, IsAsClientGoWouldHoldIt) {
  const Case& given = cases()[GetParam()];
  SCOPED_TRACE(given.id);
  Config config = without_jitter(given.initial);
  config.page_size = given.page_size;
  Script script(config);
  for (const Line& line : given.lines) EXPECT_EQ(script.say(line.in), line.out) << line.in;
  EXPECT_EQ(script.known(), given.known);
}

INSTANTIATE_TEST_SUITE_P(Rules, Conversation, testing::Range<size_t>(0, cases().size()));

TEST(ReflectorTest, WatchListResourceVersion) {  // W9
  Script script(without_jitter(Initial::kStream));
  script.say("start");
  script.say("open");
  script.say("ADDED p1");
  EXPECT_FALSE(script.reflector.rv().set());
  EXPECT_FALSE(script.reflector.synced());
  script.say("END x2");
  EXPECT_EQ(script.reflector.rv(), Rv::number(2));
  EXPECT_TRUE(script.reflector.synced());
}

TEST(ReflectorTest, WatchTimeoutIsBetweenOnceAndTwiceTheLeast) {  // R18
  const auto timeouts = [](Duration least) {
    Config config = without_jitter(Initial::kList);
    config.min_watch_timeout = least;
    Script script(config);
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

TEST(ReflectorTest, RetryAfterIsHonouredTenTimes) {
  Script script(without_jitter(Initial::kList));
  script.say("start");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(script.say("list! 429 after=1"), "wait 1s");
    EXPECT_EQ(script.say("wait"), "list@0 limit=500");
  }
  EXPECT_EQ(script.say("list! 429 after=1"), "wait 800ms") << "a list that fails, by the reflector's own rule";
}

TEST(ReflectorTest, InternalErrorsAreBorneForAWhileIfSoConfigured) {
  Config config = without_jitter(Initial::kList);
  config.bear_internal_errors = Duration::seconds(3);
  Script script(config);
  script.say("start");
  script.say("list@1");
  const auto fails = [&] {
    script.say("open");
    script.say("later");
    return script.say("error! internal");
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fails(), "cancel watch@1");
  EXPECT_EQ(fails(), "cancel wait 800ms");
}

TEST(ReflectorTest, DeltasSayWhatTheyAre) {
  Script script(without_jitter(Initial::kList));
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
