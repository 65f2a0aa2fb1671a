#include "recorder/watch_book.h"

#include <gtest/gtest.h>

#include <sstream>

namespace inquest::recorder {
namespace {

// Plays "list 5, open 5, frame 7, close, …" and writes what the book says of each step: "base", "check", "gap(5,9]".
std::string play(const std::string& steps) {
  WatchBook book;
  std::istringstream in(steps);
  std::string out, word;
  const auto gap = [&](const std::optional<Gap>& found) {
    if (found) out += " gap(" + std::to_string(found->from) + "," + std::to_string(found->to) + "]";
  };
  while (in >> word) {
    ResourceVersion rv = 0;
    if (word == "list" || word == "open" || word == "frame") in >> rv;
    if (word == "list") {
      const WatchBook::Place place = book.list(rv);
      gap(place.gap);
      out += place.checkpoint ? " check" : " base";
    } else if (word == "open") {
      gap(book.open(rv));
    } else if (word == "frame") {
      book.frame(rv);
    } else if (word == "error") {
      book.error();
    } else {
      book.close();
    }
  }
  return out.empty() ? out : out.substr(1);
}

TEST(WatchBook, TellsBaselinesCheckpointsAndGaps) {
  const struct {
    const char *name, *steps, *expected;
  } cases[] = {
      {"one watch", "list 5 open 5 frame 7 list 7 frame 9 close", "base check"},
      {"a checkpoint ahead of its frames is no gap", "list 5 open 5 list 8 frame 6 close open 6", "base check"},
      {"resumed from the last frame", "list 5 open 5 frame 7 close open 7 frame 8", "base"},
      {"resumed from before the last frame", "list 5 open 5 frame 7 close open 6", "base"},
      {"resumed beyond the last frame", "list 5 open 5 frame 7 close open 9", "base gap(7,9]"},
      {"a bookmark moves the stream", "list 5 open 5 frame 7 frame 9 close open 9", "base"},
      {"listed anew after a close", "list 5 open 5 frame 7 close list 12 open 12", "base gap(7,12] base"},
      {"listed anew, nothing happened", "list 5 open 5 frame 7 close list 7 open 7", "base base"},
      {"listed anew from a stale cache", "list 5 open 5 frame 7 close list 6 open 6", "base base"},
      {"an ERROR frame ends the watch", "list 5 open 5 error list 9", "base gap(5,9] base"},
      {"listed twice before the watch", "list 5 list 8 open 8", "base gap(5,8] base"},
      {"opened beyond its list", "list 5 open 8", "base gap(5,8]"},
      {"no list at all", "open 8 frame 9", "gap(0,8]"},
      {"a watch from now on", "open 0 frame 9 close", ""},
      {"from now on, again", "open 0 frame 9 close open 0", "gap(9,0]"},
      {"frames without an open", "frame 5 list 7 frame 8", "check"},
      {"rvs that are no numbers", "list 0 open 0 frame 0 list 0 close list 0 open 0", "base check base"},
  };
  for (const auto& c : cases) EXPECT_EQ(play(c.steps), c.expected) << c.name;
}

TEST(WatchBook, ReadsPaths) {
  const struct {
    const char *path, *resource;
    ResourceVersion rv;
  } cases[] = {
      {"/api/v1/pods?watch=1&resourceVersion=1050&timeoutSeconds=431", "pods", 1050},
      {"/apis/events.k8s.io/v1/events", "events", 0},
      {"/api/v1/namespaces/lab/pods?resourceVersion=7", "pods", 7},
      {"/api/v1/namespaces?watch=1", "namespaces", 0},
      {"/api/v1/namespaces/lab?watch=1", "namespaces", 0},
      {"/api/v1/watch/pods?resourceVersion=3", "pods", 3},
      {"/api/v1/pods?resourceVersion=12x", "pods", 0},
      {"/api/v1/pods?resourceVersion=99999999999999999999", "pods", 0},
      {"/api/v1/pods?resourceVersionMatch=NotOlderThan", "pods", 0},
      {"/healthz", "", 0},
      {"", "", 0},
      {"/", "", 0},
      {"/api", "", 0},
      {"?resourceVersion=4", "", 4},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(parse_watch_path(c.path).resource, c.resource) << c.path;
    EXPECT_EQ(parse_watch_path(c.path).rv, c.rv) << c.path;
  }
}

}  // namespace
}  // namespace inquest::recorder
