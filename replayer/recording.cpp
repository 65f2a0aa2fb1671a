#include "replayer/recording.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/grown.h"

namespace inquest::replayer {

using trace::Record;
using trace::RecordKind;

// Walks the records once. What it must know beforehand (which stream the view is made of, where its coverage ends) the
// trace's summary says.
class RecordingLoader {
 public:
  explicit RecordingLoader(Recording& recording) : out_(recording) {}

  Result<void> load() {
    INQUEST_TRY_VOID(choose_streams());
    while (true) {
      INQUEST_TRY(const Record* record, out_.reader_.next());
      if (record == nullptr) break;
      INQUEST_TRY_VOID(take(*record));
    }
    collect_schedulers();
    return {};
  }

 private:
  // The view's stream of a resource: the first that holds anything of it, and those of its name that begin after it has
  // ended (traces that were merged).
  Result<void> choose_streams() {
    for (const trace::StreamSummary& summary : out_.info().streams) {
      const trace::Stream& stream = summary.stream;
      streams_.resize(std::max<size_t>(streams_.size(), size_t{stream.id.value} + 1));
      streams_[stream.id.value] = stream;
      if (stream.kind != trace::StreamKind::kWatch || summary.first == 0) continue;
      if (stream.resource == "pods" && take_into_view(summary, pods_)) {
        covered_until_ = summary.closed_at == 0 ? UINT64_MAX : summary.closed_at;
      }
      if (stream.resource == "nodes") take_into_view(summary, nodes_);
    }
    if (pods_ != nullptr) return {};
    return Error{ErrorCode::kInput, "the trace holds no list or watch of pods, so there is nothing to replay",
                 out_.path(), "import the recording of the pods' stream too"};
  }

  // `last`: the view's stream of that resource so far.
  bool take_into_view(const trace::StreamSummary& summary, const trace::StreamSummary*& last) {
    if (last != nullptr && (last->stream.name != summary.stream.name || summary.first < last->last)) return false;
    last = &summary;
    in_view_.resize(std::max<size_t>(in_view_.size(), size_t{summary.stream.id.value} + 1));
    in_view_[summary.stream.id.value] = true;
    return true;
  }
  bool in_view(const Record& record) const {
    return record.stream.value < in_view_.size() && in_view_[record.stream.value];
  }

  Result<void> take(const Record& record) {
    // A run's clock begins after 0 and ends before never, whatever a stranger's clock said.
    const Time wall = std::clamp(record.wall, Time{1}, Time::never() - Duration{1});
    if (record.kind == RecordKind::kSource) {  // bytes that export needs; nothing happened then
      const bool origin = !started_ && record.text && out_.catalog().text(record.text) == trace::kOrigin;
      if (origin) out_.start_ = now_ = wall;
      started_ = started_ || origin;
      return {};
    }
    now_ = started_ ? std::max(now_, wall) : wall;
    if (!started_) out_.start_ = now_;
    started_ = true;
    if (record.seq > covered_until_) {
      count_uncovered(record);
      return {};
    }
    out_.end_ = now_;
    if (record.kind == RecordKind::kFrame) end_gap(record);
    switch (record.kind) {
      case RecordKind::kList:  // one that opens no watch is a second truth for `verify`: it changes nothing here
        return record.checkpoint ? Result<void>() : take_list(record);
      case RecordKind::kFrame:
        take_frame(record);
        break;
      case RecordKind::kBookmark:
        take_bookmark(record);
        break;
      case RecordKind::kBindRequest:
        take_request(record);
        break;
      case RecordKind::kBindAnswer:
        take_answer(record);
        break;
      case RecordKind::kGap:
        take_gap(record);
        break;
      default:
        break;
    }
    return {};
  }

  void push(const Record& record, EventKind kind, size_t index, bool in_view) {
    out_.events_.push_back({now_, record.seq, static_cast<uint32_t>(index), kind, record.verb, in_view});
  }

  Result<void> take_list(const Record& record) {
    const std::string& resource = streams_[record.stream.value].resource;
    if (resource == "pods") {
      INQUEST_TRY(const auto range, append(record, out_.pods_));
      if (!range) return {};
      end_gap(record);
      for (const PodFacts& pod : pods_of(*range)) see(pod);
      out_.lists_.push_back(*range);
      push(record, EventKind::kPodsListed, out_.lists_.size() - 1, in_view(record));
      pods_listed_ = true;
    } else if (resource == "nodes") {
      INQUEST_TRY(const auto range, append(record, out_.nodes_));
      if (!range) return {};
      end_gap(record);
      out_.lists_.push_back(*range);
      push(record, EventKind::kNodesListed, out_.lists_.size() - 1, in_view(record));
    }
    return {};
  }

  void take_bookmark(const Record& record) {
    const std::string& resource = streams_[record.stream.value].resource;
    if (!in_view(record) || (resource != "pods" && resource != "nodes")) return;
    out_.bookmarks_.push_back({resource == "pods" ? Resource::kPods : Resource::kNodes, record.rv});
    push(record, EventKind::kBookmark, out_.bookmarks_.size() - 1, true);
  }

  void take_gap(const Record& record) {
    const std::string& resource = streams_[record.stream.value].resource;
    if (!in_view(record) || (resource != "pods" && resource != "nodes")) return;
    const Resource of = resource == "pods" ? Resource::kPods : Resource::kNodes;
    open_gaps_[static_cast<size_t>(of)] = out_.gaps_.size();
    out_.gaps_.push_back({of, record.seq, record.gap_from, record.rv, Time::never()});
  }

  void end_gap(const Record& record) {
    if (record.checkpoint || !in_view(record)) return;
    const bool pods = streams_[record.stream.value].resource == "pods";
    auto& open = open_gaps_[static_cast<size_t>(pods ? Resource::kPods : Resource::kNodes)];
    if (open) out_.gaps_[*open].ended = now_;
    open.reset();
  }

  // Nothing: parts of the list are missing. What it lacks would seem to be gone.
  template <typename Facts>
  Result<std::optional<ListRange>> append(const Record& list, std::vector<Facts>& table) {
    const size_t first = table.size();
    const auto take = [&](const Record& part) {
      for (const ObjectFacts& object : part.objects) {
        if (const Facts* facts = std::get_if<Facts>(&object)) table.push_back(*facts);
      }
      return Result<trace::TraceReader::Go>(trace::TraceReader::Go::kOn);
    };
    bool whole = true;
    if (list.more_objects == 0) {
      INQUEST_TRY_VOID(take(list));
    } else {
      INQUEST_TRY(whole, out_.reader_.list(list.seq, take));
    }
    if (!whole) {
      table.resize(first);
      return std::optional<ListRange>();
    }
    return std::optional(ListRange{static_cast<uint32_t>(first), static_cast<uint32_t>(table.size() - first)});
  }

  std::span<const PodFacts> pods_of(ListRange range) const {
    return std::span<const PodFacts>(out_.pods_).subspan(range.first, range.count);
  }

  void take_frame(const Record& record) {
    if (record.objects.empty()) return;
    const ObjectFacts& object = record.objects.front();
    if (const auto* pod = std::get_if<PodFacts>(&object)) {
      out_.pods_.push_back(*pod);
      push(record, EventKind::kPod, out_.pods_.size() - 1, in_view(record));
      infer_bind(record, *pod);
      infer_failure(record, *pod);
      see(*pod);
    } else if (const auto* node = std::get_if<NodeFacts>(&object)) {
      out_.nodes_.push_back(*node);
      push(record, EventKind::kNode, out_.nodes_.size() - 1, in_view(record));
    } else if (const auto* event = std::get_if<EventFacts>(&object)) {
      take_event(record, *event);
    }
  }

  struct Seen {
    PodFacts latest;
    bool seen = false;
    bool captured = false;  // the bind that won it stands in the trace
  };
  Seen& seen(PodId pod) { return grown(seen_, pod.value); }

  void see(const PodFacts& pod) {
    Seen& entry = seen(pod.pod);
    const KeyId key = out_.catalog().key_of(pod.pod);
    if (!entry.seen) {
      ++out_.distinct_pods_;
      if (!grown(last_life_, key.value)) ++out_.distinct_names_;
    }
    last_life_[key.value] = pod.pod;
    entry.latest = pod;
    entry.seen = true;
  }

  // Where no bind of a pod was captured, the change that gives it a node is its bind, by the pod's own scheduler. Pods
  // that were created with a node (DaemonSets of old, mirror pods) were bound by nobody.
  void infer_bind(const Record& record, const PodFacts& pod) {
    const Seen& before = seen(pod.pod);
    if (!before.seen || before.latest.bound() || !pod.bound() || pod.mirror) return;
    out_.binds_.push_back({pod.pod, pod.node, pod.scheduler, kube::BindAnswer::kBound, pod.pod, false, true});
    push(record, EventKind::kBindRequest, out_.binds_.size() - 1, true);
    push(record, EventKind::kBindAnswer, out_.binds_.size() - 1, true);
  }

  // PodScheduled turning False is a failed attempt of whoever schedules the pod.
  void infer_failure(const Record& record, const PodFacts& pod) {
    const Seen& before = seen(pod.pod);
    const bool was_false = before.seen && before.latest.scheduled == Condition::kFalse;
    if (pod.scheduled == Condition::kFalse && !was_false && !pod.bound()) push_failure(record, pod.pod);
  }

  void take_event(const Record& record, const EventFacts& event) {
    const Catalog& catalog = out_.catalog();
    if (record.verb == Verb::kDeleted || catalog.text(event.reason) != "FailedScheduling") return;
    if (catalog.text(event.regarding_kind) != "Pod") return;
    const PodId pod = life_of(event.regarding, event.regarding_uid);
    if (pod && seen(pod).seen) push_failure(record, pod);
  }

  void push_failure(const Record& record, PodId pod) {
    out_.failed_.push_back(pod);
    push(record, EventKind::kAttemptFailed, out_.failed_.size() - 1, true);
  }

  // The pod of this name and uid; without a uid the latest life of the name.
  PodId life_of(KeyId key, StringId uid) {
    if (!key.known()) return PodId::none();
    if (out_.catalog().text(uid).empty()) {
      return key.value < last_life_.size() ? last_life_[key.value] : PodId::none();
    }
    return out_.reader_.mutable_catalog().pod(key, uid);
  }

  void take_request(const Record& record) {
    if (!pods_listed_ || !record.bind.node) return count_uncovered(record);
    PodId pod = record.bind.pod;
    const StringId uid = out_.catalog().uid_id(pod);
    if (const PodId life = life_of(out_.catalog().key_of(pod), uid); life) pod = life;
    RecordedBind& bind = out_.binds_.emplace_back();
    bind.pod = bind.applied_to = pod;
    bind.node = record.bind.node;
    bind.scheduler = record.bind.scheduler;
    bind.by_name = out_.catalog().text(uid).empty();
    requests_.push_back({record.seq, static_cast<uint32_t>(out_.binds_.size() - 1)});
    push(record, EventKind::kBindRequest, out_.binds_.size() - 1, true);
  }

  void take_answer(const Record& record) {
    const auto request = std::lower_bound(requests_.begin(), requests_.end(), record.bind.request,
                                          [](const auto& entry, trace::Seq seq) { return entry.first < seq; });
    if (request == requests_.end() || request->first != record.bind.request) return;
    RecordedBind& bind = out_.binds_[request->second];
    const Catalog& catalog = out_.catalog();
    bind.answer = kube::classify_bind_answer(record.bind.code, catalog.text(record.bind.reason),
                                             catalog.text(record.bind.message));
    if (bind.by_name && bind.won()) {
      const PodId now = last_life_[catalog.key_of(bind.pod).value];
      if (now) bind.applied_to = now;
    }
    push(record, EventKind::kBindAnswer, request->second, true);
  }

  // Nobody watched the pods then: what a bind did cannot be judged.
  void count_uncovered(const Record& record) {
    if (record.kind == RecordKind::kBindRequest) ++out_.outside_coverage_;
  }

  // An inferred bind stands aside where the bind that won the pod was captured, or may have been; that is known only at
  // the end.
  void drop_inferred() {
    for (const RecordedBind& bind : out_.binds_) {
      if (!bind.inferred && (bind.won() || kube::outcome_unknown(bind.answer))) seen(bind.applied_to).captured = true;
    }
    std::erase_if(out_.events_, [&](const Event& event) {
      if (event.kind != EventKind::kBindRequest && event.kind != EventKind::kBindAnswer) return false;
      const RecordedBind& bind = out_.binds_[event.index];
      return bind.inferred && seen(bind.pod).captured;
    });
  }

  void collect_schedulers() {
    drop_inferred();
    for (const Event& event : out_.events_) {
      if (event.kind != EventKind::kBindRequest) continue;
      const RecordedBind& bind = out_.binds_[event.index];
      SchedulerSeen& scheduler = scheduler_of(bind.scheduler);
      scheduler.inferred = scheduler.inferred && bind.inferred;
      ++(bind.won() ? scheduler.won : scheduler.lost);
      const Seen& pod = seen(bind.pod);
      auto& names = scheduler.pod_schedulers;
      if (pod.seen && std::find(names.begin(), names.end(), pod.latest.scheduler) == names.end()) {
        names.push_back(pod.latest.scheduler);
      }
    }
    const Catalog& catalog = out_.catalog();
    std::sort(out_.schedulers_.begin(), out_.schedulers_.end(), [&](const SchedulerSeen& a, const SchedulerSeen& b) {
      return a.won != b.won ? a.won > b.won : catalog.text(a.name) < catalog.text(b.name);
    });
    std::vector<bool> counted;  // by node
    for (const NodeFacts& node : out_.nodes_) {
      if (!grown(counted, node.node.value)) ++out_.distinct_nodes_;
      counted[node.node.value] = true;
    }
  }

  SchedulerSeen& scheduler_of(StringId name) {
    for (SchedulerSeen& scheduler : out_.schedulers_) {
      if (scheduler.name == name) return scheduler;
    }
    return out_.schedulers_.emplace_back(SchedulerSeen{name, 0, 0, true, {}});
  }

  Recording& out_;
  std::vector<trace::Stream> streams_;  // by id
  std::vector<bool> in_view_;           // by id of a stream
  const trace::StreamSummary *pods_ = nullptr, *nodes_ = nullptr;
  trace::Seq covered_until_ = 0;
  bool pods_listed_ = false;
  bool started_ = false;
  Time now_;
  std::vector<Seen> seen_;                                 // by pod
  std::vector<PodId> last_life_;                           // by key
  std::array<std::optional<size_t>, 2> open_gaps_;         // by resource: the index of its gap that has not ended
  std::vector<std::pair<trace::Seq, uint32_t>> requests_;  // seq of a request, its bind; ascending
};

scheduler::BindAnswered::Outcome outcome_of(kube::BindAnswer answer) {
  using Outcome = scheduler::BindAnswered::Outcome;
  if (answer == kube::BindAnswer::kBound) return Outcome::kBound;
  return kube::outcome_unknown(answer) ? Outcome::kUnknown : Outcome::kRefused;
}

kube::BindAnswer answer_of(uint16_t status) { return kube::classify_bind_answer(status, {}, {}); }

Result<std::unique_ptr<Recording>> Recording::load(trace::TraceReader reader) {
  std::unique_ptr<Recording> recording(new Recording(std::move(reader)));
  INQUEST_TRY_VOID(RecordingLoader(*recording).load());
  return recording;
}

const SchedulerSeen* Recording::scheduler(std::string_view name) const {
  for (const SchedulerSeen& scheduler : schedulers_) {
    if (catalog().text(scheduler.name) == name) return &scheduler;
  }
  return nullptr;
}

}  // namespace inquest::replayer
