// What the decoder reads from well-formed objects; nasty input is in decode_hostile_test.cpp.
#include "kube/decode.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/rfc3339.h"
#include "base/test_folder.h"

namespace inquest::kube {
namespace {

std::string captured_pod() { return read_file("kube/testdata/pod_modified.json"); }

class DecodeTest : public ::testing::Test {
 protected:
  // The facts of an object that must decode without a warning.
  template <typename Facts>
  Facts facts(const std::string& json) {
    const Result<ObjectFacts> object = decoder.object(json);
    EXPECT_TRUE(object.ok()) << json << (object.ok() ? "" : object.error().message());
    for (const Warning& warning : decoder.take_warnings()) {
      ADD_FAILURE() << warning.object << " " << warning.field << ": " << warning.text;
    }
    if (!object.ok() || !std::holds_alternative<Facts>(*object)) {
      ADD_FAILURE() << "other facts than expected of " << json;
      return {};
    }
    return std::get<Facts>(*object);
  }
  PodFacts pod(const std::string& json) { return facts<PodFacts>(json); }

  Catalog catalog;
  Decoder decoder{catalog};
};

TEST_F(DecodeTest, APodFrameOfARealServer) {
  const Result<DecodedFrame> frame = decoder.frame(captured_pod());
  ASSERT_TRUE(frame.ok()) << frame.error().message();
  EXPECT_EQ(frame->type, DecodedFrame::Type::kModified);
  EXPECT_EQ(frame->rv, 650U);
  EXPECT_EQ(decoder.warning_count(), 0U);
  const auto& pod = std::get<PodFacts>(frame->object);
  EXPECT_EQ(catalog.ns(catalog.key_of(pod.pod)), "sched-lab");
  EXPECT_EQ(catalog.name(catalog.key_of(pod.pod)), "pod1");
  EXPECT_EQ(catalog.uid(pod.pod), "6744d1bf-cac2-4651-98d8-860cf485a6f6");
  EXPECT_EQ(catalog.node_name(pod.node), "pair-1");
  EXPECT_EQ(catalog.text(pod.scheduler), "default-scheduler");
  EXPECT_EQ(pod.rv, 650U);
  EXPECT_EQ(format_rfc3339(pod.created), "2026-11-29T20:04:12Z");
  EXPECT_FALSE(pod.deletion.known());
  EXPECT_EQ(pod.phase, PodPhase::kPending);
  EXPECT_EQ(pod.scheduled, Condition::kTrue);
  EXPECT_TRUE(pod.bound());
  EXPECT_FALSE(pod.mirror);
  EXPECT_FALSE(pod.gated);
  PodShape expected;
  expected.requests = {100, int64_t{128} << 20, 0, {}};
  expected.nonzero_cpu_milli = 100;
  expected.nonzero_memory = int64_t{128} << 20;
  expected.ports = {{"", Protocol::kTcp, 8080}};
  EXPECT_EQ(catalog.shape(pod.shape), expected);
}

// The same object with its fields turned round, down to the type of the frame, means the same.
TEST_F(DecodeTest, FieldsInAnyOrder) {
  const char* const kForward =
      R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},)"
      R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}},"ports":[{"hostPort":80}]}],"nodeName":"x","priority":5},)"
      R"("status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True"}]}}})";
  const char* const kBackward =
      R"({"object":{"status":{"conditions":[{"status":"True","type":"PodScheduled"}],"phase":"Running"},)"
      R"("spec":{"priority":5,"nodeName":"x","containers":[{"ports":[{"hostPort":80}],"resources":{"requests":{"cpu":"1"}},"name":"c"}]},)"
      R"("metadata":{"resourceVersion":"7","uid":"u","namespace":"n","name":"a"},"apiVersion":"v1","kind":"Pod"},"type":"ADDED"})";
  const Result<DecodedFrame> forward = decoder.frame(kForward);
  const Result<DecodedFrame> backward = decoder.frame(kBackward);
  ASSERT_TRUE(forward.ok() && backward.ok());
  const auto& a = std::get<PodFacts>(forward->object);
  const auto& b = std::get<PodFacts>(backward->object);
  EXPECT_EQ(a.pod, b.pod);
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.rv, b.rv);
  EXPECT_EQ(b.priority, 5);
  EXPECT_EQ(b.phase, PodPhase::kRunning);
  EXPECT_EQ(b.scheduled, Condition::kTrue);
  EXPECT_EQ(catalog.node_name(b.node), "x");
  EXPECT_EQ(catalog.shape(b.shape).ports.size(), 1U);
  EXPECT_EQ(catalog.shape(b.shape).requests.cpu_milli, 1000);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

TEST_F(DecodeTest, RequestsOfEveryPart) {
  const PodFacts facts = pod(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{)"
      R"("initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"10m"}},"ports":[{"hostPort":53,"protocol":"UDP"}]},)"
      R"({"name":"i","resources":{"requests":{"cpu":"200m","ephemeral-storage":"1Gi"}},"ports":[{"hostPort":1}]}],)"
      R"("containers":[{"name":"c","resources":{"limits":{"cpu":"9"},"requests":{"cpu":"100m","memory":128,"nvidia.com/gpu":"2"}},)"
      R"("ports":[{"containerPort":80},{"hostPort":80,"hostIP":"0.0.0.0"},{"hostPort":81,"hostIP":"10.0.0.1","protocol":"SCTP"}]}],)"
      R"("overhead":{"cpu":"1m"},"resources":{"requests":{"memory":"1Ki"}},"schedulingGates":[{"name":"g"}]}})");
  EXPECT_TRUE(facts.gated);
  PodShape expected;
  expected.requests = {211, 1024, int64_t{1} << 30, {{"nvidia.com/gpu", 2}}};
  expected.nonzero_cpu_milli = 211;
  expected.nonzero_memory = 1024;
  expected.ports = {{"", Protocol::kTcp, 80}, {"", Protocol::kUdp, 53}, {"10.0.0.1", Protocol::kSctp, 81}};
  EXPECT_EQ(catalog.shape(facts.shape), expected);
}

TEST_F(DecodeTest, MirrorPodsAndOddUids) {
  const PodFacts facts = pod(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"c0ffee00c0ffee00c0ffee00c0ffee00",)"
      R"("annotations":{"kubernetes.io/config.mirror":"x"},"deletionTimestamp":"2026-11-29T20:04:12Z"},"status":{"phase":"Failed"}})");
  EXPECT_TRUE(facts.mirror);
  EXPECT_TRUE(facts.terminal());
  EXPECT_EQ(format_rfc3339(facts.deletion), "2026-11-29T20:04:12Z");
  EXPECT_EQ(catalog.uid(facts.pod), "c0ffee00c0ffee00c0ffee00c0ffee00");
}

TEST_F(DecodeTest, Nodes) {
  const auto node = facts<NodeFacts>(
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"pair-1","uid":"u","resourceVersion":"228"},"spec":{"unschedulable":true},)"
      R"("status":{"capacity":{"cpu":"9"},"allocatable":{"cpu":"2","ephemeral-storage":"50Gi","memory":"2560Mi","pods":"110","z.com/x":"1","a.com/x":"2","b.com/x":"0"},)"
      R"("conditions":[{"type":"MemoryPressure","status":"True"},{"type":"Ready","status":"Unknown"}]}})");
  EXPECT_EQ(catalog.node_name(node.node), "pair-1");
  EXPECT_EQ(catalog.text(node.uid), "u");
  EXPECT_EQ(node.rv, 228U);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.ready, Condition::kUnknown);
  const Allocatable expected{{2000, int64_t{2560} << 20, int64_t{50} << 30, {{"a.com/x", 2}, {"z.com/x", 1}}}, 110};
  EXPECT_EQ(catalog.allocatable(node.allocatable), expected);
}

TEST_F(DecodeTest, EventsOfBothApis) {
  const char* const kEvents[] = {
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e","namespace":"n","uid":"eu","resourceVersion":"9"},"reason":"Scheduled",)"
      R"("reportingController":"default-scheduler","regarding":{"kind":"Pod","namespace":"n","name":"pod1","uid":"u1"},"deprecatedSource":{}})",
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","uid":"eu","resourceVersion":"9"},"reason":"Scheduled","reportingComponent":"",)"
      R"("source":{"component":"default-scheduler"},"involvedObject":{"kind":"Pod","namespace":"n","name":"pod1","uid":"u1"}})"};
  for (const char* text : kEvents) {
    const auto event = facts<EventFacts>(text);
    EXPECT_EQ(catalog.text(event.reason), "Scheduled") << text;
    EXPECT_EQ(catalog.text(event.controller), "default-scheduler") << text;
    EXPECT_EQ(catalog.text(event.regarding_kind), "Pod") << text;
    EXPECT_EQ(catalog.name(event.regarding), "pod1") << text;
    EXPECT_EQ(catalog.text(event.regarding_uid), "u1") << text;
    EXPECT_EQ(catalog.name(event.key), "e") << text;
    EXPECT_EQ(event.rv, 9U) << text;
  }
}

TEST_F(DecodeTest, AnythingElseByIdentity) {
  const auto other = facts<OtherFacts>(
      R"({"kind":"Node","apiVersion":"longhorn.io/v1","metadata":{"name":"x","namespace":"n","uid":"u","resourceVersion":"3"},"spec":7,"status":[]})");
  EXPECT_EQ(catalog.text(other.kind), "Node");
  EXPECT_EQ(catalog.name(other.key), "x");
  EXPECT_EQ(other.rv, 3U);
}

TEST_F(DecodeTest, Bookmarks) {
  const struct {
    const char* text;
    uint64_t rv;
    bool end;
  } kCases[] = {
      {R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746","creationTimestamp":null},"spec":{"containers":null},"status":{}}})",
       12746, false},
      {R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"688","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{}}})",
       688, true},
      {R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"688","annotations":{"k8s.io/initial-events-end":"yes"}}}})",
       688, false},
  };
  for (const auto& c : kCases) {
    const Result<DecodedFrame> frame = decoder.frame(c.text);
    ASSERT_TRUE(frame.ok()) << c.text;
    EXPECT_EQ(frame->type, DecodedFrame::Type::kBookmark);
    EXPECT_EQ(frame->rv, c.rv) << c.text;
    EXPECT_EQ(frame->initial_events_end, c.end) << c.text;
  }
  EXPECT_EQ(decoder.warning_count(), 0U);
  EXPECT_EQ(catalog.pods() + catalog.nodes(), 0U) << "a bookmark is no object";
}

TEST_F(DecodeTest, ErrorFrames) {
  const struct {
    const char* text;
    int code;
    const char* reason;
    const char* message;
  } kCases[] = {
      {R"json({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 10 (99)","reason":"Gone","code":410}})json",
       410, "Gone", "too old resource version: 10 (99)"},
      {R"({"type":"ERROR","object":{"status":"Failure","message":"401: outdated and \"cleared\""}})", 0, "",
       "401: outdated and \"cleared\""},
      {R"({"object":{"code":500,"reason":"InternalError"},"type":"ERROR"})", 500, "InternalError", ""},
      {R"({"type":"ERROR","object":{}})", 0, "", ""},
      {R"({"type":"ERROR","object":null})", 0, "", ""},
      {R"({"type":"ERROR"})", 0, "", ""},
      {R"({"type":"ERROR","object":{"code":-5}})", 0, "", ""},
  };
  for (const auto& c : kCases) {
    const Result<DecodedFrame> frame = decoder.frame(c.text);
    ASSERT_TRUE(frame.ok()) << c.text;
    EXPECT_EQ(frame->type, DecodedFrame::Type::kError);
    EXPECT_EQ(frame->code, c.code) << c.text;
    EXPECT_EQ(frame->reason, c.reason) << c.text;
    EXPECT_EQ(frame->message, c.message) << c.text;
  }
}

TEST_F(DecodeTest, Lists) {
  const struct {
    const char* text;
    const char* kind;
    uint64_t rv;
    size_t items;
    const char* next_page;
  } kCases[] = {
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":null})", "PodList", 5, 0, ""},
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]})", "PodList", 5, 0, ""},
      {R"({"kind":"PodList","apiVersion":"v1","metadata":null})", "PodList", 0, 0, ""},
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"abc"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})",
       "PodList", 5, 2, "abc"},
      {R"({"items":[{"spec":{},"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"5"},"apiVersion":"v1","kind":"PodList"})",
       "PodList", 5, 2, ""},
      {R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":""},"items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}]})",
       "List", 0, 1, ""},
  };
  for (const auto& c : kCases) {
    const Result<DecodedList> list = decoder.list(c.text);
    ASSERT_TRUE(list.ok()) << c.text << list.error().message();
    EXPECT_EQ(list->kind, c.kind) << c.text;
    EXPECT_EQ(list->rv, c.rv) << c.text;
    EXPECT_EQ(list->continue_token, c.next_page) << c.text;
    ASSERT_EQ(list->objects.size(), c.items) << c.text;
    for (const ObjectFacts& object : list->objects) EXPECT_TRUE(std::holds_alternative<PodFacts>(object)) << c.text;
  }
  EXPECT_EQ(decoder.warning_count(), 0U);
}

TEST_F(DecodeTest, ItemsTakeTheirTypeFromTheList) {
  const Result<DecodedList> nodes = decoder.list(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x"},"status":{"allocatable":{"pods":"5"}}}]})");
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(catalog.allocatable(std::get<NodeFacts>(nodes->objects.at(0)).allocatable).pods, 5);
  const Result<DecodedList> other = decoder.list(
      R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"x"},"spec":{}}]})");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(catalog.text(std::get<OtherFacts>(other->objects.at(0)).kind), "Lease");
  // An item that says otherwise is believed, even where its spec came first.
  const Result<DecodedList> mixed = decoder.list(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"spec":{"nodeName":"x"},"metadata":{"name":"p"},"kind":"Pod"}]})");
  ASSERT_TRUE(mixed.ok());
  EXPECT_TRUE(std::get<PodFacts>(mixed->objects.at(0)).bound());
}

// A page of a list with each object as large as real ones, decoded twice by one decoder: buffers are reused.
TEST_F(DecodeTest, ALongList) {
  const std::string frame = captured_pod();
  const size_t start = frame.find("{\"kind\"");
  const std::string item = frame.substr(start, frame.rfind('}') - start);
  std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" + item;
  for (int i = 1; i < 1000; ++i) list += "," + item;
  list += "]}\n";
  for (int round = 0; round < 2; ++round) {
    const Result<DecodedList> decoded = decoder.list(list);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message();
    EXPECT_EQ(decoded->objects.size(), 1000U);
    ASSERT_TRUE(decoder.frame(frame).ok());
  }
  EXPECT_EQ(catalog.pods(), 1U);
  EXPECT_EQ(decoder.warning_count(), 0U);
}

TEST_F(DecodeTest, Statuses) {
  const Result<DecodedStatus> status = decoder.status(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"wire\" not found","reason":"NotFound","code":404})");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(status->reason, "NotFound");
  EXPECT_EQ(status->message, "pods \"wire\" not found");
  EXPECT_TRUE(decoder.status(R"({"message":"no kind","code":500})").ok());
  EXPECT_FALSE(decoder.status(R"({"kind":"Pod","apiVersion":"v1","metadata":{}})").ok());
  EXPECT_FALSE(decoder.status(R"({})").ok());
}

TEST_F(DecodeTest, EscapedTextAndKeysAreRead) {
  const PodFacts facts = pod(
      R"({"kind":"P\u006fd","apiVersion":"v1","met\u0061data":{"n\u0061me":"caf\u00e9-\ud83d\ude00","namespace":"a\/b"}})");
  EXPECT_EQ(catalog.name(catalog.key_of(facts.pod)), "caf\xc3\xa9-\xf0\x9f\x98\x80");
  EXPECT_EQ(catalog.ns(catalog.key_of(facts.pod)), "a/b");
}

TEST_F(DecodeTest, AByteOrderMarkIsNoMatter) {
  EXPECT_TRUE(decoder.frame("\xef\xbb\xbf" + captured_pod()).ok());
  EXPECT_TRUE(decoder.frame("\r\n " + captured_pod() + "\r\n\t ").ok());
}

}  // namespace
}  // namespace inquest::kube
