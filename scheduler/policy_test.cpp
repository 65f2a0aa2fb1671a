#include "scheduler/policy.h"

#include <gtest/gtest.h>

#include <map>

namespace inquest::scheduler {
namespace {

std::map<std::string, std::string> stated(const Policy& policy) {
  std::map<std::string, std::string> out;
  for (const Parameter& parameter : parameters()) out[std::string(parameter.name)] = parameter.get(policy);
  return out;
}

Result<void> set(Policy& policy, std::string_view name, std::string_view value) {
  for (const Parameter& parameter : parameters()) {
    if (parameter.name == name) return parameter.set(policy, value);
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

// Those of 2015 as kubernetes#6023 discusses them; each preset states every parameter.
TEST(Policy, PresetsStateWhatTheDesignSays) {
  const std::map<std::string, std::string> naive = {
      {"ttl", "never"},
      {"ttl-from", "assume"},
      {"expire-while-bind-open", "yes"},
      {"expiry", "exact"},
      {"assume", "after"},
      {"binds", "serial"},
      {"purge", "decision"},
      {"deletes-to", "scheduled"},
      {"deletes-wait", "no"},
      {"tombstones", "everywhere"},
      {"relist", "never"},
      {"relist-stores", "none"},
      {"key", "name"},
      {"uid-change", "split"},
      {"when-marked", "keep"},
      {"watches", "two"},
      {"queue", "fifo"},
      {"score", "least"},
      {"ready", "condition"},
      {"journal", "no"},
  };
  EXPECT_EQ(stated(*preset("naive")), naive);
  const auto like = [](std::map<std::string, std::string> out, const std::map<std::string, std::string>& changed) {
    for (const auto& [name, value] : changed) out[name] = value;
    return out;
  };
  EXPECT_EQ(stated(*preset("no-assume")), like(naive, {{"assume", "never"}}));
  const auto delete_both = like(naive, {{"deletes-to", "both"}});
  EXPECT_EQ(stated(*preset("delete-both")), delete_both);
  EXPECT_EQ(stated(*preset("locked-delete")), like(delete_both, {{"deletes-wait", "1m"}}));
  EXPECT_EQ(stated(*preset("relist-corrects-assumed")),
            like(delete_both, {{"relist", "1m"}, {"relist-stores", "scheduled,queued,nodes,assumed"}}));
  EXPECT_EQ(stated(*preset("ttl-only")), like(naive, {{"ttl", "30s"}}));
  const auto combined = like(
      delete_both, {{"ttl", "30s"}, {"relist", "1m"}, {"relist-stores", "scheduled,queued,nodes"}, {"purge", "both"}});
  EXPECT_EQ(stated(*preset("combined")), combined);
  const auto upstream_2016 = like(naive, {{"ttl", "30s"},
                                          {"ttl-from", "answer"},
                                          {"expire-while-bind-open", "no"},
                                          {"expiry", "tick"},
                                          {"assume", "before"},
                                          {"binds", "100"},
                                          {"purge", "event"},
                                          {"deletes-to", "both"},
                                          {"tombstones", "last-seen"},
                                          {"key", "uid"},
                                          {"uid-change", "update"},
                                          {"watches", "one"},
                                          {"score", "least+balanced"}});
  EXPECT_EQ(stated(*preset("upstream-2016")), upstream_2016);
  EXPECT_EQ(stated(*preset("upstream-now")), like(upstream_2016, {{"ttl", "never"},
                                                                  {"tombstones", "everywhere"},
                                                                  {"uid-change", "split"},
                                                                  {"when-marked", "forget"},
                                                                  {"queue", "priority"},
                                                                  {"ready", "taints"}}));
  EXPECT_EQ(stated(*preset("journal")), like(combined, {{"journal", "yes"}}));
  EXPECT_EQ(stated(*preset("live")), like(combined, {{"assume", "before"},
                                                     {"ttl-from", "answer"},
                                                     {"expire-while-bind-open", "no"},
                                                     {"binds", "16"},
                                                     {"queue", "priority"}}));
}

TEST(Policy, HowLongItMayTakeToHeal) {
  const std::map<std::string, int64_t> seconds = {
      {"no-assume", 0}, {"naive", 0},     {"delete-both", 0},    {"locked-delete", 60}, {"relist-corrects-assumed", 60},
      {"ttl-only", 30}, {"combined", 90}, {"upstream-2016", 31}, {"upstream-now", 0},   {"journal", 90},
      {"live", 90},
  };
  for (const Policy& policy : presets()) {
    EXPECT_EQ(policy.heals_within(), Duration::seconds(seconds.at(policy.name))) << policy.name;
  }
  Policy without_store = *preset("no-assume");
  without_store.ttl = Duration::seconds(30);
  EXPECT_EQ(without_store.heals_within(), Duration{});
}

TEST(Policy, PresetsStandInTheOrderOfTheArgument) {
  std::vector<std::string> names;
  for (const Policy& policy : presets()) names.push_back(policy.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"no-assume", "naive", "delete-both", "locked-delete", "relist-corrects-assumed",
                                      "ttl-only", "combined", "upstream-2016", "upstream-now", "journal", "live"}));
}

TEST(Policy, PresetsHaveNamesAndSayWhatTheyShow) {
  for (const Policy& policy : presets()) {
    EXPECT_FALSE(policy.shows.empty()) << policy.name;
    EXPECT_EQ(preset(policy.name)->name, policy.name);
  }
  EXPECT_TRUE(preset(kDefaultPolicy).ok());
  const auto unknown = preset("perfect");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_EQ(unknown.error().text, "there is no policy 'perfect'");
  for (const Policy& policy : presets()) EXPECT_NE(unknown.error().next.find(policy.name), std::string::npos);
}

TEST(Policy, EveryParameterIsReadBackAsItWasSet) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> values = {
      {"ttl", {"never", "30s", "1ns", "1m30s", "250ms"}},
      {"ttl-from", {"assume", "answer"}},
      {"expire-while-bind-open", {"no", "yes"}},
      {"expiry", {"exact", "tick"}},
      {"assume", {"never", "before", "after"}},
      {"binds", {"serial", "2", "16", "100000"}},
      {"purge", {"decision", "event", "both"}},
      {"deletes-to", {"scheduled", "both"}},
      {"deletes-wait", {"no", "1m", "500ms"}},
      {"tombstones", {"last-seen", "everywhere"}},
      {"relist", {"never", "1m", "10s"}},
      {"relist-stores", {"none", "scheduled", "queued,nodes", "scheduled,queued,nodes,assumed"}},
      {"key", {"name", "uid"}},
      {"uid-change", {"update", "split"}},
      {"when-marked", {"keep", "forget"}},
      {"watches", {"one", "two"}},
      {"queue", {"fifo", "priority"}},
      {"score", {"least", "least+balanced", "most"}},
      {"ready", {"condition", "taints"}},
      {"journal", {"no", "yes"}},
  };
  ASSERT_EQ(values.size(), parameters().size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i].first, parameters()[i].name);
    for (const Policy& start : presets()) {
      for (const std::string& value : values[i].second) {
        SCOPED_TRACE(values[i].first + " = " + value + " on " + start.name);
        Policy policy = start;
        ASSERT_TRUE(parameters()[i].set(policy, value).ok());
        EXPECT_EQ(parameters()[i].get(policy), value);
      }
    }
  }
}

TEST(Policy, SettingOneParameterLeavesTheOthers) {
  for (const Parameter& changed : parameters()) {
    Policy policy = *preset("combined");
    const auto before = stated(policy);
    ASSERT_TRUE(changed.set(policy, changed.get(policy)).ok()) << changed.name;
    EXPECT_EQ(stated(policy), before) << changed.name;
  }
}

TEST(Policy, OtherSpellingsOfAValue) {
  Policy policy = *preset("naive");
  ASSERT_TRUE(set(policy, "binds", "1").ok());
  EXPECT_EQ(stated(policy)["binds"], "serial");
  ASSERT_TRUE(set(policy, "relist-stores", "nodes,scheduled").ok());
  EXPECT_EQ(stated(policy)["relist-stores"], "scheduled,nodes");
  ASSERT_TRUE(set(policy, "ttl", "90s").ok());
  EXPECT_EQ(stated(policy)["ttl"], "1m30s");
}

TEST(Policy, ARelistWithoutStoresCorrectsWhatTheProposalDoes) {
  Policy policy = *preset("naive");
  ASSERT_TRUE(set(policy, "relist", "10s").ok());
  EXPECT_EQ(stated(policy)["relist-stores"], "scheduled,queued,nodes");
  ASSERT_TRUE(set(policy, "relist-stores", "assumed").ok());
  ASSERT_TRUE(set(policy, "relist", "20s").ok());
  EXPECT_EQ(stated(policy)["relist-stores"], "assumed");
}

TEST(Policy, BadValuesAreNamedAndChangeNothing) {
  struct Row {
    const char* parameter;
    const char* value;
    const char* text;
  };
  const Row rows[] = {
      {"ttl", "0", "it must be longer than 0"},
      {"ttl", "30", "30"},
      {"ttl", "-1s", "-1s"},
      {"ttl", "", ""},
      {"relist", "0s", "it must be longer than 0"},
      {"relist", "often", "often"},
      {"ttl-from", "bind", "'bind' is none of assume, answer"},
      {"expire-while-bind-open", "true", "'true' is none of no, yes"},
      {"expiry", "late", "'late' is none of exact, tick"},
      {"deletes-wait", "0s", "it must be longer than 0"},
      {"deletes-wait", "yes", "yes"},
      {"deletes-wait", "never", "never"},
      {"tombstones", "both", "'both' is none of last-seen, everywhere"},
      {"uid-change", "", "'' is none of update, split"},
      {"journal", "disk", "'disk' is none of no, yes"},
      {"assume", "", "'' is none of never, before, after"},
      {"purge", "Both", "'Both' is none of decision, event, both"},
      {"deletes-to", "assumed", "'assumed' is none of scheduled, both"},
      {"key", "namespace", "'namespace' is none of name, uid"},
      {"watches", "three", "'three' is none of one, two"},
      {"queue", "lifo", "'lifo' is none of fifo, priority"},
      {"score", "balanced", "'balanced' is none of least, least+balanced, most"},
      {"ready", "yes", "'yes' is none of condition, taints"},
      {"binds", "0", "it must be 'serial' or a count from 1 to 100000"},
      {"binds", "100001", "it must be 'serial' or a count from 1 to 100000"},
      {"binds", "99999999999999999999", "it is no count"},
      {"binds", "-1", "it is no count"},
      {"binds", "", "it must be 'serial' or a count from 1 to 100000"},
      {"relist-stores", "scheduled,pods", "'pods' is no store"},
      {"relist-stores", "scheduled,,queued", "'' is no store"},
      {"relist-stores", "scheduled, queued", "' queued' is no store"},
      {"relist-stores", "", "'' is no store"},
      {"relist-stores", "scheduled,", "'' is no store"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.parameter) + " = '" + row.value + "'");
    Policy policy = *preset("combined");
    const auto before = stated(policy);
    const auto result = set(policy, row.parameter, row.value);
    EXPECT_EQ(stated(policy), before);
    if (result.ok()) {
      ADD_FAILURE() << "it was taken";
      continue;
    }
    EXPECT_NE(result.error().message().find(row.text), std::string::npos) << result.error().message();
  }
}

}  // namespace
}  // namespace inquest::scheduler
