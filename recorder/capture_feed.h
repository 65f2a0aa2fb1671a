// CaptureFeed: one capture input as records, in the order of its lines.
//
// Keeps, per stream, what was seen so far (WatchBook), so that lists become baselines or checkpoints and holes become
// gap records. A body that does not decode is kept byte for byte in a kUndecodable record and counted.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/decode.h"
#include "recorder/input.h"
#include "recorder/watch_book.h"
#include "schema/writer.h"

namespace inquest::recorder {

inline constexpr size_t kMaxStreams = 1000;  // of one input
inline constexpr size_t kMaxStreamName = 253;

class CaptureFeed {
 public:
  // All references must outlive the feed.
  CaptureFeed(Input& input, Catalog& catalog, kube::Decoder& decoder, trace::TraceWriter& writer, Losses& losses)
      : input_(&input), catalog_(&catalog), decoder_(&decoder), writer_(&writer), losses_(&losses) {}

  // Reads the next usable line; false at the end.
  bool advance();
  // When the line read stands in the merge: its time, but never before that of a line above it.
  Time at() const { return at_; }
  // Writes the line read.
  Result<void> write();

 private:
  struct State {
    trace::StreamId id;
    WatchBook book;
  };

  Result<State*> state_of(std::string_view resource);
  Result<void> write_list();
  Result<void> write_open();
  Result<void> write_frame();
  Result<void> write_failure(State& state);
  Result<void> write_undecodable(const std::string& why);
  Result<void> write_gap(const State& state, const Gap& gap);
  trace::Record record(const State& state, trace::RecordKind kind) const;

  Input* input_;
  Catalog* catalog_;
  kube::Decoder* decoder_;
  trace::TraceWriter* writer_;
  Losses* losses_;
  std::map<std::string, State, std::less<>> streams_;
  Line line_;
  CaptureLine capture_;
  Time at_;
};

}  // namespace inquest::recorder
