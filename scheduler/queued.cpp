#include "scheduler/queued.h"

#include <algorithm>

namespace inquest::scheduler {
namespace {

constexpr Duration kFirstBackoff = Duration::seconds(1);
constexpr Duration kLongestBackoffFifo = Duration::seconds(60);
constexpr Duration kLongestBackoffPriority = Duration::seconds(10);
constexpr Duration kLongestUnschedulable = Duration::seconds(300);
constexpr Duration kFlushPeriod = Duration::seconds(30);

Duration backoff(uint32_t attempts, Duration longest) {
  return attempts > 6 ? longest : std::min(longest, kFirstBackoff * (int64_t{1} << (std::max(1U, attempts) - 1)));
}

}  // namespace

QueuedStore::State QueuedStore::state(PodId pod) const {
  return at(pod) == pod ? entries_[slots_.of(pod)].state : State::kAbsent;
}

PodId QueuedStore::at(PodId pod) const {
  const uint32_t slot = slots_.of(pod);
  return slot < entries_.size() ? entries_[slot].pod : PodId::none();
}

uint64_t QueuedStore::hash_of(uint32_t slot) const {
  const Entry& entry = entries_[slot];
  const auto priority = static_cast<uint64_t>(entry.priority), since = static_cast<uint64_t>(entry.since.ns);
  if (entry.state != State::kQueued) {
    const auto kind = entry.state == State::kParked ? StateHash::Entry::kParked : StateHash::Entry::kUnschedulable;
    return StateHash::of(kind, {entry.pod.value, priority, since, static_cast<uint64_t>(entry.ready.ns)});
  }
  // Of the place in a fifo what counts is whom it stands behind.
  const uint64_t place = order_ == QueueOrder::kFifo ? fifo_.before(slot) : since;
  return StateHash::of(StateHash::Entry::kQueued, {entry.pod.value, priority, place});
}

void QueuedStore::enter(const Entry& entry) {
  const uint32_t slot = slots_.of(entry.pod);
  grown(entries_, slot) = entry;
  members_.enter(slot, entry.pod);
  switch (entry.state) {
    case State::kAbsent:
      break;
    case State::kQueued:
      order_ == QueueOrder::kFifo ? fifo_.append(slot) : line_.put(slot, {entry.priority, entry.since, entry.pod});
      break;
    case State::kParked:
      if (entry.ready != Time::never()) waits_.put(slot, {entry.ready, entry.pod});
      break;
    case State::kUnschedulable:
      unschedulable_.append(slot);
      waits_.put(slot, {flush_of(entry.since), entry.pod});
      break;
  }
  hash_.add(hash_of(slot));
}

QueuedStore::Entry QueuedStore::leave(uint32_t slot) {
  hash_.remove(hash_of(slot));
  const Entry held = entries_[slot];
  if (held.state == State::kQueued && order_ == QueueOrder::kFifo) {
    const uint32_t behind = fifo_.after(slot);
    if (behind != SlotLine::kEnd) hash_.remove(hash_of(behind));
    fifo_.take(slot);
    if (behind != SlotLine::kEnd) hash_.add(hash_of(behind));
  }
  if (held.state == State::kUnschedulable) unschedulable_.take(slot);
  line_.take(slot);
  waits_.take(slot);
  entries_[slot] = {};
  members_.leave(slot);
  return held;
}

void QueuedStore::put(PodId pod, int32_t priority, Time now) {
  const PodId held = at(pod);
  if (!held) return requeue(pod, priority, now);
  const uint32_t slot = slots_.of(pod);
  Entry& entry = entries_[slot];
  if (entry.state != State::kQueued && held != pod) return requeue(pod, priority, now);
  hash_.remove(hash_of(slot));
  members_.replace(slot, pod);
  entry.pod = pod;
  entry.priority = priority;
  if (entry.state == State::kQueued && order_ == QueueOrder::kPriority) line_.put(slot, {priority, entry.since, pod});
  hash_.add(hash_of(slot));
}

void QueuedStore::requeue(PodId pod, int32_t priority, Time now) {
  remove(pod);
  enter({pod, State::kQueued, priority, order_ == QueueOrder::kFifo ? Time{} : now, {}});
}

void QueuedStore::failed(PodId pod, int32_t priority, uint32_t attempts, Failure why, Time now) {
  remove(pod);
  const bool fifo = order_ == QueueOrder::kFifo;
  const Time ready = now + backoff(attempts, fifo ? kLongestBackoffFifo : kLongestBackoffPriority);
  const State state = fifo || why == Failure::kError ? State::kParked : State::kUnschedulable;
  enter({pod, state, priority, fifo ? Time{} : now, ready});
}

void QueuedStore::remove(PodId pod) {
  if (at(pod)) leave(slots_.of(pod));
}

PodId QueuedStore::pop() {
  if (empty()) return PodId::none();
  return leave(order_ == QueueOrder::kFifo ? fifo_.first() : line_.first()).pod;
}

void QueuedStore::wake(Time now, std::vector<PodId>& ended) {
  while (!waits_.empty() && next_end() <= now) {
    const uint32_t slot = waits_.first();
    ended.push_back(entries_[slot].pod);
    if (order_ == QueueOrder::kPriority) {
      end_wait(slot, now);
    } else {
      Entry entry = leave(slot);
      entry.ready = Time::never();
      enter(entry);
    }
  }
}

bool QueuedStore::move(PodId pod, Time now) {
  if (state(pod) != State::kUnschedulable) return false;
  end_wait(slots_.of(pod), now);
  return true;
}

// Into the line, or into the rest of its backoff.
void QueuedStore::end_wait(uint32_t slot, Time now) {
  Entry entry = leave(slot);
  entry.state = entry.ready > now ? State::kParked : State::kQueued;
  enter(entry);
}

// The first flush by which it has waited for longer than it may.
Time QueuedStore::flush_of(Time since) const {
  const Duration longest = since + kLongestUnschedulable - origin_;
  return origin_ + kFlushPeriod * (longest.ns / kFlushPeriod.ns + 1);
}

}  // namespace inquest::scheduler
