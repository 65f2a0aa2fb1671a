// For tests only: a reflector driven by words, so that a case reads as a conversation.
//
//   foo2        the object foo at resourceVersion 2; foo2'b is another life of that name
//   in:         start, stop, relist, wait (until next_wake), list@RV OBJECTS…, page@RV>TOKEN OBJECTS…, list! WHY, open,
//               watch! WHY, ADDED/MODIFIED/DELETED/UNKNOWN/TABLE OBJECT, BOOKMARK/END OBJECT (its rv alone), error!
//               WHY, close, later (a second passes). WHY: refused, 429, expired, gone, large, internal, other; after=N
//               is a Retry-After
//   out:        list@RV limit=N more=TOKEN, watch@RV, stream@RV, +added, ~old>new, -deleted, xtombstone, synced@RV,
//               cancel; a colon before a delta: from a list; wait DURATION if it waits
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "base/duration.h"
#include "reflector/reflector.h"

namespace inquest::reflector {

class Script {
 public:
  // The catalog outlives it; scripts that are compared share one.
  Script(const Config& config, Catalog& names) : reflector(config), catalog(names) {}

  // Exact waits: 800 ms, 1.6 s, …
  static Config without_jitter(Initial initial);

  std::string say(const std::string& input);

  Object object(std::string_view text);
  std::string text(const Object& object) const;
  // What is known, by key: in order of first mention.
  std::string known() const;

  Reflector reflector;
  Catalog& catalog;
  Time now{1'000'000'000};
  std::vector<WatchRequest> watches;
  std::vector<Delta> deltas;  // all that came out

 private:
  std::span<const Output> feed(const std::string& word, std::istringstream& rest);
  std::span<const Output> feed_list(const std::string& word, std::istringstream& rest);
  Refusal refusal(std::istringstream& rest);
  std::string render(const Output& output);
};

}  // namespace inquest::reflector
