#include "kube/json_diff.h"

#include <gtest/gtest.h>

namespace inquest::kube {
namespace {

// "path: before → after", one a line; "-" where there is none.
std::string diff(std::string_view before, std::string_view after) {
  const auto changes = diff_json(before, after);
  if (!changes.ok()) return changes.error().message();
  std::string out;
  for (const JsonChange& change : *changes) {
    out += change.path + ": " + change.before.value_or("-") + " -> " + change.after.value_or("-") + "\n";
  }
  return out;
}

TEST(JsonDiff, NamesEachFieldThatChanged) {
  EXPECT_EQ(diff(R"({"a":1,"b":{"c":"x","d":null}})", R"({"a":1,"b":{"c":"y","e":[]}})"),
            "b.c: \"x\" -> \"y\"\nb.d: null -> -\nb.e: - -> []\n");
  EXPECT_EQ(diff(R"({"a":1})", R"({ "a" : 1 })"), "");
  EXPECT_EQ(diff(R"({"a":1})", R"({"a":"1"})"), "a: 1 -> \"1\"\n");
  EXPECT_EQ(diff("1", "2"), ": 1 -> 2\n");
}

TEST(JsonDiff, ComparesTheObjectsOfFrames) {
  EXPECT_EQ(
      diff(R"({"type":"ADDED","object":{"spec":{}}})", R"({"type":"MODIFIED","object":{"spec":{"nodeName":"n1"}}})"),
      "spec.nodeName: - -> \"n1\"\n");
}

TEST(JsonDiff, MatchesListEntriesByName) {
  EXPECT_EQ(diff(R"({"conditions":[{"type":"Ready","status":"False"},{"type":"Old","status":"True"}]})",
                 R"({"conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}]})"),
            "conditions[Ready].status: \"False\" -> \"True\"\n"
            "conditions[Old]: {\"type\":\"Old\",\"status\":\"True\"} -> -\n"
            "conditions[PodScheduled]: - -> {\"type\":\"PodScheduled\",\"status\":\"True\"}\n");
  EXPECT_EQ(diff(R"({"l":[1,2]})", R"({"l":[1,3,4]})"), "l[1]: 2 -> 3\nl[2]: - -> 4\n");
  // Two entries of one name: by position.
  EXPECT_EQ(
      diff(R"({"l":[{"name":"a","v":1},{"name":"a","v":2}]})", R"({"l":[{"name":"a","v":1},{"name":"a","v":3}]})"),
      "l[1].v: 2 -> 3\n");
  EXPECT_EQ(diff(R"({"l":[]})", R"({"l":[{"name":"a"}]})"), "l[a]: - -> {\"name\":\"a\"}\n");
}

TEST(JsonDiff, PassesOverManagedFields) {
  EXPECT_EQ(diff(R"({"metadata":{"managedFields":[1]}})", R"({"metadata":{"managedFields":[2]}})"), "");
}

TEST(JsonDiff, RefusesWhatIsNoJson) {
  EXPECT_NE(diff("{", "{}").find("not JSON"), std::string::npos);
  EXPECT_NE(diff(std::string(1000, '['), "{}").find("not JSON"), std::string::npos);
  EXPECT_NE(diff("", "{}").find("not JSON"), std::string::npos);
}

}  // namespace
}  // namespace inquest::kube
