// Recording: what a run needs of a trace, in memory, read once and shared by all runs over it.
//
// It says what happened and when (virtual time = max(previous, wall)), and whose each bind was; it decides nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/bind_answer.h"
#include "replayer/resource.h"
#include "scheduler/input.h"
#include "schema/reader.h"

namespace inquest::replayer {

enum class EventKind : uint8_t {
  kPod,
  kNode,
  kPodsListed,
  kNodesListed,
  kBookmark,
  kBindRequest,
  kBindAnswer,
  kAttemptFailed
};

// One thing that happened. `index` points into the table of its kind: pods(), nodes(), lists(), bookmarks(), binds(),
// failed_attempts().
struct Event {
  Time at;
  trace::Seq seq = 0;
  uint32_t index = 0;
  EventKind kind = EventKind::kPod;
  Verb verb = Verb::kAdded;
  bool in_view = true;  // it came on the stream that the scheduler's view is made of
};

struct ListRange {
  uint32_t first = 0, count = 0;  // into pods() or nodes()
};

struct Bookmark {
  Resource resource = Resource::kPods;
  ResourceVersion rv = 0;
};

// What a stream of the view did not see; its own record tells how it was noticed.
struct Gap {
  Resource resource = Resource::kPods;
  trace::Seq seq = 0;
  ResourceVersion from = 0, to = 0;  // not seen: after `from`, up to `to`; 0: not known
  Time ended = Time::never();        // with the next list or frame of that stream
};

struct RecordedBind {
  static constexpr uint16_t kCreated = 201;  // what the API answers a bind that it carries out
  PodId pod;
  NodeId node;
  StringId scheduler;
  kube::BindAnswer answer = kube::BindAnswer::kNoAnswer;
  // The pod that it was applied to if it won: of a bind that names no uid, whatever pod had the name by then.
  PodId applied_to;
  bool by_name = false;   // it named no uid
  bool inferred = false;  // from spec.nodeName: no bind of this pod was captured

  bool won() const { return answer == kube::BindAnswer::kBound; }
};

// What an answer tells the scheduler.
scheduler::BindAnswered::Outcome outcome_of(kube::BindAnswer answer);
// What one of this HTTP status alone tells; 0: none came.
kube::BindAnswer answer_of(uint16_t status);

// A scheduler that sent binds, and how they were answered; `lost` counts those without an answer too.
struct SchedulerSeen {
  StringId name;
  uint64_t won = 0, lost = 0;
  bool inferred = true;                  // no bind of it was captured
  std::vector<StringId> pod_schedulers;  // spec.schedulerName of the pods it sent binds for
};

class Recording {
 public:
  // Reads the whole trace. Errors: a damaged batch, no stream of pods.
  static Result<std::unique_ptr<Recording>> load(trace::TraceReader reader);

  const trace::TraceInfo& info() const { return reader_.info(); }
  const std::string& path() const { return reader_.path(); }
  const Catalog& catalog() const { return reader_.catalog(); }

  std::span<const Event> events() const { return events_; }
  std::span<const PodFacts> pods() const { return pods_; }
  std::span<const NodeFacts> nodes() const { return nodes_; }
  std::span<const ListRange> lists() const { return lists_; }
  std::span<const Bookmark> bookmarks() const { return bookmarks_; }
  std::span<const RecordedBind> binds() const { return binds_; }
  std::span<const PodId> failed_attempts() const { return failed_; }
  std::span<const Gap> gaps() const { return gaps_; }

  // Most binds won first; ties by name.
  std::span<const SchedulerSeen> schedulers() const { return schedulers_; }
  const SchedulerSeen* scheduler(std::string_view name) const;

  Time start() const { return start_; }
  Time end() const { return end_; }  // of what is covered: the pods' watch was open, or will be again
  // Binds that are not replayed: sent while nobody watched the pods (or without a node).
  uint64_t outside_coverage() const { return outside_coverage_; }
  size_t distinct_pods() const { return distinct_pods_; }
  size_t distinct_names() const { return distinct_names_; }
  size_t distinct_nodes() const { return distinct_nodes_; }

 private:
  friend class RecordingLoader;
  explicit Recording(trace::TraceReader reader) : reader_(std::move(reader)) {}

  trace::TraceReader reader_;
  std::vector<Event> events_;
  std::vector<PodFacts> pods_;
  std::vector<NodeFacts> nodes_;
  std::vector<ListRange> lists_;
  std::vector<Bookmark> bookmarks_;
  std::vector<RecordedBind> binds_;
  std::vector<PodId> failed_;
  std::vector<Gap> gaps_;
  std::vector<SchedulerSeen> schedulers_;
  Time start_, end_;
  uint64_t outside_coverage_ = 0;
  size_t distinct_pods_ = 0, distinct_names_ = 0, distinct_nodes_ = 0;
};

}  // namespace inquest::replayer
