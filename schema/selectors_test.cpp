// Tables from kubernetes-facts 9.5, 9.6 and 10.12 (V1-V8).
#include "schema/selectors.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace inquest {
namespace {

using Op = SelectorOperator;
using Effect = TaintEffect;

struct World {
  Catalog catalog;

  StringId text(std::string_view value) { return catalog.string(value); }
  Label label(std::string_view key, std::string_view value) { return {text(key), text(value)}; }
  Labels labels(const std::vector<std::pair<std::string, std::string>>& pairs) {
    Labels out;
    for (const auto& [key, value] : pairs) out.push_back(label(key, value));
    canonicalise(out);
    return out;
  }
  Requirement requirement(std::string_view key, Op op, const std::vector<std::string>& values = {}) {
    Requirement out{text(key), op, {}};
    for (const std::string& value : values) out.values.push_back(text(value));
    return out;
  }
  Taint taint(std::string_view key, std::string_view value, Effect effect) { return {text(key), text(value), effect}; }
  Toleration toleration(std::string_view key, TolerationOperator op, std::string_view value, Effect effect) {
    return {text(key), text(value), op, effect};
  }
  bool matches(const Placement& placement, const Labels& labels, std::string_view node = "host_1") {
    return inquest::matches(placement, labels, catalog.node(node), catalog);
  }
};

Placement terms(std::vector<SelectorTerm> terms) { return {{}, true, std::move(terms), {}}; }

TEST(Selectors, EachOperatorAgainstPresentAbsentAndUnreadableLabels) {
  const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
  const struct {
    Op op;
    std::vector<std::string> values;
    std::string present;  // the label's value
    bool if_present, if_absent;
  } rows[] = {
      {Op::kIn, {"a", "b"}, "b", true, false},
      {Op::kIn, {"a", "b"}, "c", false, false},
      {Op::kIn, {""}, "", true, false},
      {Op::kIn, {}, "a", false, false},
      {Op::kNotIn, {"a"}, "b", true, true},
      {Op::kNotIn, {"a"}, "a", false, true},
      {Op::kNotIn, {}, "a", false, false},
      {Op::kExists, {}, "", true, false},
      {Op::kExists, {"a"}, "a", false, false},
      {Op::kDoesNotExist, {}, "a", false, true},
      {Op::kDoesNotExist, {"a"}, "a", false, false},
      {Op::kGt, {"5"}, "6", true, false},
      {Op::kGt, {"5"}, "5", false, false},
      {Op::kGt, {"5"}, "+6", true, false},
      {Op::kGt, {"5"}, "+-6", false, false},
      {Op::kGt, {"5"}, "high", false, false},
      {Op::kGt, {"5"}, "6.5", false, false},
      {Op::kGt, {"5"}, "", false, false},
      {Op::kGt, {"5"}, most, true, false},
      {Op::kGt, {"5"}, most + "0", false, false},
      {Op::kGt, {"5", "4"}, "6", false, false},
      {Op::kGt, {"low"}, "6", false, false},
      {Op::kLt, {"5"}, "4", true, false},
      {Op::kLt, {"5"}, "-4", true, false},
      {Op::kLt, {"5"}, "5", false, false},
      {Op::kLt, {"-5"}, "-6", false, false},  // no label has a value that begins with a dash
      {Op::kUnknown, {"a"}, "a", false, false},
  };
  World w;
  for (const auto& row : rows) {
    const Placement placement = terms({{{w.requirement("zone", row.op, row.values)}, {}}});
    const std::string said = std::to_string(static_cast<int>(row.op)) + " " + row.present;
    EXPECT_EQ(w.matches(placement, w.labels({{"other", "x"}, {"zone", row.present}, {"arch", "y"}})), row.if_present)
        << said;
    EXPECT_EQ(w.matches(placement, w.labels({{"other", "x"}})), row.if_absent) << said;
  }
}

TEST(Selectors, EveryEntryOfANodeSelectorMustBeEqual) {
  World w;
  const Placement placement{w.labels({{"disk", "ssd"}, {"zone", ""}}), false, {}, {}};
  EXPECT_TRUE(w.matches(placement, w.labels({{"zone", ""}, {"more", "x"}, {"disk", "ssd"}})));
  EXPECT_FALSE(w.matches(placement, w.labels({{"disk", "ssd"}}))) << "absent is not empty";
  EXPECT_FALSE(w.matches(placement, w.labels({{"zone", ""}, {"disk", "hdd"}})));
  EXPECT_TRUE(w.matches({}, {}));
}

TEST(Selectors, ANodeSelectorAndAffinityMustBothMatch) {
  World w;
  Placement placement = terms({{{w.requirement("zone", Op::kIn, {"a"})}, {}}});
  placement.node_selector = w.labels({{"disk", "ssd"}});
  EXPECT_TRUE(w.matches(placement, w.labels({{"disk", "ssd"}, {"zone", "a"}})));
  EXPECT_FALSE(w.matches(placement, w.labels({{"disk", "ssd"}})));
  EXPECT_FALSE(w.matches(placement, w.labels({{"zone", "a"}})));
}

TEST(Selectors, TermsAreAlternativesAndEmptyOnesMatchNothing) {
  World w;
  const SelectorTerm a{{w.requirement("zone", Op::kIn, {"a"})}, {}}, b{{w.requirement("disk", Op::kExists)}, {}};
  const SelectorTerm both{{a.expressions[0], b.expressions[0]}, {}};
  EXPECT_TRUE(w.matches(terms({{}, a, b}), w.labels({{"disk", "x"}})));
  EXPECT_FALSE(w.matches(terms({both}), w.labels({{"disk", "x"}})));
  EXPECT_TRUE(w.matches(terms({both}), w.labels({{"disk", "x"}, {"zone", "a"}})));
  EXPECT_FALSE(w.matches(terms({}), {}));
  EXPECT_FALSE(w.matches(terms({{}}), {}));
}

// V6
TEST(Selectors, FieldsAndExpressionsOfATerm) {
  World w;
  const Requirement label = w.requirement("label_1", Op::kIn, {"v"});
  const Requirement name = w.requirement("metadata.name", Op::kIn, {"host_1"});
  EXPECT_FALSE(w.matches(terms({{{label}, {name}}}), {}));
  EXPECT_TRUE(w.matches(terms({{{label}, {name}}}), w.labels({{"label_1", "v"}})));
  EXPECT_FALSE(w.matches(terms({{{label}, {name}}}), w.labels({{"label_1", "v"}}), "host_2"));
  EXPECT_TRUE(w.matches(terms({{{label}, {name}}, {{}, {name}}}), {}));
  EXPECT_FALSE(w.matches(terms({{{}, {w.requirement("metadata.name", Op::kNotIn, {"host_1"})}}}), {}));
  EXPECT_TRUE(w.matches(terms({{{}, {w.requirement("metadata.name", Op::kNotIn, {"host_2"})}}}), {}));
}

// V8, and what else the API refuses: the term matches nothing, another one may.
TEST(Selectors, ARequirementWithAnErrorIsNoMatch) {
  World w;
  const Requirement bad[] = {
      w.requirement("metadata.name", Op::kIn, {"host_1", "host_2"}),
      w.requirement("metadata.name", Op::kNotIn, {}),
      w.requirement("metadata.name", Op::kExists),
      w.requirement("metadata.namespace", Op::kNotIn, {"x"}),
  };
  for (const Requirement& field : bad) {
    EXPECT_FALSE(w.matches(terms({{{}, {field}}}), {}));
    EXPECT_TRUE(w.matches(terms({{{}, {field}}, {{w.requirement("x", Op::kDoesNotExist)}, {}}}), {}));
  }
  EXPECT_FALSE(w.matches(terms({{{w.requirement("not a key", Op::kDoesNotExist)}, {}}}), {}));
  EXPECT_FALSE(w.matches(terms({{{w.requirement("x", Op::kNotIn, {"not a value"})}, {}}}), {}));
  EXPECT_FALSE(w.matches(terms({{{w.requirement("x", Op::kIn, {"a", "-"})}, {}}}), w.labels({{"x", "a"}})));
}

TEST(Selectors, KeysAndValuesAsTheApiAcceptsThem) {
  const std::string longest(63, 'a'), prefix(253, 'p');
  for (const std::string& key : {std::string("a"), std::string("kubernetes.io/hostname"), std::string("A_b-c.D"),
                                 longest, "a.b/" + longest, prefix + "/x"}) {
    EXPECT_TRUE(is_label_key(key)) << key;
  }
  for (const std::string& key :
       {std::string(""), std::string("/a"), std::string("a/"), std::string("a/b/c"), std::string("-a"),
        std::string("a-"), std::string("A.b/c"), std::string("a..b/c"), std::string("a-.b/c"), std::string("a./c"),
        std::string(".a/c"), longest + "a", "p" + prefix + "/x", std::string("ä"), std::string("a b")}) {
    EXPECT_FALSE(is_label_key(key)) << key;
  }
  EXPECT_TRUE(is_label_value(""));
  EXPECT_TRUE(is_label_value("v1.2_3-x"));
  EXPECT_FALSE(is_label_value("a/b"));
  EXPECT_FALSE(is_label_value(longest + "a"));
}

TEST(Selectors, OfAKeyGivenTwiceTheLastCounts) {
  World w;
  EXPECT_EQ(w.labels({{"a", "1"}, {"b", "2"}, {"a", "3"}}), (Labels{w.label("a", "3"), w.label("b", "2")}));
  EXPECT_EQ(w.labels({}), Labels{});
}

// V1, V2, V4 and the rest of 9.6.
TEST(Tolerations, EachAgainstOneTaint) {
  using T = TolerationOperator;
  World w;
  const Taint no_schedule = w.taint("foo", "bar", Effect::kNoSchedule);
  const Taint no_execute = w.taint("foo", "bar", Effect::kNoExecute);
  const Taint amount = w.taint("foo", "950", Effect::kNoSchedule);
  const struct {
    Toleration toleration;
    Taint taint;
    bool tolerated;
  } rows[] = {
      {w.toleration("foo", T::kEqual, "bar", Effect::kNoSchedule), no_schedule, true},
      {w.toleration("foo", T::kEqual, "user2", Effect::kNoSchedule), no_schedule, false},
      {w.toleration("fo", T::kEqual, "bar", Effect::kNoSchedule), no_schedule, false},
      {w.toleration("foo", T::kExists, "", Effect::kNoSchedule), no_schedule, true},
      {w.toleration("foo", T::kExists, "other", Effect::kNoSchedule), no_schedule, true},
      {w.toleration("foo", T::kEqual, "bar", Effect::kPreferNoSchedule), no_schedule, false},
      {w.toleration("foo", T::kEqual, "bar", Effect::kNoExecute), no_schedule, false},
      {w.toleration("foo", T::kEqual, "bar", Effect::kNoExecute), no_execute, true},
      {w.toleration("foo", T::kEqual, "bar", Effect::kAny), no_schedule, true},
      {w.toleration("foo", T::kEqual, "bar", Effect::kUnknown), no_schedule, false},
      {w.toleration("", T::kExists, "", Effect::kAny), no_execute, true},
      {w.toleration("", T::kExists, "", Effect::kNoExecute), no_schedule, false},
      {w.toleration("", T::kEqual, "bar", Effect::kAny), no_schedule, true},  // refused by the API, not by the matching
      {w.toleration("", T::kEqual, "", Effect::kAny), no_schedule, false},
      {w.toleration("foo", T::kGt, "750", Effect::kAny), amount, false},
      {w.toleration("foo", T::kLt, "1000", Effect::kAny), amount, false},
      {w.toleration("foo", T::kUnknown, "950", Effect::kAny), amount, false},
  };
  int at = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(tolerates(row.toleration, row.taint), row.tolerated) << "row " << at;
    EXPECT_EQ(first_untolerated({&row.toleration, 1}, {&row.taint, 1}) == nullptr, row.tolerated) << "row " << at++;
  }
}

// V1, V3
TEST(Tolerations, TheFirstUntoleratedTaintInTheNodesOrder) {
  World w;
  const Taints taints = {w.taint("soft", "", Effect::kPreferNoSchedule), w.taint("odd", "", Effect::kUnknown),
                         w.taint("a", "", Effect::kNoSchedule), w.taint("b", "", Effect::kNoExecute)};
  EXPECT_EQ(first_untolerated({}, taints), &taints[2]);
  const Toleration a = w.toleration("a", TolerationOperator::kExists, "", Effect::kAny);
  const Toleration b = w.toleration("b", TolerationOperator::kExists, "", Effect::kAny);
  EXPECT_EQ(first_untolerated(std::vector{a}, taints), &taints[3]);
  EXPECT_EQ(first_untolerated(std::vector{b, a}, taints), nullptr);
  EXPECT_EQ(first_untolerated({}, std::span(taints).first(2)), nullptr);
}

TEST(Tolerations, UnschedulableIsATaint) {
  World w;
  const auto tolerates = [&](std::string_view key, TolerationOperator op, std::string_view value, Effect effect) {
    const Toleration toleration = w.toleration(key, op, value, effect);
    return tolerates_unschedulable({&toleration, 1}, w.catalog);
  };
  const char* key = "node.kubernetes.io/unschedulable";
  EXPECT_FALSE(tolerates_unschedulable({}, w.catalog));
  EXPECT_TRUE(tolerates(key, TolerationOperator::kExists, "", Effect::kNoSchedule));
  EXPECT_TRUE(tolerates(key, TolerationOperator::kEqual, "", Effect::kAny));
  EXPECT_TRUE(tolerates("", TolerationOperator::kExists, "", Effect::kAny));
  EXPECT_FALSE(tolerates(key, TolerationOperator::kExists, "", Effect::kNoExecute));
  EXPECT_FALSE(tolerates(key, TolerationOperator::kEqual, "true", Effect::kAny));
  EXPECT_FALSE(tolerates("node.kubernetes.io/not-ready", TolerationOperator::kExists, "", Effect::kAny));
}

}  // namespace
}  // namespace inquest
