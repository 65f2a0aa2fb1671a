// The hash of the core's state says when two runs have become one: each thing that can still matter is in it, and cores
// of one hash do the same from there on, whatever comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "scheduler/core.h"
#include "scheduler/test_random.h"
#include "scheduler/test_world.h"

namespace inquest::scheduler {
namespace {

// An effect in words: all of it.
std::string word(const Effect& effect) {
  std::ostringstream out;
  out << effect.index();
  const auto pod_on = [&](PodId pod, NodeId node) { out << " " << pod.value << "@" << node.value; };
  std::visit(
      [&]<typename Kind>(const Kind& one) {
        if constexpr (std::is_same_v<Kind, PersistDecision>) {
          pod_on(one.decision.pod, one.decision.node);
          out << " " << one.decision.shape.value;
        } else if constexpr (std::is_same_v<Kind, ReportEvent>) {
          pod_on(one.pod, one.node);
          out << " " << static_cast<int>(one.text);
        } else if constexpr (std::is_same_v<Kind, PatchStatus>) {
          out << " " << one.pod.value << " " << static_cast<int>(one.text);
        } else if constexpr (std::is_same_v<Kind, NodeNameChanged>) {
          pod_on(one.pod, one.was);
          out << " " << one.is.value;
        } else if constexpr (std::is_same_v<Kind, WouldRefuse>) {
          pod_on(one.pod, one.node);
          out << " " << static_cast<int>(one.misfit.kind) << " " << one.misfit.holder.value;
        } else if constexpr (requires { one.node; }) {
          pod_on(one.pod, one.node);
        } else if constexpr (requires { one.pod; }) {
          out << " " << one.pod.value;
        }
      },
      effect);
  return out.str();
}

// A world so small that runs meet, and inputs that depend on nothing but the random numbers and what the hash covers.
class Walk {
 public:
  Walk(World& world, const Policy& policy) : world_(&world), core_(world.catalog, world.config(policy, 7)) {
    const ShapeId shapes[] = {world.shape(300), world.shape(500, 0, {port(80)})};
    for (const char* name : {"a", "b"}) {
      for (const char* life : {"1", "2"}) {
        pods_.push_back(world.pod(name, std::string(name) + life, shapes[*life == '1' ? 0 : 1]));
      }
    }
    for (const char* name : {"n1", "n2"}) nodes_.push_back(world.node(name, 1000));
  }

  const Core& core() const { return core_; }

  // What the core does, in no order, and how it looks then.
  std::vector<std::string> step(Time now, SplitMix& random) {
    std::vector<std::string> out;
    while (core_.next_wake() <= now) give(core_.next_wake(), TimeReached{}, out);
    act(now, random, out);
    std::sort(out.begin(), out.end());
    out.push_back(stores());
    core_.clear_touched();
    return out;
  }

 private:
  template <typename T>
  const T& any(const std::vector<T>& of, SplitMix& random) {
    return of[random.below(static_cast<uint32_t>(of.size()))];
  }

  void give(Time now, const Input& input, std::vector<std::string>& out) {
    for (const Effect& effect : core_.step(now, input)) out.push_back(word(effect));
  }

  void act(Time now, SplitMix& random, std::vector<std::string>& out) {
    const uint32_t kind = random.below(12);
    PodFacts pod = any(pods_, random);
    const NodeFacts node = any(nodes_, random);
    const bool bound = random.one_in(2), odd = random.one_in(8);
    const uint32_t choice = random.below(3);
    pod.priority = static_cast<int32_t>(random.below(2));
    if (bound) pod.node = node.node;
    if (odd && choice == 0) pod.gated = true;
    if (odd && choice == 1) pod.deletion = Time{1};
    if (odd && choice == 2) pod.scheduler = world_->catalog.string("another");
    const bool one = core_.policy().watches == Watches::kOne;
    const Watch watch = one ? Watch::kAll : bound ? Watch::kScheduled : Watch::kQueued;
    const PodId some = pod.pod;
    if (kind < 2) return give(now, PodChanged{watch, Verb::kModified, pod}, out);
    if (kind == 2) {
      const KnownFrom from = odd ? KnownFrom::kList : KnownFrom::kFrame;
      return give(now, PodChanged{watch, Verb::kDeleted, pod, from}, out);
    }
    if (kind == 3) return give(now, NodeChanged{odd ? Verb::kDeleted : Verb::kModified, node}, out);
    if (kind < 6) return core_.can_decide() ? give(now, Decide{}, out) : void();
    if (kind == 6) {
      if (!core_.seen(some)) return;
      return odd ? give(now, AttemptFailed{some}, out) : give(now, DecideAs{some, node.node}, out);
    }
    if (kind < 9) return give(now, BindAnswered{some, node.node, static_cast<BindAnswered::Outcome>(choice)}, out);
    if (kind == 9) return give(now, RereadAnswered{some, static_cast<RereadAnswered::Found>(choice)}, out);
    if (kind == 10 && choice == 0) return give(now, Restarted{core_.journal()}, out);
    std::vector<PodFacts> listed;
    if (!odd) listed.push_back(pod);
    give(now, PodsListed{watch, listed, choice == 1 ? ListKind::kOwn : ListKind::kPeriodic}, out);
  }

  std::string stores() {
    std::ostringstream out;
    for (const PodFacts& pod : pods_) {
      const ScheduledPod* scheduled = core_.scheduled().find(pod.pod);
      const AssumedPod* assumed = core_.assumed().find(pod.pod);
      out << (scheduled == nullptr ? 0 : scheduled->node.value + 1)
          << (assumed == nullptr ? 0 : assumed->node.value + 1) << static_cast<int>(core_.queued().state(pod.pod))
          << core_.in_flight(pod.pod) << core_.seen(pod.pod) << " ";
    }
    out << core_.next_wake().ns;
    return out.str();
  }

  World* world_;
  Core core_;
  std::vector<PodFacts> pods_;
  std::vector<NodeFacts> nodes_;
};

// So short that every end comes within a few steps.
Policy hurried(Policy policy) {
  if (policy.ttl) policy.ttl = Duration::seconds(2);
  if (policy.deletes_wait) policy.deletes_wait = Duration::seconds(2);
  if (policy.relist.period) policy.relist.period = Duration::seconds(5);
  return policy;
}

Time second(int64_t n) { return kStart + Duration::seconds(n); }

// Many short walks from one beginning; those that have come to one hash go on side by side.
size_t meet(const Policy& policy, int walks, int steps) {
  World world;
  std::map<std::pair<int, uint64_t>, Walk> met;
  size_t pairs = 0;
  for (int i = 0; i < walks && !testing::Test::HasFailure(); ++i) {
    SplitMix random(static_cast<uint64_t>(i));
    Walk walk(world, policy);
    for (int step = 0; step < steps; ++step) {
      walk.step(second(step), random);
      const auto [before, first] = met.try_emplace({step, walk.core().state_hash()}, walk);
      if (first || before->second.core().chain() == walk.core().chain()) continue;
      ++pairs;
      Walk one = before->second, other = walk;
      SplitMix same(static_cast<uint64_t>(i) + 1'000'000), too = same;
      for (int on = 1; on <= 40; ++on) {
        SCOPED_TRACE(policy.name + ", walk " + std::to_string(i) + " at " + std::to_string(step) + ", then " +
                     std::to_string(on));
        const auto what = one.step(second(step + on), same), what_other = other.step(second(step + on), too);
        EXPECT_EQ(what, what_other);
        if (what != what_other) return pairs;
      }
    }
  }
  return pairs;
}

TEST(StateHash, CoresOfOneHashDoTheSameWhateverComes) {
  for (const Policy& preset : presets()) {
    size_t pairs = 0;
    for (const auto& [name, value] : {std::pair("watches", "one"), std::pair("watches", "two")}) {
      Policy policy = hurried(preset);
      for (const Parameter& parameter : parameters()) {
        if (parameter.name != name) continue;
        ASSERT_TRUE(parameter.set(policy, value).ok());
      }
      pairs += meet(policy, 60, 25);
    }
    EXPECT_GT(pairs, 50U) << preset.name;
  }
}
TEST(StateHashSlow, CoresOfOneHashDoTheSameWhateverComes) {
  for (const Policy& preset : presets()) {
    meet(hurried(preset), 20'000, 25);
    if (testing::Test::HasFailure()) return;
  }
}

// Two ways to stores that hold the same, and what shows that they are not the same all the same.
struct Row {
  std::string what;
  Policy policy;
  void (*one)(World&, Driver&);
  void (*other)(World&, Driver&);
  std::string (*witness)(World&, Driver&);
};

TEST(StateHash, WhatCanStillMatterIsInIt) {
  const Row rows[] = {
      {"how often it was tried", *preset("combined"),
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), AttemptFailed{w.pod("a").pod});
         d.run_to(at(1000));
         d.step(at(1000), RereadAnswered{w.pod("a").pod, RereadAnswered::Found::kPending});
       },
       [](World& w, Driver& d) { d.add(at(1000), w.pod("a"), Watch::kQueued); },
       [](World& w, Driver& d) {
         d.step(at(1000), AttemptFailed{w.pod("a").pod});
         return std::to_string(d.core.next_wake().ns);
       }},
      {"where an open bind goes", *preset("locked-delete"),
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n2").node});
       },
       [](World&, Driver& d) {
         d.run_to(at(60'000));
         return std::to_string(d.effect<ReportEvent>()->node.value);
       }},
      {"since when a bind is open", *preset("locked-delete"),
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(1), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World&, Driver& d) { return std::to_string(d.core.next_wake().ns); }},
      {"that a pod whose bind is open has gone", *preset("combined"),
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"), Watch::kQueued);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
         d.remove(at(0), w.pod("a"), Watch::kQueued);
       },
       [](World& w, Driver& d) {
         d.answer(at(1), w.pod("a").pod, w.node("n1").node, BindAnswered::Outcome::kRefused);
         return std::to_string(d.parked(w.pod("a").pod));
       }},
      {"that a queued pod is being deleted", *preset("combined"),
       [](World& w, Driver& d) { d.add(at(0), w.pod("a"), Watch::kQueued); },
       [](World& w, Driver& d) {
         PodFacts pod = w.pod("a");
         d.add(at(0), pod, Watch::kQueued);
         pod.deletion = at(1);
         d.modify(at(0), pod, Watch::kQueued);
       },
       [](World&, Driver& d) {
         d.step(at(1), Decide{});
         return std::to_string(static_cast<int>(d.effect<ReportEvent>()->text));
       }},
      {"the priority of a pod whose bind is open", *preset("upstream-now"),
       [](World& w, Driver& d) {
         d.add(at(0), w.pod("a"));
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World& w, Driver& d) {
         PodFacts pod = w.pod("a");
         pod.priority = 5;
         d.add(at(0), pod);
         d.step(at(0), DecideAs{w.pod("a").pod, w.node("n1").node});
       },
       [](World& w, Driver& d) {
         d.answer(at(1), w.pod("a").pod, w.node("n1").node, BindAnswered::Outcome::kRefused);
         d.run_to(at(2000));
         PodFacts other = w.pod("b");
         other.priority = 3;
         d.add(at(2000), other);
         d.add(at(2000), w.node("n1"));
         d.step(at(2000), Decide{});
         return std::to_string(d.effect<BindPod>()->pod.value);
       }},
      {"when the next re-list is due", *preset("combined"), [](World&, Driver&) {},
       [](World&, Driver& d) { d.run_to(at(60'000)); },
       [](World&, Driver& d) { return std::to_string(d.core.next_wake().ns); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    World world;
    world.node("n1");
    world.node("n2");
    Driver one(world.catalog, world.config(row.policy)), other(world.catalog, world.config(row.policy));
    row.one(world, one);
    row.other(world, other);
    EXPECT_EQ(one.core.queued().pods().size(), other.core.queued().pods().size());
    EXPECT_NE(one.core.state_hash(), other.core.state_hash());
    EXPECT_NE(row.witness(world, one), row.witness(world, other));
  }
}

// What is done and undone leaves no mark.
TEST(StateHash, IsTheSameHoweverItCameToBe) {
  World world;
  Driver one(world.catalog, world.config("upstream-now")), other(world.catalog, world.config("upstream-now"));
  const PodFacts a = world.pod("a"), b = world.pod("b");
  one.add(at(0), a);
  one.add(at(0), b);
  other.add(at(0), b);
  other.add(at(0), a);
  EXPECT_EQ(one.core.state_hash(), other.core.state_hash());
  EXPECT_NE(one.core.chain(), other.core.chain());
  one.add(at(1), world.node("n1"));
  EXPECT_NE(one.core.state_hash(), other.core.state_hash());
  one.step(at(1), NodeChanged{Verb::kDeleted, world.node("n1")});
  EXPECT_EQ(one.core.state_hash(), other.core.state_hash());
}

}  // namespace
}  // namespace inquest::scheduler
