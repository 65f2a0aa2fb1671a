#include "replayer/follow.h"

#include <algorithm>
#include <utility>

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::BindAnswered;

Time Follow::next_due() const {
  Time out = next_ < recording_->events().size() ? recording_->events()[next_].at : Time::never();
  for (const Late& late : late_) out = std::min(out, late.due);
  return out;
}

void Follow::happen(World& world) {
  const std::span<const Event> events = recording_->events();
  while (next_ < events.size() && events[next_].at == world.now()) ingest(world, events[next_++]);
  const auto due = [&](const Late& late) { return late.due <= world.now(); };
  for (const Late& late : late_) {
    if (due(late)) answers_.push_back(late.index);
  }
  std::erase_if(late_, due);
}

void Follow::ingest(World& world, const Event& event) {
  world.set_now(world.now(), event.seq);
  const auto listed = [&](auto table) {
    const ListRange range = recording_->lists()[event.index];
    return table.subspan(range.first, range.count);
  };
  switch (event.kind) {
    case EventKind::kPod:
      return world.pod_changed(event.verb, recording_->pods()[event.index], event.in_view);
    case EventKind::kNode:
      return world.node_changed(event.verb, recording_->nodes()[event.index], event.in_view);
    case EventKind::kPodsListed:
      return world.pods_listed(listed(recording_->pods()), event.in_view);
    case EventKind::kNodesListed:
      return world.nodes_listed(listed(recording_->nodes()), event.in_view);
    case EventKind::kBookmark: {
      const Bookmark& bookmark = recording_->bookmarks()[event.index];
      return world.bookmark(bookmark.resource, bookmark.rv);
    }
    case EventKind::kBindRequest:
      return ingest_request(world, event.index);
    case EventKind::kBindAnswer:
      return ingest_answer(world, event.index);
    case EventKind::kAttemptFailed:
      failures_.push_back(recording_->failed_attempts()[event.index]);
      return;
  }
}

void Follow::ingest_request(World& world, uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  if (has_won(bind)) {
    world.point(Verdict::kDoubleBind, bind.pod, bind.node);  // again after its own 201
    change(index, [](BindState& state) { state.doubled = true; });
  }
  if (bind.scheduler != followed_) return;
  change(index, [&](BindState& state) { state.sent = world.now(); });
  hit_bind(world, index);
  decisions_.push_back(index);
}

bool Follow::has_won(const RecordedBind& bind) const {
  const bool first = bind.pod.value < won_by_.size() && won_by_[bind.pod.value] == std::optional(bind.scheduler);
  return first || also_won_.count({bind.pod, bind.scheduler}) > 0;
}

// What a fault does to a recorded bind, as far as the recording lets it: the truth is not bent, so that only the answer
// may be. A bind that won was applied, one that was refused was not, and none went to another pod.
void Follow::hit_bind(World& world, uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  for (const size_t hit : world.faults().hits(BindSent{world.seq(), world.now(), bind.pod, bind.node})) {
    const Fault& fault = world.faults().plan().faults[hit];
    const bool contradicts = fault.applied != Applied::kUnsaid && (fault.applied == Applied::kYes) != bind.won();
    if (contradicts || fault.bind == BindFault::kOtherUid) {
      world.faults().unfelt(hit);
      continue;
    }
    change(index, [&](BindState& state) { state.fault = hit; });
    world.blame(hit, bind.pod);
  }
}

// When the answer arrives, if a fault holds it beyond now.
std::optional<Time> Follow::held_until(const World& world, uint32_t index) const {
  const BindState& state = binds_[index];
  if (!state.fault) return std::nullopt;
  const Fault& fault = world.faults().plan().faults[*state.fault];
  if (fault.bind == BindFault::kLate) return world.now() + fault.by;
  if (fault.bind == BindFault::kLost) return std::max(world.now(), state.sent + lost_after_);
  return std::nullopt;
}

void Follow::ingest_answer(World& world, uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  if (bind.won()) {
    const PodId pod = bind.applied_to;
    const bool first = world.accept_bind(pod, bind.node);
    if (!first && !binds_[index].doubled) world.point(Verdict::kDoubleBind, pod, bind.node);
    if (pod != bind.pod) world.point(Verdict::kWrongUid, bind.pod, bind.node, pod);
    std::optional<StringId>& winner = grown(won_by_, pod.value);
    if (!winner) winner = bind.scheduler;
    if (*winner != bind.scheduler) also_won_.emplace(pod, bind.scheduler);
  }
  if (bind.scheduler != followed_) return;
  if (const auto due = held_until(world, index); due && *due > world.now()) {
    late_.push_back({*due, index});
  } else {
    answers_.push_back(index);
  }
}

bool Follow::answer(World& world) {
  if (answers_.empty()) return false;
  const uint32_t index = answers_.front();
  answers_.pop_front();
  if (world.away()) {  // who asked is dead
    change(index, [](BindState& state) { state = {}; });
    return true;
  }
  if (!binds_[index].decided) {
    change(index, [](BindState& state) { state.answer_waits = true; });
    return true;
  }
  BindState state;
  change(index, [&](BindState& held) { state = std::exchange(held, {}); });
  const RecordedBind& bind = recording_->binds()[index];
  kube::BindAnswer answer = bind.answer;
  if (state.fault) {
    const Fault& fault = world.faults().plan().faults[*state.fault];
    if (fault.bind == BindFault::kLost) answer = kube::BindAnswer::kNoAnswer;
    if (fault.bind == BindFault::kStatus) answer = answer_of(fault.status);
  }
  world.step(BindAnswered{bind.pod, bind.node, outcome_of(answer)}, Cure::kAnswer);
  return true;
}

// A followed request takes effect when it was sent, but not before its pod is in the view.
bool Follow::decide(World& world) {
  if (fail_attempt(world)) return true;
  if (decisions_.empty()) return false;
  const uint32_t index = decisions_.front();
  decisions_.pop_front();
  const RecordedBind& bind = recording_->binds()[index];
  if (world.away()) {
    ++while_away_;
    return true;
  }
  if (!world.core().seen(bind.pod)) {
    waiting_.emplace(bind.pod, index);
    return true;
  }
  ++taken_;
  if (bind.inferred) ++inferred_;
  world.step(scheduler::DecideAs{bind.pod, bind.node}, Cure::kDecision);
  change(index, [](BindState& state) { state.decided = true; });
  if (binds_[index].answer_waits) answers_.push_back(index);
  return true;
}

bool Follow::fail_attempt(World& world) {
  if (failures_.empty()) return false;
  const PodId pod = failures_.front();
  failures_.pop_front();
  const bool known = !world.away() && world.core().seen(pod) && world.truth().exists(pod);
  if (!known || !world.core().ours(world.truth().facts(pod))) return true;
  world.step(scheduler::AttemptFailed{pod}, Cure::kDecision);
  return true;
}

template <typename Change>
void Follow::change(uint32_t index, const Change& how) {
  binds_hash_ -= hash_of(index);
  how(binds_[index]);
  binds_hash_ += hash_of(index);
}

uint64_t Follow::hash_of(uint32_t bind) const {
  const BindState& state = binds_[bind];
  const uint64_t flags = (state.decided ? 1U : 0U) | (state.answer_waits ? 2U : 0U) | (state.doubled ? 4U : 0U);
  const uint64_t sent = state.fault ? combine(*state.fault + 1, static_cast<uint64_t>(state.sent.ns)) : 0;
  return flags == 0 && !state.fault ? 0 : combine(combine(bind, flags), sent);
}

uint64_t Follow::state_hash() const {
  uint64_t out = combine(next_, binds_hash_);
  for (const uint32_t index : answers_) out = combine(out, index);
  for (const uint32_t index : decisions_) out = combine(out, index);
  for (const Late& late : late_) out = combine(combine(out, static_cast<uint64_t>(late.due.ns)), late.index);
  for (const PodId pod : failures_) out = combine(out, pod.value);
  for (const auto& [pod, index] : waiting_) out = combine(combine(out, pod.value), index);
  return out;
}

void Follow::heard(std::span<const PodId> pods) {
  if (waiting_.empty()) return;
  for (const PodId pod : pods) {
    const auto [first, last] = waiting_.equal_range(pod);
    for (auto waiting = first; waiting != last; ++waiting) decisions_.push_back(waiting->second);
    waiting_.erase(first, last);
  }
}

}  // namespace inquest::replayer
