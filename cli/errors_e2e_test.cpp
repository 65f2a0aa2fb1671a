// What goes wrong: one clear line on stderr, the right exit code, nothing half-written.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/process_for_tests.h"

namespace inquest::cli {
namespace {

struct Case {
  std::vector<std::string> args;
  int exit;
  std::string says;  // a part of the one line on stderr
};

void expect(const Workplace& place, const Case& wanted) {
  std::string shown = "inquest";
  for (const std::string& arg : wanted.args) shown += " " + arg;
  SCOPED_TRACE(shown);
  const Ran ran = place.run(wanted.args);
  EXPECT_EQ(ran.exit, wanted.exit);
  EXPECT_NE(ran.err.find(wanted.says), std::string::npos) << ran.err;
  EXPECT_TRUE(ran.err.starts_with("inquest: ")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(ran.out, "");
}

std::string hostport() { return in_repository("traces/hostport/hostport.jsonl.zst"); }

void sql(const std::string& path, const char* statement) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(BadUsage, IsOneLineAndTwo) {
  const Workplace place;
  place.imported("hostport");
  place.write("unknown-field.yaml", "inquest: plan/1\nfaults:\n- drop: {resource: pods, colour: red}\n");
  place.write("future.yaml", "inquest: plan/2\n");
  const std::string trace = "hostport.trace";
  const std::vector<Case> cases = {
      {{"frobnicate"},
       2,
       "there is no verb 'frobnicate' (one of record, import, info, records, verify, replay, state, diff, matrix, "
       "plan, "
       "policies, export, redact, cut, merge, compact, recover)"},
      {{"--frobnicate"}, 2, "--frobnicate"},
      {{"replay"}, 2, "TRACE is required (see inquest replay --help)"},
      {{"replay", trace, "--frob"}, 2, "--frob (see inquest replay --help)"},
      {{"replay", trace, "--policy", "best"}, 2, "--policy: there is no policy 'best' (one of no-assume, naive"},
      {{"replay", trace, "--ttl", "soon"}, 2, "--ttl soon: "},
      {{"replay", trace, "--ttl"}, 2, "--ttl"},
      {{"replay", trace, "--relist", "0s"}, 2, "--relist 0s: it must be longer than 0 (say never"},
      {{"replay", trace, "--deletes-to", "x"}, 2, "--deletes-to x: 'x' is none of scheduled, both"},
      {{"replay", trace, "--lag", "-1s"}, 2, "--lag"},
      {{"replay", trace, "--seed", "x"}, 2, "--seed x: it takes a whole number"},
      {{"replay", trace, "--seed", "-1"}, 2, "--seed -1: it takes a whole number"},
      {{"replay", trace, "--seed", "18446744073709551616"}, 2, "--seed 18446744073709551616: it takes"},
      {{"replay", trace, "--drop", "pods DELETED name="}, 2, "name needs a value"},
      {{"replay", trace, "--as", "nobody"},
       2,
       "--as: no scheduler 'nobody' bound anything in this trace (schedulers: "},
      {{"replay", trace, "--drop", "pods EXPLODED"}, 2, "--drop 'pods EXPLODED': 'EXPLODED' is no word of 'drop'"},
      {{"replay", trace, "--delay", "pods DELETED"}, 2, "'delay' needs by (such as: "},
      {{"replay", trace, "--plan", "unknown-field.yaml"}, 2, "unknown-field.yaml:3: 'drop' takes no field 'colour'"},
      {{"replay", trace, "--plan", "future.yaml"}, 2, "future.yaml:1: this reads plan/1"},
      {{"replay", trace, "--plan", "none.yaml"}, 2, "none.yaml: no such file (check the name)"},
      {{"info", trace, trace}, 2, "hostport.trace (see inquest info --help)"},
      {{"policies", "--json", "--markdown"}, 2, "excludes"},
      {{"records", trace, "--kind", "thing"}, 2, "--kind: there is no kind 'thing'"},
      {{"records", trace, "--from", "noon"}, 2, "--from: 'noon' is no instant (write it as +12.5s, @43 or"},
      {{"records", trace, "--to", "@x"}, 2, "--to: '@x' is no instant"},
      {{"records", trace, "--verb", "deleted"}, 2, "--verb"},
      {{"import", "x.jsonl", "--alias", "toy"}, 2, "--alias: 'toy' is no NAME=OTHER"},
      {{"import"}, 2, "INPUT is required"},
      {{"import", "-"}, 2, "the standard input has no name that the trace could take (say -o FILE)"},
      {{"import", "x", "--no-redact", "--redact-annotation", "a"}, 2, "excludes"},
      {{"export", trace, "--json"}, 2, "say -o FOLDER too"},
      {{"cut", trace, "-o", "x.trace", "--from", "@9", "--to", "@9"}, 2, "--to @9: the span ends before it begins"},
      {{"cut", trace, "-o", "x.trace", "--from", "+9h"}, 2, "hostport.trace: nothing lies in that span"},
      {{"cut", trace, "-o", "x.trace", "--from", "noon"}, 2, "--from: 'noon' is no instant"},
      {{"merge", trace, "-o", "x.trace"}, 2, "one trace alone is not to be merged"},
      {{"merge", trace, trace, "-o", "x.trace"}, 2, "hostport.trace: is given twice"},
      {{"redact", trace}, 2, "--output is required"},
      {{"compact", trace, "-o", trace}, 2, "hostport.trace: exists already"},
      {{"recover", trace, "-o", "saved.trace"}, 2, "hostport.trace: is whole and closed: there is nothing to recover"},
  };
  for (const Case& one : cases) expect(place, one);
}

// Every verb that makes something: a name that is none, a folder, a folder that is not there, an input.
TEST(BadUsage, OfAnOutput) {
  const Workplace place;
  const std::string trace = place.imported("hostport"), input = hostport();
  ASSERT_EQ(place.run({"cut", trace, "-o", "part.trace", "--to", "+5s"}).exit, 0);
  std::filesystem::create_directory(place.path("folder"));
  place.write("damaged.trace", place.read(trace).substr(0, 60'000));
  const std::string before = place.listing(), bytes = place.read(trace), damaged = place.read("damaged.trace");
  const std::vector<std::vector<std::string>> verbs = {{"import", input},  {"redact", trace},
                                                       {"cut", trace},     {"merge", trace, "part.trace"},
                                                       {"compact", trace}, {"recover", "damaged.trace"},
                                                       {"export", trace},  {"replay", trace}};
  for (const std::vector<std::string>& verb : verbs) {
    const auto with = [&](const std::string& output, bool force) {
      std::vector<std::string> args = verb;
      args.insert(args.end(), {"-o", output});
      if (force && verb[0] != "replay") args.emplace_back("--force");
      return args;
    };
    for (const bool force : {false, true}) {
      expect(place, {with("", force), 2, "--output: it takes a name, not ''"});
      if (verb[0] == "export") {
        expect(place, {with("no/such/out", force), 2, "no/such/out: cannot be made: No such file or directory"});
        expect(place, {with(trace, force), 2, "hostport.trace: is no folder"});
        continue;
      }
      expect(place, {with("folder", force), 2, "folder: is a folder, not a file (name a file)"});
      expect(place, {with("no/such/out", force), 2, "no/such/: there is no such folder (make it first)"});
      const std::string own = verb[0] == "import" ? input : verb[1];
      if (verb[0] == "import" || verb[0] == "recover" || verb[0] == "cut" || verb[0] == "merge") {
        expect(place, {with(own, force), 2, own + ": is an input and the output (name another output)"});
      } else if (!force) {
        expect(place, {with(own, force), 2, "hostport.trace: exists already"});
      }
    }
  }
  EXPECT_EQ(place.listing(), before);
  EXPECT_TRUE(place.read(trace) == bytes && place.read("damaged.trace") == damaged);
  // The same records in the place of their file.
  EXPECT_EQ(place.run({"compact", trace, "-o", trace, "--force"}).exit, 0);
  EXPECT_EQ(place.run({"redact", trace, "-o", trace, "--force"}).exit, 0);
  EXPECT_EQ(place.run({"verify", trace}).exit, 0);
}

TEST(BadUsage, NoVerbShowsTheHelp) {
  const Workplace place;
  const Ran ran = place.run({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("Verbs:"), std::string::npos);
}

TEST(BadUsage, HelpStartsWithAnExample) {
  const Workplace place;
  for (const char* verb : {"import", "info", "records", "verify", "replay", "plan", "policies", "export", "redact",
                           "cut", "merge", "compact", "recover"}) {
    const Ran ran = place.run({verb, "--help"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_TRUE(ran.out.starts_with(std::string("Example:\n  inquest ") + verb)) << ran.out;
  }
  EXPECT_EQ(place.run({"--version"}).out.rfind("inquest ", 0), 0U);
}

TEST(BadInput, LeavesNothingBehind) {
  const Workplace place;
  const std::string gzip_that_is_none = std::string("\x1f\x8b\x08\x00", 4) + " rubbish, rubbish, rubbish";
  place.write("empty.jsonl", "");
  place.write("words.jsonl", "no JSON at all\n");
  place.write("page.jsonl", "<html>\r\n<head><title>502 Bad Gateway</title></head></html>\n");
  place.write("broken.gz", gzip_that_is_none);
  place.write("cut.zst", read_file(hostport()).substr(0, 40));
  place.write("numbers.jsonl", "42\n43\n");
  std::filesystem::create_directory(place.path("folder"));
  const std::string before = place.listing();
  const std::vector<Case> cases = {
      {{"import", "missing.jsonl", "-o", "x.trace"}, 2, "missing.jsonl: "},
      {{"import", "empty.jsonl", "-o", "x.trace"}, 2, "empty.jsonl: is empty"},
      {{"import", "words.jsonl", "-o", "x.trace"}, 2, "words.jsonl:1: "},
      {{"import", "page.jsonl", "-o", "x.trace"}, 2, "page.jsonl:1: this is an HTML page"},
      {{"import", "broken.gz", "-o", "x.trace"}, 2, "broken.gz:1: the gzip data is damaged"},
      {{"import", "cut.zst", "-o", "x.trace"}, 2, "cut.zst"},
      {{"import", "numbers.jsonl", "-o", "x.trace"}, 2, "numbers.jsonl"},
      {{"import", "folder", "-o", "x.trace"}, 2, "folder: "},
      {{"import", hostport(), "-o", "no/such/folder/x.trace"}, 2, "folder"},
      {{"import", hostport(), "words.jsonl", "-o", "x.trace"}, 2, "words.jsonl:1: "},
  };
  for (const Case& one : cases) expect(place, one);
  EXPECT_EQ(place.listing(), before);
}

TEST(BadInput, ATraceThatIsNone) {
  const Workplace place;
  place.write("empty.trace", "");
  place.write("page.trace", "<html></html>");
  place.write("capture.trace", "{\"t\":1}\n");
  place.write("packed.trace", read_file(hostport()));
  for (const char* verb : {"info", "verify", "replay"}) {
    expect(place, {{verb, "missing.trace"}, 2, "missing.trace: no such file"});
    expect(place, {{verb, "empty.trace"}, 2, "empty.trace: is empty"});
    expect(place, {{verb, "page.trace"}, 2, "page.trace: looks like HTML"});
    expect(place, {{verb, "capture.trace"}, 2, "capture.trace: looks like a capture (JSON)"});
    expect(place, {{verb, "packed.trace"}, 2, "packed.trace: is a compressed file"});
    expect(place, {{verb, "."}, 2, ".: is a folder"});
  }
}

TEST(BadInput, WhatMayNotBeRead) {
  const Workplace place;
  place.write("locked.jsonl", "{}\n");
  std::filesystem::permissions(place.path("locked.jsonl"), std::filesystem::perms::none);
  expect(place, {{"import", "locked.jsonl"}, 2, "locked.jsonl: "});
  expect(place, {{"info", "locked.jsonl"}, 2, "locked.jsonl: "});
}

TEST(BadInput, AnExistingOutputStays) {
  const Workplace place;
  place.write("mine.trace", "precious");
  expect(place, {{"import", hostport(), "-o", "mine.trace"}, 2, "mine.trace: exists already"});
  EXPECT_EQ(place.read("mine.trace"), "precious");
  EXPECT_EQ(place.run({"import", hostport(), "-o", "mine.trace", "--force"}).exit, 0);
  EXPECT_EQ(place.run({"info", "mine.trace"}).exit, 0);
  EXPECT_EQ(place.listing(), "mine.trace");
}

TEST(BadInput, ANewerTraceIsFive) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  sql(place.path(trace),
      "PRAGMA user_version = 9; UPDATE meta SET value = 9 WHERE key IN ('format', 'minimum_reader'); "
      "UPDATE meta SET value = 'inquest 7.0.0' WHERE key = 'writer'");
  for (const char* verb : {"info", "verify", "replay"}) {
    expect(place, {{verb, trace}, 5, "hostport.trace: was made by inquest 7.0.0 in format 9"});
  }
}

TEST(Damage, FailsVerify) {
  const Workplace place;
  const std::string trace = place.imported("hostport");
  sql(place.path(trace), "UPDATE body SET data = zeroblob(100)");
  const Ran ran = place.run({"verify", trace});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.out.find("integrity    damaged · batch 1 (records @1"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("not compared"), std::string::npos) << ran.out;
  const Ran json = place.run({"verify", trace, "--json"});
  EXPECT_EQ(json.exit, 1);
  EXPECT_NE(json.out.find("\"checkpoints\": null"), std::string::npos) << json.out;
}

TEST(Damage, AFileCutInHalf) {
  const Workplace place;
  place.imported("hostport");
  const std::string whole = place.read("hostport.trace");
  place.write("half.trace", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(place.run({"verify", "half.trace"}).exit, 1);
  const Ran replay = place.run({"replay", "half.trace"});
  EXPECT_EQ(replay.exit, 2);
  EXPECT_TRUE(replay.err.starts_with("inquest: half.trace: ")) << replay.err;
}

const char* const kNoPods = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})";
const char* const kAdded =
    R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"2"},)"
    R"("spec":{"schedulerName":"s","containers":[]},"status":{"phase":"Pending"}}})";

// Lines in the middle that nobody can read: what stands around them is kept, and every verb says that it is not all.
TEST(Missing, IsThree) {
  const Workplace place;
  const std::string nodes = R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{"metadata":)"
                            R"({"name":"n1","uid":"x","resourceVersion":"1"},"status":{"allocatable":{"pods":"9"}}}]})";
  place.write("a.jsonl", capture_line(1'000'000'000, "nodes", "list", nodes) +
                             capture_line(1'000'000'000, "nodes", "open", "") +
                             capture_line(1'000'000'000, "pods", "list", kNoPods) +
                             capture_line(2'000'000'000, "pods", "open", "") + "{\"t\": this is broken\n" +
                             capture_line(3'000'000'000, "pods", "frame", kAdded));
  const Ran import = place.run({"import", "a.jsonl"});
  EXPECT_EQ(import.exit, 3) << import.out;
  EXPECT_NE(import.err.find("inquest: a.jsonl:5: "), std::string::npos) << import.err;
  EXPECT_EQ(place.run({"info", "a.trace"}).exit, 3);
  EXPECT_EQ(place.run({"verify", "a.trace"}).exit, 3);
  const Ran replay = place.run({"replay", "a.trace"});
  EXPECT_EQ(replay.exit, 3) << replay.out;
  EXPECT_NE(replay.out.find("missing  1 loss"), std::string::npos) << replay.out;
  // A finding comes before what is missing, and so does a verdict that is not known.
  EXPECT_EQ(place.run({"replay", "a.trace", "--drop", "pods ADDED", "--scheduler-name", "s"}).exit, 1);
  EXPECT_EQ(place.run({"replay", "a.trace", "--drop", "pods DELETED"}).exit, 4);
}

// A list beside the watch that holds something else: the watch lied.
TEST(Missing, ACheckpointThatDiffersIsOne) {
  const Workplace place;
  const std::string later = R"({"kind":"PodList","metadata":{"resourceVersion":"2"},"items":[]})";
  place.write("a.jsonl", capture_line(1'000'000'000, "pods", "list", kNoPods) +
                             capture_line(2'000'000'000, "pods", "open", "") +
                             capture_line(3'000'000'000, "pods", "frame", kAdded) +
                             capture_line(4'000'000'000, "pods", "list", later));
  EXPECT_EQ(place.run({"import", "a.jsonl"}).exit, 1);
  const Ran verify = place.run({"verify", "a.trace"});
  EXPECT_EQ(verify.exit, 1) << verify.out;
  EXPECT_NE(verify.out.find("n/a"), std::string::npos) << verify.out;
}

// What an object is, not how its stream is called, says how to name it.
TEST(Missing, ACheckpointOfNodesDiffersWhateverTheirStreamIsCalled) {
  const Workplace place;
  const auto list = [](const std::string& names) {
    std::string items;
    for (const char name : names) {
      items += std::string(items.empty() ? "" : ",") + R"({"metadata":{"name":"n)" + name +
               R"(","uid":"x","resourceVersion":"1"}})";
    }
    return R"({"kind":"NodeList","metadata":{"resourceVersion":")" + std::to_string(names.size()) + R"("},"items":[)" +
           items + "]}";
  };
  const std::string changed =
      R"({"type":"MODIFIED","object":{"kind":"Node","metadata":{"name":"n1","uid":"x","resourceVersion":"3"}}})";
  place.write("a.jsonl", capture_line(1'000'000'000, "workers", "list", list("1")) +
                             capture_line(1'000'000'000, "workers", "open", "") +
                             capture_line(2'000'000'000, "workers", "list", list("12")) +
                             capture_line(3'000'000'000, "workers", "frame", changed));
  EXPECT_EQ(place.run({"import", "a.jsonl"}).exit, 1);
  const Ran verify = place.run({"verify", "a.trace"});
  EXPECT_EQ(verify.exit, 1) << verify.out;
  EXPECT_NE(verify.out.find("n2 (uid x)  in the list at rv 1, not in the folded watch"), std::string::npos)
      << verify.out;
}

TEST(Output, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Workplace place;
  const Ran ran = place.run({"policies"}, "/dev/full");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("standard output: cannot be written"), std::string::npos) << ran.err;
}

TEST(Output, HasNoColourInAFile) {
  const Workplace place;
  const Ran ran = place.run({"replay", place.imported("hostport"), "--drop", "pods DELETED name=pod1"});
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace inquest::cli
