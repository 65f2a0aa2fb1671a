#include "replayer/pace.h"

#include <algorithm>
#include <vector>

#include "base/grown.h"

namespace inquest::replayer {
namespace {

// What is known of one life of a pod, by the instants at which it was first seen.
struct Life {
  Time bound, bound_seen, running, deletion;  // not known: not seen
};

class Samples {
 public:
  explicit Samples(const Recording& recording) : recording_(recording), sent_(recording.binds().size()) {
    for (const Event& event : recording.events()) take(event);
  }

  std::vector<Duration> rtt, deliver, start, stop;

 private:
  void take(const Event& event) {
    if (event.kind == EventKind::kBindRequest) sent_[event.index] = event.at;
    if (event.kind == EventKind::kBindAnswer) take_answer(event);
    if (event.kind == EventKind::kPod && event.in_view) take_frame(event, recording_.pods()[event.index]);
  }

  void take_answer(const Event& event) {
    const RecordedBind& bind = recording_.binds()[event.index];
    if (bind.inferred || !bind.won()) return;
    rtt.push_back(event.at - sent_[event.index]);
    grown(lives_, bind.pod.value).bound = event.at;
  }

  void take_frame(const Event& event, const PodFacts& pod) {
    Life& life = grown(lives_, pod.pod.value);
    const auto since = [&](Time from, std::vector<Duration>& samples) {
      if (from.known()) samples.push_back(std::max(Duration{}, event.at - from));
    };
    if (event.verb == Verb::kDeleted) return since(life.deletion, stop);
    if (pod.bound() && !life.bound_seen.known()) {
      since(life.bound, deliver);
      life.bound_seen = event.at;
    }
    if (pod.phase == PodPhase::kRunning && !life.running.known()) {
      since(life.bound.known() ? life.bound : life.bound_seen, start);
      life.running = event.at;
    }
    if (pod.deletion.known() && !life.deletion.known()) life.deletion = event.at;
  }

  const Recording& recording_;
  std::vector<Time> sent_;   // by bind
  std::vector<Life> lives_;  // by pod
};

void set(PaceValue& value, std::vector<Duration> samples, const std::optional<Duration>& wanted) {
  if (wanted) {
    value = {*wanted, 0};
  } else if (!samples.empty()) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    value = {*middle, samples.size()};
  }
}

}  // namespace

Pace pace_of(const Recording& recording, const PaceWanted& wanted) {
  Samples samples(recording);
  Pace out;
  set(out.bind_rtt, std::move(samples.rtt), wanted.bind_rtt);
  set(out.deliver, std::move(samples.deliver), wanted.deliver);
  set(out.kubelet_start, std::move(samples.start), wanted.kubelet_start);
  set(out.kubelet_stop, std::move(samples.stop), wanted.kubelet_stop);
  return out;
}

}  // namespace inquest::replayer
