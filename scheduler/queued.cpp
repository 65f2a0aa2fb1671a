#include "scheduler/queued.h"

#include <algorithm>

namespace inquest::scheduler {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.deadline != b.deadline ? a.deadline > b.deadline : a.ticket > b.ticket;
};

}  // namespace

QueuedStore::State QueuedStore::state(PodId pod) const {
  const uint32_t slot = slots_.of(pod);
  return slot < entries_.size() && entries_[slot].pod == pod ? entries_[slot].state : State::kAbsent;
}

PodId QueuedStore::at(PodId pod) const {
  const uint32_t slot = slots_.of(pod);
  return slot < entries_.size() ? entries_[slot].pod : PodId::none();
}

void QueuedStore::hash_entry(const Entry& entry, int sign) {
  const auto kind = entry.state == State::kQueued ? StateHash::Entry::kQueued : StateHash::Entry::kParked;
  const auto until = static_cast<uint64_t>(entry.until.ns);
  if (sign > 0) {
    hash_->add(kind, {entry.pod.value, entry.ticket, until});
  } else {
    hash_->remove(kind, {entry.pod.value, entry.ticket, until});
  }
}

QueuedStore::Entry& QueuedStore::open(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  Entry& entry = slot_at(entries_, slot);
  if (entry.state == State::kAbsent) {
    slot_at(position_, slot) = static_cast<uint32_t>(members_.size());
    members_.push_back(pod);
  } else {
    hash_entry(entry, -1);
    members_[position_[slot]] = pod;
  }
  entry.pod = pod;
  return entry;
}

void QueuedStore::close(const Entry& entry) { hash_entry(entry, +1); }

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
  if (until != Time::never()) {
    parkings_.push_back({until, entry.ticket, slots_.of(pod)});
    std::push_heap(parkings_.begin(), parkings_.end(), kLater);
  }
  close(entry);
}

void QueuedStore::remove(PodId pod) {
  const uint32_t slot = slots_.of(pod);
  if (slot >= entries_.size() || entries_[slot].state == State::kAbsent) return;
  hash_entry(entries_[slot], -1);
  entries_[slot] = {};
  const PodId last = members_.back();
  members_[position_[slot]] = last;
  position_[slots_.of(last)] = position_[slot];
  members_.pop_back();
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

void QueuedStore::drop_stale_parkings() {
  while (!parkings_.empty()) {
    const Entry& entry = entries_[parkings_.front().slot];
    if (entry.state == State::kParked && entry.ticket == parkings_.front().ticket) return;
    std::pop_heap(parkings_.begin(), parkings_.end(), kLater);
    parkings_.pop_back();
  }
}

Time QueuedStore::next_end() {
  drop_stale_parkings();
  return parkings_.empty() ? Time::never() : parkings_.front().deadline;
}

PodId QueuedStore::due(Time now) {
  return next_end() <= now && !parkings_.empty() ? entries_[parkings_.front().slot].pod : PodId::none();
}

}  // namespace inquest::scheduler
