// inquest record as a process, against a small cluster on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cli/process_for_tests.h"
#include "kube/client/test_cluster.h"

namespace inquest::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RecordVerb : public ::testing::Test {
 protected:
  RecordVerb() {
    cluster_.put_node("n1");
    cluster_.put_pod("p0");
    place_.write("config", cluster_.kubeconfig());
  }
  static void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
  bool watched(size_t watches) const {
    for (int i = 0; i < 1000 && cluster_.open_watches() < watches; ++i) pause(20);
    return cluster_.open_watches() >= watches;
  }
  // A pod that comes, is bound and goes.
  void tell_a_story() {
    cluster_.put_pod("p1");
    cluster_.put_pod("p1", "n1");
    cluster_.bookmark();
    pause(300);
    cluster_.delete_pod("p1");
    pause(500);
  }
  // Records the story until the signal.
  Ran record(int signal, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"record", "--kubeconfig", "config", "-o", "x.trace"};
    args.insert(args.end(), more.begin(), more.end());
    return place_.run_while(args, [&](int pid) {
      EXPECT_TRUE(watched(2));
      tell_a_story();
      kill(pid, signal);
    });
  }

  Workplace place_;
  kube::TestCluster cluster_;
};

TEST_F(RecordVerb, UntilASignalThenVerifiedAndReplayed) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Ran ran = record(signal, {"--force", "--checkpoint", "200ms"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("x.trace"));
    EXPECT_THAT(ran.out, HasSubstr("all agree with the watch"));
    EXPECT_THAT(ran.out, HasSubstr("no gaps"));
    EXPECT_EQ(place_.listing(), "config x.trace");
    EXPECT_EQ(place_.run({"verify", "x.trace"}).exit, 0);
    const Ran replay = place_.run({"replay", "x.trace", "--policy", "combined"});
    EXPECT_EQ(replay.exit, 0) << replay.out << replay.err;
    EXPECT_THAT(place_.run({"info", "x.trace"}).out, HasSubstr("v1.32.4"));
  }
}

TEST_F(RecordVerb, StopsByItself) {
  const Ran ran = place_.run({"record", "--kubeconfig", "config", "-o", "x.trace", "--duration", "500ms", "--json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"verb\": \"record\""));
  EXPECT_THAT(place_.run({"info", "x.trace"}).out, HasSubstr("pods, nodes"));
}

TEST_F(RecordVerb, KilledItKeepsWhatWasCommitted) {
  const Ran ran = record(SIGKILL);
  EXPECT_EQ(ran.exit, 128 + SIGKILL);
  const Ran info = place_.run({"info", "x.trace"});
  EXPECT_EQ(info.exit, 3) << info.out;
  const Ran records = place_.run({"records", "x.trace", "--name", "p1"});
  EXPECT_THAT(records.out, HasSubstr("DELETED"));  // written half a second before
  EXPECT_EQ(place_.run({"recover", "x.trace", "-o", "y.trace"}).exit, 3);
  EXPECT_EQ(place_.run({"verify", "y.trace"}).exit, 3);
}

TEST_F(RecordVerb, ReadableWhileItIsWritten) {
  place_.run_while({"record", "--kubeconfig", "config", "-o", "x.trace"}, [&](int pid) {
    EXPECT_TRUE(watched(2));
    tell_a_story();
    const Workplace other;
    const std::string trace = place_.path("x.trace");
    EXPECT_THAT(other.run({"replay", trace}).exit, AnyOf(0, 3));
    EXPECT_THAT(other.run({"state", trace, "--at", "+0.1s"}).exit, AnyOf(0, 3));
    EXPECT_THAT(other.run({"diff", trace, "--at", "+0.1s"}).exit, AnyOf(0, 1, 3));
    kill(pid, SIGTERM);
  });
}

TEST_F(RecordVerb, GapsTurnTheExitCode) {
  const Ran ran = place_.run_while({"record", "--kubeconfig", "config", "-o", "x.trace"}, [&](int pid) {
    EXPECT_TRUE(watched(2));
    cluster_.mute(true);
    tell_a_story();
    cluster_.compact();
    pause(1200);
    cluster_.cut_watches();
    cluster_.mute(false);
    for (int i = 0; i < 500 && cluster_.watches_begun() < 6; ++i) pause(20);
    pause(500);
    kill(pid, SIGTERM);
  });
  EXPECT_EQ(ran.exit, 3) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("gap"));
}

TEST_F(RecordVerb, AResourceThatIsNotThereIsSaid) {
  const Ran ran = place_.run(
      {"record", "--kubeconfig", "config", "-o", "x.trace", "--duration", "500ms", "--resources", "pods,leases"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_EQ(ran.err, "inquest: never seen: leases: 404 NotFound: no such resource\n");
}

// One line each, that names file or server and what is wrong; no trace is left.
TEST_F(RecordVerb, WhatCannotBeReached) {
  const kube::TestCertificate own = kube::make_certificate("127.0.0.1"), other = kube::make_certificate("127.0.0.1"),
                              over = kube::make_certificate("127.0.0.1", -10);
  kube::TestCluster tls(kube::TestServer::Tls{own, ""}), expired(kube::TestServer::Tls{over, ""});
  place_.write("other.crt", other.certificate_pem);
  place_.write("over.crt", over.certificate_pem);
  const auto config = [](const std::string& cluster, const std::string& user = "{}") {
    return "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: "
           "{" +
           cluster + "}}]\nusers: [{name: u, user: " + user + "}]\n";
  };
  const std::string exec = "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ";
  place_.write("rubbish", "#!/bin/sh\necho hidden\n");
  std::filesystem::permissions(place_.path("rubbish"), std::filesystem::perms::owner_all);
  const std::pair<std::string, std::string> rows[] = {
      {"a: [", "bad:1: no YAML"},
      {config("server: '" + tls.url() + "', certificate-authority: other.crt"), "certificate"},
      {config("server: '" + tls.url() + "', certificate-authority: none.crt"), "none.crt"},
      {config("server: '" + expired.url() + "', certificate-authority: over.crt"), "expired"},
      {config("server: 'http://127.0.0.1:1'"), "http://127.0.0.1:1: the server is not reached"},
      {config("server: 'https://127.0.0.1:1'", exec + "./rubbish}}"),
       "rubbish: the exec plugin printed no JSON object"},
      {config("server: 'https://127.0.0.1:1'", exec + "./none}}"), "none: the exec plugin cannot be run"},
      {config("server: 'https://127.0.0.1:1'", "{token: hidden, username: x}"), "user u has a token and a user name"},
      {config("server: 'https://127.0.0.1:1'", "{client-key-data: hidden}"), "client-key-data is no base64"},
  };
  for (const auto& [text, message] : rows) {
    place_.write("bad", text);
    const Ran ran = place_.run({"record", "--kubeconfig", "bad", "-o", "x.trace", "--duration", "1s"});
    EXPECT_EQ(ran.exit, 2) << text;
    EXPECT_THAT(ran.err, HasSubstr(message)) << text;
    EXPECT_THAT(ran.err, Not(HasSubstr("hidden"))) << text;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(place_.listing(), Not(HasSubstr("x.trace"))) << text;
  }
  const Ran context = place_.run({"record", "--kubeconfig", "config", "--context", "prod", "-o", "x.trace"});
  EXPECT_EQ(context.exit, 2);
  EXPECT_THAT(context.err, HasSubstr("no context is named prod (there are: lab)"));
}

TEST_F(RecordVerb, AnExistingTraceStays) {
  place_.write("x.trace", "mine");
  const Ran ran = place_.run({"record", "--kubeconfig", "config", "-o", "x.trace", "--duration", "1s"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(place_.read("x.trace"), "mine");
}

// Killed at any moment, while a pod comes every few milliseconds.
class RecordKilled : public RecordVerb {
 protected:
  using Clock = std::chrono::steady_clock;

  // How much of the end is missing, in milliseconds; nothing else may be.
  int64_t lost_when_killed_after(int milliseconds) {
    std::vector<Clock::time_point> put;
    Clock::time_point killed;
    const size_t begun = cluster_.watches_begun();  // those of one killed before may still look open
    const Ran ran = place_.run_while({"record", "--kubeconfig", "config", "-o", "x.trace", "--force"}, [&](int pid) {
      for (int i = 0; i < 1000 && cluster_.watches_begun() < begun + 2; ++i) pause(5);
      const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
      while (Clock::now() < until) {
        cluster_.put_pod(name(put.size()));
        put.push_back(Clock::now());
        pause(3);
      }
      killed = Clock::now();
      kill(pid, SIGKILL);
    });
    EXPECT_EQ(ran.exit, 128 + SIGKILL);
    const Ran info = place_.run({"info", "x.trace"});
    EXPECT_EQ(info.exit, 3) << info.out << info.err;
    EXPECT_THAT(info.out, HasSubstr("not closed"));
    const std::string records = place_.run({"records", "x.trace", "--kind", "frame"}).out;
    size_t kept = 0;
    while (kept < put.size() && records.find(shown(kept)) != std::string::npos) ++kept;
    EXPECT_EQ(records.find(shown(kept)), std::string::npos) << records;
    EXPECT_EQ(std::count(records.begin(), records.end(), '\n'), static_cast<std::ptrdiff_t>(kept)) << "a hole";
    for (size_t i = 0; i < put.size(); ++i) cluster_.delete_pod(name(i));
    if (kept == put.size()) return 0;
    return std::chrono::duration_cast<std::chrono::milliseconds>(killed - put[kept]).count();
  }
  static std::string shown(size_t i) { return std::string("/").append(name(i)).append(" "); }
  static std::string name(size_t i) { return std::string("k").append(std::to_string(i)); }
};
using RecordKilledSlow = RecordKilled;

TEST_F(RecordKilled, NothingButTheEndIsMissing) {
  for (const int after : {1, 90, 230, 410, 777}) {
    EXPECT_LE(lost_when_killed_after(after), 1000);  // on a machine that does other things
  }
}

TEST_F(RecordKilledSlow, AtMost250Milliseconds) {
  int64_t worst = 0;
  for (int i = 0; i < 100; ++i) {
    const int after = i * 37 % 100 * 9 + i % 7;
    const int64_t lost = lost_when_killed_after(after);
    EXPECT_LE(lost, 250) << "killed after " << after << " ms";
    worst = std::max(worst, lost);
  }
  std::cerr << "at most " << worst << " ms were lost\n";
}

}  // namespace
}  // namespace inquest::cli
