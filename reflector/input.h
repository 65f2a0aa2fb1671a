// What the reflector is told. Every instant comes in with an input; the reflector has no clock.
//
// Whoever drives it holds one conversation with the server: the last ListRequest or WatchRequest that came out. After a
// Cancel nothing of the old one may come in any more.
#pragma once

#include <cstdint>
#include <span>

#include "reflector/object.h"
#include "reflector/refusal.h"

namespace inquest::reflector {

// List, then watch, until Stop. What an earlier life of this reflector knows is still known.
struct Start {};
struct Stop {};
// The instant that next_wake() asked for has come. At any other it does nothing.
struct TimeReached {};
// List anew though nothing is wrong: the resync of 2015, a policy's periodic list. It breaks off the watch,
// and a wait as well: who asks knows better than a backoff. Without effect while a list is on its way.
struct RelistNow {};

// One answer to a ListRequest: all items, or a page of them.
struct ListPage {
  std::span<const Object> items;  // only until the call returns
  Rv rv;                          // the list's
  StringId more;                  // metadata.continue; none: this is the last page
};
// The list was not given, or is none (a Table).
struct ListRefused {
  Refusal refusal;
};

struct WatchOpened {};
// The watch was not opened. An end of file or a time-out instead of an answer is no refusal but WatchClosed.
struct WatchRefused {
  Refusal refusal;
};

enum class FrameType : uint8_t {
  kAdded,
  kModified,
  kDeleted,
  kBookmark,
  kInitialEventsEnd,  // a bookmark whose annotation k8s.io/initial-events-end is exactly "true"
  kUnknown,           // a type nobody knows: counts, and its resourceVersion with it
  kMismatch,          // an object of another kind, or a Table: skipped
};
// Of a bookmark only `object.rv` means anything.
struct Frame {
  FrameType type = FrameType::kAdded;
  Object object;
};
// A frame of type ERROR, with its Status; or one that cannot be decoded, which is kInternalError. Nothing follows it.
struct ErrorFrame {
  Refusal refusal;
};
// End of file, probable end of file or time-out: a clean close (kubernetes-facts 5.3).
struct WatchClosed {};

}  // namespace inquest::reflector
