// Random inputs against a slow, obvious reckoning: after each step the stores are those of the reference model, the
// books are summed up anew from the stores, and whatever changed its place must have been reported as touched.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "scheduler/core.h"
#include "scheduler/reference_model.h"
#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

constexpr size_t kNames = 4, kLives = 3, kNodes = 3;

// So short that every end comes within a few steps.
Policy hurried(Policy policy) {
  if (policy.ttl) policy.ttl = Duration::seconds(3);
  if (policy.deletes_wait) policy.deletes_wait = Duration::seconds(2);
  if (policy.relist.period) policy.relist.period = Duration::seconds(5);
  return policy;
}

std::vector<Policy> policies() {
  std::vector<Policy> out;
  for (const Policy& policy : presets()) out.push_back(hurried(policy));
  return out;
}

// Some parameters set at random, whatever the preset had in mind.
Policy varied(Policy policy, SplitMix& random) {
  const std::map<std::string_view, std::vector<std::string_view>> values = {
      {"ttl", {"never", "700ms", "3s"}},
      {"ttl-from", {"assume", "answer"}},
      {"expire-while-bind-open", {"no", "yes"}},
      {"expiry", {"exact", "tick"}},
      {"assume", {"never", "before", "after"}},
      {"binds", {"serial", "3", "16"}},
      {"purge", {"decision", "event", "both"}},
      {"deletes-to", {"scheduled", "both"}},
      {"deletes-wait", {"no", "500ms", "4s"}},
      {"tombstones", {"last-seen", "everywhere"}},
      {"relist", {"never", "5s"}},
      {"relist-stores", {"none", "scheduled", "queued,nodes", "assumed", "scheduled,queued,nodes,assumed"}},
      {"key", {"name", "uid"}},
      {"uid-change", {"update", "split"}},
      {"when-marked", {"keep", "forget"}},
      {"watches", {"one", "two"}},
      {"queue", {"fifo", "priority"}},
      {"score", {"least", "least+balanced", "most"}},
      {"ready", {"condition", "taints"}},
      {"journal", {"no", "yes"}},
  };
  INQUEST_CHECK(values.size() == parameters().size(), "a parameter that is never varied");
  for (const Parameter& parameter : parameters()) {
    const std::vector<std::string_view>& of = values.at(parameter.name);
    if (!random.one_in(3)) continue;
    const std::string_view value = of[random.below(static_cast<uint32_t>(of.size()))];
    INQUEST_CHECK(parameter.set(policy, value).ok(), parameter.name, value);
  }
  return policy;
}

std::string described(const Policy& policy) {
  std::string out = policy.name;
  for (const Parameter& parameter : parameters()) {
    out.append(" ").append(parameter.name).append("=").append(parameter.get(policy));
  }
  return out;
}

struct Sums {
  int64_t pods = 0, cpu = 0, nonzero = 0;
  std::vector<std::pair<const HostPort*, uint32_t>> ports;
  friend bool operator==(const Sums&, const Sums&) = default;
};
// Where a pod stands: its node in the scheduled store, in the assumed store, its place in the queue, its binds.
using Place = std::tuple<NodeId, NodeId, QueuedStore::State, bool>;

class Fuzz {
 public:
  // The world must outlive it and its copies.
  Fuzz(World& world, const Policy& policy, uint64_t seed)
      : world_(&world),
        random_(seed),
        driver_(world.catalog, world.config(policy, seed)),
        model_(world.catalog, world.config(policy, seed)) {
    const ShapeId shapes[] = {world_->shape(300), world_->shape(500, 0, {port(80)}),
                              world_->shape(0, 0, {port(80, "10.0.0.1"), port(81)})};
    for (size_t name = 0; name < kNames; ++name) {
      for (size_t life = 0; life < kLives; ++life) {
        pods_.push_back(world_->pod(numbered("p", name), numbered("u", name * kLives + life), shapes[life]));
      }
    }
    for (size_t i = 0; i < kNodes; ++i) nodes_.push_back(world_->node(numbered("n", i), 1000));
  }

  const Core& core() const { return driver_.core; }
  bool failed() const { return testing::Test::HasFailure(); }

  void step() {
    now_ = now_ + Duration::milliseconds(random_.below(300));
    while (driver_.core.next_wake() <= now_) give(driver_.core.next_wake(), TimeReached{});
    if (random_.one_in(300)) return restart();
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        return frame();
      case 3:
        return node();
      case 4:
      case 5:
        if (driver_.core.can_decide()) give(now_, Decide{});
        return;
      case 6:
        return follow();
      case 7:
      case 8:
        return answer();
      default:
        return list();
    }
  }

 private:
  template <typename T>
  const T& any(const std::vector<T>& of) {
    return of[random_.below(static_cast<uint32_t>(of.size()))];
  }

  PodFacts version() {
    PodFacts pod = any(pods_);
    if (random_.one_in(2)) pod.node = any(nodes_).node;
    if (random_.one_in(10)) pod.phase = PodPhase::kSucceeded;
    if (random_.one_in(10)) pod.gated = true;
    pod.priority = static_cast<int32_t>(random_.below(3));
    if (random_.one_in(10)) pod.scheduler = world_->catalog.string("another");
    if (random_.one_in(15)) pod.deletion = now_;
    if (random_.one_in(10)) pod.shape = any(pods_).shape;
    return pod;
  }

  Watch watch() {
    if (driver_.core.policy().watches == Watches::kOne) return Watch::kAll;
    return random_.one_in(2) ? Watch::kQueued : Watch::kScheduled;
  }

  void frame() {
    constexpr Verb kVerbs[] = {Verb::kAdded, Verb::kModified, Verb::kDeleted};
    const PodFacts pod = version();
    const Watch on = watch();
    Verb verb = kVerbs[random_.below(3)];
    if (on == Watch::kScheduled && !pod.bound()) verb = Verb::kDeleted;
    if (on == Watch::kQueued && pod.bound()) verb = Verb::kDeleted;
    const bool tombstone = verb == Verb::kDeleted && random_.one_in(3);
    give(now_, PodChanged{on, verb, pod, tombstone ? KnownFrom::kList : KnownFrom::kFrame});
  }

  void node() {
    NodeFacts node = any(nodes_);
    if (random_.one_in(6)) node.ready = Condition::kFalse;
    if (random_.one_in(6)) node.unschedulable = true;
    give(now_, NodeChanged{random_.one_in(3) ? Verb::kDeleted : Verb::kModified, node});
  }

  void follow() {
    const PodId pod = any(pods_).pod;
    if (!core().seen(pod)) return;
    if (random_.one_in(3)) return give(now_, AttemptFailed{pod});
    const NodeId node = any(nodes_).node;
    open_.push_back({pod, node});
    give(now_, DecideAs{pod, node});
  }

  void answer() {
    if (!rereads_.empty() && random_.one_in(2)) {
      const PodId pod = rereads_.back();
      rereads_.pop_back();
      return give(now_, RereadAnswered{pod, static_cast<RereadAnswered::Found>(random_.below(3))});
    }
    if (open_.empty()) return;
    std::swap(open_[random_.below(static_cast<uint32_t>(open_.size()))], open_.back());
    const BindPod bind = open_.back();
    open_.pop_back();
    if (random_.one_in(20)) return;  // lost
    give(now_, BindAnswered{bind.pod, bind.node, static_cast<BindAnswered::Outcome>(random_.below(3))});
  }

  void list() {
    if (random_.one_in(3)) {
      std::vector<NodeFacts> nodes;
      for (const NodeFacts& node : nodes_) {
        if (!random_.one_in(4)) nodes.push_back(node);
      }
      return give(now_, NodesListed{nodes});
    }
    std::vector<PodFacts> pods;
    for (const PodFacts& pod : pods_) {
      if (random_.one_in(2)) pods.push_back(pod);
      if (!pods.empty() && random_.one_in(2)) pods.back().node = any(nodes_).node;
    }
    if (random_.one_in(2)) return give(now_, PodsListed{watch(), pods});
    give(now_, PodsListed{static_cast<Watch>(random_.below(3)), pods, ListKind::kPeriodic});
  }

  // What is on the disk is what the effects have written. Answers to what the dead one sent may still come.
  void restart() {
    std::vector<Decision> survived;
    for (const auto& [pod, decision] : disk_) survived.push_back(decision);
    give(now_, Restarted{survived});
    rereads_.clear();
  }

  void give(Time now, const Input& input) {
    const std::vector<Place> before = places();
    const std::vector<Sums> charged_before = charged();
    ReferenceModel::Observed observed;
    for (const PodFacts& pod : pods_) {
      if (core().queued().state(pod.pod) == QueuedStore::State::kQueued) observed.in_line.insert(pod.pod);
    }
    std::optional<Core> forgetful;  // a copy remembers nothing of earlier choices: it looks at every node
    if (std::get_if<Decide>(&input) != nullptr) forgetful = driver_.core;
    driver_.step(now, input);
    if (forgetful) {
      forgetful->step(now, input);
      EXPECT_EQ(forgetful->chain(), core().chain());
    }
    std::set<PodId> expired;
    for (const Effect& effect : driver_.effects) {
      if (const auto* bind = std::get_if<BindPod>(&effect)) open_.push_back(*bind), observed.chosen = bind->node;
      if (const auto* reread = std::get_if<RereadPod>(&effect)) rereads_.push_back(reread->pod);
      if (const auto* decision = std::get_if<PersistDecision>(&effect)) {
        disk_[decision->decision.pod] = decision->decision;
      }
      if (const auto* over = std::get_if<ForgetDecision>(&effect)) {
        EXPECT_EQ(disk_.erase(over->pod), 1U);
      }
      if (const auto* end = std::get_if<AssumptionExpired>(&effect)) expired.insert(end->pod);
      observed.taken = taken_by(input, effect, observed.taken);
    }
    model_.step(now, input, observed);
    EXPECT_TRUE(model_.expired == expired);
    check_model(now);
    check_books();
    check_stores(input);
    check_touched(before, charged_before);
    driver_.core.clear_touched();
  }

  // Every effect of a decision names its pod.
  static PodId taken_by(const Input& input, const Effect& effect, PodId otherwise) {
    if (std::get_if<Decide>(&input) == nullptr) return otherwise;
    if (const auto* bind = std::get_if<BindPod>(&effect)) return bind->pod;
    const auto* event = std::get_if<ReportEvent>(&effect);
    return event == nullptr ? otherwise : event->pod;
  }

  void check_model(Time now) {
    Core& core = driver_.core;
    EXPECT_EQ(core.scheduled().pods().size(), model_.scheduled.size());
    for (const auto& [slot, entry] : model_.scheduled) {
      const ScheduledPod* held = core.scheduled().find(entry.pod);
      EXPECT_TRUE(held != nullptr && held->node == entry.node && held->shape == entry.shape);
    }
    EXPECT_EQ(core.assumed().pods().size(), model_.assumed.size());
    for (const auto& [slot, entry] : model_.assumed) {
      const AssumedPod* held = core.assumed().find(entry.bound.pod);
      ASSERT_NE(held, nullptr);
      EXPECT_TRUE(held->node == entry.bound.node && held->shape == entry.bound.shape);
      EXPECT_EQ(held->deadline, entry.deadline);
      EXPECT_EQ(held->won, entry.won);
    }
    EXPECT_EQ(core.queued().pods().size(), model_.queued.size());
    for (const auto& [slot, pod] : model_.queued) EXPECT_EQ(core.queued().at(pod), pod);
    for (const auto& [pod, flight] : model_.flights) EXPECT_EQ(core.in_flight(pod), flight.open > 0);
    const std::vector<Decision> journal = core.journal();
    EXPECT_EQ(journal.size(), model_.journal.size());
    EXPECT_EQ(journal.size(), disk_.size());
    for (const auto& [slot, entry] : model_.journal) {
      ASSERT_EQ(disk_.count(entry.pod), 1U);
      EXPECT_TRUE(disk_.at(entry.pod).node == entry.node && disk_.at(entry.pod).shape == entry.shape);
    }
    const Time wake = std::min(model_.next_wake(), core.queued().next_end());
    EXPECT_EQ(core.next_wake(), std::max(wake, now));
  }

  // Scheduled, and of the assumed those whose slot the scheduled store does not hold.
  std::vector<Sums> reckoned() const {
    std::vector<Sums> out(kNodes);
    const auto add = [&](PodId pod, NodeId node, ShapeId shape_id) {
      Sums& sums = out[node.value];
      const PodShape& shape = world_->catalog.shape(shape_id);
      ++sums.pods;
      sums.cpu += shape.requests.cpu_milli;
      sums.nonzero += shape.nonzero_cpu_milli;
      for (const HostPort& port : shape.ports) sums.ports.emplace_back(&port, pod.value);
    };
    for (const PodId pod : core().scheduled().pods()) {
      const ScheduledPod* entry = core().scheduled().find(pod);
      add(pod, entry->node, entry->shape);
    }
    for (const PodId pod : core().assumed().pods()) {
      const AssumedPod* entry = core().assumed().find(pod);
      const bool shadowed = core().scheduled().at(pod) != nullptr;
      EXPECT_EQ(entry->charged, !shadowed);
      if (!shadowed) add(pod, entry->node, entry->shape);
    }
    for (Sums& sums : out) std::sort(sums.ports.begin(), sums.ports.end());
    return out;
  }

  std::vector<Sums> charged() const {
    std::vector<Sums> out(kNodes);
    for (uint32_t node = 0; node < kNodes; ++node) {
      const NodeBook& book = core().books().book({node});
      out[node] = {book.pods, static_cast<int64_t>(book.cpu_milli), static_cast<int64_t>(book.nonzero_cpu_milli), {}};
      for (const PortCharge& port : book.ports) out[node].ports.emplace_back(port.port, port.holder.value);
      std::sort(out[node].ports.begin(), out[node].ports.end());
    }
    return out;
  }

  std::vector<Place> places() const {
    std::vector<Place> out;
    for (const PodFacts& pod : pods_) {
      const ScheduledPod* scheduled = core().scheduled().find(pod.pod);
      const AssumedPod* assumed = core().assumed().find(pod.pod);
      out.emplace_back(scheduled == nullptr ? NodeId::none() : scheduled->node,
                       assumed == nullptr ? NodeId::none() : assumed->node, core().queued().state(pod.pod),
                       core().in_flight(pod.pod));
    }
    return out;
  }

  void check_books() const {
    const std::vector<Sums> wanted = reckoned(), held = charged();
    for (size_t node = 0; node < kNodes; ++node) {
      EXPECT_EQ(held[node].pods, wanted[node].pods);
      EXPECT_EQ(held[node].cpu, wanted[node].cpu);
      EXPECT_EQ(held[node].nonzero, wanted[node].nonzero);
      EXPECT_TRUE(held[node].ports == wanted[node].ports);
    }
  }

  void check_stores(const Input& input) const {
    const Policy& policy = core().policy();
    const bool decided = std::get_if<Decide>(&input) != nullptr || std::get_if<DecideAs>(&input) != nullptr;
    for (const PodFacts& pod : pods_) {
      const bool assumed = core().assumed().find(pod.pod) != nullptr;
      const bool waits = core().queued().state(pod.pod) != QueuedStore::State::kAbsent;
      EXPECT_FALSE(waits && (assumed || core().in_flight(pod.pod))) << "queued while it is being bound";
      if (!assumed) continue;
      EXPECT_NE(policy.assume, AssumeWhen::kNever);
      EXPECT_FALSE(policy.purges_on_event() && core().scheduled().find(pod.pod) != nullptr);
      if (!decided || !policy.purges_at_decision() || policy.assume == AssumeWhen::kBeforeBind) continue;
      const PodId waiting = core().queued().at(pod.pod);
      EXPECT_EQ(core().scheduled().at(pod.pod), nullptr) << "seen scheduled, not purged";
      EXPECT_FALSE(waiting && core().queued().state(waiting) == QueuedStore::State::kQueued) << "queued, not purged";
    }
  }

  void check_touched(const std::vector<Place>& before, const std::vector<Sums>& charged_before) const {
    const auto touched = [](const auto& list, auto id) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    const std::vector<Place> after = places();
    for (size_t i = 0; i < pods_.size(); ++i) {
      EXPECT_TRUE(before[i] == after[i] || touched(core().touched_pods(), pods_[i].pod)) << "pod " << i;
    }
    const std::vector<Sums> charged_after = charged();
    for (uint32_t i = 0; i < kNodes; ++i) {
      if (charged_before[i] == charged_after[i]) continue;
      EXPECT_TRUE(touched(core().touched_nodes(), NodeId{i})) << "node " << i;
    }
  }

  World* world_;
  SplitMix random_;
  Driver driver_;
  ReferenceModel model_;
  std::map<PodId, Decision> disk_;
  std::vector<PodFacts> pods_;
  std::vector<NodeFacts> nodes_;
  std::vector<BindPod> open_;
  std::vector<PodId> rereads_;
  Time now_ = kStart;
};

void agrees(const Policy& policy, uint64_t seed, int steps) {
  SCOPED_TRACE(described(policy) + ", seed " + std::to_string(seed));
  World world;
  Fuzz fuzz(world, policy, seed);
  for (int i = 0; i < steps && !fuzz.failed(); ++i) {
    SCOPED_TRACE(i);
    fuzz.step();
  }
}

// Half of the steps of each policy as it stands, half under `variations` that share its name only.
void all_agree(int steps, int variations) {
  SplitMix random(2015);
  for (const Policy& policy : policies()) {
    agrees(policy, 6023, steps / 2);
    for (int i = 0; i < variations; ++i) {
      ASSERT_FALSE(testing::Test::HasFailure());
      agrees(varied(policy, random), random.next(), steps / 2 / variations);
    }
  }
}

TEST(Reference, CoreAndModelAgreeAfterEveryStep) { all_agree(20'000, 20); }
TEST(ReferenceSlow, CoreAndModelAgreeAfterEveryStep) { all_agree(1'000'000, 250); }

TEST(Reference, TheSameInputsGiveTheSameChain) {
  std::vector<uint64_t> chains;
  for (const Policy& policy : policies()) {
    SCOPED_TRACE(policy.name);
    World world;
    Fuzz one(world, policy, 1), same(world, policy, 1), other(world, policy, 2);
    for (int i = 0; i < 500; ++i) {
      one.step();
      same.step();
      other.step();
      ASSERT_EQ(one.core().chain(), same.core().chain());
      ASSERT_EQ(one.core().state_hash(), same.core().state_hash());
    }
    EXPECT_NE(one.core().chain(), other.core().chain());
    EXPECT_EQ(std::count(chains.begin(), chains.end(), one.core().chain()), 0);
    chains.push_back(one.core().chain());
  }
}

// Every input, effect and check of these steps, and the chain after each.
std::vector<uint64_t> chains(Fuzz& fuzz, int steps) {
  std::vector<uint64_t> out;
  for (int i = 0; i < steps && !fuzz.failed(); ++i) {
    fuzz.step();
    out.push_back(fuzz.core().chain());
  }
  return out;
}

// A run is forked by copying its core: nothing in the copy may lead back into the original.
TEST(Reference, ACopyGoesOnAsItsOriginalDoesAndWithoutIt) {
  for (const Policy& policy : policies()) {
    SCOPED_TRACE(policy.name);
    World world;
    auto original = std::make_unique<Fuzz>(world, policy, 6023);
    for (int fork = 0; fork < 20; ++fork) {
      chains(*original, 50);
      Fuzz copy = *original;
      const uint64_t at_the_fork = copy.core().chain();
      const std::vector<uint64_t> straight = chains(*original, 200);
      EXPECT_EQ(copy.core().chain(), at_the_fork) << "the original moved its copy";
      Fuzz assigned(world, policy, 1);
      assigned = copy;
      original.reset();
      EXPECT_EQ(chains(copy, 200), straight);
      EXPECT_EQ(chains(assigned, 200), straight);
      original = std::make_unique<Fuzz>(assigned);
    }
    ASSERT_FALSE(original->failed());
  }
}

}  // namespace
}  // namespace inquest::scheduler
