// Reflector: list and watch as a pure state machine, with client-go's behaviour (kubernetes-facts 5.1 to 5.11). The
// replayer drives it with virtual time, the live client drives the very same code over HTTP.
//
// No I/O, no clock, no thread: answers, frames and time come in (input.h), requests, deltas and tombstones go out
// (output.h). Same inputs, same outputs and same hash, on every machine. Each call is O(what it changes) and, once its
// tables have grown, allocates nothing; a copy is a fork. One thread at a time.
//
// Like client-go it asks again at once after some answers (a list whose resourceVersion is gone, a stream cut short),
// so whoever answers must let time pass, or a server that never gives in holds the instant for ever.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reflector/input.h"
#include "reflector/listing.h"
#include "reflector/output.h"
#include "reflector/retry.h"
#include "reflector/store.h"

namespace inquest::reflector {

// Where the initial state comes from: a list, or a watch that begins with it (WatchList, 5.8).
enum class Initial : uint8_t { kList, kStream };

struct Config {
  Initial initial = Initial::kList;
  uint32_t page_size = 0;         // of every list; 0: as client-go chooses (5.2)
  bool most_recent = false;       // every list is a quorum read, at no resourceVersion: what a recorder wants
  Duration min_watch_timeout;     // the least timeoutSeconds; never below five minutes
  Duration bear_internal_errors;  // MaxInternalErrorRetryDuration
  Backoff::Config backoff;
  uint64_t seed = 0;  // of jitter and time-outs; give each reflector its own
};

enum class Phase : uint8_t {
  kStopped,
  kListing,          // a ListRequest is open
  kStreamRequested,  // a WatchRequest that sends the initial events is open
  kStreaming,        // its frames come in; what is known stays as it was until their end
  kWatchRequested,
  kWatching,
  kWaiting,  // for next_wake()
};

class Reflector {
 public:
  explicit Reflector(const Config& config);

  // Takes one input at `now`, which never falls. An input that the phase does not allow (a frame without an open watch)
  // is a bug of the driver. The outputs are in the order in which they happen and valid until the next call.
  std::span<const Output> step(Time now, const Start&);
  std::span<const Output> step(Time now, const Stop&);
  std::span<const Output> step(Time now, const TimeReached&);
  std::span<const Output> step(Time now, const RelistNow&);
  std::span<const Output> step(Time now, const ListPage& page);
  std::span<const Output> step(Time now, const ListRefused& refused);
  std::span<const Output> step(Time now, const WatchOpened&);
  std::span<const Output> step(Time now, const WatchRefused& refused);
  std::span<const Output> step(Time now, const Frame& frame);
  std::span<const Output> step(Time now, const ErrorFrame& error);
  std::span<const Output> step(Time now, const WatchClosed&);

  // When it wants TimeReached; never if it waits for nothing but answers.
  Time next_wake() const { return phase_ == Phase::kWaiting ? wake_ : Time::never(); }

  Phase phase() const { return phase_; }
  const Store& known() const { return known_; }
  Rv rv() const { return rv_; }            // where a watch would go on; not set before the first list
  bool synced() const { return synced_; }  // some list is through

  // Over everything that can still matter at `now` or later: two reflectors of one configuration with the same hash do
  // the same from now on. What no longer matters is left out, so that two runs that differed become one again.
  uint64_t state_hash(Time now) const;

 private:
  enum class After : uint8_t { kCycle, kStream, kWatch, kSameList, kSameStream, kSameWatch };

  // The outputs of one step. A copy of the reflector does not take them along.
  struct Outputs : std::vector<Output> {
    Outputs() = default;
    Outputs(const Outputs&) : Outputs() {}
    Outputs& operator=(const Outputs&) {
      clear();
      return *this;
    }
    Outputs(Outputs&&) = default;
    Outputs& operator=(Outputs&&) = default;
  };

  void begin(Time now);
  void cycle();      // list, then watch; what client-go calls ListAndWatch
  void end_cycle();  // the next one after a backoff
  void begin_list();
  void ask_list(Rv rv, uint32_t limit);
  void list_failed(const Refusal& refusal);
  void begin_stream();
  void stream_failed(const Refusal& refusal);
  void begin_watch();
  void watch_failed(const Refusal& refusal);
  void send_watch(Rv rv, InitialEvents initial_events, Phase phase);
  void send(const ListRequest& request);
  void send(const WatchRequest& request, Phase phase);
  bool ask_again(const Refusal& refusal, After same);
  void back_off(After after);
  void wait(Duration duration, After after);
  void cancel();

  void apply(const Frame& frame);
  void apply_to_stream(const Frame& frame);
  void initial_events_end(Rv rv);
  void replace(std::span<const Object> items, Rv rv);
  void tell(Delta::Kind kind, Delta::From from, const Object& object, const Object& before = {});

  bool very_short() const;
  bool watch_is_open() const;
  uint64_t random(uint64_t purpose) const;
  uint32_t watch_timeout() const;

  Config config_;
  Time now_;
  Phase phase_ = Phase::kStopped;
  After after_ = After::kCycle;  // what follows the wait
  Time wake_;

  Store known_;
  Rv rv_;
  bool unavailable_ = false;  // a list at rv_ was refused as gone or too large
  bool paginated_ = false;    // the first list came in pages: the server has no watch cache
  bool synced_ = false;

  Listing listing_;
  bool from_any_ = false;  // this cycle's list was first asked for at "0"
  bool relisted_ = false;  // this cycle's list was asked for a second time

  WatchRequest watch_;
  Time asked_at_;          // when the watch was asked for
  bool heard_ = false;     // it brought something
  bool in_order_ = false;  // its events' resourceVersions may be followed
  Store stream_;           // the initial events so far

  Backoff backoff_;
  Patience patience_;
  uint32_t asked_again_ = 0;  // how often the open request was asked again for its Retry-After

  KeySet listed_;  // replace()'s, kept for its memory
  Outputs outputs_;
};

}  // namespace inquest::reflector
