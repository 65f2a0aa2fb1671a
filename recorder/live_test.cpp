// A recording of a small cluster, read back.
#include "recorder/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/test_folder.h"
#include "kube/client/test_cluster.h"
#include "recorder/export.h"
#include "schema/reader.h"

namespace inquest::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::RecordKind;

class Live : public ::testing::Test {
 protected:
  Live() {
    INQUEST_CHECK(::pipe(stop_) == 0, "pipe");
    options_.access.server = cluster_.url();
    options_.user_agent = std::string("inquest/test");
    options_.output = folder_.path("x.trace");
    options_.stop_fd = stop_[0];
    options_.checkpoint = {};
    cluster_.put_node("n1");
    cluster_.put_pod("p0");
  }
  ~Live() override {
    ::close(stop_[0]);
    ::close(stop_[1]);
  }

  // Records while `story` is told, in a thread of its own, from the moment at which both watches are open.
  void record(const std::function<void()>& story) {
    std::thread teller([&] {
      wait([&] { return cluster_.open_watches() >= watches_; });
      story();
      pause(300);
      INQUEST_CHECK(::write(stop_[1], "x", 1) == 1, "write");
    });
    Result<LiveReport> report = record_live(options_, clock_);
    teller.join();
    ASSERT_TRUE(report.ok()) << report.error().message();
    report_ = *std::move(report);
    read();
  }
  static void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
  static void wait(const std::function<bool()>& done) {
    for (int i = 0; i < 1000 && !done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(done());
  }
  // The records of the stream of pods, a word each.
  void read() {
    auto reader = trace::TraceReader::open(options_.output);
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    info_ = reader->info();
    pods_.clear();
    for (;;) {
      auto record = reader->next();
      ASSERT_TRUE(record.ok()) << record.error().message();
      if (!*record) break;
      const trace::Record& r = **record;
      for (const trace::StreamSummary& stream : info_.streams) {
        if (stream.stream.id == r.stream && stream.stream.name == "pods") pods_.push_back(word(r));
      }
    }
  }
  // The lines of the trace.
  std::string exported() const {
    auto reader = trace::TraceReader::open(options_.output);
    const TestFolder lines;
    EXPECT_TRUE(reader.ok() && export_to_folder(*reader, lines.path()).ok());
    return lines.read("live");
  }
  static std::string word(const trace::Record& r) {
    const std::string rv = std::to_string(r.rv);
    switch (r.kind) {
      case RecordKind::kList:
        return (r.checkpoint ? "checkpoint " : "list ") + rv + " of " + std::to_string(r.objects.size());
      case RecordKind::kFrame: {
        constexpr const char* kVerbs[] = {"ADDED ", "MODIFIED ", "DELETED "};
        return kVerbs[static_cast<int>(r.verb)] + rv;
      }
      case RecordKind::kBookmark:
        return "bookmark " + rv;
      case RecordKind::kError:
        return "error " + std::to_string(r.status);
      case RecordKind::kOpen:
        return "open " + rv;
      case RecordKind::kClose:
        return "close";
      case RecordKind::kGap:
        return "gap " + std::to_string(r.gap_from) + " " + rv;
      case RecordKind::kUndecodable:
        return "undecodable";
      default:
        return "other";
    }
  }

  TestFolder folder_;
  kube::TestCluster cluster_;
  SystemClock clock_;
  LiveOptions options_;
  LiveReport report_;
  trace::TraceInfo info_;
  std::vector<std::string> pods_;
  size_t watches_ = 2;
  int stop_[2];
};

TEST_F(Live, ListsFramesAndBookmarks) {
  record([&] {
    cluster_.put_pod("p1");
    cluster_.put_pod("p1", "n1");
    cluster_.bookmark();
    cluster_.delete_pod("p1");
  });
  EXPECT_THAT(pods_, ElementsAre("list 102 of 1", "open 102", "ADDED 103", "MODIFIED 104", "bookmark 104",
                                 "DELETED 105", "close"));
  EXPECT_EQ(info_.cluster_version, "v1.32.4");
  EXPECT_EQ(info_.server, cluster_.url());
  EXPECT_EQ(info_.scope, "pods, nodes");
  EXPECT_EQ(info_.state, trace::TraceState::kClosed);
  EXPECT_TRUE(info_.complete());
  EXPECT_THAT(report_.refused, IsEmpty());
}

TEST_F(Live, PagesBecomeOneList) {
  for (int i = 1; i < 10; ++i) cluster_.put_pod(std::string("p").append(std::to_string(i)));
  cluster_.set_page(3);
  record([] {});
  EXPECT_EQ(pods_[0], "list 111 of 10");
  // Its body is one list that a reader of it can import again.
  EXPECT_THAT(exported(), HasSubstr(R"(\"p9\")"));
  EXPECT_THAT(exported(), ::testing::Not(HasSubstr("continue")));
}

TEST_F(Live, ACutResumesWithoutAGap) {
  record([&] {
    cluster_.put_pod("p1");
    pause(1200);  // a watch that brings nothing within its first second is followed by a list
    cluster_.cut_watches();
    cluster_.put_pod("p2");
    wait([&] { return cluster_.watches_begun() == 4; });
  });
  EXPECT_THAT(pods_, ElementsAre("list 102 of 1", "open 102", "ADDED 103", "close", "open 103", "ADDED 104", "close"));
  EXPECT_TRUE(info_.complete());
}

TEST_F(Live, WhatWasCompactedIsAGap) {
  record([&] {
    cluster_.mute(true);
    cluster_.put_pod("p1");
    cluster_.delete_pod("p1");
    cluster_.compact();
    pause(1200);
    cluster_.cut_watches();
    cluster_.mute(false);
    wait([&] { return cluster_.watches_begun() == 6; });  // once in vain, once after a list
  });
  EXPECT_THAT(pods_, ElementsAre("list 102 of 1", "open 102", "close", "open 102", "error 410", "close", "gap 102 104",
                                 "list 104 of 1", "open 104", "close"));
  EXPECT_FALSE(info_.complete());
}

TEST_F(Live, ASilentWatchIsOpenedAgain) {
  options_.checkpoint = Duration::milliseconds(200);
  options_.patience = Duration::milliseconds(1200);
  record([&] {
    cluster_.mute(true);
    cluster_.put_pod("p1");
    wait([&] { return cluster_.watches_begun() == 3; });
    cluster_.mute(false);
  });
  EXPECT_THAT(pods_, ::testing::Contains("checkpoint 103 of 2"));
  EXPECT_GE(std::count(pods_.begin(), pods_.end(), "open 102"), 2);
  EXPECT_EQ(std::count(pods_.begin(), pods_.end(), "ADDED 103"), 1);
}

TEST_F(Live, CheckpointsStandBesideTheWatch) {
  options_.checkpoint = Duration::milliseconds(100);
  record([&] { pause(400); });
  EXPECT_THAT(pods_, ::testing::Contains("checkpoint 102 of 1"));
  EXPECT_GE(report_.counts.checkpoints, 2u);
}

TEST_F(Live, BytesThatAreNoFrameAreKept) {
  record([&] {
    cluster_.send_raw("not json\n");
    wait([&] { return cluster_.open_watches() == 2 && cluster_.server().seen().size() >= 7; });
  });
  EXPECT_THAT(pods_,
              ElementsAre("list 102 of 1", "open 102", "undecodable", "close", "list 102 of 1", "open 102", "close"));
  EXPECT_FALSE(info_.complete());
}

TEST_F(Live, AResourceThatIsForbiddenIsSaid) {
  options_.resources = {"pods", "nodes", "leases"};
  record([] {});
  EXPECT_THAT(report_.refused, ElementsAre("leases: 404 NotFound: no such resource"));
  EXPECT_FALSE(info_.complete());
}

TEST_F(Live, SecretsDoNotEnter) {
  record([&] { cluster_.put_pod("p1", "", R"(,"env":[{"name":"A","value":"hidden"}])"); });
  EXPECT_THAT(exported(), HasSubstr("[redacted]"));
  EXPECT_THAT(exported(), ::testing::Not(HasSubstr("hidden")));
  EXPECT_EQ(report_.redacted[static_cast<size_t>(SecretKind::kEnv)], 1u);
}

TEST_F(Live, WhatIsCommittedCanBeReadMeanwhile) {
  record([&] {
    cluster_.put_pod("p1");
    pause(600);
    read();
    EXPECT_THAT(pods_, ElementsAre("list 102 of 1", "open 102", "ADDED 103"));
    EXPECT_EQ(info_.state, trace::TraceState::kOpen);
  });
}

// The body of GET path from the recording's own server.
std::string asked(uint16_t port, const std::string& path) {
  const SystemClock clock;
  kube::Access access;
  access.server = std::string("http://127.0.0.1:").append(std::to_string(port));
  struct Answer : kube::Receiver {
    void head(const kube::HttpHead& h) override { text = std::to_string(h.status) + " "; }
    bool bytes(std::string_view piece) override { return text += piece, true; }
    void end(const kube::HttpEnd&) override { over = true; }
    std::string text;
    bool over = false;
  } answer;
  kube::Api api(access, clock, "test", false);
  kube::ApiRequest request;
  request.path = path;
  EXPECT_TRUE(api.send(request, answer).ok());
  while (!answer.over) api.run(Duration::milliseconds(50));
  return answer.text;
}

TEST_F(Live, TellsHowItIs) {
  std::atomic<uint16_t> port = 0;
  options_.listen = std::string("127.0.0.1:0");
  options_.listening = [&](uint16_t p) { port = p; };
  record([&] {
    cluster_.put_pod("p1");
    pause(2500);
    EXPECT_EQ(asked(port, "/healthz"), "200 ok\n");
    EXPECT_EQ(asked(port, "/readyz"), "200 ok\n");
    const std::string metrics = asked(port, "/metrics");
    EXPECT_THAT(metrics, HasSubstr("\ninquest_record_frames_total 1"));
    EXPECT_THAT(metrics, HasSubstr("\ninquest_record_watching{resource=\"pods\"} 1"));
    cluster_.refuse(503);
    cluster_.cut_watches();
    pause(1500);
    EXPECT_THAT(asked(port, "/readyz"), HasSubstr("503 not watched: "));
  });
}

TEST_F(Live, NothingIsWrittenWhereNothingCanBe) {
  options_.resources = {"secrets"};
  EXPECT_EQ(record_live(options_, clock_).error().message(),
            "--resources: 'secrets' is not recorded (there are pods, nodes, events, leases)");
  options_.resources = {"pods"};
  options_.access.server = std::string("http://127.0.0.1:1");
  EXPECT_THAT(record_live(options_, clock_).error().message(),
              HasSubstr("http://127.0.0.1:1: the server is not reached"));
  EXPECT_EQ(folder_.listing(), "");
}

}  // namespace
}  // namespace inquest::recorder
