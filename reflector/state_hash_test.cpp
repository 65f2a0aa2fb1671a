// The hash: whatever can make a difference later is in it, and nothing else.
#include <gtest/gtest.h>

#include "reflector/test_script.h"

namespace inquest::reflector {
namespace {

struct StateHashTest : testing::Test {
  static Config config(Initial initial = Initial::kList) {
    Config out = Script::without_jitter(initial);
    out.bear_internal_errors = Duration::seconds(100);
    return out;
  }

  Script told(Initial initial, const std::vector<std::string>& lines) {
    Script script(config(initial), catalog);
    for (const std::string& line : lines) script.say(line);
    return script;
  }

  Catalog catalog;
};

// Two that are told different things in as many lines, so that only these make the difference.
TEST_F(StateHashTest, HoldsWhateverMatters) {
  using Lines = std::vector<std::string>;
  constexpr Initial kList = Initial::kList, kStream = Initial::kStream;
  const struct {
    const char* what;
    Initial initial;
    Lines one, other;
  } cases[] = {
      {"when it wakes", kList, {"start", "list! 429 after=5"}, {"start", "list! 429 after=6"}},
      {"what follows the wait", kStream, {"start", "watch! refused"}, {"start", "watch! 429 after=1"}},
      {"a page's items", kList, {"start", "page@1>c a1"}, {"start", "page@1>c b1"}},
      {"a page's token", kList, {"start", "page@1>c a1"}, {"start", "page@1>d a1"}},
      {"a list's version", kList, {"start", "page@1>c a1"}, {"start", "page@2>c a1"}},
      {"the stream so far", kStream, {"start", "open", "ADDED a1"}, {"start", "open", "ADDED b1"}},
      {"a version that is gone", kList, {"start", "list! large", "list! other"}, {"start", "relist", "list! other"}},
      {"a list asked for twice", kList, {"start", "list! large"}, {"start", "relist"}},
      {"pages", kList, {"start", "page@9>c a1", "list@9 b1"}, {"start", "relist", "list@9 a1 b1"}},
      {"whether versions are in order",
       kList,
       {"start", "list@0", "open", "BOOKMARK x0"},
       {"start", "list@0", "open", "UNKNOWN x0"}},
      {"errors that were borne",
       kList,
       {"start", "list@1", "open", "BOOKMARK x1", "error! internal"},
       {"start", "list@1", "open", "BOOKMARK x1", "close"}},
      {"a list asked again", kList, {"start", "list! 429 after=0", "wait"}, {"start", "relist", "relist"}},
      {"a watch asked again",
       kList,
       {"start", "list@1", "watch! 429 after=0", "wait", "later"},
       {"start", "list@1", "later", "later"}},
      {"whether it heard anything",
       kList,
       {"start", "list@1", "open", "BOOKMARK x1"},
       {"start", "list@1", "open", "TABLE x1"}},
      {"whether it ever listed", kList, {"start", "list@ ", "stop"}, {"start", "relist", "stop"}},
      {"what is known", kList, {"start", "list@5 a1"}, {"start", "list@5 a2"}},
      {"whose life it is", kList, {"start", "list@5 a1"}, {"start", "list@5 a1'x"}},
      {"where it goes on", kList, {"start", "list@5 a1"}, {"start", "list@6 a1"}},
  };
  for (const auto& [what, initial, one, other] : cases) {
    const Script a = told(initial, one), again = told(initial, one), b = told(initial, other);
    const Time now = std::max(a.now, b.now);
    EXPECT_NE(a.reflector.state_hash(now), b.reflector.state_hash(now)) << what;
    EXPECT_EQ(a.reflector.state_hash(now), again.reflector.state_hash(now)) << what;
  }
}

// Two runs that differed become one for a search: what a reflector has been through fades from its hash.
TEST_F(StateHashTest, ForgetsWhatNoLongerMatters) {
  Script calm(config(), catalog), shaken(config(), catalog);
  for (Script* script : {&calm, &shaken}) {
    script->say("start");
    script->say("list@1 a1");
    script->say("open");
  }
  EXPECT_EQ(calm.reflector.state_hash(calm.now), shaken.reflector.state_hash(shaken.now));
  for (const char* line : {"error! expired", "wait", "list! large", "list@1 a1", "open"}) shaken.say(line);
  const Time now = shaken.now;
  EXPECT_NE(calm.reflector.state_hash(now), shaken.reflector.state_hash(now)) << "may be a very short watch, backs off";
  const Time soon = now + Duration::seconds(2), later = now + Duration::seconds(200);
  EXPECT_NE(calm.reflector.state_hash(soon), shaken.reflector.state_hash(soon)) << "backs off for longer";
  EXPECT_EQ(calm.reflector.state_hash(later), shaken.reflector.state_hash(later));
  shaken.say("BOOKMARK x2");
  EXPECT_NE(calm.reflector.state_hash(later), shaken.reflector.state_hash(later)) << "resumes elsewhere";
}

TEST_F(StateHashTest, AStreamThatFailedLeavesNothing) {
  const Script failed = told(Initial::kStream, {"start", "open", "ADDED a1", "error! other", "list@5 b2"});
  const Script refused = told(Initial::kStream, {"start", "relist", "relist", "watch! other", "list@5 b2"});
  EXPECT_EQ(failed.reflector.state_hash(failed.now), refused.reflector.state_hash(refused.now));
}

}  // namespace
}  // namespace inquest::reflector
