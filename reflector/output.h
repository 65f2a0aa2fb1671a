// What the reflector wants done, and what became known. The driver sends the requests; deltas go to whoever follows.
#pragma once

#include <cstdint>
#include <variant>

#include "reflector/object.h"

namespace inquest::reflector {

// GET the list, without resourceVersionMatch. An Rv that is not set, a limit of 0 and no `more` are left out.
struct ListRequest {
  Rv rv;
  uint32_t limit = 0;
  StringId more;  // continue
  friend bool operator==(const ListRequest&, const ListRequest&) = default;
};

enum class InitialEvents : uint8_t { kNone, kSend };

// GET with watch=1 and allowWatchBookmarks=true; kSend: also sendInitialEvents=true and
// resourceVersionMatch=NotOlderThan (a streaming list, kubernetes-facts 5.8).
struct WatchRequest {
  Rv rv;
  uint32_t timeout_s = 0;  // timeoutSeconds: the server closes the watch then
  InitialEvents initial_events = InitialEvents::kNone;
  friend bool operator==(const WatchRequest&, const WatchRequest&) = default;
};

// The open request or watch is given up: close it, and drop what may still come of it.
struct Cancel {
  friend bool operator==(Cancel, Cancel) = default;
};

// One object became another in what is known, in the order in which it did.
struct Delta {
  enum class Kind : uint8_t {
    kAdded,
    kUpdated,    // `before` has the same key; another uid in it is a deletion and a creation in one: nobody saw the gap
    kDeleted,    // told by a frame: `object` is the frame's, perhaps another uid's; `before` was known
    kTombstone,  // not in a list: `object` is the last that was known of it
  };
  enum class From : uint8_t { kFrame, kList };
  Kind kind = Kind::kAdded;
  From from = From::kFrame;
  Object object;
  Object before;  // of kUpdated and kDeleted

  // A list said again what was known: informers tell such updates only to those who asked for resyncs (5.10).
  bool repeats() const { return kind == Kind::kUpdated && from == From::kList && object.rv == before.rv; }
  // A life ended and another began under its name.
  bool collapse() const { return kind == Kind::kUpdated && object.uid != before.uid; }
  friend bool operator==(const Delta&, const Delta&) = default;
};

// The deltas of a list are through: what is known is what the server held at `rv`.
struct Synced {
  Rv rv;
  friend bool operator==(const Synced&, const Synced&) = default;
};

using Output = std::variant<Delta, Synced, ListRequest, WatchRequest, Cancel>;

}  // namespace inquest::reflector
