#include "replayer/scenario.h"

#include <algorithm>

#include "replayer/delivery.h"
#include "replayer/world.h"

namespace inquest::replayer {

using scheduler::BindAnswered;

namespace {

constexpr Time kStart{1'000'000'000'000'000'000};
constexpr std::string_view kNamespace = "story";
constexpr std::string_view kScheduler = "default-scheduler";

// One telling: the API's side of the story, and the frames that the steps let through.
class Telling {
 public:
  Telling(Told& told, const scheduler::Policy& policy)
      : told_(told),
        catalog_(told.catalog),
        world_(catalog_, {{policy, kStart, {catalog_.string(kScheduler)}, 0}, &no_faults_, nullptr, kDefaultLag, {}}) {}

  void begin(const std::vector<std::string>& nodes) {
    Allocatable room;
    room.resources.cpu_milli = 64'000;
    room.resources.memory = int64_t{256} << 30;
    room.pods = 110;
    std::vector<NodeFacts> facts;
    for (const std::string& name : nodes) {
      NodeFacts node;
      node.node = catalog_.node(name);
      node.allocatable = catalog_.allocatable(room);
      node.ready = Condition::kTrue;
      node.rv = ++rv_;
      facts.push_back(node);
    }
    world_.set_now(kStart, 0);
    world_.nodes_listed(facts, true);
    world_.pods_listed({}, true);
    while (world_.answer_requests()) {
    }
    world_.settle(Judge::Phase::kTrace);
  }

  // Time passes up to `until`, this instant's expiries included.
  void pass(Time until, Judge::Phase phase) {
    while (world_.next_due() <= until) {
      world_.set_now(world_.next_due(), seq_);
      while (world_.act_first()) {
      }
      if (world_.relist()) {
        while (world_.answer_requests()) {
        }
      }
      world_.settle(phase);
    }
    world_.set_now(until, seq_);
  }

  Result<void> take(const Step& step) {
    now_ = kStart + step.at;
    ++seq_;
    pass(now_, Judge::Phase::kTrace);
    if (step.kind == StepKind::kCreate) {
      create(step);
    } else if (step.kind == StepKind::kDecide) {
      decide();
    } else {
      Life* life = find(step.pod);
      if (life == nullptr) {
        return Error{ErrorCode::kInput, "no pod '" + step.pod + "' was created", "step " + std::to_string(seq_), ""};
      }
      take(step.kind, *life);
    }
    while (world_.act_first()) {
    }
    world_.settle(Judge::Phase::kTrace);
    return {};
  }

  void end(Duration drain) {
    told_.start = kStart;
    told_.end = now_;
    const Time horizon = now_ + drain;
    pass(horizon, Judge::Phase::kAfterEnd);
    told_.findings = world_.judge().finish(horizon);
  }

 private:
  struct Life {
    std::string name;
    PodFacts created;  // as the API got it
    PodFacts told;     // the latest version that reached the scheduler
    NodeId asked;      // the node of its open bind; none: no bind is open
    bool accepted = false;
  };

  Life* find(std::string_view name) {
    for (auto life = lives_.rbegin(); life != lives_.rend(); ++life) {
      if (life->name == name) return &*life;
    }
    return nullptr;
  }

  void create(const Step& step) {
    PodShape shape;
    shape.requests.cpu_milli = 100;
    if (step.host_port != 0) shape.ports.push_back({"", Protocol::kTcp, step.host_port});
    PodFacts pod;
    const KeyId key = catalog_.key(catalog_.string(kNamespace), catalog_.string(step.pod));
    pod.pod = catalog_.pod(key, catalog_.string("uid-" + std::to_string(lives_.size() + 1)));
    pod.scheduler = catalog_.string(kScheduler);
    pod.shape = catalog_.shape(shape);
    pod.phase = PodPhase::kPending;
    pod.rv = ++rv_;
    lives_.push_back({step.pod, pod, pod, {}, false});
    told_.fates.push_back({step.pod, {}});
    world_.truth().apply(Verb::kAdded, pod);
    deliver(Verb::kAdded, nullptr, pod);
  }

  void decide() {
    world_.step(scheduler::Decide{}, Cure::kDecision);
    for (const PodId pod : world_.take_unschedulable()) fate_of(pod).decided.emplace_back();
    for (const scheduler::BindPod& bind : world_.take_binds()) {
      Life& life = lives_[index_of(bind.pod)];
      fate_of(bind.pod).decided.emplace_back(catalog_.node_name(bind.node));
      life.asked = bind.node;
      life.accepted = world_.truth().holds(bind.pod) && !world_.truth().node_of(bind.pod) &&
                      world_.truth().accept_bind(bind.pod, bind.node);
    }
  }

  void take(StepKind kind, Life& life) {
    const PodId pod = life.created.pod;
    switch (kind) {
      case StepKind::kAnswer: {
        if (!life.asked) return;
        const auto outcome = life.accepted ? BindAnswered::Outcome::kBound : BindAnswered::Outcome::kRefused;
        world_.step(BindAnswered{pod, life.asked, outcome}, Cure::kAnswer);
        return;
      }
      case StepKind::kConfirm: {
        if (!life.accepted) return;
        PodFacts bound = life.created;
        bound.node = life.asked;
        bound.rv = ++rv_;
        if (world_.truth().holds(pod)) world_.truth().apply(Verb::kModified, bound);
        deliver(Verb::kModified, &life.told, bound);
        life.told = bound;
        return;
      }
      case StepKind::kDelete: {
        PodFacts last = life.created;
        last.node = world_.truth().node_of(pod);
        last.rv = ++rv_;
        world_.truth().apply(Verb::kDeleted, last);
        return;
      }
      case StepKind::kForgotten:
        deliver(Verb::kDeleted, &life.told, life.told);
        return;
      case StepKind::kCreate:
      case StepKind::kDecide:
        return;
    }
  }

  void deliver(Verb verb, const PodFacts* before, const PodFacts& pod) {
    world_.delivery().pod_changed({seq_, now_, verb, &pod, before, nullptr, nullptr}, world_.faults());
    while (world_.hear_frame()) {
    }
  }

  size_t index_of(PodId pod) const {
    return static_cast<size_t>(
        std::find_if(lives_.begin(), lives_.end(), [&](const Life& life) { return life.created.pod == pod; }) -
        lives_.begin());
  }
  Fate& fate_of(PodId pod) { return told_.fates[index_of(pod)]; }

  Told& told_;
  Catalog& catalog_;
  Plan no_faults_;
  World world_;
  std::vector<Life> lives_;
  Time now_ = kStart;
  trace::Seq seq_ = 0;
  ResourceVersion rv_ = 0;
};

}  // namespace

const Fate* Told::fate(std::string_view pod) const {
  for (auto fate = fates.rbegin(); fate != fates.rend(); ++fate) {
    if (fate->pod == pod) return &*fate;
  }
  return nullptr;
}

Scenario& Scenario::node(std::string name) {
  nodes_.push_back(std::move(name));
  return *this;
}

Scenario& Scenario::at(Duration offset) {
  INQUEST_CHECK(offset >= now_, "a story goes forward", offset.ns, now_.ns);
  now_ = offset;
  return *this;
}

Scenario& Scenario::add(StepKind kind, std::string pod, uint16_t host_port) {
  steps_.push_back({now_, kind, std::move(pod), host_port});
  return *this;
}

Result<Told> Scenario::tell(const scheduler::Policy& policy, Duration drain) const {
  Told told;
  Telling telling(told, policy);
  telling.begin(nodes_);
  for (const Step& step : steps_) INQUEST_TRY_VOID(telling.take(step));
  telling.end(drain);
  return told;
}

}  // namespace inquest::replayer
