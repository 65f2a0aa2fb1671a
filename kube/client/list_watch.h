// ListWatch: one resource of a live API server, listed and watched. It drives the reflector, the very code that replay
// drives: the reflector asks, this sends, and what comes back is taken apart for it. Everything seen on the way is
// told, byte for byte, to an observer: recorder and scheduler are two of them.
//
// No retry storm whatever the server does: beside the reflector's backoff, requests leave at 5 a second and 10 at once
// at most (client-go's default). One thread: calls come from Api::run(), tick() and start() alone.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/client/api.h"
#include "kube/client/frame_splitter.h"
#include "kube/decode.h"
#include "reflector/reflector.h"
#include "schema/catalog.h"

namespace inquest::kube {

// One answer to a LIST: all of it, or a page.
struct ListAnswer {
  std::string_view path, body;
  int status = 0;
  const DecodedList* list = nullptr;
  bool first = true, last = true;  // of its pages
};

class WatchObserver {
 public:
  virtual ~WatchObserver() = default;

  // How the reflector is to know an object (reflector/object.h). `version` is the observer's own.
  virtual reflector::Object object_of(const ObjectFacts& facts) = 0;

  virtual void listed(const ListAnswer& answer) = 0;
  virtual void opened(std::string_view path, int status) = 0;
  virtual void framed(std::string_view bytes, const DecodedFrame& frame) = 0;
  // Bytes that are no frame, or no list; why is for people.
  virtual void undecodable(std::string_view bytes, const std::string& why) = 0;
  virtual void closed(const std::string& why) = 0;  // of a watch that was open
  // A LIST or watch that was not given: 0 if no answer came at all.
  virtual void refused(std::string_view path, int status, const DecodedStatus& answer, const std::string& why) = 0;
  // Deltas and Synced, in their order.
  virtual void became(const reflector::Output& output) = 0;
};

class ListWatch : private Receiver {
 public:
  struct Config {
    std::string path;       // "/api/v1/pods", "/api/v1/namespaces/lab/pods"
    std::string selectors;  // "fieldSelector=…&labelSelector=…", encoded; "": none
    reflector::Config reflector;
    Duration head_within = Duration::seconds(60);
    Duration list_silence = Duration::seconds(60);
  };

  // All must outlive it.
  ListWatch(Api& api, const Clock& clock, Catalog& catalog, Decoder& decoder, WatchObserver& observer, Config config);
  ~ListWatch() override;
  ListWatch(const ListWatch&) = delete;
  ListWatch& operator=(const ListWatch&) = delete;

  void start();
  void stop();
  // To be called when the monotonic clock reaches next_wake().
  void tick();
  Time next_wake() const;

  // Gives up an open watch and goes on from its last rv.
  void reconnect(const std::string& why);

  bool synced() const { return reflector_.synced(); }
  bool watching() const { return reflector_.phase() == reflector::Phase::kWatching; }
  const reflector::Reflector& state() const { return reflector_; }

 private:
  enum class Asked : uint8_t { kNothing, kList, kWatch };

  void head(const HttpHead& head) override;
  bool bytes(std::string_view piece) override;
  void end(const HttpEnd& end) override;

  template <typename Input>
  void step(const Input& input);
  void queue(std::string path, Asked asked);
  void send_if_allowed();
  void forget_request();

  void list_ended();
  void watch_ended(const HttpEnd& end);
  void refuse(const HttpEnd& end);
  void take_frames();
  void take_frame(const SplitFrame& split);
  void broken_frame(std::string_view bytes, const std::string& why);
  std::string list_path(const reflector::ListRequest& request);
  std::string watch_path(const reflector::WatchRequest& request);
  Time now() const;

  Api* api_;
  const Clock* clock_;
  Catalog* catalog_;
  Decoder* decoder_;
  WatchObserver* observer_;
  Config config_;
  reflector::Reflector reflector_;

  Asked asked_ = Asked::kNothing;
  bool waiting_to_send_ = false, open_ = false;
  std::string path_;
  Api::Id id_ = 0;
  std::deque<Time> sent_;  // the last few
  HttpHead head_;
  std::string body_;  // of a list, or of an answer that is no watch
  bool too_large_ = false;
  bool first_page_ = true;
  FrameSplitter splitter_;
};

}  // namespace inquest::kube
