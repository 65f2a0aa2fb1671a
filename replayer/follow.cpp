#include "replayer/follow.h"

#include "base/grown.h"

namespace inquest::replayer {

using scheduler::BindAnswered;

Time Follow::next_due() const {
  return next_ < recording_->events().size() ? recording_->events()[next_].at : Time::never();
}

void Follow::happen(World& world) {
  while (next_due() == world.now()) ingest(world, recording_->events()[next_++]);
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
  if (bind.pod.value < won_by_.size() && won_by_[bind.pod.value] == std::optional(bind.scheduler)) {
    world.point(Verdict::kDoubleBind, bind.pod, bind.node);  // again after its own 201
    binds_[index].doubled = true;
  }
  if (bind.scheduler == followed_) decisions_.push_back(index);
}

void Follow::ingest_answer(World& world, uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  if (bind.won()) {
    const bool first = world.accept_bind(bind.pod, bind.node);
    if (!first && !binds_[index].doubled) world.point(Verdict::kDoubleBind, bind.pod, bind.node);
    grown(won_by_, bind.pod.value) = bind.scheduler;
  }
  if (bind.scheduler == followed_) answers_.push_back(index);
}

bool Follow::answer(World& world) {
  if (answers_.empty()) return false;
  const uint32_t index = answers_.front();
  answers_.pop_front();
  BindState& state = binds_[index];
  if (!state.decided) {
    state.answer_waits = true;
    return true;
  }
  const RecordedBind& bind = recording_->binds()[index];
  const auto outcome = bind.won()       ? BindAnswered::Outcome::kBound
                       : bind.code == 0 ? BindAnswered::Outcome::kUnknown
                                        : BindAnswered::Outcome::kRefused;
  world.step(BindAnswered{bind.pod, bind.node, outcome}, Cure::kAnswer);
  return true;
}

// A followed request takes effect when it was sent, but not before its pod is in the view.
bool Follow::decide(World& world) {
  if (fail_attempt(world)) return true;
  if (decisions_.empty()) return false;
  const uint32_t index = decisions_.front();
  decisions_.pop_front();
  const RecordedBind& bind = recording_->binds()[index];
  if (!world.core().seen(bind.pod)) {
    waiting_.emplace(bind.pod, index);
    return true;
  }
  ++taken_;
  if (bind.inferred) ++inferred_;
  world.step(scheduler::DecideAs{bind.pod, bind.node}, Cure::kDecision);
  binds_[index].decided = true;
  if (binds_[index].answer_waits) answers_.push_back(index);
  return true;
}

bool Follow::fail_attempt(World& world) {
  if (failures_.empty()) return false;
  const PodId pod = failures_.front();
  failures_.pop_front();
  const bool known = world.core().seen(pod) && world.truth().exists(pod);
  if (!known || !world.core().ours(world.truth().facts(pod))) return true;
  world.step(scheduler::AttemptFailed{pod}, Cure::kDecision);
  return true;
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
