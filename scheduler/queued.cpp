#include "scheduler/queued.h"

namespace inquest::scheduler {

QueuedStore::State QueuedStore::state(PodId pod) const {
  const uint32_t slot = slots_.of(pod);
  return slot < entries_.size() && entries_[slot].pod == pod ? entries_[slot].state : State::kAbsent;
}

PodId QueuedStore::at(PodId pod) const {
  const uint32_t slot = slots_.of(pod);
  return slot < entries_.size() ? entries_[slot].pod : PodId::none();
}

uint64_t QueuedStore::hash_of(const Entry& entry) {
  const auto kind = entry.state == State::kQueued ? StateHash::Entry::kQueued : StateHash::Entry::kParked;
  return StateHash::of(kind, {entry.pod.value, entry.ticket, static_cast<uint64_t>(entry.until.ns)});
}

QueuedStore::Entry& QueuedStore::open(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  Entry& entry = grown(entries_, slot);
  if (entry.state == State::kAbsent) {
    members_.enter(slot, pod);
  } else {
    hash_.remove(hash_of(entry));
    members_.replace(slot, pod);
  }
  entry.pod = pod;
  return entry;
}

void QueuedStore::close(const Entry& entry) { hash_.add(hash_of(entry)); }

void QueuedStore::put(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  const Entry before = slot < entries_.size() ? entries_[slot] : Entry{};
  const bool new_life_of_parked = before.state == State::kParked && before.pod != pod;
  if (before.state == State::kAbsent || new_life_of_parked) return requeue(pod);
  close(open(pod));  // the place stays, only the life may change
}

void QueuedStore::requeue(PodId pod) {
  skip_stale();  // in follow mode nobody pops: places of gone pods must not pile up
  Entry& entry = open(pod);
  entry.state = State::kQueued;
  entry.ticket = ++tickets_;
  entry.until = {};
  fifo_.push_back({slots_.of(pod), entry.ticket});
  close(entry);
}

void QueuedStore::park(PodId pod, Time until) {
  Entry& entry = open(pod);
  entry.state = State::kParked;
  entry.ticket = ++tickets_;
  entry.until = until;
  parkings_.add({until, entry.ticket, slots_.of(pod)});
  close(entry);
}

void QueuedStore::remove(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || entries_[slot].state == State::kAbsent) return;
  hash_.remove(hash_of(entries_[slot]));
  entries_[slot] = {};
  members_.leave(slot);
}

void QueuedStore::skip_stale() {
  while (head_ < fifo_.size()) {
    const Entry& entry = entries_[fifo_[head_].slot];
    if (entry.state == State::kQueued && entry.ticket == fifo_[head_].ticket) break;
    ++head_;
  }
  if (head_ > 1024 && head_ * 2 > fifo_.size()) {
    fifo_.erase(fifo_.begin(), fifo_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

bool QueuedStore::empty() {
  skip_stale();
  return head_ == fifo_.size();
}

PodId QueuedStore::pop() {
  if (empty()) return PodId::none();
  const PodId pod = entries_[fifo_[head_++].slot].pod;
  remove(pod);
  return pod;
}

const Deadline* QueuedStore::next_parking() {
  return parkings_.first([&](const Deadline& parking) {
    const Entry& entry = entries_[parking.slot];
    return entry.state != State::kParked || entry.ticket != parking.ticket;
  });
}

Time QueuedStore::next_end() {
  const Deadline* next = next_parking();
  return next == nullptr ? Time::never() : next->at;
}

PodId QueuedStore::due(Time now) {
  const Deadline* next = next_parking();
  return next != nullptr && next->at <= now ? entries_[next->slot].pod : PodId::none();
}

}  // namespace inquest::scheduler
