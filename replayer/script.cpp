#include "replayer/script.h"

#include <algorithm>

#include "base/grown.h"

namespace inquest::replayer {
namespace {

class Writer {
 public:
  Writer(const Recording& recording, const std::vector<StringId>& own, StringId ourselves)
      : recording_(recording), own_(own), ourselves_(ourselves) {}

  Script write() {
    for (const Event& event : recording_.events()) take(event);
    return std::move(script_);
  }

 private:
  struct Life {
    PodFacts latest;
    Time running;
    bool there = false, over = false, deleting = false;
  };

  void take(const Event& event) {
    if (!event.in_view && event.kind != EventKind::kBindRequest) return;
    switch (event.kind) {
      case EventKind::kNodesListed:
        return add(event, ScriptKind::kNodesListed, event.index);
      case EventKind::kNode:
        return add(event, ScriptKind::kNode, event.index);
      case EventKind::kPodsListed:
        return take_list(event);
      case EventKind::kPod:
        return take_pod(event, event.index);
      case EventKind::kBindRequest:
        if (recording_.binds()[event.index].scheduler != ourselves_) add(event, ScriptKind::kBind, event.index);
        return;
      default:
        return;
    }
  }

  void add(const Event& event, ScriptKind kind, uint32_t index) {
    script_.entries.push_back({event.at, event.seq, kind, event.verb, index});
  }

  // A list tells the same as frames would: what is new in it was created, what it lacks has gone.
  void take_list(const Event& event) {
    const ListRange range = recording_.lists()[event.index];
    std::vector<bool> listed(lives_.size());
    for (uint32_t i = range.first; i < range.first + range.count; ++i) {
      const uint32_t pod = recording_.pods()[i].pod.value;
      if (pod < listed.size()) listed[pod] = true;
    }
    for (uint32_t pod = 0; pod < listed.size(); ++pod) {
      if (lives_[pod].there && !listed[pod]) go(event, lives_[pod], lives_[pod].latest);
    }
    for (uint32_t i = range.first; i < range.first + range.count; ++i) take_version(event, i);
    if (!opened_) add(event, ScriptKind::kOpened, 0);
    opened_ = true;
  }

  void take_pod(const Event& event, uint32_t index) {
    const PodFacts& pod = recording_.pods()[index];
    Life& life = grown(lives_, pod.pod.value);
    if (life.over) return;
    if (!ours(pod)) return add(event, ScriptKind::kRecorded, index);
    event.verb == Verb::kDeleted ? go(event, life, pod) : take_version(event, index);
  }

  bool ours(const PodFacts& pod) const { return std::find(own_.begin(), own_.end(), pod.scheduler) != own_.end(); }

  void go(const Event& event, Life& life, const PodFacts& pod) {
    if (life.there && !life.deleting) add(event, ScriptKind::kGone, versions_[pod.pod.value]);
    life.there = false;
    life.over = true;
  }

  void take_version(const Event& event, uint32_t index) {
    const PodFacts& pod = recording_.pods()[index];
    Life& life = grown(lives_, pod.pod.value);
    if (life.over) return;
    grown(versions_, pod.pod.value) = index;
    if (!life.there) {
      add(event, ScriptKind::kCreated, index);
    } else if (respecified(life.latest, pod)) {
      add(event, ScriptKind::kRespecified, index);
    }
    if (pod.deletion.known() && !life.deleting) {
      add(event, ScriptKind::kDeletion, index);
      life.deleting = true;
    }
    take_phase(event, life, pod);
    life.latest = pod;
    life.there = true;
  }

  static bool respecified(const PodFacts& before, const PodFacts& after) {
    return before.shape != after.shape || before.placement != after.placement || before.priority != after.priority ||
           before.gated != after.gated;
  }

  void take_phase(const Event& event, Life& life, const PodFacts& pod) {
    if (pod.phase == PodPhase::kRunning && !life.running.known()) life.running = event.at;
    if (!pod.terminal() || !life.running.known()) return;
    auto& length = grown(script_.run_lengths, pod.pod.value);
    if (!length) length = RunLength{event.at - life.running, pod.phase};
  }

  const Recording& recording_;
  const std::vector<StringId>& own_;
  StringId ourselves_;
  Script script_;
  std::vector<Life> lives_;         // by pod
  std::vector<uint32_t> versions_;  // by pod: the latest, as an index into the recording's pods
  bool opened_ = false;
};

}  // namespace

Script script_of(const Recording& recording, const std::vector<StringId>& own, StringId ourselves) {
  return Writer(recording, own, ourselves).write();
}

}  // namespace inquest::replayer
