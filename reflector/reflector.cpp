#include "reflector/reflector.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace inquest::reflector {

namespace {

// kubernetes-facts 5.1, 5.2, 5.11.
constexpr Duration kMinWatchTimeout = Duration::seconds(300);
constexpr Duration kVeryShort = Duration::seconds(1);
constexpr uint32_t kPageSize = 500;
constexpr uint32_t kMaxAskedAgain = 10;

constexpr uint64_t kForBackoff = 1, kForTimeout = 2;

}  // namespace

Reflector::Reflector(const Config& config)
    : config_(config), backoff_(config.backoff), patience_(config.bear_internal_errors) {}

void Reflector::begin(Time now) {
  INQUEST_CHECK(now >= now_, now.ns, now_.ns);
  now_ = now;
  outputs_.clear();
}

std::span<const Output> Reflector::step(Time now, const Start&) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kStopped, static_cast<int>(phase_));
  cycle();
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const Stop&) {
  begin(now);
  if (phase_ != Phase::kStopped && phase_ != Phase::kWaiting) cancel();
  phase_ = Phase::kStopped;
  listing_.clear();
  stream_.clear();
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const TimeReached&) {
  begin(now);
  if (phase_ != Phase::kWaiting || now < wake_) return outputs_;
  switch (after_) {
    case After::kCycle:
      cycle();
      break;
    case After::kStream:
      begin_stream();
      break;
    case After::kWatch:
      begin_watch();
      break;
    case After::kSameList:
      send(listing_.request());
      break;
    case After::kSameStream:
      send(watch_, Phase::kStreamRequested);
      break;
    case After::kSameWatch:
      send(watch_, Phase::kWatchRequested);
      break;
  }
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const RelistNow&) {
  begin(now);
  const bool open = phase_ == Phase::kWatchRequested || phase_ == Phase::kWatching;
  if (open) cancel();
  if (open || phase_ == Phase::kWaiting) cycle();
  return outputs_;
}

void Reflector::cycle() {
  if (config_.initial == Initial::kStream) {
    begin_stream();
  } else {
    begin_list();
  }
}

void Reflector::end_cycle() { back_off(After::kCycle); }

// ---- list

void Reflector::begin_list() {
  Rv rv = rv_;
  if (unavailable_ || config_.most_recent) {
    rv = {};
  } else if (!rv.set()) {
    rv = Rv::any();
  }
  // The watch cache answers a list at a resourceVersion only if it is not limited.
  uint32_t limit = kPageSize;
  if (config_.page_size != 0) {
    limit = config_.page_size;
  } else if (!paginated_ && rv.set() && !rv.is_any()) {
    limit = 0;
  }
  from_any_ = rv.is_any();
  relisted_ = false;
  ask_list(rv, limit);
}

void Reflector::ask_list(Rv rv, uint32_t limit) {
  listing_.begin(rv, limit);
  asked_again_ = 0;
  send(listing_.request());
}

std::span<const Output> Reflector::step(Time now, const ListPage& page) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kListing, static_cast<int>(phase_));
  switch (listing_.page(page)) {
    case Listing::Next::kAsk:
      asked_again_ = 0;
      send(listing_.request());
      break;
    case Listing::Next::kDone:
      if (from_any_ && listing_.paginated()) paginated_ = true;
      replace(listing_.items(), listing_.rv());
      listing_.clear();
      begin_watch();
      break;
    case Listing::Next::kFail:
      listing_.clear();
      end_cycle();
      break;
  }
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const ListRefused& refused) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kListing, static_cast<int>(phase_));
  if (!ask_again(refused.refusal, After::kSameList)) list_failed(refused.refusal);
  return outputs_;
}

void Reflector::list_failed(const Refusal& refusal) {
  if (listing_.refused(refusal) == Listing::Next::kAsk) {
    asked_again_ = 0;
    send(listing_.request());
    return;
  }
  if (refusal.unavailable() && !relisted_) {
    unavailable_ = relisted_ = true;
    ask_list(Rv(), listing_.limit());  // client-go's pager keeps its limit, even if that is none
    return;
  }
  listing_.clear();
  end_cycle();
}

void Reflector::replace(std::span<const Object> items, Rv rv) {
  listed_.clear();
  for (const Object& object : items) {
    const auto before = known_.put(object);
    listed_.insert(object.key);
    tell(before ? Delta::Kind::kUpdated : Delta::Kind::kAdded, Delta::From::kList, object, before.value_or(Object{}));
  }
  known_.keys().each_not_in(
      listed_, [&](uint32_t key) { tell(Delta::Kind::kTombstone, Delta::From::kList, *known_.erase(key)); });
  rv_ = rv;
  unavailable_ = false;
  synced_ = true;
  patience_ = Patience(config_.bear_internal_errors);  // a row of errors does not outlive its watches
  outputs_.emplace_back(Synced{rv});
}

// ---- streaming list

void Reflector::begin_stream() {
  stream_.clear();
  send_watch(unavailable_ ? Rv() : rv_, InitialEvents::kSend, Phase::kStreamRequested);
}

void Reflector::stream_failed(const Refusal& refusal) {
  stream_.clear();
  if (refusal.busy()) {
    back_off(After::kStream);
  } else if (refusal.unavailable()) {
    unavailable_ = true;
    begin_stream();
  } else {
    begin_list();
  }
}

void Reflector::apply_to_stream(const Frame& frame) {
  switch (frame.type) {
    case FrameType::kAdded:
    case FrameType::kModified:
      stream_.put(frame.object);
      break;
    case FrameType::kDeleted:
      stream_.erase(frame.object.key);
      break;
    case FrameType::kInitialEventsEnd:
      initial_events_end(frame.object.rv);
      break;
    case FrameType::kBookmark:
    case FrameType::kUnknown:
    case FrameType::kMismatch:
      break;
  }
}

void Reflector::initial_events_end(Rv rv) {
  std::vector<Object> items;
  items.reserve(stream_.size());
  stream_.each([&](const Object& object) { items.push_back(object); });
  stream_.clear();
  replace(items, rv);
  phase_ = Phase::kWatching;
  asked_at_ = now_;
  heard_ = false;
  in_order_ = true;
}

// ---- watch

void Reflector::begin_watch() {
  send_watch(rv_, InitialEvents::kNone, Phase::kWatchRequested);
  // Synthetic ADDEDs come in no order, so what follows them may be older than what they said.
  in_order_ = rv_.set() && !rv_.is_any();
}

void Reflector::send_watch(Rv rv, InitialEvents initial_events, Phase phase) {
  watch_ = {rv, watch_timeout(), initial_events};
  asked_at_ = now_;
  heard_ = false;
  asked_again_ = 0;
  send(watch_, phase);
}

std::span<const Output> Reflector::step(Time now, const WatchOpened&) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kStreamRequested || phase_ == Phase::kWatchRequested, static_cast<int>(phase_));
  phase_ = phase_ == Phase::kStreamRequested ? Phase::kStreaming : Phase::kWatching;
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const WatchRefused& refused) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kStreamRequested || phase_ == Phase::kWatchRequested, static_cast<int>(phase_));
  const bool stream = phase_ == Phase::kStreamRequested;
  if (ask_again(refused.refusal, stream ? After::kSameStream : After::kSameWatch)) return outputs_;
  if (stream) {
    stream_failed(refused.refusal);
  } else if (refused.refusal.busy()) {
    back_off(After::kWatch);
  } else {
    end_cycle();
  }
  return outputs_;
}

std::span<const Output> Reflector::step(Time now, const Frame& frame) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kStreaming || phase_ == Phase::kWatching, static_cast<int>(phase_));
  if (frame.type == FrameType::kMismatch) return outputs_;
  heard_ = true;
  if (phase_ == Phase::kStreaming) {
    apply_to_stream(frame);
  } else {
    apply(frame);
  }
  return outputs_;
}

void Reflector::apply(const Frame& frame) {
  const Object& object = frame.object;
  switch (frame.type) {
    case FrameType::kAdded:
    case FrameType::kModified: {
      const auto before = known_.put(object);
      tell(before ? Delta::Kind::kUpdated : Delta::Kind::kAdded, Delta::From::kFrame, object,
           before.value_or(Object{}));
      break;
    }
    case FrameType::kDeleted:
      // Of a key that is not known there is nothing to tell (5.10).
      if (const auto before = known_.erase(object.key)) {
        tell(Delta::Kind::kDeleted, Delta::From::kFrame, object, *before);
      }
      break;
    case FrameType::kBookmark:
    case FrameType::kInitialEventsEnd:
    case FrameType::kUnknown:
    case FrameType::kMismatch:
      break;
  }
  if (frame.type != FrameType::kAdded && frame.type != FrameType::kUnknown) in_order_ = true;
  if (in_order_) rv_ = object.rv;
}

std::span<const Output> Reflector::step(Time now, const ErrorFrame& error) {
  begin(now);
  INQUEST_CHECK(phase_ == Phase::kStreaming || phase_ == Phase::kWatching, static_cast<int>(phase_));
  const bool stream = phase_ == Phase::kStreaming;
  cancel();
  if (stream) {
    stream_failed(error.refusal);
  } else {
    watch_failed(error.refusal);
  }
  return outputs_;
}

void Reflector::watch_failed(const Refusal& refusal) {
  const bool internal = refusal.why == Refusal::Why::kInternalError;
  if (refusal.why == Refusal::Why::kTooManyRequests) {
    back_off(After::kWatch);
  } else if (internal && patience_.bears(now_)) {
    begin_watch();
  } else {
    end_cycle();
  }
}

std::span<const Output> Reflector::step(Time now, const WatchClosed&) {
  begin(now);
  INQUEST_CHECK(watch_is_open(), static_cast<int>(phase_));
  const bool stream = phase_ == Phase::kStreamRequested || phase_ == Phase::kStreaming;
  if (very_short()) {
    stream ? stream_failed({}) : end_cycle();
  } else {
    stream ? begin_stream() : begin_watch();
  }
  return outputs_;
}

bool Reflector::very_short() const { return !heard_ && now_ - asked_at_ < kVeryShort; }

bool Reflector::watch_is_open() const {
  return phase_ == Phase::kStreamRequested || phase_ == Phase::kStreaming || phase_ == Phase::kWatchRequested ||
         phase_ == Phase::kWatching;
}

// ---- what all share

void Reflector::send(const ListRequest& request) {
  phase_ = Phase::kListing;
  outputs_.emplace_back(request);
}

void Reflector::send(const WatchRequest& request, Phase phase) {
  phase_ = phase;
  outputs_.emplace_back(request);
}

void Reflector::cancel() { outputs_.emplace_back(Cancel{}); }

void Reflector::tell(Delta::Kind kind, Delta::From from, const Object& object, const Object& before) {
  outputs_.emplace_back(Delta{kind, from, object, before});
}

bool Reflector::ask_again(const Refusal& refusal, After same) {
  if (!refusal.retry_after_s || asked_again_ == kMaxAskedAgain) return false;
  ++asked_again_;
  wait(Duration::seconds(*refusal.retry_after_s), same);
  return true;
}

void Reflector::back_off(After after) { wait(backoff_.begin(now_, random(kForBackoff)), after); }

void Reflector::wait(Duration duration, After after) {
  phase_ = Phase::kWaiting;
  after_ = after;
  wake_ = now_ + duration;
}

// Of the instant, not of a counter: a counter would keep two runs apart for ever that have become one.
uint64_t Reflector::random(uint64_t purpose) const {
  return combine(combine(config_.seed, static_cast<uint64_t>(now_.ns)), purpose);
}

uint32_t Reflector::watch_timeout() const {
  const uint64_t least =
      static_cast<uint64_t>(std::max(config_.min_watch_timeout, kMinWatchTimeout).ns) / 1'000'000'000;
  return static_cast<uint32_t>(std::min<uint64_t>(least + random(kForTimeout) % least, UINT32_MAX));
}

// ---- hash

uint64_t Reflector::state_hash(Time now) const {
  uint64_t out = known_.hash();
  const auto mix_in = [&](uint64_t field) { out = combine(out, field); };
  mix_in(static_cast<uint64_t>(phase_));
  if (phase_ == Phase::kWaiting) {
    mix_in(static_cast<uint64_t>(after_));
    mix_in(static_cast<uint64_t>(wake_.ns));
  }
  mix_in(rv_.bits());
  mix_in(uint64_t{unavailable_} | uint64_t{paginated_} << 1 | uint64_t{synced_} << 2);
  mix_in(backoff_.hash(now));
  const auto same = [&](After request) { return phase_ == Phase::kWaiting && after_ == request; };
  if (phase_ == Phase::kListing || same(After::kSameList)) {
    mix_in(listing_.hash());
    mix_in(uint64_t{from_any_} | uint64_t{relisted_} << 1 | uint64_t{asked_again_} << 2);
  }
  if (watch_is_open() || same(After::kSameStream) || same(After::kSameWatch)) {
    const bool may_be_short = !heard_ && now - asked_at_ < kVeryShort;
    mix_in(may_be_short ? static_cast<uint64_t>(asked_at_.ns) : 0);
    mix_in(uint64_t{in_order_});
    mix_in(stream_.hash());
    const bool answered = phase_ == Phase::kStreaming || phase_ == Phase::kWatching;
    for (const uint64_t field : {watch_.rv.bits(), uint64_t{watch_.timeout_s}, uint64_t{asked_again_}}) {
      mix_in(answered ? 0 : field);
    }
  }
  mix_in(patience_.hash(now));
  return out;
}

}  // namespace inquest::reflector
