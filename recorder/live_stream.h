// LiveStream: one resource of a live cluster as records: what its list and watch say, as it comes, checkpoints between,
// and gaps where the watch could not say everything.
//
// A checkpoint is a LIST at the most recent state, in pages, beside the open watch. Where it shows an object newer than
// anything the watch has said, the watch has a while to catch up; then it counts as silent and is opened again from its
// last resourceVersion. What a server no longer has from there is a gap.
//
// Called from Api::run() and tick() alone. An error of the writer ends the recording: failed() holds it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client/list_watch.h"
#include "recorder/body_spool.h"
#include "recorder/list_body.h"
#include "recorder/redact.h"
#include "recorder/watch_book.h"
#include "schema/writer.h"

namespace inquest::recorder {

// Of all streams of a recording.
struct LiveCounts {
  uint64_t frames = 0, lists = 0, checkpoints = 0, gaps = 0, refusals = 0, undecodable = 0, left_out = 0;
  uint64_t bytes = 0;  // of bodies
  Time oldest;         // the first byte that is not committed yet, by the monotonic clock; not known: all are
};

// What the streams of a recording share. All of it must outlive them.
struct LiveTools {
  kube::Api& api;
  const Clock& clock;
  Catalog& catalog;
  kube::Decoder& decoder;
  trace::TraceWriter& writer;
  Redactor& redactor;
  std::string folder;  // for what is put aside
  LiveCounts& counts;
};

struct LiveStreamConfig {
  std::string name, resource;  // "pods"
  std::string path, selectors;
  Duration checkpoint = Duration::seconds(30);  // between two; 0: none
  Duration patience = Duration::seconds(10);    // how far behind a checkpoint a watch may be
  uint64_t seed = 0;
};

class LiveStream : private kube::WatchObserver {
 public:
  LiveStream(const LiveTools& tools, const LiveStreamConfig& config);
  ~LiveStream() override;
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  Result<void> start();
  void stop();
  void tick();
  Time next_wake() const;

  const std::string& name() const { return config_.name; }
  const std::optional<Error>& failed() const { return failed_; }
  bool watching() const { return watch_.watching(); }
  bool listed() const { return watch_.synced(); }          // at least once
  const std::string& refusal() const { return refusal_; }  // why it is not listed or watched now; "": it is
  // Names of the catalog are held: it must not be emptied now.
  bool holds_names() const { return !watch_.watching() || pages_ != nullptr || checkpoint_ != nullptr; }

 private:
  class Checkpoint;
  struct Pages;

  reflector::Object object_of(const ObjectFacts& facts) override;
  void listed(const kube::ListAnswer& answer) override;
  void opened(std::string_view path, int status) override;
  void framed(std::string_view bytes, const kube::DecodedFrame& frame) override;
  void undecodable(std::string_view bytes, const std::string& why) override;
  void closed(const std::string& why) override;
  void refused(std::string_view path, int status, const kube::DecodedStatus& answer, const std::string& why) override;
  void became(const reflector::Output&) override {}

  void add_page(std::unique_ptr<Pages>& pages, const kube::ListAnswer& answer);
  void write_list(Pages& pages, bool checkpoint);
  void write_pieces(Pages& pages, trace::Record& list);
  void write_gap(const Gap& gap);
  void checkpoint_done(std::unique_ptr<Pages> pages);
  void check_silence();
  trace::Record record(trace::RecordKind kind) const;
  void append(const trace::Record& record, std::string_view body);
  void fail(const Error& error) {
    if (!failed_) failed_ = error;
  }

  LiveTools tools_;
  LiveStreamConfig config_;
  kube::ListWatch watch_;
  trace::StreamId id_;
  WatchBook book_;
  std::optional<Error> failed_;
  std::string refusal_;

  std::unique_ptr<Pages> pages_;            // of a list on its way
  std::unique_ptr<Checkpoint> checkpoint_;  // on its way
  Time checkpoint_at_ = Time::never();
  ResourceVersion seen_ = 0;  // the last that the watch said
  ResourceVersion owed_ = 0;  // what it has yet to say, for a checkpoint showed it
  Time owed_until_ = Time::never();
};

}  // namespace inquest::recorder
