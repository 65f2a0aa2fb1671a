// A live cluster → a trace, until told to stop. Resources are listed and watched as `live_stream.h` says; records are
// committed at the latest 250 ms after their first byte; whoever reads the trace meanwhile sees what is committed.
//
// One thread: if the disk is slow, nothing is read from the server, which is held back through TCP. If it drops the
// watch for that, the watch goes on from its last resourceVersion, or a gap says what is missing. Nothing is dropped
// here.
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client/access.h"
#include "recorder/live_stream.h"
#include "recorder/redact.h"

namespace inquest::recorder {

struct LiveOptions {
  kube::Access access;
  std::string user_agent;
  bool terminal = false;  // a person sits there, whom an exec plugin may ask

  std::string output;
  bool replace = false;                                    // an existing output is an error otherwise
  std::vector<std::string> resources = {"pods", "nodes"};  // of pods, nodes, events, leases
  std::string name_space;                                  // "": all
  std::string label_selector;                              // of pods
  Duration checkpoint = Duration::seconds(30);             // 0: none
  Duration patience = Duration::seconds(10);               // how far behind a checkpoint a watch may be
  Duration duration = Duration{INT64_MAX};
  RedactRules redact;

  std::string listen;  // "127.0.0.1:9464": serve /metrics, /healthz, /readyz there; "": nowhere

  // Readable when the recording is to stop.
  int stop_fd = -1;
  // About once a second.
  std::function<void(const LiveCounts&)> progress;
  // Once, with the port that is listened on.
  std::function<void(uint16_t)> listening;
};

struct LiveReport {
  LiveCounts counts;
  std::vector<std::string> refused;  // resources that were never seen, each with the server's words
  std::array<uint64_t, kSecretKinds.size()> redacted{};
};

// Errors before anything is written: the server cannot be reached or does not know the user, an unknown resource, the
// output exists. Later ones (a full disk) leave the trace with what was committed.
Result<LiveReport> record_live(const LiveOptions& options, const Clock& clock);

}  // namespace inquest::recorder
