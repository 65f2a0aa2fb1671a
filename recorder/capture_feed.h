// CaptureFeed: one capture input as records, in the order of its lines.
//
// Keeps, per stream, what was seen so far (WatchBook), so that lists become baselines or checkpoints and holes become
// gap records. A body that does not decode is kept byte for byte in a kUndecodable record and counted. The frames of a
// streaming list become kSource records and, at its end, the LIST they add up to. Secrets are taken out of every body.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/decode.h"
#include "recorder/input.h"
#include "recorder/long_list.h"
#include "recorder/redact.h"
#include "recorder/watch_book.h"
#include "schema/writer.h"

namespace inquest::recorder {

inline constexpr size_t kMaxStreams = 1000;  // of one input
inline constexpr size_t kMaxStreamName = 253;

// What the feeds of one import share. All of it must outlive them.
struct FeedTools {
  Catalog& catalog;
  kube::Decoder& decoder;
  trace::TraceWriter& writer;
  Losses& losses;
  Warnings& warnings;
  Redactor& redactor;
  BodySpool& spool;
  // Empties the catalog if it takes too much memory: no ordinal may be kept over it.
  std::function<Result<void>()> spare_names;
};

// What tells an object of one stream from the others, by the catalog's ordinals.
std::pair<uint64_t, uint64_t> identity_of(const ObjectFacts& object);

class CaptureFeed {
 public:
  CaptureFeed(Input& input, const FeedTools& tools, LongList::Form form = LongList::Form::kCaptureLine)
      : input_(&input), tools_(tools), long_(form, tools.redactor, tools.spool) {
    input.read_long(long_);
  }
  CaptureFeed(const CaptureFeed&) = delete;
  CaptureFeed& operator=(const CaptureFeed&) = delete;
  virtual ~CaptureFeed() = default;

  // Reads the next usable line; false at the end.
  virtual bool advance();
  // When the line read stands in the merge: its time, but never before that of a line above it.
  Time at() const { return at_; }
  // Writes the line read.
  virtual Result<void> write();
  // After the last line.
  virtual void finish();

  // Whether the catalog must keep its names: a streaming list grows.
  bool holds_names() const;
  // They are going: what needs them is lost.
  void let_go_of_names();

 protected:
  struct State {
    trace::StreamId id;
    std::string name;
    WatchBook book;
    bool streaming = false;  // the frames so far are those of a streaming list
    std::map<std::pair<uint64_t, uint64_t>, ObjectFacts> streamed;
    uint64_t streamed_frames = 0;
  };

  Result<CaptureLine> parse(const Line& line);
  // What the decoder has to say of the line read.
  void tell_warnings(uint64_t left_out = 0) { tell_warnings(tools_.decoder, warned_, left_out); }
  void tell_warnings(kube::Decoder& decoder, uint64_t& warned, uint64_t left_out);
  void check_time(Time t);
  void check_created(const ObjectFacts& object);
  // Takes out what has too long a name.
  void check_names(std::vector<ObjectFacts>& objects);
  Result<State*> state_of(std::string_view resource);
  Result<void> write_object(State& state, Verb verb, ObjectFacts object);
  Result<void> write_streamed(State& state, Verb verb, ObjectFacts object);
  Result<void> end_streaming(State& state, ResourceVersion rv);
  void lose_streaming(State& state, const std::string& why = "without its end (a BOOKMARK that says so)");
  Result<void> write_list();
  Result<void> write_long(State& state);
  // An object of a long list that is being written.
  virtual void saw_listed(const State&, const ObjectFacts& object) { check_created(object); }
  Result<void> put_long_form(const State& state);
  Result<void> put(const trace::Record& record, std::string_view body);
  Result<void> write_origin();
  Result<void> write_open();
  Result<void> write_frame();
  Result<void> write_failure(State& state);
  Result<void> write_undecodable(const std::string& why);
  Result<void> write_gap(const State& state, const Gap& gap);
  // With the body to keep.
  Result<void> append(const State& state, const trace::Record& record);
  virtual Result<void> keep_form(const State& state, const trace::Record& record);
  trace::Record source_record(const State& state, std::string_view what);
  trace::Record record(const State& state, trace::RecordKind kind) const;

  Input* input_;
  FeedTools tools_;
  LongList long_;  // the LIST read last that was too large for a line
  std::map<std::string, State, std::less<>> streams_;
  Line line_;
  CaptureLine capture_;
  std::string_view kept_;  // the body without its secrets: what is kept of it, and what the facts are made of
  std::string stream_;     // the name of a stream that had one
  Time at_;
  Time usual_, odd_;  // of lines: the one to compare with, and the latest that is far away from it
  uint64_t warned_ = 0, warned_of_long_ = 0;  // told so far, of the decoder and of the long list's
  std::string ascii_, bytes_;                 // of a line that is not UTF-8
};

}  // namespace inquest::recorder
