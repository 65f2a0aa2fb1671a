#include "recorder/bind_set.h"

#include <gtest/gtest.h>

namespace inquest::recorder {
namespace {

struct Seen {
  uint32_t input;
  const char* scheduler;  // of a bind log; nullptr: an audit log
  const char* agent;
  const char* user;
  const char* uid;
  const char* node;
  int code;
  int64_t sent, answered;  // in milliseconds; 0: no answer
  const char* audit_id = "";
  const char* stage = "ResponseComplete";
  const char* pod = "p";
};

// Joins; a bind a line: "name code sent-answered [inputs]", in order.
std::string join(const std::vector<Seen>& all, const Aliases& aliases = {}) {
  BodySpool spool(testing::TempDir());
  BindSet set(spool);
  int number = 0;
  for (const Seen& seen : all) {
    BindLine line;
    line.ns = "lab";
    line.name = seen.pod;
    line.uid = seen.uid;
    line.node = seen.node;
    line.code = static_cast<uint16_t>(seen.code);
    line.sent = Time{seen.sent * 1'000'000};
    line.answered = Time{seen.answered * 1'000'000};
    const std::string id = *seen.audit_id != '\0' ? seen.audit_id : "id" + std::to_string(number++);
    if (seen.scheduler != nullptr) {
      line.scheduler = seen.scheduler;
    } else {
      line.agent = seen.agent;
      line.user = seen.user;
      line.audit_id = id;
      line.stage = seen.stage;
    }
    EXPECT_TRUE(set.add(seen.input, line, aliases).ok());
  }
  set.join();
  std::string out;
  for (const JoinedBind& bind : set.joined()) {
    const SeenBind& first = set.seen()[bind.first];
    const auto word = [&](uint32_t observation, std::string_view BindWords::*which) {
      std::string kept;
      const auto words = set.words(set.seen()[observation], kept);
      EXPECT_TRUE(words.ok());
      return std::string(words.value().*which);
    };
    out += word(bind.first, &BindWords::scheduler) + " " + std::to_string(first.code) + " " +
           word(bind.names_uid, &BindWords::uid) + "@" + word(bind.names_node, &BindWords::node) + " " +
           std::to_string(first.sent.ns / 1'000'000) + "-" + std::to_string(first.answered.ns / 1'000'000) + " [";
    for (const uint32_t index : set.observations(bind)) out += std::to_string(set.seen()[index].input);
    out += "]\n";
  }
  return out;
}

TEST(BindSet, JoinsWhatIsOneBind) {
  const char* kube = "kube-scheduler/v1 (linux)";
  const struct {
    const char* name;
    std::vector<Seen> seen;
    const char* expected;
  } cases[] = {
      {"a log and the audit; the log is primary, whichever comes first",
       {{0, nullptr, "", "toy-user", "u", "n", 201, 11, 14}, {1, "toy", "", "", "u", "n", 201, 10, 15}},
       "toy 201 u@n 10-15 [10]\n"},
      {"another code",
       {{0, nullptr, "toy/1", "", "u", "n", 409, 11, 14}, {1, "toy", "", "", "u", "n", 201, 10, 15}},
       "toy 201 u@n 10-15 [1]\ntoy 409 u@n 11-14 [0]\n"},
      {"another node",
       {{0, nullptr, "toy/1", "", "u", "m", 409, 11, 14}, {1, "toy", "", "", "u", "n", 409, 10, 15}},
       "toy 409 u@n 10-15 [1]\ntoy 409 u@m 11-14 [0]\n"},
      {"another uid",
       {{0, nullptr, "toy/1", "", "v", "n", 409, 11, 14}, {1, "toy", "", "", "u", "n", 409, 10, 15}},
       "toy 409 u@n 10-15 [1]\ntoy 409 v@n 11-14 [0]\n"},
      {"apart in time",
       {{0, nullptr, "toy/1", "", "u", "n", 409, 500, 501}, {1, "toy", "", "", "u", "n", 409, 10, 15}},
       "toy 409 u@n 10-15 [1]\ntoy 409 u@n 500-501 [0]\n"},
      {"beside each other by less than the slack",
       {{0, nullptr, "toy/1", "", "u", "n", 409, 60, 61}, {1, "toy", "", "", "u", "n", 409, 10, 15}},
       "toy 409 u@n 10-15 [10]\n"},
      {"uid and node known to one source alone",
       {{0, nullptr, "toy/1", "", "u", "", 201, 11, 14}, {1, "toy", "", "", "", "n", 201, 10, 15}},
       "toy 201 u@n 10-15 [10]\n"},
      {"one source never joins with itself",
       {{0, "toy", "", "", "u", "n", 409, 10, 15}, {0, "toy", "", "", "u", "n", 409, 11, 16}},
       "toy 409 u@n 10-15 [0]\ntoy 409 u@n 11-16 [0]\n"},
      {"two own logs of two schedulers",
       {{0, "toy", "", "", "u", "n", 409, 10, 15}, {1, "other", "", "", "u", "n", 409, 11, 16}},
       "toy 409 u@n 10-15 [0]\nother 409 u@n 11-16 [1]\n"},
      {"one scheduler in two audit logs, two in them",
       {{0, nullptr, kube, "", "u", "n", 409, 10, 15},
        {1, nullptr, kube, "", "u", "n", 409, 11, 14},
        {1, nullptr, "toy/1", "", "u", "n", 409, 12, 13}},
       "kube-scheduler 409 u@n 10-15 [01]\ntoy 409 u@n 12-13 [1]\n"},
      {"the audit holds both schedulers' binds alike: the name decides",
       {{0, nullptr, kube, "", "u", "n", 409, 10, 15},
        {0, nullptr, "toy/1", "", "u", "n", 409, 11, 14},
        {1, "toy", "", "", "u", "n", 409, 10, 15}},
       "kube-scheduler 409 u@n 10-15 [0]\ntoy 409 u@n 10-15 [10]\n"},
      {"a name with a log of its own is joined to no other log",
       {{0, nullptr, kube, "", "u", "n", 409, 10, 15},
        {1, "toy", "", "", "u", "n", 409, 10, 15},
        {2, "kube-scheduler", "", "", "w", "n", 201, 1, 2}},
       "kube-scheduler 201 w@n 1-2 [2]\nkube-scheduler 409 u@n 10-15 [0]\ntoy 409 u@n 10-15 [1]\n"},
      {"retries are joined each with its own",
       {{0, nullptr, "", "user", "u", "n", 409, 11, 12},
        {0, nullptr, "", "user", "u", "n", 409, 21, 22},
        {1, "toy", "", "", "u", "n", 409, 10, 13},
        {1, "toy", "", "", "u", "n", 409, 20, 23}},
       "toy 409 u@n 10-13 [10]\ntoy 409 u@n 20-23 [10]\n"},
      {"two stages of one request are one observation",
       {{0, nullptr, "toy/1", "", "u", "n", 500, 10, 12, "same", "Panic"},
        {0, nullptr, "toy/1", "", "u", "n", 201, 10, 11, "same"}},
       "toy 201 u@n 10-11 [0]\n"},
      {"no answer", {{0, "toy", "", "", "u", "n", 0, 10, 0}}, "toy 0 u@n 10-0 [0]\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(join(c.seen), c.expected) << c.name;
}

TEST(BindSet, OneAuditIdWithTwoPodsIsTwoBinds) {
  const char* kube = "kube-scheduler/v1 (linux)";
  const std::vector<Seen> all = {{0, nullptr, kube, "", "u1", "n1", 201, 1, 2, "same", "ResponseComplete", "p1"},
                                 {0, nullptr, kube, "", "u2", "n1", 201, 3, 4, "same", "ResponseComplete", "p2"},
                                 {1, nullptr, kube, "", "u2", "n1", 201, 3, 4, "same", "ResponseComplete", "p2"}};
  EXPECT_EQ(join(all), "kube-scheduler 201 u1@n1 1-2 [0]\nkube-scheduler 201 u2@n1 3-4 [0]\n");
}

TEST(BindSet, NamesWhoBound) {
  const Aliases aliases = {{"toy", "toy-scheduler"}};
  const auto name = [&](const char* scheduler, const char* agent, const char* user) {
    BindLine line;
    line.scheduler = scheduler;
    line.agent = agent;
    line.user = user;
    return std::string(scheduler_name(line, aliases));
  };
  EXPECT_EQ(name("mine", "kube-scheduler/v1", "system:x"), "mine");
  EXPECT_EQ(name("", "kube-scheduler/v1 (linux/amd64)", "system:x"), "kube-scheduler");
  EXPECT_EQ(name("", "curl", "system:x"), "curl");
  EXPECT_EQ(name("", "", "system:kube-scheduler"), "kube-scheduler");
  EXPECT_EQ(name("", "/v1", "toy-scheduler"), "toy");
  EXPECT_EQ(name("", "", ""), "");
}

TEST(BindSet, OrdersRequestsAndAnswersByTheirOwnTimes) {
  BodySpool spool(testing::TempDir());
  BindSet set(spool);
  const auto add = [&](uint32_t input, const char* name, int64_t sent, int64_t answered) {
    BindLine line;
    line.name = name;
    line.node = "n";
    line.scheduler = "s";
    line.code = 201;
    line.sent = Time{sent};
    line.answered = Time{answered};
    ASSERT_TRUE(set.add(input, line, {}).ok());
  };
  add(1, "a", 10, 40);  // overlaps with b
  add(1, "b", 20, 30);
  add(0, "c", 10, 10);  // the same time as a, but the input stands first
  add(0, "d", 50, 45);  // answered before it was sent: a clock stepped
  set.join();
  const auto name = [&](const JoinedBind& bind) {
    std::string kept;
    return std::string(set.words(set.seen()[bind.first], kept)->name) + " ";
  };
  std::string requests, answers;
  for (const JoinedBind& bind : set.joined()) requests += name(bind);
  for (const uint32_t bind : set.answered()) answers += name(set.joined()[bind]);
  EXPECT_EQ(requests, "c a b d ");
  EXPECT_EQ(answers, "c b a d ");
}

TEST(BindSet, RefusalsOfOnePodByTheThousandsTakeNoLonger) {
  std::vector<Seen> seen;
  for (int64_t i = 0; i < 20000; ++i) {
    seen.push_back({0, nullptr, "toy/1", "", "u", "n", 409, 1000 + i, 1001 + i});
    seen.push_back({1, "toy", "", "", "u", "n", 409, 1000 + i, 1001 + i});
  }
  const std::string out = join(seen);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 20000);
}

}  // namespace
}  // namespace inquest::recorder
