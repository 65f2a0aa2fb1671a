// A random server against a reflector: histories with cuts, 410s in every place, refusals, expired pages, stale first
// lists, events sent twice. Whatever happened, once it is over the reflector knows what the server holds, and each life
// was told to begin and to end once.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/hash.h"
#include "reflector/reflector.h"

namespace inquest::reflector {
namespace {

using Why = Refusal::Why;
using Objects = std::map<uint32_t, Object>;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(mix(state_ += 0x9e3779b97f4a7c15ULL) % bound); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// One resource of an API server. Its resourceVersions are 1, 2, 3, … and index the history.
class Server {
 public:
  explicit Server(Random& random) : random_(&random) {
    for (int i = 0; i < 12; ++i) change();
  }

  void change() {
    const uint32_t key = random_->below(20);
    const auto found = now_.find(key);
    Object object{key, 0, next_++, Rv::number(history_.size() + 1)};
    FrameType type = FrameType::kAdded;
    if (found == now_.end()) {
      object.uid = next_;
      now_[key] = object;
    } else {
      object.uid = found->second.uid;
      type = random_->one_in(2) ? FrameType::kModified : FrameType::kDeleted;
      now_[key] = object;
      if (type == FrameType::kDeleted) now_.erase(key);
    }
    history_.push_back({type, object});
  }
  void compact() { oldest_ = head() - random_->below(static_cast<uint32_t>(head() - oldest_) + 1); }

  uint64_t head() const { return history_.size(); }
  uint64_t oldest() const { return oldest_; }
  const Objects& now() const { return now_; }
  const Frame& event(uint64_t rv) const { return history_[rv - 1]; }
  Objects at(uint64_t rv) const {
    Objects out;
    for (uint64_t i = 1; i <= rv; ++i) {
      const Object& object = event(i).object;
      out[object.key] = object;
      if (event(i).type == FrameType::kDeleted) out.erase(object.key);
    }
    return out;
  }

  struct Answer {
    std::vector<Object> items;
    uint64_t rv = 0;
    StringId more;
    std::optional<Why> refused;
  };
  Answer list(const ListRequest& request) {
    Answer out;
    uint64_t from = 0;
    if (request.more.known()) {
      out.rv = pages_[request.more.value].first;
      from = pages_[request.more.value].second;
      EXPECT_FALSE(request.rv.set()) << "a version beside continue is a 400";
    } else {
      out.rv = head();
      // "0": any state. A limit at a version: exactly that state.
      if (request.rv.is_any()) out.rv -= random_->below(static_cast<uint32_t>(head() - oldest_) + 1);
      if (request.rv.set() && !request.rv.is_any() && request.limit != 0) out.rv = request.rv.bits();
    }
    if (out.rv < oldest_) {
      out.refused = random_->one_in(4) ? Why::kGone : Why::kExpired;
      return out;
    }
    for (const auto& [key, object] : at(out.rv)) {
      if (key < from) continue;
      if (request.limit != 0 && out.items.size() == request.limit) {
        pages_.push_back({out.rv, key});
        out.more = StringId{static_cast<uint32_t>(pages_.size() - 1)};
        break;
      }
      out.items.push_back(object);
    }
    return out;
  }

 private:
  Random* random_;
  std::vector<Frame> history_;
  Objects now_;
  uint64_t oldest_ = 1;
  uint32_t next_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> pages_;  // a continue token: version, first key
};

// Who listens to the deltas: believes nothing but them.
class Listener {
 public:
  void hear(const Output& output) {
    const Delta* delta = std::get_if<Delta>(&output);
    if (delta == nullptr) return;
    const uint32_t key = delta->object.key;
    const auto before = mirror_.find(key);
    if (delta->kind == Delta::Kind::kAdded) {
      ASSERT_EQ(before, mirror_.end());
      began_.push_back(delta->object.uid);
    } else {
      ASSERT_NE(before, mirror_.end());
      const bool tombstone = delta->kind == Delta::Kind::kTombstone;
      tombstones += tombstone ? 1 : 0;
      collapses += delta->collapse() ? 1 : 0;
      ASSERT_EQ(before->second, tombstone ? delta->object : delta->before);
      if (delta->collapse()) {
        ended_.push_back(delta->before.uid);
        began_.push_back(delta->object.uid);
      }
    }
    if (delta->kind == Delta::Kind::kDeleted || delta->kind == Delta::Kind::kTombstone) {
      ended_.push_back(before->second.uid);
      mirror_.erase(key);
    } else {
      mirror_[key] = delta->object;
    }
  }

  const Objects& mirror() const { return mirror_; }
  std::vector<uint32_t> began() const { return sorted(began_); }
  std::vector<uint32_t> ended() const { return sorted(ended_); }
  size_t tombstones = 0, collapses = 0;

 private:
  static std::vector<uint32_t> sorted(std::vector<uint32_t> uids) {
    std::sort(uids.begin(), uids.end());
    return uids;
  }
  Objects mirror_;
  std::vector<uint32_t> began_, ended_;
};

enum class Resume : uint8_t { kExact, kEarlier };  // kEarlier: sends again what was sent

class World {
 public:
  World(const Config& config, uint64_t seed, Resume resume)
      : random(seed), server(random), reflector(config), resume_(resume) {
    feed([](Reflector& r, Time at) { return r.step(at, Start{}); });
  }

  // One input to the reflector, remembered so that a copy can be given it too.
  using Input = std::function<std::span<const Output>(Reflector&, Time)>;
  void feed(const Input& input) {
    now = now + Duration::milliseconds(1 + random.below(700));
    if (reflector.next_wake() < now) now = reflector.next_wake();
    inputs.push_back({now, input});
    for (const Output& output : input(reflector, now)) {
      listener.hear(output);
      if (const auto* list = std::get_if<ListRequest>(&output)) list_ = *list;
      if (const auto* watch = std::get_if<WatchRequest>(&output)) watch_ = *watch;
    }
  }

  void step(bool calm) {
    switch (reflector.phase()) {
      case Phase::kStopped:
        FAIL() << "nobody stopped it";
      case Phase::kListing:
        return calm || !random.one_in(6) ? answer_list() : refuse<ListRefused>();
      case Phase::kStreamRequested:
      case Phase::kWatchRequested:
        return calm || !random.one_in(5) ? answer_watch() : refuse<WatchRefused>();
      case Phase::kStreaming:
      case Phase::kWatching:
        return calm || !random.one_in(12) ? send_frame(calm) : break_watch();
      case Phase::kWaiting:
        now = reflector.next_wake();
        return feed([](Reflector& r, Time at) { return r.step(at, TimeReached{}); });
    }
  }

  bool done() const { return reflector.phase() == Phase::kWatching && initial_.empty() && cursor_ == server.head(); }

  Random random;
  Server server;
  Reflector reflector;
  Listener listener;
  Time now{1'000'000'000};
  struct Given {
    Time at;
    Input input;
  };
  std::vector<Given> inputs;

 private:
  template <typename Refused>
  void refuse() {
    static constexpr Why kWhys[] = {Why::kOther,   Why::kConnectionRefused, Why::kTooManyRequests,
                                    Why::kExpired, Why::kTooLarge,          Why::kInternalError};
    Refusal refusal{kWhys[random.below(6)], std::nullopt};
    if (refusal.why == Why::kTooManyRequests && random.one_in(2)) refusal.retry_after_s = random.below(3);
    feed([refusal](Reflector& r, Time at) { return r.step(at, Refused{refusal}); });
  }

  void answer_list() {
    const Server::Answer answer = server.list(list_);
    feed([answer](Reflector& r, Time at) {
      if (answer.refused) return r.step(at, ListRefused{{*answer.refused, std::nullopt}});
      return r.step(at, ListPage{answer.items, Rv::number(answer.rv), answer.more});
    });
  }

  void answer_watch() {
    const bool from_anywhere = !watch_.rv.set() || watch_.initial_events == InitialEvents::kSend;
    cursor_ = from_anywhere ? server.head() : watch_.rv.bits();
    initial_.clear();
    ends_initial_ = watch_.initial_events == InitialEvents::kSend;
    if (from_anywhere) {
      for (const auto& [key, object] : server.now()) initial_.push_back({FrameType::kAdded, object});
    } else if (resume_ == Resume::kEarlier && random.one_in(3)) {
      cursor_ -= std::min<uint64_t>(random.below(4), cursor_ - 1);
    }
    const bool gone = cursor_ < server.oldest();
    if (gone && random.one_in(2)) {
      return feed([](Reflector& r, Time at) { return r.step(at, WatchRefused{{Why::kExpired, std::nullopt}}); });
    }
    feed([](Reflector& r, Time at) { return r.step(at, WatchOpened{}); });
    if (gone) feed([](Reflector& r, Time at) { return r.step(at, ErrorFrame{{Why::kGone, std::nullopt}}); });
  }

  void send_frame(bool calm) {
    Frame frame{FrameType::kBookmark, {}};
    if (!initial_.empty()) {
      frame = initial_.back();
      initial_.pop_back();
    } else if (ends_initial_) {
      ends_initial_ = false;
      frame = {FrameType::kInitialEventsEnd, {}};
      frame.object.rv = Rv::number(cursor_);
    } else if (cursor_ < server.head() && (calm || !random.one_in(8))) {
      frame = server.event(++cursor_);
    } else {
      frame.object.rv = Rv::number(cursor_);
    }
    feed([frame](Reflector& r, Time at) { return r.step(at, frame); });
  }

  void break_watch() {
    const uint32_t how = random.below(4);
    if (how == 0) return refuse<ErrorFrame>();
    if (how == 1) return feed([](Reflector& r, Time at) { return r.step(at, RelistNow{}); });
    feed([](Reflector& r, Time at) { return r.step(at, WatchClosed{}); });
  }

  Resume resume_;
  ListRequest list_;
  WatchRequest watch_;
  std::vector<Frame> initial_;
  bool ends_initial_ = false;
  uint64_t cursor_ = 0;  // the last event that the open watch was sent
};

Config config_of(uint64_t seed) {
  Config config;
  config.seed = seed;
  config.initial = seed % 2 == 0 ? Initial::kList : Initial::kStream;
  config.page_size = seed % 3 == 0 ? 4 : 0;
  return config;
}

void live(World& world, int steps) {
  for (int i = 0; i < steps; ++i) {
    if (world.random.one_in(3)) world.server.change();
    if (world.random.one_in(60)) world.server.compact();
    world.step(false);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (int i = 0; i < 1000 && !world.done(); ++i) world.step(true);
  ASSERT_TRUE(world.done()) << "never came to rest";
}

Objects known(const Reflector& reflector) {
  Objects out;
  reflector.known().each([&](const Object& object) { out[object.key] = object; });
  return out;
}

TEST(ConvergenceTest, KnownIsWhatTheServerHoldsAndEachLifeIsToldOnce) {
  size_t lives = 0, tombstones = 0, collapses = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    World world(config_of(seed), seed, Resume::kExact);
    ASSERT_NO_FATAL_FAILURE(live(world, 300));
    ASSERT_EQ(known(world.reflector), world.server.now());
    ASSERT_EQ(world.listener.mirror(), world.server.now());
    // No life began twice; those that are over ended once.
    std::vector<uint32_t> over = world.listener.began();
    ASSERT_EQ(std::adjacent_find(over.begin(), over.end()), over.end());
    lives += over.size();
    tombstones += world.listener.tombstones;
    collapses += world.listener.collapses;
    std::set<uint32_t> held;
    for (const auto& [key, object] : world.server.now()) held.insert(object.uid);
    std::erase_if(over, [&](uint32_t uid) { return held.count(uid) > 0; });
    ASSERT_EQ(world.listener.ended(), over);
  }
  EXPECT_GT(lives, 5000U);
  EXPECT_GT(tombstones, 500U);
  EXPECT_GT(collapses, 100U);
}

TEST(ConvergenceTest, EventsThatAreSentAgainAreSettledInTheEnd) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    World world(config_of(seed), seed, Resume::kEarlier);
    ASSERT_NO_FATAL_FAILURE(live(world, 300));
    ASSERT_EQ(known(world.reflector), world.server.now());
    ASSERT_EQ(world.listener.mirror(), world.server.now());
  }
}

// A copy, made at any point, says the same to the same inputs as the original, and ends with the same hash.
TEST(ConvergenceTest, ACopyGoesOnLikeTheOriginal) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    World world(config_of(seed), seed, Resume::kExact);
    ASSERT_NO_FATAL_FAILURE(live(world, 250));
    Reflector original(config_of(seed));
    for (size_t cut = 0; cut < world.inputs.size(); ++cut) {
      Reflector fork(Config{});
      fork = original;
      EXPECT_EQ(fork.state_hash(world.inputs[cut].at), original.state_hash(world.inputs[cut].at));
      Reflector straight = original;
      const size_t end = std::min(cut + 40, world.inputs.size());
      for (size_t i = cut; i < end; ++i) {
        const auto& [at, input] = world.inputs[i];
        const auto a = input(straight, at), b = input(fork, at);
        ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << cut << " " << i;
        ASSERT_EQ(straight.state_hash(at), fork.state_hash(at));
        ASSERT_EQ(straight.next_wake(), fork.next_wake());
      }
      world.inputs[cut].input(original, world.inputs[cut].at);
    }
    EXPECT_EQ(original.state_hash(world.now), world.reflector.state_hash(world.now));
  }
}

// A watch that is cut and resumed leaves no mark: the hash is that of a reflector whose watch was not, and so are all
// outputs and hashes from there on.
TEST(ConvergenceTest, ACutThatIsResumedLeavesNoMark) {
  size_t met = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    World world(config_of(seed), seed, Resume::kExact);
    ASSERT_NO_FATAL_FAILURE(live(world, 120));
    const Config config = config_of(seed);
    Reflector plain(config), cut(config);
    bool was_cut = false;
    for (size_t i = 0; i < world.inputs.size(); ++i) {
      const auto& [at, input] = world.inputs[i];
      const auto a = input(plain, at), b = input(cut, at);
      if (was_cut) {
        ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << i;
        ASSERT_EQ(plain.state_hash(at), cut.state_hash(at));
        ++met;
        continue;
      }
      const bool next_is_later = i + 1 < world.inputs.size() && world.inputs[i + 1].at > at;
      if (plain.phase() != Phase::kWatching || !next_is_later) continue;
      // A bookmark on both sides, so that neither watch counts as very short.
      Frame bookmark{FrameType::kBookmark, {}};
      bookmark.object.rv = plain.rv();
      plain.step(at, bookmark);
      cut.step(at, bookmark);
      cut.step(at, WatchClosed{});
      EXPECT_NE(plain.state_hash(at), cut.state_hash(at));
      cut.step(at, WatchOpened{});
      cut.step(at, bookmark);
      EXPECT_EQ(plain.state_hash(at), cut.state_hash(at));
      was_cut = true;
    }
  }
  EXPECT_GT(met, 1000U);
}

}  // namespace
}  // namespace inquest::reflector
