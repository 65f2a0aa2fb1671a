// WatchBook: what one stream has shown so far, so that lists get their place and holes are noticed.
//
// A list that comes while the watch is open is a checkpoint; any other is a baseline. A gap is a range of
// resourceVersions within which changes, if there were any, were not seen one by one. It is claimed only where the
// stream itself shows it:
//   - the watch opens at an rv beyond the last one seen on the stream;
//   - it opens again without naming an rv to go on from;
//   - a baseline brings a higher rv than the stream had reached before.
// Nothing is claimed of what a stream does not say: rvs that are no plain numbers, an end without a close.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schema/facts.h"

namespace inquest::recorder {

struct Gap {
  ResourceVersion from = 0;  // 0: nothing at all was seen before
  ResourceVersion to = 0;    // 0: not known
  std::string text;
};

// What the path of a watch says.
struct WatchPath {
  ResourceVersion rv = 0;  // 0: none, "0", or no plain number
  std::string resource;    // "pods"; empty if the path shows none
};
WatchPath parse_watch_path(std::string_view path);

class WatchBook {
 public:
  struct Place {
    bool checkpoint = false;
    std::optional<Gap> gap;
  };
  Place list(ResourceVersion rv);
  std::optional<Gap> open(ResourceVersion rv);
  void frame(ResourceVersion rv);  // also of a bookmark: a frame proves that a watch is open
  void error() { open_ = false; }  // an ERROR frame ends its watch
  void close() { open_ = false; }

 private:
  void reach(ResourceVersion rv);

  bool open_ = false, begun_ = false;
  ResourceVersion last_ = 0;
};

}  // namespace inquest::recorder
