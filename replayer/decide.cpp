#include "replayer/decide.h"

#include <algorithm>

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::BindAnswered;

namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; };

constexpr uint16_t kNotFound = 404, kConflict = 409;

ResourceVersion latest_rv(const Recording& recording) {
  ResourceVersion out = 0;
  for (const PodFacts& pod : recording.pods()) out = std::max(out, pod.rv);
  for (const NodeFacts& node : recording.nodes()) out = std::max(out, node.rv);
  return out;
}

}  // namespace

Decide::Decide(const Recording& recording, std::shared_ptr<const Script> script, const Pace& pace, Duration lost_after)
    : recording_(&recording),
      script_(std::move(script)),
      pace_(pace),
      lost_after_(lost_after),
      rv_(latest_rv(recording)) {}

Time Decide::next_due() const {
  const Time scripted = next_ < script_->entries.size() ? script_->entries[next_].at : Time::never();
  return coming_.empty() ? scripted : std::min(scripted, coming_.front().at);
}

void Decide::happen(World& world) {
  for (; next_ < script_->entries.size() && script_->entries[next_].at <= world.now(); ++next_) {
    take(world, script_->entries[next_]);
  }
}

// --- What the trace says happens

void Decide::take(World& world, const ScriptEntry& entry) {
  world.set_now(world.now(), entry.seq);
  switch (entry.kind) {
    case ScriptKind::kNodesListed: {
      const ListRange range = recording_->lists()[entry.index];
      return world.nodes_listed(recording_->nodes().subspan(range.first, range.count), true);
    }
    case ScriptKind::kNode: {
      NodeFacts node = recording_->nodes()[entry.index];
      node.rv = ++rv_;
      return world.node_changed(entry.verb, node, true);
    }
    case ScriptKind::kOpened:
      opened_ = true;
      return list(world);
    case ScriptKind::kCreated:
      return create(world, recording_->pods()[entry.index]);
    case ScriptKind::kRespecified:
      return respecify(world, recording_->pods()[entry.index]);
    case ScriptKind::kDeletion: {
      const PodFacts& pod = recording_->pods()[entry.index];
      return mark_deleted(world, pod.pod, pod.deletion);
    }
    case ScriptKind::kGone:
      return remove(world, recording_->pods()[entry.index].pod);
    case ScriptKind::kRecorded:
      return change(world, entry.verb, recording_->pods()[entry.index]);
    case ScriptKind::kBind: {
      const RecordedBind& bind = recording_->binds()[entry.index];
      // Of pods that are not ours the frames tell where they went.
      if (!world.truth().exists(bind.pod) || !world.core().ours(world.truth().facts(bind.pod))) return;
      binds_.push_back({bind.pod, bind.node, false, std::nullopt, 0});
      return carry_out(world, binds_.back());
    }
  }
}

// What was there when the recording began is listed.
void Decide::list(World& world) { world.pods_listed(world.truth().pods(), true); }

void Decide::create(World& world, const PodFacts& recorded) {
  Life& life = grown(lives_, recorded.pod.value);
  life.created = world.now();
  grown(latest_, recording_->catalog().key_of(recorded.pod).value) = recorded.pod;
  life.ours = world.core().ours(recorded);
  PodFacts pod = recorded;
  const bool was_there = !opened_;  // and so it stays where it was bound before
  if (life.ours && !was_there) {
    pod.node = NodeId::none();
    pod.phase = PodPhase::kPending;
    pod.scheduled = Condition::kAbsent;
    pod.deletion = {};
  }
  if (pod.bound()) life.bound = world.now(), life.ours = false;
  change(world, Verb::kAdded, pod);
}

void Decide::respecify(World& world, const PodFacts& recorded) {
  if (!world.truth().exists(recorded.pod)) return;
  PodFacts pod = world.truth().facts(recorded.pod);
  pod.shape = recorded.shape;
  pod.placement = recorded.placement;
  pod.priority = recorded.priority;
  pod.gated = recorded.gated;
  change(world, Verb::kModified, pod);
}

// What has no node goes at once; a kubelet takes its time.
void Decide::mark_deleted(World& world, PodId id, Time deletion) {
  if (!world.truth().exists(id)) return;
  PodFacts pod = world.truth().facts(id);
  if (!pod.bound() || pod.terminal()) return remove(world, id);
  pod.deletion = deletion;
  change(world, Verb::kModified, pod);
  come(world.now() + pace_.kubelet_stop.value, Deed::kStop, id);
}

void Decide::remove(World& world, PodId id) {
  if (!world.truth().exists(id)) return;
  change(world, Verb::kDeleted, world.truth().facts(id));
}

void Decide::change(World& world, Verb verb, PodFacts pod) {
  pod.rv = ++rv_;
  world.pod_changed(verb, pod, opened_);
}

// --- What is made up

void Decide::come(Time at, Deed deed, PodId pod, uint32_t bind) {
  coming_.push_back({at, ++order_, deed, pod, bind});
  std::push_heap(coming_.begin(), coming_.end(), kLater);
}

bool Decide::answer(World& world) {
  if (coming_.empty() || coming_.front().at > world.now()) return false;
  std::pop_heap(coming_.begin(), coming_.end(), kLater);
  const Coming coming = coming_.back();
  coming_.pop_back();
  act(world, coming);
  return true;
}

void Decide::act(World& world, const Coming& coming) {
  const PodId id = coming.pod;
  switch (coming.deed) {
    case Deed::kBind:
      return carry_out(world, binds_[coming.bind]);
    case Deed::kAnswer:
      return tell_answer(world, binds_[coming.bind]);
    case Deed::kStop:
      return remove(world, id);
    case Deed::kStart:
      return start(world, id);
    case Deed::kEnd:
      return end(world, id);
  }
}

bool Decide::runs(const World& world, PodId pod) const { return world.truth().exists(pod) && !lives_[pod.value].ended; }

const RunLength* Decide::run_length(PodId pod) const {
  const auto& lengths = script_->run_lengths;
  return pod.value < lengths.size() && lengths[pod.value] ? &*lengths[pod.value] : nullptr;
}

void Decide::start(World& world, PodId id) {
  if (!runs(world, id)) return;
  PodFacts pod = world.truth().facts(id);
  pod.phase = PodPhase::kRunning;
  change(world, Verb::kModified, pod);
  if (const RunLength* length = run_length(id)) come(world.now() + length->ran, Deed::kEnd, id);
}

void Decide::end(World& world, PodId id) {
  if (!runs(world, id)) return;
  lives_[id.value].ended = true;
  PodFacts pod = world.truth().facts(id);
  pod.phase = run_length(id)->ended;
  change(world, Verb::kModified, pod);
}

// --- Deciding and binding

bool Decide::decide(World& world) {
  if (!world.can_decide()) return false;
  world.step(scheduler::Decide{}, Cure::kDecision);
  ++decisions_;
  for (const PodId pod : world.take_unschedulable()) {
    ++unschedulable_;
    if (world.truth().exists(pod) && world.truth().facts(pod).unmodelled != 0) ++hanging_;
  }
  for (const scheduler::BindPod& bind : world.take_binds()) send(world, bind);
  return true;
}

void Decide::send(World& world, const scheduler::BindPod& bind) {
  if (world.truth().exists(bind.pod) && world.truth().facts(bind.pod).unmodelled != 0) ++hanging_;
  OpenBind open{bind.pod, bind.node, true, std::nullopt, 0};
  Time answered = world.now() + pace_.bind_rtt.value;
  for (const size_t hit : world.faults().hits(BindSent{world.seq(), world.now(), bind.pod, bind.node})) {
    const Fault& fault = world.faults().plan().faults[hit];
    open.fault = hit;
    if (fault.bind == BindFault::kLate) answered = answered + fault.by;
    if (fault.bind == BindFault::kLost) answered = world.now() + lost_after_;
    world.blame(hit, bind.pod);
  }
  binds_.push_back(open);
  const uint32_t index = static_cast<uint32_t>(binds_.size() - 1);
  come(world.now() + Duration{pace_.bind_rtt.value.ns / 2}, Deed::kBind, bind.pod, index);
  come(answered, Deed::kAnswer, bind.pod, index);
}

// The request reaches the API.
void Decide::carry_out(World& world, OpenBind& bind) {
  const Fault* fault = bind.fault ? &world.faults().plan().faults[*bind.fault] : nullptr;
  // Where the plan does not say: what is lost was carried out, and a status tells the truth.
  const bool kept_out = fault != nullptr && ((fault->bind == BindFault::kLost && fault->applied == Applied::kNo) ||
                                             (fault->bind == BindFault::kStatus && fault->applied != Applied::kYes));
  if (kept_out) {
    bind.code = fault->bind == BindFault::kStatus ? fault->status : 0;
    return;
  }
  if (fault != nullptr && fault->bind == BindFault::kOtherUid) {
    if (const PodId other = other_life(world, bind.pod)) {
      world.point(Verdict::kWrongUid, bind.pod, bind.node, other);
      bind.code = bind_at_api(world, {other, bind.node, true, {}, 0});
      return;
    }
    world.faults().unfelt(*bind.fault);
  }
  bind.code = bind_at_api(world, bind);
  if (fault != nullptr && fault->bind == BindFault::kStatus) bind.code = fault->status;
  if (fault != nullptr && fault->bind == BindFault::kLost) bind.code = 0;
}

// The checks of the binding subresource, in its order (kubernetes-facts 6.2). It asks neither whether the node exists
// nor whether the pod fits there.
uint16_t Decide::bind_at_api(World& world, const OpenBind& bind) {
  const Truth& truth = world.truth();
  if (!truth.exists(bind.pod)) return other_life(world, bind.pod) ? kConflict : kNotFound;
  const PodFacts& pod = truth.facts(bind.pod);
  if (pod.deletion.known() || pod.bound() || pod.gated) {
    if (bind.ours) ++refused_;
    return kConflict;
  }
  bound(world, bind.pod, bind.node);
  return RecordedBind::kCreated;
}

void Decide::bound(World& world, PodId id, NodeId node) {
  Life& life = grown(lives_, id.value);
  life.bound = world.now();
  ++life.binds;
  PodFacts pod = world.truth().facts(id);
  pod.node = node;
  pod.scheduled = Condition::kTrue;
  world.accept_bind(id, node);
  change(world, Verb::kModified, pod);
  come(world.now() + pace_.kubelet_start.value, Deed::kStart, id);
}

void Decide::tell_answer(World& world, const OpenBind& bind) {
  if (world.away()) return;  // who asked is dead
  world.step(BindAnswered{bind.pod, bind.node, outcome_of(answer_of(bind.code))}, Cure::kAnswer);
}

// A pod of the same name that lives now.
PodId Decide::other_life(const World& world, PodId pod) const {
  const uint32_t key = recording_->catalog().key_of(pod).value;
  const PodId latest = key < latest_.size() ? latest_[key] : PodId::none();
  return latest && latest != pod && world.truth().exists(latest) ? latest : PodId::none();
}

uint64_t Decide::state_hash() const {
  uint64_t out = 0;
  for (const Coming& coming : coming_) {
    uint64_t one =
        combine(combine(static_cast<uint64_t>(coming.at.ns), static_cast<uint64_t>(coming.deed)), coming.pod.value);
    if (coming.deed == Deed::kAnswer) one = combine(one, binds_[coming.bind].code);
    if (coming.deed == Deed::kBind || coming.deed == Deed::kAnswer) {
      const OpenBind& bind = binds_[coming.bind];
      one = combine(combine(one, bind.node.value), bind.fault && coming.deed == Deed::kBind ? *bind.fault + 1 : 0);
    }
    out += one;
  }
  for (uint32_t pod = 0; pod < lives_.size(); ++pod) out += lives_[pod].ended ? combine(pod, 1) : 0;
  return combine(out, next_);
}

Decided Decide::decided(const World& world) const {
  Decided out;
  out.pace = pace_;
  out.decisions = decisions_;
  out.unschedulable = unschedulable_;
  out.refused = refused_;
  out.hanging = hanging_;
  std::vector<Duration> waits;
  for (uint32_t pod = 0; pod < lives_.size(); ++pod) {
    const Life& life = lives_[pod];
    if (!life.ours || !life.created.known()) continue;
    ++out.pods;
    if (life.binds > 1) ++out.bound_twice;
    if (life.binds > 0) {
      ++out.bound;
      waits.push_back(life.bound - life.created);
    } else {
      ++(world.truth().holds({pod}) ? out.pending : out.gone_unbound);
    }
  }
  std::sort(waits.begin(), waits.end());
  if (!waits.empty()) out.median_wait = waits[(waits.size() - 1) / 2], out.longest_wait = waits.back();
  return out;
}

}  // namespace inquest::replayer
