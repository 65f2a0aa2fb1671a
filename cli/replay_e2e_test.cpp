// Recordings of a real cluster, from import to verdict.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Whether `text` is one JSON document with our version in it.
bool is_json(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(text).get(document) != simdjson::SUCCESS) return false;
  int64_t version = 0;
  return document["schema_version"].get(version) == simdjson::SUCCESS && version == 1;
}

TEST(Recordings, FactsOfRace) {
  const Workplace place;
  const Ran info = place.run({"info", place.imported("race")});
  EXPECT_EQ(info.exit, 0);
  EXPECT_TRUE(holds(info.out, "pods     20 (20 names)")) << info.out;
  EXPECT_TRUE(
      holds(info.out, "40 requests, 60 observations · kube-scheduler 19 × 201, 1 × 409 · toy 1 × 201, 19 × 409"))
      << info.out;
  EXPECT_TRUE(holds(info.out, "20 ADDED, 81 MODIFIED, 20 DELETED")) << info.out;
  EXPECT_TRUE(holds(info.out, "gaps     none")) << info.out;
}

TEST(Recordings, NothingIsWrongWithoutFaults) {
  const Workplace place;
  for (const char* name : {"race", "burst", "hostport", "churn"}) {
    SCOPED_TRACE(name);
    const std::string trace = place.imported(name);
    const Ran verify = place.run({"verify", trace});
    EXPECT_EQ(verify.exit, 0) << verify.out;
    EXPECT_TRUE(holds(verify.out, "all agree with the watch")) << verify.out;
    const Ran replay = place.run({"replay", trace});
    EXPECT_EQ(replay.exit, 0) << replay.out;
    EXPECT_TRUE(holds(replay.out, "verdict  ok")) << replay.out;
  }
}

TEST(Recordings, RaceAsEitherScheduler) {
  const Workplace place;
  const std::string trace = place.imported("race");
  for (const char* as : {"kube-scheduler", "toy"}) {
    const Ran ran = place.run({"replay", trace, "--policy", "combined", "--as", as});
    EXPECT_EQ(ran.exit, 0) << ran.out;
    EXPECT_TRUE(holds(ran.out, std::string("follow ") + as)) << ran.out;
  }
}

TEST(Recordings, ADropUnderCombinedHealsByTheRelist) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const Ran ran = place.run({"replay", trace, "--policy", "combined", "--drop", "pods DELETED name=pod1"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(holds(ran.out, "by the relist at +60.000 s (after end)")) << ran.out;
  const Ran never = place.run({"replay", trace, "--relist", "never", "--drop", "pods DELETED name=pod1"});
  EXPECT_EQ(never.exit, 1);
  EXPECT_TRUE(holds(never.out, "combined relist=never")) << never.out;
  EXPECT_TRUE(holds(never.out, "→ never")) << never.out;
}

// Each DELETED of a recording, lost, makes exactly one root finding, and it is a zombie.
void expect_one_zombie_each(const char* name, int deletes, int step) {
  const Workplace place;
  const std::string trace = place.imported(name);
  for (int i = 1; i <= deletes; i += step) {
    const std::string drop = "pods DELETED nth=" + std::to_string(i);
    const Ran ran = place.run({"replay", trace, "--relist", "never", "--drop", drop});
    EXPECT_EQ(ran.exit, 1) << name << ": " << drop << "\n" << ran.out;
    EXPECT_TRUE(holds(ran.out, "verdict  violated · 1 finding\n")) << name << ": " << drop << "\n" << ran.out;
    EXPECT_TRUE(holds(ran.out, "F1  zombie-scheduled")) << name << ": " << drop << "\n" << ran.out;
    EXPECT_TRUE(holds(ran.out, "because       fault 1 dropped")) << name << ": " << drop << "\n" << ran.out;
  }
}

TEST(Recordings, AnyLostDeleteIsOneZombie) {
  expect_one_zombie_each("race", 20, 1);
  expect_one_zombie_each("churn", 277, 20);
}

TEST(RecordingsSlow, AnyLostDeleteIsOneZombie) {
  expect_one_zombie_each("burst", 30, 1);
  expect_one_zombie_each("churn", 277, 1);
}

// A parameter's flag is applied to the preset, whatever stands first on the command line.
TEST(Recordings, FlagsOverrideThePreset) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const Ran ran = place.run({"replay", trace, "--ttl", "5s", "--policy", "combined", "--key", "uid"});
  EXPECT_TRUE(holds(ran.out, "combined ttl=5s key=uid")) << ran.out;
  const Ran same = place.run({"replay", trace, "--ttl", "30s"});
  EXPECT_TRUE(holds(same.out, " · combined · ")) << same.out;
}

TEST(Recordings, FaultsKeepTheOrderOfTheCommandLine) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.write("p.yaml", "inquest: plan/1\nfaults:\n- drop: {resource: pods, verb: DELETED, name: pod1}\n");
  const Ran ran = place.run({"replay", trace, "--delay", "pods ADDED name=pod2 by=2s", "--drop", "@99999", "--plan",
                             "p.yaml", "--delay", "pods ADDED name=pod1 by=3s"});
  EXPECT_EQ(ran.exit, 1) << ran.out;
  const size_t first = ran.out.find("fault    1  drop pods"), second = ran.out.find("fault    2  delay pods"),
               third = ran.out.find("fault    3  drop @99999, fired 0"), fourth = ran.out.find("fault    4  delay");
  EXPECT_LT(first, second) << ran.out;
  EXPECT_LT(second, third) << ran.out;
  EXPECT_LT(third, fourth) << ran.out;
  EXPECT_NE(fourth, std::string::npos) << ran.out;
  EXPECT_TRUE(holds(ran.out, "unknown  fault 3")) << ran.out;
}

TEST(Recordings, AFaultThatNeverFiresIsUnknown) {
  const Workplace place;
  const Ran ran = place.run({"replay", place.imported("hostport"), "--drop", "pods DELETED name=nobody"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_TRUE(holds(ran.out, "verdict  unknown")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "never fired")) << ran.out;
}

TEST(Recordings, TwiceTheSameBytes) {
  const Workplace place;
  const std::string trace = place.imported("race");
  const std::vector<std::string> args{"replay", trace, "--policy", "naive", "--drop", "pods DELETED nth=3", "--json"};
  const Ran first = place.run(args);
  EXPECT_EQ(first.exit, 1);
  EXPECT_EQ(first.out, place.run(args).out);
}

TEST(Json, IsValidForEveryVerb) {
  const Workplace place;
  const std::string input = in_repository("traces/race/race.jsonl.zst");
  const std::vector<std::vector<std::string>> all = {
      {"import", input, "-o", "race.trace", "--json"},
      {"info", "race.trace", "--json"},
      {"verify", "race.trace", "--json"},
      {"policies", "--json"},
      {"records", "race.trace", "--json", "--body"},
      {"replay", "race.trace", "--json"},
      {"replay", "race.trace", "--json", "--drop", "pods DELETED nth=all"}};
  for (const auto& args : all) {
    const Ran ran = place.run(args);
    EXPECT_TRUE(is_json(ran.out)) << args.front() << ": " << ran.out << ran.err;
  }
}

// Filters of `records` narrow; what they leave stands in the order of the trace.
TEST(Records, AreFiltered) {
  const Workplace place;
  const std::string trace = place.imported("race");
  const auto lines = [&](std::vector<std::string> filters) {
    filters.insert(filters.begin(), {"records", trace});
    const Ran ran = place.run(filters);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return std::count(ran.out.begin(), ran.out.end(), '\n');
  };
  EXPECT_EQ(lines({"--verb", "DELETED", "--stream", "pods"}), 20);
  EXPECT_EQ(lines({"--kind", "bind"}), 40);
  EXPECT_EQ(lines({"--kind", "bind", "--kind", "answer"}), 80);
  EXPECT_EQ(lines({"--from", "@5", "--to", "@9"}), 4);
  EXPECT_EQ(lines({"--limit", "3"}), 3);
  EXPECT_EQ(lines({"--to", "+0s"}), 0);
  EXPECT_EQ(lines({"--rv", "243"}), 1);
  EXPECT_EQ(lines({"--name", "no-such-pod"}), 0);
  EXPECT_EQ(lines({"--name", "*-77md7", "--kind", "bind"}), 2);
  EXPECT_EQ(lines({"--uid", "b306896f", "--kind", "frame", "--stream", "pods"}),
            lines({"--name", "*-77md7", "--kind", "frame", "--stream", "pods"}));
}

// A list stands for the frames under way only where it corrects what they would have changed.
TEST(Recordings, ARelistOfOneStoreLosesNoFrameOfAnother) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  for (const auto& [stores, watches] :
       std::vector<std::pair<std::string, std::string>>{{"nodes", "two"}, {"assumed", "two"}, {"queued", "one"}}) {
    SCOPED_TRACE(stores);
    const Ran ran = place.run({"replay", trace, "--relist", "5s", "--relist-stores", stores, "--watches", watches,
                               "--delay", "pods DELETED name=pod1 by=8s"});
    EXPECT_EQ(ran.exit, 1) << ran.out;
    EXPECT_FALSE(holds(ran.out, "never")) << ran.out;
    EXPECT_TRUE(holds(ran.out, "it lasted 8 s")) << ran.out;
  }
}

// A bind log need not say whose it is: nobody has won there what nobody has asked for.
TEST(Recordings, BindsWithoutASchedulersNameAreNotBoundTwice) {
  const Workplace place;
  const auto pod = [](int i, const char* type, int rv, const char* spec) {
    const std::string n = std::to_string(i);
    return std::string(R"({"type":")") + type + R"(","object":{"kind":"Pod","metadata":{"name":"p)" + n +
           R"(","namespace":"a","uid":"u)" + n + R"(","resourceVersion":")" + std::to_string(rv) + R"("},"spec":{)" +
           spec + R"("containers":[]},"status":{"phase":"Pending"}}})";
  };
  std::string capture = capture_line(1'000'000'000, "nodes", "list",
                                     R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{"metadata":)"
                                     R"({"name":"n0","uid":"x","resourceVersion":"1"},"status":{"allocatable":)"
                                     R"({"pods":"9"}}}]})") +
                        capture_line(1'000'000'000, "pods", "list",
                                     R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                        capture_line(1'000'000'000, "pods", "open", "");
  std::string binds, bound;
  for (int i = 0; i < 4; ++i) {
    capture += capture_line(2'000'000'000, "pods", "frame", pod(i, "ADDED", 2 + i, ""));
    bound += capture_line(4'000'000'000, "pods", "frame", pod(i, "MODIFIED", 6 + i, R"("nodeName":"n0",)"));
    const std::string n = std::to_string(i);
    binds.append(R"({"t":300000000)").append(n);
    binds.append(R"(,"t_answer":3100000000,"request":{"metadata":{"name":"p)").append(n);
    binds.append(R"(","namespace":"a","uid":"u)").append(n);
    binds.append(R"("},"target":{"name":"n0"}},"code":201})").append("\n");
  }
  place.write("nameless.jsonl", capture + bound);
  place.write("nameless.binds.jsonl", binds);
  ASSERT_EQ(place.run({"import", "nameless.jsonl", "nameless.binds.jsonl"}).exit, 0);
  const Ran ran = place.run({"replay", "nameless.trace"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(holds(ran.out, "verdict  ok")) << ran.out;
}

// A clock that stands at the end of time must not hide what comes after it.
TEST(Hostile, ATimeBeyondAllTimeHidesNothing) {
  const Workplace place;
  const std::string pod =
      R"("object":{"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"RV"},)"
      R"("spec":{"nodeName":"n0","containers":[]},"status":{"phase":"Running"}}})";
  const auto frame = [&](const char* type, const char* rv) {
    std::string object = pod;
    object.replace(object.find("RV"), 2, rv);
    return std::string(R"({"type":")") + type + "\"," + object;
  };
  place.write("late.jsonl", capture_line(1'000'000'000, "pods", "list",
                                         R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                                capture_line(1'000'000'000, "pods", "open", "") +
                                capture_line(2'000'000'000, "pods", "frame", frame("ADDED", "2")) +
                                capture_line(INT64_MAX, "pods", "frame", frame("MODIFIED", "3")) +
                                capture_line(3'000'000'000, "pods", "frame", frame("DELETED", "4")));
  ASSERT_EQ(place.run({"import", "late.jsonl"}).exit, 0);
  const Ran ran = place.run({"replay", "late.trace", "--relist", "never", "--drop", "pods DELETED"});
  EXPECT_TRUE(holds(ran.out, "1 fault, fired 1")) << ran.out;
  EXPECT_EQ(place.run({"replay", "late.trace"}).exit, 2);  // re-lists of centuries
}

// A trace of a stranger must not act on the terminal of whoever reads its findings.
TEST(Hostile, NamesAreEscaped) {
  const Workplace place;
  const std::string pod =
      R"({"kind":"Pod","metadata":{"name":"evil\u001b[2J\u202e\n","namespace":"n","uid":"u1","resourceVersion":"RV"},)"
      R"("spec":{"schedulerName":"s\u001b]0;x\u0007","nodeName":"node\u009b1","containers":[]},"status":{"phase":"Running"}})";
  const auto frame = [&](const char* type, const char* rv) {
    std::string object = pod;
    object.replace(object.find("RV"), 2, rv);
    return std::string(R"({"type":")") + type + R"(","object":)" + object + "}";
  };
  place.write("evil.jsonl", capture_line(1'000'000'000, "pods", "list",
                                         R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                                capture_line(2'000'000'000, "pods", "open", "") +
                                capture_line(3'000'000'000, "pods", "frame", frame("ADDED", "2")) +
                                capture_line(4'000'000'000, "pods", "frame", frame("DELETED", "3")));
  ASSERT_EQ(place.run({"import", "evil.jsonl"}).exit, 0);
  for (const auto& args : {std::vector<std::string>{"replay", "evil.trace", "--drop", "pods DELETED"},
                           std::vector<std::string>{"replay", "evil.trace", "--drop", "pods DELETED", "--json"},
                           std::vector<std::string>{"replay", "evil.trace", "--as", "x"},
                           std::vector<std::string>{"info", "evil.trace"}}) {
    const Ran ran = place.run(args);
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("\xc2\x9b"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << ran.err;
  }
  const Ran ran = place.run({"replay", "evil.trace", "--drop", "pods DELETED"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(holds(ran.out, "n/evil\\x1b[2J\\u{202e}\\n")) << ran.out;
}

}  // namespace
}  // namespace inquest::cli
