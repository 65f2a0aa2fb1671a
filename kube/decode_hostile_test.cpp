// Input that breaks parsers: nulls, wrong types, other formats, depth, damage. Nothing may crash or be lost silently.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/test_folder.h"
#include "kube/decode.h"

namespace inquest::kube {
namespace {

std::string captured_pod() { return read_file("kube/testdata/pod_modified.json"); }

std::string pod_with(const std::string& fields) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n"},)" + fields + "}";
}

std::string repeat(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

class HostileTest : public ::testing::Test {
 protected:
  Catalog catalog;
  Decoder decoder{catalog};
};

TEST_F(HostileTest, NullsCountAsAbsent) {
  for (
      const char* fields :
      {R"("spec":null,"status":null)",
       R"("spec":{"containers":null,"initContainers":null,"nodeName":null,"schedulerName":null,"priority":null,"overhead":null,"resources":null,"schedulingGates":null},"status":{"phase":null,"conditions":null})",
       R"("spec":{"containers":[null,{"name":null,"resources":null,"ports":null},{"resources":{"requests":null},"ports":[null,{"hostPort":null,"hostIP":null,"protocol":null}]}]},"status":{"conditions":[null,{"type":null,"status":null}]})"}) {
    const Result<ObjectFacts> object = decoder.object(pod_with(fields));
    ASSERT_TRUE(object.ok()) << fields;
    const auto& pod = std::get<PodFacts>(*object);
    EXPECT_FALSE(pod.bound()) << fields;
    EXPECT_FALSE(pod.gated) << fields;
    EXPECT_EQ(catalog.shape(pod.shape).requests, Resources{}) << fields;
    EXPECT_TRUE(catalog.shape(pod.shape).ports.empty()) << fields;
  }
  const Result<ObjectFacts> bare = decoder.object(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":null,"namespace":null,"uid":null,"resourceVersion":null,"annotations":null,"creationTimestamp":null}})");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(rv_of(*bare), 0U);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

// The field keeps its default, and a warning names object, field and what is wrong.
TEST_F(HostileTest, OneBadFieldIsAWarning) {
  const struct {
    const char* fields;
    const char* field;
    const char* text;
  } kCases[] = {
      {R"("spec":"x")", "spec", "a string where an object is expected"},
      {R"("spec":{"nodeName":7})", "spec.nodeName", "a number where a string is expected"},
      {R"("spec":{"nodeName":{"a":[1,{"b":2}]}})", "spec.nodeName", "an object where a string is expected"},
      {R"("spec":{"containers":{}})", "spec.containers", "an object where a list is expected"},
      {R"("spec":{"containers":[[]]})", "spec.containers[0]", "a list where an object is expected"},
      {R"("spec":{"containers":[{},{"name":"web","resources":{"requests":{"memory":"16g"}}}]})",
       "spec.containers[1].resources.requests.memory", "'16g' is no quantity (container 'web')"},
      {R"("spec":{"containers":[{"resources":{"requests":{"cpu":"-1"}}}]})",
       "spec.containers[0].resources.requests.cpu", "an amount below zero; taken as zero"},
      {R"("spec":{"containers":[{"resources":{"requests":{"cpu":true}}}]})",
       "spec.containers[0].resources.requests.cpu", "true or false where a string is expected"},
      {R"("spec":{"containers":[{"resources":{"requests":{"gpu":"1"}}}]})", "spec.containers[0].resources.requests.gpu",
       "no resource that pods are scheduled by; ignored"},
      {R"("spec":{"containers":[{"ports":[{"hostPort":65536}]}]})", "spec.containers[0].ports[0].hostPort",
       "65536 is no port"},
      {R"("spec":{"containers":[{"ports":[{"hostPort":99999999999999999999}]}]})",
       "spec.containers[0].ports[0].hostPort", "'99999999999999999999' is no integer of 64 bits"},
      {R"("spec":{"containers":[{"ports":[{"hostPort":80,"protocol":"ICMP"}]}]})",
       "spec.containers[0].ports[0].protocol", "'ICMP' is no protocol; taken as TCP"},
      {R"("spec":{"priority":1e999})", "spec.priority", "'1e999' is no integer of 64 bits"},
      {R"("spec":{"priority":1.5})", "spec.priority", "'1.5' is no integer of 64 bits"},
      {R"("spec":{"priority":3000000000})", "spec.priority", "3000000000 is no integer of 32 bits"},
      {R"("status":{"phase":"Zombie"})", "status.phase", "'Zombie' is no phase of a pod"},
      {R"("spec":{"nodeName":"\ud800"})", "spec.nodeName", "a string with a bad escape"},
  };
  for (const auto& c : kCases) {
    const Result<ObjectFacts> object = decoder.object(pod_with(c.fields));
    ASSERT_TRUE(object.ok()) << c.fields << object.error().message();
    const std::vector<Warning> warnings = decoder.take_warnings();
    ASSERT_EQ(warnings.size(), 1U) << c.fields;
    EXPECT_EQ(warnings[0].object, "pod n/a");
    EXPECT_EQ(warnings[0].field, c.field);
    EXPECT_EQ(warnings[0].text, c.text);
    EXPECT_FALSE(std::get<PodFacts>(*object).bound());
  }
}

TEST_F(HostileTest, WhatStandsAroundABadFieldIsKept) {
  const Result<ObjectFacts> object = decoder.object(pod_with(
      R"("spec":{"priority":{"deep":[1,2,{"x":null}]},"containers":[{"resources":{"requests":{"cpu":"x","memory":"1Ki"}},"ports":[7,{"hostPort":80}]}],"nodeName":"y"},"status":{"phase":"Running"})"));
  ASSERT_TRUE(object.ok());
  const auto& pod = std::get<PodFacts>(*object);
  EXPECT_EQ(catalog.node_name(pod.node), "y");
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_EQ(catalog.shape(pod.shape).requests.memory, 1024);
  EXPECT_EQ(catalog.shape(pod.shape).ports.size(), 1U);
  EXPECT_EQ(decoder.warning_count(), 3U);
}

TEST_F(HostileTest, WarningsNameTheObjectEvenIfItsNameComesLast) {
  ASSERT_TRUE(
      decoder
          .object(R"({"kind":"Pod","apiVersion":"v1","spec":{"nodeName":7},"metadata":{"namespace":"n","name":"z"}})")
          .ok());
  EXPECT_EQ(decoder.take_warnings().at(0).object, "pod n/z");
  ASSERT_TRUE(
      decoder
          .list(
              R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[7,null,{},{"spec":{"nodeName":7},"metadata":{"name":"q"}}]})")
          .ok());
  const std::vector<Warning> warnings = decoder.take_warnings();
  ASSERT_EQ(warnings.size(), 4U);
  EXPECT_EQ(warnings[0].field, "items[0]");
  EXPECT_EQ(warnings[1].field, "items[1]");
  EXPECT_EQ(warnings[2].field, "items[2]");
  EXPECT_EQ(warnings[2].text, "an object without metadata; left out");
  EXPECT_EQ(warnings[3].object, "pod q");
  EXPECT_EQ(warnings[3].field, "items[3].spec.nodeName");
}

TEST_F(HostileTest, TextOfStrangersIsCutAndMadeSafeInWarnings) {
  ASSERT_TRUE(decoder
                  .object(pod_with(R"("spec":{"containers":[{"resources":{"requests":{"cpu":"\u001b[31m)" +
                                   repeat("é", 500) + R"("}}}]})"))
                  .ok());
  const Warning warning = decoder.take_warnings().at(0);
  EXPECT_LT(warning.text.size(), 100U);
  EXPECT_EQ(warning.text.find('\x1b'), std::string::npos);
  EXPECT_NE(warning.text.find("\xc3\xa9…"), std::string::npos) << "cut between characters: " << warning.text;
}

TEST_F(HostileTest, AtMostAHundredWarningsKeepTheirText) {
  ASSERT_TRUE(decoder.object(pod_with(R"("spec":{"containers":[)" + repeat("7,", 500) + "7]}")).ok());
  EXPECT_EQ(decoder.take_warnings().size(), 100U);
  EXPECT_EQ(decoder.warning_count(), 501U);
  EXPECT_TRUE(decoder.take_warnings().empty());
}

TEST_F(HostileTest, ResourceVersionsAreNumbersOnlyIfPlainDecimal) {
  const struct {
    const char* json;
    uint64_t rv;
    uint64_t warnings;
  } kCases[] = {
      {R"("7")", 7, 0},  {"7", 7, 0},       {R"("0")", 0, 0},
      {R"("")", 0, 0},   {"null", 0, 0},    {R"("abc")", 0, 1},
      {R"("7a")", 0, 1}, {R"("-7")", 0, 1}, {R"(" 7")", 0, 1},
      {"1e3", 0, 1},     {"7.0", 0, 1},     {R"("18446744073709551615")", UINT64_MAX, 0},
      {"{}", 0, 1},      {"true", 0, 1},    {R"("18446744073709551616")", 0, 1},
  };
  for (const auto& c : kCases) {
    const uint64_t before = decoder.warning_count();
    const Result<ObjectFacts> object = decoder.object(
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":)" + std::string(c.json) + "}}");
    ASSERT_TRUE(object.ok()) << c.json;
    EXPECT_EQ(rv_of(*object), c.rv) << c.json;
    EXPECT_EQ(decoder.warning_count() - before, c.warnings) << c.json;
  }
}

TEST_F(HostileTest, OfAKeyGivenTwiceTheLastCounts) {
  const Result<ObjectFacts> object = decoder.object(
      R"({"kind":"Node","kind":"Pod","apiVersion":"v1","metadata":{"name":"a","name":"b"},"spec":{"nodeName":"x","nodeName":"y",)"
      R"("containers":[{"ports":[{"hostPort":1}]}],"containers":[{"resources":{"requests":{"cpu":"1","cpu":"2","a.com/x":"1","a.com/x":"5"}}}]}})");
  ASSERT_TRUE(object.ok());
  ASSERT_TRUE(std::holds_alternative<PodFacts>(*object));
  const auto& pod = std::get<PodFacts>(*object);
  EXPECT_EQ(catalog.name(catalog.key_of(pod.pod)), "b");
  EXPECT_EQ(catalog.node_name(pod.node), "y");
  const PodShape& shape = catalog.shape(pod.shape);
  EXPECT_TRUE(shape.ports.empty());
  EXPECT_EQ(shape.requests.cpu_milli, 2000);
  EXPECT_EQ(shape.requests.extended, (std::vector<NamedAmount>{{"a.com/x", 5}}));
}

TEST_F(HostileTest, WhatIsNoFrameIsRefusedByName) {
  const struct {
    std::string text;
    const char* says;
  } kCases[] = {
      {"", "empty"},
      {" \r\n\t", "empty"},
      {"42", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"\"ADDED\"", "not a JSON object"},
      {"null", "not a JSON object"},
      {"o\",\"uid\":\"x\"}}", "not a JSON object"},
      {"<html>\r\n<head><title>502 Bad Gateway</title>", "HTML"},
      {std::string("\x1f\x8b\x08\x00", 4), "gzip"},
      {std::string("\xff\xfe{\x00", 4), "UTF-16"},
      {"{", "not JSON"},
      {"{}", "without a type"},
      {"{}{}", "something follows"},
      {R"({"type":"ADDED","object":{"metadata":{}}} x)", "not JSON"},
      {R"({"type":"ADDED","object":{"metadata":{}}}{"type":"ADDED","object":{"metadata":{}}})", "something follows"},
      {R"({"type":"ADDED"})", "without an object"},
      {R"({"type":"ADDED","object":null})", "without an object"},
      {R"({"type":"ADDED","object":7})", "without an object"},
      {R"({"type":"ADDED","object":{"kind":"Pod"}})", "without metadata"},
      {R"({"type":"ADDED","object":{"kind":"Pod","metadata":null}})", "without metadata"},
      {R"({"type":"BOOKMARK","object":{}})", "without metadata"},
      {R"({"type":"PING","object":{"metadata":{}}})", "unknown type 'PING'"},
      {R"({"type":null,"object":{"metadata":{}}})", "without a type"},
      {R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})", "not a watch frame"},
      {R"({"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"rows":[]}})",
       "Table"},
      {R"({"type":"ADDED","object":{"metadata":{"name":)", "not JSON"},
      {R"({"type":"ADDED","object":{"metadata":{"name":"a}})", "inside a string"},
      {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\xc3\x28\"}}}", "UTF-8"},
      {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\nb\"}}}", "control character"},
      {R"({"type":"ADDED","object":{"metadata":{}},})", "not JSON"},
      {R"({"type":"ADDED","object":})", "not JSON"},
      {R"({"x":})", "not JSON"},
      {R"({"x":]})", "not JSON"},
      {R"({"x"})", "not JSON"},
      {R"({"x":1 "y":2})", "not JSON"},
      {R"({,})", "not JSON"},
      {R"({7:8})", "not JSON"},
      {R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"containers":[1,]}}})",
       "not JSON"},
  };
  for (const auto& c : kCases) {
    const Result<DecodedFrame> frame = decoder.frame(c.text);
    ASSERT_FALSE(frame.ok()) << c.text;
    EXPECT_NE(frame.error().text.find(c.says), std::string::npos) << c.text << " → " << frame.error().text;
  }
  EXPECT_TRUE(decoder.frame(captured_pod()).ok()) << "the decoder goes on after any of them";
}

TEST_F(HostileTest, WhatIsNoListIsRefusedByName) {
  const struct {
    const char* text;
    const char* says;
  } kCases[] = {
      {R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":[]})", "Table"},
      {R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden","code":403})",
       "pods is forbidden"},
      {R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})", "'Pod', not a list"},
      {"{}", "not a list"},
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{]})", "not JSON"},
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{}})", "not JSON"},
  };
  for (const auto& c : kCases) {
    const Result<DecodedList> list = decoder.list(c.text);
    ASSERT_FALSE(list.ok()) << c.text;
    EXPECT_NE(list.error().text.find(c.says), std::string::npos) << c.text << " → " << list.error().text;
  }
}

TEST_F(HostileTest, NothingOfADamagedDocumentEntersTheCatalog) {
  const std::string damaged =
      R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"ghost"},"spec":{"nodeName":7,"priority":3 4}}})";
  EXPECT_FALSE(decoder.frame(damaged).ok());
  EXPECT_EQ(catalog.pods() + catalog.keys() + catalog.nodes(), 0U);
  EXPECT_EQ(decoder.warning_count(), 0U);
  EXPECT_TRUE(decoder.take_warnings().empty());
}

TEST_F(HostileTest, DepthIsLimited) {
  const auto nested = [](size_t depth, const std::string& open, const std::string& close) {
    return R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"x":)" +
           repeat(open, depth) + "1" + repeat(close, depth) + "}}";
  };
  EXPECT_TRUE(decoder.frame(nested(198, "[", "]")).ok());
  for (const auto& text : {nested(199, "[", "]"), nested(1'000'000, "[", "]"), nested(300'000, "{\"a\":", "}"),
                           repeat("{\"a\":", 1'000'000)}) {
    const Result<DecodedFrame> frame = decoder.frame(text);
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.error().code, ErrorCode::kOutOfLimit) << frame.error().text;
  }
  // Brackets inside strings and many shallow ones are no depth.
  EXPECT_TRUE(decoder.frame(nested(1, "[\"" + repeat("[{\\\"", 1000) + "\",", "]")).ok());
  EXPECT_TRUE(decoder.frame(nested(1, "[" + repeat("[],{},", 1000), "]")).ok());
}

TEST_F(HostileTest, MoreNamedResourcesThanAnyoneHasAreIgnored) {
  std::string requests;
  for (int i = 0; i < 5000; ++i) requests += (i == 0 ? "\"r" : ",\"r") + std::to_string(i) + ".com/x\":\"1\"";
  const Result<ObjectFacts> object =
      decoder.object(pod_with(R"("spec":{"containers":[{"resources":{"requests":{)" + requests + "}}}]}"));
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(catalog.shape(std::get<PodFacts>(*object).shape).requests.extended.size(), 256U);
  EXPECT_EQ(decoder.warning_count(), 5000U - 256U);
}

// Each byte of a real frame flipped in every bit, replaced by what JSON is made of, and cut off behind it.
TEST_F(HostileTest, EveryCorruptionOfARealFrameIsReadOrRefused) {
  std::string text = captured_pod();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t refused = 0;
  const auto decode = [&](const std::string& bytes) {
    // A buffer of exactly this size, so that a sanitizer sees any read beyond it.
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const std::string_view view(exact.data(), exact.size());
    refused += decoder.frame(view).ok() ? 0U : 1U;
    (void)decoder.list(view);
    (void)decoder.take_warnings();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    for (int bit = 0; bit < 8; ++bit) {
      damaged[i] = static_cast<char>(text[i] ^ (1 << bit));
      decode(damaged);
    }
    for (const char c : {'\0', '"', '\\', '{', '}', '[', ']', ',', ':', ' '}) {
      damaged[i] = c;
      decode(damaged);
    }
    EXPECT_FALSE(decoder.frame(std::string_view(text).substr(0, i)).ok()) << "cut at " << i;
    EXPECT_FALSE(decoder.frame(std::string_view(text).substr(i + 1)).ok()) << "starts at " << i + 1;
  }
  EXPECT_GT(refused, text.size()) << "most damage must show";
  EXPECT_TRUE(decoder.frame(text).ok());
}

}  // namespace
}  // namespace inquest::kube
