// For tests only: a small trace, written record by record into a folder that goes away, and findings as words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_folder.h"
#include "replayer/recording.h"
#include "replayer/run.h"
#include "schema/writer.h"

namespace inquest::replayer {

inline constexpr Time kTraceStart{1'700'000'000'000'000'000};
// All instants are milliseconds after the start.
inline Time at(int64_t milliseconds) { return kTraceStart + Duration::milliseconds(milliseconds); }

class TestTrace {
 public:
  static constexpr trace::StreamId kPods{0}, kNodes{1}, kBinds{2}, kEvents{3}, kAside{4};  // another watch of pods
  static constexpr std::string_view kScheduler = "default-scheduler";
  enum class Checkpoint : uint8_t { kNo, kYes };

  Catalog& catalog() { return catalog_; }
  // A pending pod of the default scheduler; its uid is "uid-NAME" unless given.
  PodFacts pod(std::string_view name, std::string_view uid = "", uint16_t host_port = 0, int64_t cpu_milli = 100);
  PodFacts on(PodFacts pod, std::string_view node) {
    pod.node = catalog_.node(node);
    return pod;
  }
  NodeFacts node(std::string_view name, int64_t cpu_milli = 4000);

  // Lists open a watch unless they are checkpoints. Objects get the next resourceVersion unless they have one.
  trace::Seq pods_listed(int64_t ms, std::vector<PodFacts> pods, Checkpoint checkpoint = Checkpoint::kNo,
                         ResourceVersion rv = 0);
  trace::Seq nodes_listed(int64_t ms, std::vector<NodeFacts> nodes);
  trace::Seq frame(int64_t ms, Verb verb, PodFacts pod, trace::StreamId stream = kPods);
  trace::Seq frame(int64_t ms, Verb verb, NodeFacts node);
  trace::Seq failed_event(int64_t ms, const PodFacts& pod, std::string_view uid);
  trace::Seq request(int64_t ms, const PodFacts& pod, std::string_view node, std::string_view scheduler = kScheduler);
  trace::Seq answer(int64_t ms, trace::Seq request, uint16_t code);
  trace::Seq mark(int64_t ms, trace::RecordKind kind, ResourceVersion rv = 0);  // bookmark, open, close, gap

  // The usual life of a pod: ADDED, request, answer 201, MODIFIED with the node; each 10 ms after the other.
  PodFacts place(int64_t ms, std::string_view name, std::string_view node, uint16_t host_port = 0);

  // Closes the trace. Called once, at the end.
  std::string close();
  trace::TraceReader reader();
  std::unique_ptr<Recording> load();

  ResourceVersion rv = 100;  // the latest given
  size_t list_part = 0;      // lists stand in parts of so many objects; 0: whole
  bool loses_parts = false;  // … of which the last is missing

 private:
  trace::Seq append(int64_t ms, trace::Record record);
  trace::Seq append_list(int64_t ms, trace::Record record);
  template <typename Facts>
  trace::Seq append_frame(int64_t ms, Verb verb, Facts facts, trace::StreamId stream);

  trace::TraceWriter& writer();  // made when it is first needed: many tests want the catalog alone

  std::unique_ptr<TestFolder> folder_;
  Catalog catalog_;
  std::unique_ptr<trace::TraceWriter> writer_;
};

// "zombie-scheduled pod1 on n1 from 300 to 60000 by relist"; "after end" and "under 1" (its root) where they apply.
std::string describe(const Recording& recording, const Finding& finding);
std::vector<std::string> describe(const Recording& recording, const Outcome& outcome);

RunConfig config(std::string_view policy, std::vector<Fault> faults = {});
Fault drop(std::string_view text);
Fault delay(std::string_view text);

}  // namespace inquest::replayer
