// Inputs that broke other people's parsers, each by its number in the catalogue of incidents.
#include <gtest/gtest.h>

#include "base/json_text.h"
#include "base/rfc3339.h"
#include "recorder/import.h"
#include "recorder/test_files.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

using trace::RecordKind;

std::string describe(const trace::Record& record, trace::TraceReader& reader) {
  const std::string rv = "(" + std::to_string(record.rv) + ")";
  const std::string stream = reader.info().streams[record.stream.value].stream.name + ":";
  constexpr const char* kVerbs[] = {"ADDED", "MODIFIED", "DELETED"};
  switch (record.kind) {
    case RecordKind::kFrame:
      return stream + kVerbs[static_cast<int>(record.verb)] + rv;
    case RecordKind::kList:
      return stream + (record.checkpoint ? "check" : "list") + rv + std::to_string(record.objects.size());
    case RecordKind::kBookmark:
      return stream + "bookmark" + rv;
    case RecordKind::kError:
      return stream + "error(" + std::to_string(record.status) + ")";
    case RecordKind::kGap:
      return stream + "gap";
    case RecordKind::kUndecodable:
      return stream + "undecodable";
    case RecordKind::kSource:
      return std::string(reader.catalog().text(record.text));
    case RecordKind::kOpen:
      return stream + "open";
    case RecordKind::kClose:
      return stream + "close";
    case RecordKind::kBindRequest:
      return stream + "bind?" + std::string(reader.catalog().node_name(record.bind.node));
    case RecordKind::kBindAnswer:
      return stream + "bind!" + std::to_string(record.bind.code);
  }
  return "";
}

class SamplesTest : public testing::Test {
 protected:
  // The outline of the trace made of these files; bodies_, texts_, losses_, notes_ hold the rest.
  std::string import(const std::vector<std::string>& contents) {
    ImportOptions options;
    for (const std::string& content : contents) {
      options.inputs.push_back(folder_.write("in" + std::to_string(options.inputs.size()), content));
    }
    options.output = folder_.path("x.trace");
    options.replace = true;
    auto report = import_files(options);
    if (!report.ok()) return report.error().text;
    report_ = *report;
    auto reader = trace::TraceReader::open(options.output);
    if (!reader.ok()) return reader.error().message();
    bodies_.clear();
    times_.clear();
    texts_ = losses_ = notes_ = "";
    std::string out;
    for (;;) {
      const auto record = reader->next();
      if (!record.ok()) return record.error().message();
      if (record.value() == nullptr) break;
      out += (out.empty() ? "" : " ") + describe(*record.value(), *reader);
      if (record.value()->text.known()) texts_ += std::string(reader->catalog().text(record.value()->text)) + "|";
      bodies_.push_back(*reader->body(record.value()->seq));
      times_.push_back(record.value()->wall);
    }
    for (const auto& loss : reader->info().losses) losses_ += loss.what + "|";
    for (const auto& note : reader->info().notes) notes_ += note.what + "|";
    complete_ = reader->info().complete();
    return out;
  }

  TestFolder folder_;
  ImportReport report_;
  std::vector<std::string> bodies_;
  std::vector<Time> times_;
  std::string texts_, losses_, notes_;
  bool complete_ = false;
};

std::string pod(const std::string& name, const std::string& rv, const std::string& more = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":"ns","uid":"u-)" + name +
         R"(","resourceVersion":")" + rv + "\"" + more + R"(},"spec":{}})";
}
std::string frame(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}
std::string capture(const std::string& kind, const std::string& body, const std::string& path = "") {
  std::string out = R"({"t":1,"stream":"pods","kind":")" + kind + "\"";
  if (!path.empty()) out += R"(,"path":")" + path + R"(","status":200)";
  if (body.empty()) return out + "}\n";
  out += R"(,"body":")";
  escape(body, Escapes::kShort, out);
  return out + "\"}\n";
}

TEST_F(SamplesTest, F01RawFramesWithEscapedKeys) {
  const std::string text =
      R"({"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"svc-a","namespace":"ns",)"
      R"("uid":"01","resourceVersion":"158","managedFields":[{"manager":"m","operation":"Update","fieldsType":)"
      R"("FieldsV1","fieldsV1":{"f:spec":{"f:ports":{".":{},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},)"
      R"("f:name":{}}}}}}]},"spec":{}}})";
  const std::string two = frame("MODIFIED", pod("a}{", "160"));
  for (const char* between : {"\n", "", "\r\n\n", " , "}) {
    EXPECT_EQ(import({std::string(text).append(between) + two}), "services:ADDED(158) pods:MODIFIED(160)");
    EXPECT_EQ(bodies_, (std::vector<std::string>{text, two}));
    EXPECT_TRUE(complete_);
    EXPECT_EQ(notes_, "times made up from what the objects say, since the input has none|");
  }
}

TEST_F(SamplesTest, F02KubectlObjectsBackToBack) {
  const std::string one =
      "{\n    \"apiVersion\": \"v1\",\n    \"kind\": \"Pod\",\n    \"metadata\": {\n        \"name\": "
      "\"a\",\n        \"uid\": \"1\",\n        \"resourceVersion\": \"7\"\n    }\n}";
  std::string list = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [" + pod("a", "5") + ",\n" + pod("b", "6") +
                     "],\n    \"kind\": \"PodList\",\n    \"metadata\": {\"resourceVersion\": \"6\"}\n}";
  EXPECT_EQ(import({one + "\n" + one}), "pods:ADDED(7) pods:MODIFIED(7)");
  EXPECT_EQ(bodies_.front(), one);
  EXPECT_NE(losses_.find("no delete information"), std::string::npos);
  EXPECT_FALSE(complete_);
  EXPECT_EQ(import({list + pod("a", "8") + "\n" + pod("c", "9")}), "pods:list(6)2 pods:MODIFIED(8) pods:ADDED(9)");
  EXPECT_EQ(import({list}), "pods:list(6)2");
  EXPECT_EQ(bodies_.front(), list);
  EXPECT_TRUE(complete_);
  const std::string mixed = R"({"apiVersion":"v1","items":[)" + pod("a", "5") +
                            R"(,{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}],"kind":"List"})";
  EXPECT_EQ(import({mixed}), "pods:list(0)1 nodes:list(0)1");
}

TEST_F(SamplesTest, F04F05ErrorsInTheStream) {
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) + "\n" +
                    frame("ERROR", R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
                                   R"("too old resource version: 10 (99) ","reason":"Gone","code":410})")}),
            "pods:ADDED(5) pods:error(410)");
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) + "\n" +
                    frame("ERROR", R"({"status":"Failure","message":"401: index outdated"})")}),
            "pods:ADDED(5) pods:error(0)");
  EXPECT_NE(texts_.find("401: index outdated"), std::string::npos);
  // Under its other name; a watch that goes on further without a LIST has a hole.
  const std::string expired = capture("frame", frame("ERROR", R"({"kind":"Status","reason":"Expired","code":410})"));
  const auto open = [](const std::string& rv) {
    return capture("open", "", "/api/v1/pods?watch=1&resourceVersion=" + rv);
  };
  const std::string list = capture("list", R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]})");
  EXPECT_EQ(import({list + open("9") + expired + open("12")}),
            "pods:list(9)0 pods:open pods:error(410) pods:gap pods:open");
}

TEST_F(SamplesTest, F07NothingAtAll) {
  const std::string open = capture("open", "", "/api/v1/pods?watch=1&resourceVersion=5");
  EXPECT_EQ(import({open + capture("close", "") + open + capture("close", "")}),
            "pods:gap pods:open pods:close pods:open pods:close");
  EXPECT_EQ(import({""}), "is empty");
}

TEST_F(SamplesTest, F08HtmlInPlaceOfJson) {
  const std::string page = "<html>\r\n<head><title>502 Bad Gateway</title>";
  EXPECT_EQ(import({page}), "this is an HTML page titled '502 Bad Gateway'");
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) + "\n" + page + "\n" + frame("ADDED", pod("b", "6"))}),
            "pods:ADDED(5) pods:gap pods:ADDED(6)");
  EXPECT_EQ(report_.loss_count, 1u);
  // As an answer; what it says is kept.
  const std::string answer = R"({"t":1,"stream":"pods","kind":"list","path":"/api/v1/pods","status":502,"body":")";
  EXPECT_EQ(import({answer + "<html>502 Bad Gateway</html>\"}\n"}), "pods:error(502)");
  EXPECT_EQ(bodies_[0], "<html>502 Bad Gateway</html>");
  const std::string escaped = R"({"kind":"Status","message":"&lt;html&gt;\u003ctitle\u003e502"})";
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) + frame("ERROR", escaped)}), "pods:ADDED(5) pods:error(0)");
  EXPECT_NE(texts_.find("&lt;html&gt;<title>502"), std::string::npos);
}

TEST_F(SamplesTest, F10BytesThatAreNoUtf8) {
  const std::string bad = frame("ADDED", pod("a\xe4\xb8", "5"));
  EXPECT_EQ(import({frame("ADDED", pod("b", "4")) + "\n" + bad}), "pods:ADDED(4) pods:undecodable");
  EXPECT_EQ(bodies_.back(), bad);
  EXPECT_EQ(import({capture("frame", bad)}), "pods:undecodable");
  EXPECT_EQ(bodies_.back(), bad);
  EXPECT_EQ(report_.loss_count, 1u);
}

TEST_F(SamplesTest, F11StartsInTheMiddle) {
  const std::string tail = "o\",\"uid\":\"1\"}}\n";
  EXPECT_EQ(import({tail + frame("ADDED", pod("a", "5")) + "\n"}), "pods:gap pods:ADDED(5)");
  EXPECT_EQ(report_.losses.at(0).text, "15 bytes passed over: not the start of a JSON object");
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")).substr(0, 60) + "\n" + frame("ADDED", pod("b", "6"))}),
            "pods:gap pods:ADDED(6)");
  EXPECT_EQ(import({frame("ADDED", pod("b", "6")) + "\n" + frame("ADDED", pod("a", "5")).substr(0, 60)}),
            "pods:ADDED(6)");
  EXPECT_EQ(report_.losses.at(0).text, "60 bytes passed over: a JSON object that is cut off");
  EXPECT_EQ(import({tail + capture("close", "")}), "pods:close");
}

TEST_F(SamplesTest, F13GzipAndZstd) {
  const std::string text = frame("ADDED", pod("a", "5")) + "\n";
  EXPECT_EQ(import({gzip(text)}), "pods:ADDED(5)");
  EXPECT_EQ(import({zstd(text)}), "pods:ADDED(5)");
}

TEST_F(SamplesTest, F14BookmarksFullOfNulls) {
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) +
                    frame("BOOKMARK", R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746",)"
                                      R"("creationTimestamp":null},"spec":{"containers":null},"status":{}})")}),
            "pods:ADDED(5) pods:bookmark(12746)");
}

TEST_F(SamplesTest, F16Tables) {
  const std::string table = R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},)"
                            R"("columnDefinitions":[],"rows":[]})";
  EXPECT_EQ(import({table}), "this is a Table, as kubectl asks for it");
  EXPECT_EQ(import({frame("ADDED", pod("a", "5")) + frame("ADDED", table)}), "pods:ADDED(5) pods:undecodable");
  EXPECT_NE(texts_.find("a Table, which has no specs"), std::string::npos);
}

TEST_F(SamplesTest, F17NullsInPlaceOfLists) {
  const std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":null})";
  EXPECT_EQ(import({list}), "pods:list(5)0");
  EXPECT_EQ(import({capture("list", list, "/api/v1/pods")}), "pods:list(5)0");
  EXPECT_TRUE(complete_);
}

TEST_F(SamplesTest, F19MirrorPodsShareAUid) {
  const auto mirror = [](const std::string& name, const std::string& rv) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","namespace":"ns","uid":"c0ffee00c0ffee00c0ffee00c0ffee00","resourceVersion":")" + rv +
           R"(","annotations":{"kubernetes.io/config.mirror":"x"}}})";
  };
  EXPECT_EQ(import({mirror("a-n1", "1") + mirror("a-n2", "2") + mirror("a-n1", "3")}),
            "pods:ADDED(1) pods:ADDED(2) pods:MODIFIED(3)");
}

TEST_F(SamplesTest, F20QuantitiesThatAreNone) {
  const std::string body = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"u"},)"
                           R"("spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"16g","cpu":1}}}]}})";
  EXPECT_EQ(import({frame("ADDED", body)}), "pods:ADDED(0)");
  ASSERT_EQ(report_.warning_count, 1u);
  EXPECT_NE(report_.warnings[0].find("pod ns/a: "), std::string::npos) << report_.warnings[0];
  EXPECT_NE(report_.warnings[0].find("'16g' is no quantity"), std::string::npos) << report_.warnings[0];
}

std::string utf16(const std::string& text, bool little) {
  std::string out = little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) out += little ? std::string{c, '\0'} : std::string{'\0', c};
  return out;
}

TEST_F(SamplesTest, F26ByteOrderMarksAndUtf16) {
  const std::string text = frame("ADDED", pod("a", "5")) + "\r\n" + frame("ADDED", pod("b", "6")) + "\r\n";
  EXPECT_EQ(import({utf16(text, true)}), "pods:ADDED(5) pods:ADDED(6)");
  EXPECT_EQ(import({utf16(text, false)}), "pods:ADDED(5) pods:ADDED(6)");
  EXPECT_EQ(import({"\xef\xbb\xbf" + text}), "pods:ADDED(5) pods:ADDED(6)");
  // U+1F600 as a pair, and a half of it.
  const std::string body = frame("ADDED", pod("a", "5"));
  std::string wide = utf16(body, true);
  wide.insert(2 + 2 * (body.find("\"name\":\"") + 8), std::string("\x3d\xd8\x00\xde\x3d\xd8", 6));
  EXPECT_EQ(import({wide}), "pods:ADDED(5)");
  EXPECT_NE(bodies_[0].find("\"\xf0\x9f\x98\x80\xef\xbf\xbd"
                            "a\""),
            std::string::npos)
      << bodies_[0];
}

TEST_F(SamplesTest, F28OddVersionsAndOldShapes) {
  EXPECT_EQ(
      import(
          {R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":7}}})"
           "\n" +
           frame("DELETED", pod("a", "3"))}),
      "pods:ADDED(7) pods:DELETED(3)");
  EXPECT_EQ(import({frame("ADDED", R"({"kind":"Pod","apiVersion":"v1beta1","id":"a","uid":"u","namespace":"ns"})")}),
            "objects:undecodable");
  EXPECT_EQ(import({frame("ADDED", pod("a", "")) + "\n42\n" + frame("ADDED", pod("b", "abc"))}),
            "pods:ADDED(0) pods:gap pods:ADDED(0)");
  EXPECT_EQ(import({frame("ADDED", "{" + std::string(300, '[') + std::string(300, ']') + "}")}), "objects:undecodable");
  EXPECT_NE(texts_.find("nested deeper than 200 levels"), std::string::npos);
  // A page of a list that is too old; lists without a version.
  std::string page = R"({\"kind\":\"Status\",\"metadata\":{\"continue\":\"x\"},\"code\":410,\"message\":\"too old\"})";
  page =
      R"({"t":1,"stream":"pods","kind":"list","path":"/api/v1/pods?continue=y","status":410,"body":")" + page + "\"}\n";
  EXPECT_EQ(import({page}), "pods:error(410)");
  EXPECT_NE(texts_.find("too old"), std::string::npos);
  for (const char* version : {R"("")", R"("0")", "null"}) {
    const std::string list = R"({"kind":"PodList","metadata":{"resourceVersion":)" + std::string(version);
    EXPECT_EQ(import({capture("list", list + R"(},"items":[]})", "/api/v1/pods")}), "pods:list(0)0") << version;
  }
}

TEST_F(SamplesTest, StreamingLists) {
  const std::string end = frame("BOOKMARK", R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
                                            R"("annotations":{"k8s.io/initial-events-end":"true"}}})");
  const std::string two = frame("ADDED", pod("a", "5")) + "\n" + frame("ADDED", pod("b", "6")) + "\n";
  const std::string later = frame("DELETED", pod("a", "10"));
  EXPECT_EQ(import({two + end + "\n" + later}), "streamed streamed pods:list(9)2 pods:bookmark(9) pods:DELETED(10)");
  EXPECT_EQ(import({two + later}), "pods:ADDED(5) pods:ADDED(6) pods:DELETED(10)");
  const std::string open = capture("open", "", "/api/v1/pods?watch=1&sendInitialEvents=true");
  const std::string frames =
      capture("frame", frame("ADDED", pod("a", "5"))) + capture("frame", frame("ADDED", pod("b", "6")));
  EXPECT_EQ(import({open + frames + capture("frame", end) + capture("frame", later)}),
            "pods:open streamed streamed pods:list(9)2 pods:bookmark(9) pods:DELETED(10)");
  EXPECT_TRUE(complete_);
  EXPECT_EQ(import({open + frames + capture("close", "")}), "pods:open streamed streamed pods:close");
  EXPECT_NE(losses_.find("a streaming list without its end"), std::string::npos);
}

TEST_F(SamplesTest, YamlDocuments) {
  const std::string one =
      "# a comment\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: '1'\n  resourceVersion: \"5\"\n"
      "  labels: {x: yes, y: 1.50}\nspec:\n  nodeName: n\n";
  EXPECT_EQ(import({one + "---\n" + one + "---\r\n# nothing\n"}), "pods:ADDED(5) pods:MODIFIED(5)");
  EXPECT_EQ(bodies_[0], one);
  EXPECT_EQ(import({"apiVersion: v1\nitems:\n- " +
                    std::string("apiVersion: v1\n  kind: Pod\n  metadata: {name: a, uid: u}\n") +
                    "kind: List\nmetadata: {resourceVersion: ''}\n"}),
            "pods:list(0)1");
  EXPECT_EQ(import({one + "---\nkind: Pod\nmetadata:\n  name: a\n  name: b\n---\n&a kind: *a\n"}), "pods:ADDED(5)");
  ASSERT_EQ(report_.loss_count, 3u);  // and no delete information
  EXPECT_EQ(report_.losses[0].text, "a key that is given twice in line 15");
  EXPECT_EQ(report_.losses[1].text, "an anchor in line 17");
  EXPECT_EQ(import({"kind: " + std::string(100'000, '[') + "\n"}).find("nothing in it could be used"), 0u);
}

TEST_F(SamplesTest, TimesComeFromTheObjectsAndNeverGoBack) {
  const std::string late = R"(,"creationTimestamp":"2026-01-01T00:00:05Z","deletionTimestamp":"2027-01-01T00:00:00Z")";
  const std::string early = R"(,"creationTimestamp":"2026-01-01T00:00:01Z","labels":{"x":"2026-02-01T00:00:00Z"})";
  import({frame("ADDED", pod("a", "1", late)) + frame("ADDED", pod("b", "2", early))});
  const Time created = *parse_rfc3339("2026-01-01T00:00:05Z");
  EXPECT_EQ(times_, (std::vector<Time>{created, created + Duration{1000}}));
}

TEST_F(SamplesTest, AuditLogsOfEveryLevel) {
  const auto event = [](const std::string& id, const std::string& pod_name, const std::string& more,
                        const std::string& stage = "ResponseComplete") {
    return R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":")" + id + R"(","stage":")" + stage +
           R"(","verb":"create","user":{"username":"system:kube-scheduler"},"objectRef":{"resource":"pods",)"
           R"("subresource":"binding","namespace":"ns","name":")" +
           pod_name +
           R"("},"requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z","stageTimestamp":"2026-01-01T00:00:00.000002Z")" +
           more + "}";
  };
  const std::string status = R"(,"responseStatus":{"code":201})";
  const std::string request =
      R"(,"requestObject":{"kind":"Binding","metadata":{"name":"a","uid":"u"},"target":{"name":"n1"}})";
  const std::string list =
      capture("list", R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})", "/api/v1/pods");
  // Metadata: which node is not known. Request: it is.
  EXPECT_EQ(import({list, event("1", "a", status) + "\n"}), "pods:list(1)0 in1:bind? in1:bind!201 line");
  EXPECT_EQ(import({list, event("1", "a", request + status) + "\n"}), "pods:list(1)0 in1:bind?n1 in1:bind!201 line");
  // Several stages are one request; a rotated file may repeat the last events of the one before.
  const std::string staged =
      event("1", "a", request, "RequestReceived") + "\n" + event("1", "a", request + status) + "\n";
  EXPECT_EQ(import({list, staged, event("1", "a", request + status) + "\n" + event("2", "b", status) + "\n"}),
            "pods:list(1)0 in1:bind?n1 in2:bind? in1:bind!201 in2:bind!201 line line line line");
  // A webhook's batch.
  const std::string batch = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[)" +
                            event("1", "a", request + status) + "," + event("2", "b", status) + "]}";
  EXPECT_EQ(import({list, batch}), "pods:list(1)0 in1:bind?n1 in1:bind? in1:bind!201 in1:bind!201 line");
  EXPECT_EQ(bodies_.back(), batch);
}

TEST_F(SamplesTest, NamesAboveOneKibibyte) {
  const std::string longest(1022, 'n'), longer(1023, 'n');  // the uid has two bytes more
  EXPECT_EQ(import({frame("ADDED", pod(longest, "5")) + frame("ADDED", pod("a", "6"))}), "pods:ADDED(5) pods:ADDED(6)");
  EXPECT_EQ(import({frame("ADDED", pod(longer, "5")) + frame("ADDED", pod("a", "6"))}),
            "objects:undecodable pods:ADDED(6)");
  EXPECT_EQ(bodies_[0], frame("ADDED", pod(longer, "5")));
  ASSERT_EQ(report_.loss_count, 1u);
  EXPECT_NE(report_.losses[0].place.find("in0:1"), std::string::npos) << report_.losses[0].place;
  EXPECT_NE(report_.losses[0].text.find("a name of more than 1 KiB"), std::string::npos) << report_.losses[0].text;
  EXPECT_EQ(report_.losses[0].text.find(longest), std::string::npos);
  const std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)" +
                           pod(longer, "3") + "," + pod("a", "4") + "]}";
  EXPECT_EQ(import({capture("list", list, "/api/v1/pods")}), "pods:list(5)1");
  EXPECT_EQ(bodies_[0], list);
  EXPECT_EQ(report_.loss_count, 1u);
  EXPECT_FALSE(complete_);
}

TEST_F(SamplesTest, ListItemsThatAreNone) {
  const std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[null,)" +
                           pod("a", "4") + R"(,{"spec":{}},7]})";
  for (const std::string& input : {list, capture("list", list, "/api/v1/pods")}) {
    EXPECT_EQ(import({input}), "pods:list(5)1");
    EXPECT_EQ(bodies_[0], list);
    ASSERT_EQ(report_.loss_count, 3u);
    EXPECT_NE(report_.losses[0].place.find("in0:1"), std::string::npos);
    EXPECT_FALSE(complete_);
    ASSERT_FALSE(report_.warnings.empty());
    EXPECT_NE(report_.warnings[0].find("in0:1: "), std::string::npos) << report_.warnings[0];
    EXPECT_NE(report_.warnings[0].find("items[0]"), std::string::npos) << report_.warnings[0];
  }
}

TEST_F(SamplesTest, TimesDecadesAwayAreWarnedOfAndKept) {
  const auto at = [](int64_t seconds, const std::string& object) {
    return R"({"t":)" + std::to_string(seconds * 1'000'000'000) + R"(,"stream":"pods","kind":"frame","body":)" +
           frame("ADDED", object) + "}\n";
  };
  constexpr int64_t k2024 = 1'704'067'200, k2262 = 9'214'646'400;
  const std::string created = R"(,"creationTimestamp":"1960-01-01T00:00:00Z")";
  EXPECT_EQ(import({at(k2024, pod("a", "1")) + at(k2262, pod("b", "2")) + at(k2024 + 1, pod("c", "3"))}),
            "pods:ADDED(1) envelope pods:ADDED(2) envelope pods:ADDED(3) envelope");
  ASSERT_EQ(report_.warning_count, 1u);
  EXPECT_NE(report_.warnings[0].find("in0:2: its time, 2262-"), std::string::npos) << report_.warnings[0];
  EXPECT_EQ(report_.loss_count, 0u);
  // The first line is the odd one: what follows is compared with itself.
  import({at(k2262, pod("a", "1")) + at(k2024, pod("b", "2")) + at(k2024 + 1, pod("c", "3")) +
          at(k2024 + 2, pod("d", "4"))});
  EXPECT_EQ(report_.warning_count, 2u);
  import({at(k2024, pod("a", "1", created)) + at(k2024 + 1, pod("b", "2"))});
  ASSERT_EQ(report_.warning_count, 1u);
  EXPECT_NE(report_.warnings[0].find("in0:1: an object of 1960-01-01T00:00:00Z"), std::string::npos)
      << report_.warnings[0];
}

}  // namespace
}  // namespace inquest::recorder
