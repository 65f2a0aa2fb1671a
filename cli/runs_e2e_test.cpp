// Runs that are kept, stopped, stepped through and compared, as a process.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

const std::string kDrop = "pods DELETED name=pod1";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

simdjson::dom::element parsed(simdjson::dom::parser& parser, const std::string& text) {
  simdjson::dom::element document;
  EXPECT_EQ(parser.parse(text).get(document), simdjson::SUCCESS) << text;
  return document;
}

TEST(RunFiles, TheFileIsWhatJsonPrints) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const std::vector<std::string> what{"replay", trace, "--policy", "delete-both", "--drop", kDrop};
  std::vector<std::string> kept = what, printed = what;
  kept.insert(kept.end(), {"-o", "x.run.json"});
  printed.emplace_back("--json");
  const Ran keep = place.run(kept);
  EXPECT_EQ(keep.exit, 1);
  EXPECT_TRUE(holds(keep.out, "verdict  violated · 1 finding")) << keep.out;
  EXPECT_EQ(place.read("x.run.json"), place.run(printed).out);
  EXPECT_EQ(place.run(kept).exit, 1) << "a run file may be replaced by another";
  EXPECT_EQ(place.listing(), "hostport.trace x.run.json");
}

TEST(RunFiles, NothingElseIsOverwritten) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.write("notes.txt", "{\"mine\": 1}");
  for (const std::string& target :
       {std::string("notes.txt"), trace, std::string("."), std::string("no/such/folder.json")}) {
    const Ran ran = place.run({"replay", trace, "-o", target});
    EXPECT_EQ(ran.exit, 2) << target;
    EXPECT_EQ(ran.out, "") << target;
    EXPECT_TRUE(holds(ran.err, target == "no/such/folder.json" ? "no/such" : target)) << ran.err;
  }
  EXPECT_EQ(place.read("notes.txt"), "{\"mine\": 1}");
  EXPECT_EQ(place.run({"info", trace}).exit, 0);
  EXPECT_EQ(place.run({"replay", trace, "-o", "x.run.json", "--until", "+1s"}).exit, 2) << "a part of a run is none";
  EXPECT_EQ(place.listing(), "hostport.trace notes.txt");
}

TEST(DiffRuns, OfOneInputAreTheSame) {
  const Workplace place;
  const std::string trace = place.imported("race");
  for (const char* name : {"a.run.json", "b.run.json"}) {
    place.run({"replay", trace, "--policy", "naive", "--drop", "pods DELETED nth=3", "-o", name});
  }
  const Ran ran = place.run({"diff", "a.run.json", "b.run.json"});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_TRUE(holds(ran.out, "runs      the same")) << ran.out;
}

TEST(DiffRuns, OfTwoPoliciesNameTheFirstDifference) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.run({"replay", trace, "--policy", "combined", "--drop", kDrop, "-o", "a.run.json"});
  place.run({"replay", trace, "--policy", "delete-both", "--drop", kDrop, "-o", "b.run.json"});
  const Ran ran = place.run({"diff", "a.run.json", "b.run.json"});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_TRUE(holds(ran.out, "  policy         combined                delete-both\n")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "+60.000 s by relist  never")) << ran.out;
  simdjson::dom::parser parser;
  const Ran json = place.run({"diff", "a.run.json", "b.run.json", "--json"});
  EXPECT_EQ(json.exit, 1);
  const auto document = parsed(parser, json.out);
  EXPECT_EQ(std::string_view(document["inputs"].at(0)["what"]), "policy");
  EXPECT_EQ(std::string_view(document["findings"].at(0)["is"]), "differs");
  EXPECT_FALSE(bool(document["same"]));
}

TEST(DiffRuns, WhatIsNoRunIsSaidClearly) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  place.run({"replay", trace, "-o", "a.run.json"});
  const std::string text = place.read("a.run.json");
  place.write("cut.json", text.substr(0, text.size() / 2));
  place.write("other.json", "{\"schema_version\": 1, \"verb\": \"info\"}");
  place.write("newer.json", "{\"schema_version\": 99, \"verb\": \"replay\"}");
  place.write("empty.json", "");
  struct Row {
    const char* file;
    int exit;
    const char* says;
  };
  for (const Row& row : {Row{"cut.json", 2, "is no whole JSON document"}, Row{"other.json", 2, "is no run file"},
                         Row{"newer.json", 5, "made by a newer version"}, Row{"empty.json", 2, "empty.json"},
                         Row{"missing.json", 2, "there is no such file"}, Row{".", 2, "is no regular file"},
                         Row{"hostport.trace", 2, "is a trace, no run file"}}) {
    const Ran ran = place.run({"diff", "a.run.json", row.file});
    EXPECT_EQ(ran.exit, row.exit) << row.file << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(holds(ran.err, row.says)) << row.file << ": " << ran.err;
  }
  EXPECT_EQ(place.run({"diff", "missing.trace", trace}).exit, 2);
  EXPECT_EQ(place.run({"diff", trace}).exit, 2);
  EXPECT_EQ(place.run({"diff", trace, trace, "--at", "+1s"}).exit, 2);
}

TEST(DiffTraces, OfOneRecordingAreTheSame) {
  const Workplace place;
  const std::string input = in_repository("traces/race/race.jsonl.zst");
  ASSERT_EQ(place.run({"import", input, "-o", "a.trace"}).exit, 0);
  ASSERT_EQ(place.run({"import", input, "-o", "b.trace"}).exit, 0);
  const Ran same = place.run({"diff", "a.trace", "b.trace"});
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_TRUE(holds(same.out, "the same, record by record")) << same.out;
}

TEST(DiffTraces, NameTheFirstRecordThatDiffers) {
  const Workplace place;
  const std::string pod =
      R"("object":{"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"2"},)"
      R"("spec":{"nodeName":"NODE","containers":[]},"status":{"phase":"Running"}}})";
  const auto capture = [&](const char* node, int bookmarks) {
    std::string frame = pod;
    frame.replace(frame.find("NODE"), 4, node);
    std::string out = capture_line(1'000'000'000, "pods", "list",
                                   R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})") +
                      capture_line(1'000'000'000, "pods", "open", "") +
                      capture_line(2'000'000'000, "pods", "frame", R"({"type":"ADDED",)" + frame);
    for (int i = 0; i < bookmarks; ++i) {
      out += capture_line(3'000'000'000, "pods", "frame",
                          R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}})");
    }
    return out;
  };
  place.write("a.jsonl", capture("n1", 1));
  place.write("b.jsonl", capture("n2", 1));
  place.write("c.jsonl", capture("n1", 2));
  for (const char* name : {"a.jsonl", "b.jsonl", "c.jsonl"}) ASSERT_EQ(place.run({"import", name}).exit, 0) << name;
  const Ran other = place.run({"diff", "a.trace", "b.trace"});
  EXPECT_EQ(other.exit, 1) << other.err;
  EXPECT_TRUE(holds(other.out, "differ after 2 equal records")) << other.out;
  EXPECT_TRUE(holds(other.out, "spec.nodeName  \"n1\" → \"n2\"")) << other.out;
  const Ran longer = place.run({"diff", "a.trace", "c.trace"});
  EXPECT_EQ(longer.exit, 1) << longer.err;
  EXPECT_TRUE(holds(longer.out, "differ after 6 equal records")) << longer.out;
  EXPECT_TRUE(holds(longer.out, "a  no more records")) << longer.out;
}

TEST(DiffTruth, ExitsByWhetherAnythingDiffers) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const std::vector<std::string> lost{"--policy", "delete-both", "--drop", kDrop};
  const auto at = [&](const char* when) {
    std::vector<std::string> args{"diff", trace, "--at", when};
    args.insert(args.end(), lost.begin(), lost.end());
    return place.run(args);
  };
  const Ran before = at("+4.4s"), young = at("@19"), old = at("+6s");
  EXPECT_EQ(before.exit, 0) << before.out << before.err;
  EXPECT_TRUE(holds(before.out, "no difference: stores and truth agree")) << before.out;
  EXPECT_EQ(young.exit, 1);
  EXPECT_TRUE(holds(young.out, "0.000 s  within the lag  fault 1 dropped @19 DELETED rv 658")) << young.out;
  EXPECT_EQ(old.exit, 1);
  EXPECT_TRUE(holds(old.out, "1.552 s  a finding")) << old.out;
}

// What state says that the stores hold is what the judge compares: a pod is a zombie just when it stands there.
TEST(State, ShowsWhatTheFindingsAreAbout) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const std::vector<std::string> lost{"--policy", "delete-both", "--drop", kDrop, "--json"};
  simdjson::dom::parser parser;
  for (const auto& [when, zombies] : {std::pair{"@18", 0}, std::pair{"@19", 1}, std::pair{"+24s", 1}}) {
    std::vector<std::string> args{"state", trace, "--at", when};
    args.insert(args.end(), lost.begin(), lost.end());
    const Ran ran = place.run(args);
    ASSERT_EQ(ran.exit, 0) << ran.err;
    const auto document = parsed(parser, ran.out);
    std::vector<std::string_view> real;
    for (const auto pod : document["stores"]["truth"]["pods"]) real.emplace_back(std::string_view(pod["pod"]["uid"]));
    int gone = 0;
    for (const auto pod : document["stores"]["scheduled"]) {
      gone += std::find(real.begin(), real.end(), std::string_view(pod["pod"]["uid"])) == real.end() ? 1 : 0;
    }
    EXPECT_EQ(gone, zombies) << when << ran.out;
  }
}

TEST(State, OfTheQueueAndOfWhatIsAssumed) {
  const Workplace place;
  const std::string trace = place.imported("race");
  simdjson::dom::parser parser;
  size_t places = 0, deadlines = 0;
  for (int ms = 2280; ms < 2560; ms += 10) {
    const Ran ran = place.run({"state", trace, "--at", "+" + std::to_string(ms) + "ms", "--json"});
    ASSERT_EQ(ran.exit, 0) << ran.err;
    const auto document = parsed(parser, ran.out);
    uint64_t next = 1;
    for (const auto pod : document["stores"]["queued"]) {
      if (std::string_view(pod["how"]) != "in line") continue;
      EXPECT_EQ(uint64_t(pod["place"]), next++);
      ++places;
    }
    for (const auto pod : document["stores"]["assumed"]) {
      EXPECT_EQ(int64_t(pod["expires"]["ns"]) - int64_t(pod["since"]["ns"]), 30'000'000'000) << ran.out;
      ++deadlines;
    }
  }
  EXPECT_GT(places, 0U);
  EXPECT_GT(deadlines, 0U);
}

TEST(State, OutsideTheTraceIsTwo) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  struct Row {
    std::vector<std::string> args;
    const char* says;
  };
  const Row rows[] = {
      {{"state", trace, "--at", "+1h"}, "--at +1h: is outside the trace (it goes from +0s to +24.0"},
      {{"state", trace, "--at", "+25s"}, "--at +25s: is outside the trace"},
      {{"state", trace, "--at", "+1h", "--drain", "60s"}, "time runs on to"},
      {{"state", trace, "--at", "1999-01-01T00:00:00Z"}, "is outside the trace"},
      {{"state", trace, "--at", "@0"}, "is outside the trace"},
      {{"state", trace, "--at", "@99999"}, "@1 to @"},
      {{"state", trace, "--at", "soon"}, "'soon' is no instant"},
      {{"state", trace, "--at", "+1s", "--store", "cellar"},
       "there is no store 'cellar' (one of scheduled, assumed, queued, nodes, truth)"},
      {{"state", trace}, "--at is required"},
      {{"state", "missing.trace", "--at", "+1s"}, "missing.trace"},
      {{"diff", trace, "--at", "+1h"}, "--at +1h: is outside the trace"},
      {{"replay", trace, "--until", "+1h"}, "--until +1h: is outside the trace"},
      {{"replay", trace, "--step", "--until", "@99999"}, "--until @99999: is outside the trace"},
  };
  for (const Row& row : rows) {
    const Ran ran = place.run(row.args);
    EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(holds(ran.err, row.says)) << row.says << "\n" << ran.err;
  }
  EXPECT_EQ(place.run({"state", trace, "--at", "+25s", "--drain", "60s"}).exit, 0);
  EXPECT_EQ(place.run({"replay", trace, "--until", "+61s"}).exit, 0) << "a run goes on after the end";
}

// The hash after each step is that of the core's state: a run that stops there has the same.
TEST(Step, TheHashesAreThoseOfTheRun) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  simdjson::dom::parser parser, other;
  const Ran steps = place.run({"replay", trace, "--step", "--json"});
  ASSERT_EQ(steps.exit, 0) << steps.err;
  const auto document = parsed(parser, steps.out);
  const simdjson::dom::array all = document["steps"];
  EXPECT_EQ(all.size(), uint64_t(document["run"]["inputs"]));
  std::string last;
  for (const auto step : all) last = std::string_view(step["core_state"]);
  const Ran stop = place.run({"replay", trace, "--json", "--until", "+60s"});
  EXPECT_EQ(std::string_view(parsed(other, stop.out)["core_state"]), last);
  const Ran whole = place.run({"replay", trace, "--json"});
  EXPECT_EQ(std::string_view(parsed(other, whole.out)["run"]["chain"]), std::string_view(document["run"]["chain"]));
  const Ran text = place.run({"replay", trace, "--step"});
  EXPECT_TRUE(holds(text.out, last.substr(0, 8))) << text.out;
}

TEST(Step, UntilBoundsIt) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const auto lines = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"replay", trace, "--step"});
    const Ran ran = place.run(more);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return std::count(ran.out.begin(), ran.out.end(), '\n');
  };
  const auto few = lines({"--until", "@8"}), more = lines({"--until", "+10s"}), all = lines({});
  EXPECT_LT(few, more);
  EXPECT_LT(more, all);
}

TEST(Until, SaysWhatIsOpen) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  const auto until = [&](const char* when) {
    return place.run({"replay", trace, "--until", when, "--policy", "delete-both", "--drop", kDrop});
  };
  const Ran before = until("+4s"), young = until("+5s"), old = until("+6s");
  EXPECT_EQ(before.exit, 0) << before.err;
  EXPECT_TRUE(holds(before.out, "so far   ok")) << before.out;
  EXPECT_EQ(young.exit, 0) << young.err;
  EXPECT_TRUE(holds(young.out, "within the lag bound\n")) << young.out;
  EXPECT_EQ(old.exit, 1);
  EXPECT_TRUE(holds(old.out, "+4.448 s → open")) << old.out;
  EXPECT_FALSE(holds(old.out, "never")) << old.out;
}

TEST(Decide, SaysItsPaceAndWhatCameOfIt) {
  const Workplace place;
  const std::string trace = place.imported("race");
  const Ran ran = place.run({"replay", trace, "--mode", "decide", "--deliver", "7ms"});
  EXPECT_TRUE(ran.exit == 0 || ran.exit == 4) << ran.out << ran.err;
  EXPECT_TRUE(holds(ran.out, "run      decide as kube-scheduler · combined")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "pace     bind-rtt ")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "deliver 7 ms (given)")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "pods     20 created · 20 bound, 0 of them twice · 0 pending")) << ran.out;
  EXPECT_TRUE(holds(ran.out, "controllers stay open-loop")) << ran.out;
  simdjson::dom::parser parser;
  const Ran json = place.run({"replay", trace, "--mode", "decide", "--deliver", "7ms", "--json", "-o", "d.run.json"});
  const auto run = parsed(parser, json.out)["run"];
  EXPECT_EQ(std::string_view(run["mode"]), "decide");
  EXPECT_EQ(std::string_view(run["pace"]["deliver"]["from"]), "given");
  EXPECT_EQ(uint64_t(run["decided"]["bound"]), 20U);
  place.run({"replay", trace, "-o", "f.run.json"});
  EXPECT_TRUE(holds(place.run({"diff", "f.run.json", "d.run.json"}).out, "mode           follow  decide"));
  EXPECT_EQ(place.run({"state", trace, "--mode", "decide", "--at", "+2s"}).exit, 0);
}

TEST(Decide, APaceIsOfModeDecideAlone) {
  const Workplace place;
  const std::string trace = place.imported("race");
  for (const char* option : {"--bind-rtt", "--deliver", "--kubelet-start", "--kubelet-stop"}) {
    const Ran ran = place.run({"replay", trace, option, "5ms"});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(holds(ran.err, std::string(option) + ": in mode follow everything takes as long")) << ran.err;
    EXPECT_EQ(place.run({"replay", trace, "--mode", "decide", option, "soon"}).exit, 2);
  }
  EXPECT_EQ(place.run({"replay", trace, "--mode", "guess"}).exit, 2);
}

TEST(Runs, JsonIsValidForAll) {
  const Workplace place;
  const std::string trace = place.imported("race");
  place.run({"replay", trace, "-o", "a.run.json"});
  const std::vector<std::vector<std::string>> all = {{"state", trace, "--at", "+1s"},
                                                     {"diff", trace, "--at", "+1s"},
                                                     {"diff", trace, trace},
                                                     {"diff", "a.run.json", "a.run.json"},
                                                     {"replay", trace, "--until", "+1s"},
                                                     {"replay", trace, "--step", "--until", "+1s"}};
  simdjson::dom::parser parser;
  for (std::vector<std::string> args : all) {
    args.emplace_back("--json");
    const Ran ran = place.run(args);
    EXPECT_EQ(int64_t(parsed(parser, ran.out)["schema_version"]), 1) << args.front();
  }
}

}  // namespace
}  // namespace inquest::cli
