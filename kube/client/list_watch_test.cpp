// List and watch against a scripted server: what is told of whatever the server does, and that nothing is asked for in
// a storm.
#include "kube/client/list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>

#include "kube/client/test_server.h"

namespace inquest::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string pod(int number, int rv) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"lab","name":"p)" + std::to_string(number) +
         R"(","uid":"u)" + std::to_string(number) + R"(","resourceVersion":")" + std::to_string(rv) + "\"}}";
}
std::string list(int rv, const std::string& items, const std::string& more = "") {
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(rv) + "\"" +
         (more.empty() ? "" : R"(,"continue":")" + more + "\"") + R"(},"items":[)" + items + "]}";
}
std::string frame(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
const std::string kExpired = R"({"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired","message":"too old"})";
const std::string kBusy = R"({"kind":"Status","apiVersion":"v1","code":429,"reason":"TooManyRequests"})";

// What was told, a line each.
class Log : public WatchObserver {
 public:
  explicit Log(const Catalog& names) : catalog(names) {}

  reflector::Object object_of(const ObjectFacts& facts) override {
    reflector::Object out;
    if (const auto* pod = std::get_if<PodFacts>(&facts)) out = {catalog.key_of(pod->pod).value, pod->pod.value, 0, {}};
    out.rv = reflector::Rv::number(rv_of(facts));
    return out;
  }
  void listed(const ListAnswer& answer) override {
    lines.push_back("list " + std::to_string(answer.list->rv) + " of " + std::to_string(answer.list->objects.size()) +
                    (answer.last ? "" : " and more"));
  }
  void opened(std::string_view path, int) override {
    const size_t at = path.find("resourceVersion=");
    lines.push_back("open " + std::string(at == std::string_view::npos ? "" : path.substr(at + 16)));
  }
  void framed(std::string_view bytes, const DecodedFrame& frame) override {
    lines.push_back("frame " + std::to_string(frame.rv) + (bytes.starts_with("{\"type\"") ? "" : " ?"));
  }
  void undecodable(std::string_view, const std::string& why) override { lines.push_back("undecodable: " + why); }
  void closed(const std::string& why) override { lines.push_back("closed: " + why); }
  void refused(std::string_view, int, const DecodedStatus&, const std::string& why) override {
    lines.push_back("refused: " + why);
  }
  void became(const reflector::Output& output) override {
    if (std::holds_alternative<reflector::Synced>(output)) lines.emplace_back("synced");
  }

  const Catalog& catalog;
  std::vector<std::string> lines;
};

// Answers LISTs and watches from two queues; when a queue is empty, by its last.
class Script {
 public:
  using Answer = std::function<void(Peer&)>;
  std::vector<Answer> lists, watches;

  void operator()(const SeenRequest& request, Peer& peer) {
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      auto& queue = request.path.find("watch=1") != std::string::npos ? watches : lists;
      answer = queue.front();
      if (queue.size() > 1) queue.erase(queue.begin());
    }
    answer(peer);
  }

 private:
  std::mutex mutex_;
};

Script::Answer json(const std::string& body, int status = 200, const std::string& headers = "") {
  return [=](Peer& peer) { peer.answer(status, body, "Content-Type: application/json\r\n" + headers); };
}
// A watch that sends these and ends, or stays open.
enum class Then : uint8_t { kEnd, kCut, kStay };
Script::Answer watch(const std::string& bytes, Then then = Then::kStay) {
  return [=](Peer& peer) {
    peer.open("Content-Type: application/json\r\n");
    peer.chunk(bytes);
    if (then == Then::kEnd) peer.end();
    if (then == Then::kCut) peer.close();
    if (then == Then::kStay) peer.wait_until_gone(Duration::seconds(20));
  };
}

class ListWatchTest : public ::testing::Test {
 protected:
  ListWatchTest() {
    config_.path = "/api/v1/pods";
    config_.reflector.backoff.initial = Duration::milliseconds(20);
    config_.reflector.backoff.cap = Duration::milliseconds(100);
  }
  void run(const std::function<bool()>& done) {
    if (!watch_) {
      TestServer::Script script = [this](const SeenRequest& request, Peer& peer) { script_(request, peer); };
      server_ = std::make_unique<TestServer>(script);
      Access access;
      access.server = server_->url();
      api_ = std::make_unique<Api>(access, clock_, "inquest/test", false);
      watch_ = std::make_unique<ListWatch>(*api_, clock_, catalog_, decoder_, log_, config_);
      watch_->start();
    }
    const Time until = clock_.monotonic() + Duration::seconds(20);
    while (!done() && clock_.monotonic() < until) {
      api_->run(std::min(Duration::milliseconds(50), watch_->next_wake() - clock_.monotonic()));
      if (clock_.monotonic() >= watch_->next_wake()) watch_->tick();
    }
    ASSERT_TRUE(done()) << ::testing::PrintToString(log_.lines);
  }
  void run_to(const std::string& line, int times = 1) {
    run([&] { return std::count(log_.lines.begin(), log_.lines.end(), line) >= times; });
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const SeenRequest& request : server_->seen()) out.push_back(request.path);
    return out;
  }

  SystemClock clock_;
  Catalog catalog_;
  Decoder decoder_{catalog_};
  Log log_{catalog_};
  Script script_;
  ListWatch::Config config_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<ListWatch> watch_;
};

TEST_F(ListWatchTest, ListsAndWatchesOn) {
  script_.lists = {json(list(5, pod(1, 3)))};
  script_.watches = {watch(frame("ADDED", pod(2, 6)) + frame("MODIFIED", pod(2, 7)))};
  run_to("frame 7");
  EXPECT_THAT(log_.lines, ElementsAre("list 5 of 1", "synced", "open 5", "frame 6", "frame 7"));
  EXPECT_EQ(paths()[0], "/api/v1/pods?limit=500&resourceVersion=0");
  EXPECT_THAT(paths()[1], HasSubstr("/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds="));
  EXPECT_TRUE(watch_->synced() && watch_->watching());
  watch_->stop();
  EXPECT_EQ(log_.lines.back(), "closed: stopped");
}

TEST_F(ListWatchTest, PagesAndSelectors) {
  config_.selectors = "fieldSelector=spec.nodeName%3D";
  script_.lists = {json(list(5, pod(1, 3), "a/b==")), json(list(5, pod(2, 4)))};
  script_.watches = {watch("")};
  run_to("open 5");
  EXPECT_THAT(log_.lines, ElementsAre("list 5 of 1 and more", "list 5 of 1", "synced", "open 5"));
  EXPECT_EQ(paths()[1], "/api/v1/pods?fieldSelector=spec.nodeName%3D&limit=500&continue=a%2Fb%3D%3D");
}

TEST_F(ListWatchTest, EndsAndCutsResumeWhereTheyWere) {
  const std::string cut = frame("ADDED", pod(3, 8));
  script_.lists = {json(list(5, ""))};
  script_.watches = {watch(frame("ADDED", pod(1, 6)), Then::kEnd),
                     watch(frame("ADDED", pod(2, 7)) + cut.substr(0, cut.size() / 2), Then::kCut), watch(cut)};
  run_to("frame 8");
  EXPECT_THAT(log_.lines,
              ElementsAre("list 5 of 0", "synced", "open 5", "frame 6", "closed: end of the stream", "open 6",
                          "frame 7", "closed: the connection was cut, within a frame", "open 7", "frame 8"));
}

TEST_F(ListWatchTest, GoneAsAFrameAndAsAStatus) {
  script_.lists = {json(list(5, "")), json(list(9, "")), json(list(12, ""))};
  script_.watches = {watch(frame("ERROR", kExpired), Then::kEnd), json(kExpired, 410), watch("")};
  run_to("open 12");
  EXPECT_THAT(log_.lines,
              ElementsAre("list 5 of 0", "synced", "open 5", "frame 0", "closed: an ERROR frame", "list 9 of 0",
                          "synced", "refused: 410 Expired: too old", "list 12 of 0", "synced", "open 12"));
}

TEST_F(ListWatchTest, BusyServersAreAskedAgainWhenTheySay) {
  script_.lists = {json(kBusy, 429, "Retry-After: 1\r\n"), json(list(5, ""))};
  script_.watches = {json(kBusy, 429), watch("")};
  const Time begin = clock_.monotonic();
  run_to("open 5");
  EXPECT_GE(clock_.monotonic() - begin, Duration::seconds(1));
  EXPECT_THAT(log_.lines, ElementsAre("refused: 429 TooManyRequests", "list 5 of 0", "synced",
                                      "refused: 429 TooManyRequests", "open 5"));
}

TEST_F(ListWatchTest, ForbiddenIsSaidAndTriedAgain) {
  script_.lists = {json(R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})", 403), json(list(5, ""))};
  script_.watches = {watch("")};
  run_to("open 5");
  EXPECT_EQ(log_.lines[0], "refused: 403 Forbidden: no");
}

TEST_F(ListWatchTest, AProxysPageInPlaceOfEverything) {
  const auto page = [](int status) { return json("<html>sign in</html>", status); };
  script_.lists = {page(200), page(502), json(list(5, ""))};
  script_.watches = {page(200), watch("")};
  run_to("open 5", 2);
  EXPECT_THAT(log_.lines[0], HasSubstr("undecodable: "));
  EXPECT_EQ(log_.lines[1], "refused: 502, application/json, no Status");
  EXPECT_THAT(std::vector<std::string>(log_.lines.begin() + 2, log_.lines.end()),
              ElementsAre("list 5 of 0", "synced", "open 5", "undecodable: no watch frame", "closed: no watch frame",
                          "list 5 of 0", "synced", "open 5"));
}

TEST_F(ListWatchTest, AServerThatNeverAnswersIsLeft) {
  const auto never = [](Peer& peer) { peer.wait_until_gone(Duration::seconds(20)); };
  config_.head_within = Duration::milliseconds(150);
  script_.lists = {never, json(list(5, ""))};
  script_.watches = {never, watch("")};
  run_to("open 5");
  EXPECT_THAT(log_.lines, ElementsAre("refused: no answer within the time", "list 5 of 0", "synced",
                                      "refused: no answer within the time", "list 5 of 0", "synced", "open 5"));
}

TEST_F(ListWatchTest, NoStormWhateverTheServerDoes) {
  // Each watch brings one event and ends: the reflector asks again at once, for ever.
  std::atomic<int> rv = 6;
  script_.lists = {json(list(5, ""))};
  script_.watches = {[&](Peer& peer) { watch(frame("ADDED", pod(rv, rv)), Then::kEnd)(peer), ++rv; }};
  const Time begin = clock_.monotonic();
  run([&] { return clock_.monotonic() - begin > Duration::milliseconds(3500); });
  EXPECT_LE(server_->seen().size(), 20u);  // ten at once, then ten in two seconds
  EXPECT_GE(server_->seen().size(), 12u);
}

TEST_F(ListWatchTest, ACutAtAnyByteLosesNothing) {
  const std::string text = frame("ADDED", pod(1, 6)) + frame("MODIFIED", pod(1, 7));
  for (const size_t at : {size_t{0}, size_t{1}, size_t{40}, text.size() / 2, text.size() - 1}) {
    watch_.reset();
    log_.lines.clear();
    script_.lists = {json(list(5, ""))};
    const bool first_whole = at >= text.size() / 2;
    script_.watches = {watch(text.substr(0, at), Then::kCut), watch(first_whole ? frame("MODIFIED", pod(1, 7)) : text)};
    run_to("frame 7");
    EXPECT_EQ(std::count(log_.lines.begin(), log_.lines.end(), "frame 6"), 1) << at;
  }
}

}  // namespace
}  // namespace inquest::kube
