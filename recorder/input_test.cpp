#include "recorder/input.h"

#include <gtest/gtest.h>

#include "recorder/looks_like.h"
#include "recorder/test_files.h"

namespace inquest::recorder {
namespace {

TEST(Input, IsToldApartByItsFirstLine) {
  const TestFolder folder;
  const struct {
    std::string content;
    InputKind kind;
  } cases[] = {
      {"{\"t\":1,\"stream\":\"pods\",\"kind\":\"close\"}\n", InputKind::kCapture},
      {"\xef\xbb\xbf\n{\"t\":1,\"stream\":\"pods\",\"unknown\":true}\r\n", InputKind::kCapture},
      {R"({"t":1,"scheduler":"toy","request":{}})", InputKind::kBindLog},
      {R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"RequestReceived"})", InputKind::kAudit},
      {R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]})", InputKind::kAudit},
      {R"({"type":"ADDED","object":{"kind":"Pod"}})", InputKind::kFrames},
      {"{\n \"type\": \"ADDED\",\n \"object\": {}\n}\n", InputKind::kFrames},
      {"o\",\"uid\":\"1\"}}\n{\"type\":\"ADDED\",\"object\":{}}\n", InputKind::kFrames},
      {"{\n  \"kind\": \"Pod\",\n  \"apiVersion\": \"v1\"\n}\n", InputKind::kObjects},
      {R"({"kind":"PodList","apiVersion":"v1","items":[]})", InputKind::kObjects},
      {R"({"apiVersion":"v1","items":[],"kind":"List"})", InputKind::kObjects},
      {R"({"kind":"Event","apiVersion":"v1"})", InputKind::kObjects},
      {"apiVersion: v1\nkind: Pod\n", InputKind::kYaml},
      {"---\nkind: Pod\n", InputKind::kYaml},
  };
  for (const auto& c : cases) {
    const auto input = Input::open(folder.write("named-badly.html", c.content));
    ASSERT_TRUE(input.ok()) << c.content;
    EXPECT_EQ(input.value().kind(), c.kind) << c.content;
  }
}

TEST(Input, SaysWhatAFileIsThatIsNone) {
  const TestFolder folder;
  const std::string secret = "hunter2-and-more";
  const struct {
    const char* name;
    std::string content, place, text;
  } cases[] = {
      {"empty", "", "", "is empty"},
      {"blank", "\n \r\n\n", "", "holds nothing but blank lines"},
      {"HTML", "\n<html>\r\n<head><title>\n502 Bad\x1b[31m Gateway </title>", ":2",
       "this is an HTML page titled '502 Bad?[31m Gateway'"},
      {"HTML, endless title", "<!DOCTYPE html><TITLE>" + std::string(500, 'x') + "</TITLE>", ":1",
       "this is an HTML page titled '" + std::string(77, 'x') + "...'"},
      {"HTML without title", "<html><body>" + secret, ":1", "this is an HTML page"},
      {"XML", "<?xml version=\"1.0\"?><a/>", ":1", "this is XML or HTML"},
      {"binary", std::string("{\"a\":\0\1\2}", 9), "", "this is binary data"},
      {"program",
       std::string("\x7f"
                   "ELF\2\1\1\0\0",
                   9),
       "", "this is binary data"},
      {"SQLite", std::string("SQLite format 3\0", 16), "", "this is a SQLite file"},
      {"protobuf", std::string("k8s\0\n\n", 6), "", "this is Kubernetes protobuf"},
      {"xz",
       "\xfd"
       "7zXZ",
       "", "this is xz data"},
      {"zip", "PK\x03\x04", "", "this is a ZIP archive"},
      {"Table", R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]})", ":1",
       "this is a Table, as kubectl asks for it"},
      {"Status", R"({"kind":"Status","apiVersion":"v1","code":403})", ":1",
       "this is a Kubernetes Status, an error answer"},
      {"kubectl table", "NAME   READY   STATUS\npod1  1/1 Running\n", ":1",
       "this is a table, as kubectl get prints it"},
      {"kubectl error", "Error from server (Forbidden): pods is forbidden\n", ":1",
       "this is an error of kubectl: 'Error from server (Forbidden): pods is forbidden'"},
      {"klog", "I1129 20:03:08.569291       1 server.go:1] started", ":1", "this is a component's log"},
      {"other JSON", R"({"token":")" + secret + "\"}", ":1", "this is JSON lines of an unknown kind"},
      {"array", "[1,2]", ":1", "this is a JSON array"},
      {"cut at the start", R"(o","uid":"1"}})", ":1", "this is text that is not JSON"},
      {"cut in the first line", R"({"t":1,"stream":"po)", ":1", "this is damaged JSON"},
      {"number", "42\n", ":1", "this is text that is not JSON"},
      {"text", secret + "\n", ":1", "this is text that is not JSON"},
      {"deep", std::string(100000, '['), ":1", "this is a JSON array"},
      {"deep objects", R"({"t":)" + std::string(100000, '{'), ":1", "this is damaged JSON"},
  };
  for (const auto& c : cases) {
    const std::string path = folder.write("f", c.content);
    const auto input = Input::open(path);
    ASSERT_FALSE(input.ok()) << c.name;
    EXPECT_EQ(input.error().code, ErrorCode::kInput) << c.name;
    EXPECT_EQ(input.error().place, path + c.place) << c.name;
    EXPECT_EQ(input.error().text, c.text) << c.name;
    EXPECT_EQ(input.error().message().find(secret), std::string::npos) << c.name;
  }
}

TEST(Input, SaysThatTheFirstLineCannotBeRead) {
  const TestFolder folder;
  const std::string packed = gzip("{\"t\":1,\"stream\":\"pods\",\"kind\":\"close\"}\n");
  const auto cut = Input::open(folder.write("f", packed.substr(0, packed.size() - 20)));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().text.find("the gzip data ends early"), 0u) << cut.error().text;
  const auto header = Input::open(folder.write("f", packed.substr(0, 8)));
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().text, "the gzip data ends early");
  const auto huge = Input::open(folder.write("f", zstd(std::string(kMaxLine + 1, ' '))));
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().text, "begins with 64 KiB of blanks");
}

TEST(Input, NamesFilesWithoutFoldersAndEndings) {
  EXPECT_EQ(file_name("a/b/race.binds.jsonl"), "race.binds.jsonl");
  EXPECT_EQ(stem("a/b/race.binds.jsonl.zst"), "race.binds");
  EXPECT_EQ(stem("audit.log.gz"), "audit");
  EXPECT_EQ(stem(".gz"), ".gz");
  EXPECT_EQ(stem("plain"), "plain");
}

}  // namespace
}  // namespace inquest::recorder
