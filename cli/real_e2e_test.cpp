// inquest record against a real control plane (KUBEBUILDER_ASSETS), skipped where there is none. Kubelets are played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sqlite3.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include "cli/process_for_tests.h"
#include "kube/client/real_control_plane.h"

namespace inquest::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// The first column of the first row.
int64_t number(const std::string& trace, const std::string& query) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_open_v2(trace.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const int64_t out = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return out;
}

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

std::string deployment(int replicas) {
  std::string out = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":)";
  out.append(std::to_string(replicas));
  return out.append(R"(,"strategy":{"rollingUpdate":{"maxSurge":"50%","maxUnavailable":"50%"}},)"
                    R"("selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},)"
                    R"("spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"web:1",)"
                    R"("env":[{"name":"PASSWORD","value":"planted-secret"}],)"
                    R"("resources":{"requests":{"cpu":"50m","memory":"64Mi"}}}]}}}})");
}

class RecordReal : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = kube::RealControlPlane::missing();
    if (!missing.empty()) GTEST_SKIP() << "no real control plane: " << missing;
    cluster_.emplace();
    kubelets_ = std::make_unique<kube::PlayedKubelets>(*cluster_, 5);
    cluster_->start_controllers();
    place_.write("config", cluster_->kubeconfig());
  }

  struct Counted {
    int all = 0, running = 0, of_image = 0;
  };
  Counted count(const std::string& image) {
    const kube::ApiAnswer answer = cluster_->call("GET", "/api/v1/namespaces/default/pods");
    simdjson::dom::parser parser;
    simdjson::dom::array items;
    if (answer.status != 200 || parser.parse(answer.body)["items"].get(items) != simdjson::SUCCESS) return {-1, -1, -1};
    Counted out;
    for (const simdjson::dom::element pod : items) {
      std::string_view text;
      ++out.all;
      out.running += pod["status"]["phase"].get(text) == simdjson::SUCCESS && text == "Running" ? 1 : 0;
      out.of_image += pod["spec"]["containers"].at(0)["image"].get(text) == simdjson::SUCCESS && text == image ? 1 : 0;
    }
    return out;
  }
  // Exactly so many pods, all of them running.
  bool settles(int pods, const std::string& image = "web:1") {
    for (int i = 0; i < 600; ++i, pause(200)) {
      const Counted now = count(image);
      if (now.all == pods && now.running == pods && now.of_image == pods) return true;
    }
    return false;
  }
  void patch(const std::string& merge) {
    const kube::ApiAnswer done = cluster_->call("PATCH", std::string(kDeployments).append("/web"), merge);
    EXPECT_EQ(done.status, 200) << done.body;
  }
  void create(int replicas) {
    const kube::ApiAnswer made = cluster_->call("POST", kDeployments, deployment(replicas));
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(settles(replicas));
  }
  void roll() {
    patch(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})");
    EXPECT_TRUE(settles(60, "web:2"));
  }
  void remove() {
    const kube::ApiAnswer gone =
        cluster_->call("DELETE", std::string(kDeployments).append("/web"), R"({"propagationPolicy":"Background"})");
    EXPECT_EQ(gone.status, 200) << gone.body;
    EXPECT_TRUE(settles(0));
  }
  Ran record(const std::function<void(int pid)>& story) {
    return place_.run_while({"record", "--kubeconfig", "config", "-o", "x.trace", "--checkpoint", "2s"}, [&](int pid) {
      pause(1500);
      story(pid);
      pause(1500);
      kill(pid, SIGTERM);
    });
  }
  // As an auditor would look at it: no fault, the core agrees, each pod's life whole.
  void expect_sound(const Ran& ran) {
    EXPECT_THAT(ran.exit, AnyOf(0, 3)) << ran.out << ran.err;
    const Ran verify = place_.run({"verify", "x.trace"});
    EXPECT_EQ(verify.exit, ran.exit) << verify.out << verify.err;
    const Ran replay = place_.run({"replay", "x.trace", "--policy", "combined"});
    EXPECT_EQ(replay.exit, ran.exit) << replay.out << replay.err;
    EXPECT_EQ(place_.read("x.trace").find("planted-secret"), std::string::npos);
  }
  int64_t in_trace(const std::string& query) const { return number(place_.path("x.trace"), query); }

  Workplace place_;
  std::optional<kube::RealControlPlane> cluster_;
  std::unique_ptr<kube::PlayedKubelets> kubelets_;
};

TEST_F(RecordReal, ADeploymentIsCreatedScaledRolledAndDeleted) {
  const Ran ran = record([&](int) {
    create(200);
    patch(R"({"spec":{"replicas":60}})");
    EXPECT_TRUE(settles(60));
    roll();
    remove();
  });
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no gaps"));
  expect_sound(ran);
  EXPECT_GE(in_trace("SELECT count(*) FROM pods"), 260);
  EXPECT_EQ(in_trace("SELECT count(*) FROM pods WHERE deleted_seq = 0"), 0);
  EXPECT_EQ(in_trace("SELECT count(*) FROM pods WHERE bound_seq = 0 AND deleted_seq = 0"), 0);
}

TEST_F(RecordReal, TheServerIsKilledAndEtcdCompactedInTheMiddle) {
  const Ran ran = record([&](int) {
    create(100);
    patch(R"({"spec":{"replicas":60}})");
    pause(300);
    cluster_->kill_api_server();
    cluster_->compact();
    cluster_->start_api_server();
    EXPECT_TRUE(settles(60));
    roll();
    cluster_->compact();
    remove();
  });
  expect_sound(ran);
  EXPECT_GE(in_trace("SELECT count(*) FROM pods"), 160);
  // A pod whose end was not seen is one that a gap may have swallowed.
  const int64_t open_lives = in_trace("SELECT count(*) FROM pods WHERE deleted_seq = 0");
  EXPECT_TRUE(open_lives == 0 || in_trace("SELECT count(*) FROM gaps") > 0) << open_lives;
  EXPECT_EQ(in_trace("SELECT count(*) FROM gaps WHERE from_rv = 0 OR to_rv < from_rv"), 0);
}

// What happens while nobody looks, and is forgotten by the server before somebody does again.
TEST_F(RecordReal, TheRecorderSleepsThroughACompaction) {
  const Ran ran = record([&](int pid) {
    create(60);
    pause(1000);
    cluster_->kill_api_server();  // else what is said stays in the socket for when the recorder wakes
    pause(500);
    kill(pid, SIGSTOP);
    cluster_->start_api_server();
    patch(R"({"spec":{"replicas":20}})");
    EXPECT_TRUE(settles(20));
    cluster_->kill_api_server();  // with the cache that its watches are served from
    cluster_->compact();
    cluster_->start_api_server();
    kill(pid, SIGCONT);
    pause(4000);
    remove();
  });
  EXPECT_EQ(ran.exit, 3) << ran.out << ran.err;
  expect_sound(ran);
  EXPECT_GE(in_trace("SELECT count(*) FROM gaps WHERE stream = 'pods' AND from_rv > 0 AND to_rv > from_rv"), 1);
  EXPECT_EQ(in_trace("SELECT count(*) FROM pods WHERE deleted_seq > 0"), 20);  // the others went within the gap
  EXPECT_EQ(in_trace("SELECT count(*) FROM pods"), 60);
}

}  // namespace
}  // namespace inquest::cli
