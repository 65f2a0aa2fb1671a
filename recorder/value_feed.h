// ValueFeed: objects without times or streams as records: raw watch frames, what kubectl prints, lists, YAML documents.
//
// A value is a stream's by the kind of its object. Where kubectl prints objects without an event type, the first of a
// uid counts as ADDED, later ones as MODIFIED; deletions cannot be told, which is said as a loss. A frame's time is
// made up: the latest instant that the object itself names (creation, conditions, managed fields; never a deletion to
// come), but never before that of the value above; that is noted in the trace. A stream that begins with ADDED frames
// up to the BOOKMARK of a streaming list becomes that list; for that, values are read ahead and put aside.
#pragma once

#include <deque>
#include <string>

#include "base/hash_map.h"
#include "recorder/body_spool.h"
#include "recorder/capture_feed.h"
#include "recorder/json_shape.h"

namespace inquest::recorder {

inline constexpr size_t kMaxReadAhead = 500'000;     // values of a streaming list
inline constexpr size_t kMaxSeen = size_t{4} << 20;  // objects that are known again

class ValueFeed : public CaptureFeed {
 public:
  ValueFeed(Input& input, const FeedTools& tools) : CaptureFeed(input, tools, LongList::Form::kValue) {}

  bool advance() override;
  Result<void> write() override;
  void finish() override;

 private:
  struct Ahead {
    BodySpool::Ref body;
    uint64_t number = 0, lost = 0;
  };
  std::optional<Line> next_line();
  // True the first time that this object comes.
  bool first_seen(const State& state, const ObjectFacts& object);
  void look_ahead();
  Result<void> write_typed();
  Result<void> write_bare(const JsonShape& shape);
  Result<void> write_error(int code, const std::string& text);
  Result<void> write_long_items();
  Result<void> write_items(kube::DecodedList list);
  Result<void> mark_hole(State& state);
  Result<State*> stream_of(const ObjectFacts& object);
  Result<State*> stream_named(std::string_view name);
  Result<void> undecodable(const std::string& why);
  Result<void> keep_form(const State&, const trace::Record&) override { return {}; }
  void redact();
  void saw_listed(const State& state, const ObjectFacts& object) override;

  std::deque<Ahead> ahead_;
  std::string ahead_text_, json_, name_;
  bool looked_ = false, streaming_ = false;
  std::string_view value_;  // JSON of the value read; when it is written, without secrets
  struct Nothing {};
  HashMap<Nothing> seen_;  // objects of all streams, to infer verbs
  uint64_t made_up_ = 0, bare_ = 0, converted_ = 0, not_told_ = 0;
  uint64_t lost_ = 0, marked_ = 0;  // losses before the value read, and those that a gap tells of
};

// The latest instant that a JSON object names for something that has happened; not known if it names none.
Time latest_time(std::string_view json);

}  // namespace inquest::recorder
