#include "replayer/unknown_binds.h"

#include <variant>

#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::BindAnswered;
using scheduler::ReportEvent;

void UnknownBinds::stepped(const scheduler::Input& input, std::span<const scheduler::Effect> effects) {
  if (const auto* changed = std::get_if<scheduler::PodChanged>(&input)) {
    const PodFacts& pod = changed->pod;
    // A watch of pods without a node says DELETED of one that was bound: that settles it as well.
    const bool settled = changed->verb == Verb::kDeleted || pod.bound() || pod.terminal();
    grown(pods_, pod.pod.value).settled = settled;
    if (settled) known(pod.pod);
    return;  // no frame makes anything unknown
  }
  if (const auto* answered = std::get_if<BindAnswered>(&input)) {
    if (answered->outcome != BindAnswered::Outcome::kUnknown) known(answered->pod);
  } else if (const auto* reread = std::get_if<scheduler::RereadAnswered>(&input)) {
    known(reread->pod);
  } else if (std::get_if<scheduler::PodsListed>(&input) != nullptr) {
    listed();
  } else if (std::get_if<scheduler::Restarted>(&input) != nullptr) {
    all_known();
    pods_.clear();
  }
  for (const scheduler::Effect& effect : effects) {
    const auto* report = std::get_if<ReportEvent>(&effect);
    if (report != nullptr && report->text == ReportEvent::Text::kBindUnknown) unknown(report->pod, report->node);
  }
}

void UnknownBinds::listed() { all_known(); }

void UnknownBinds::unknown(PodId id, NodeId node) {
  Pod& pod = grown(pods_, id.value);
  if (pod.settled || !node) return;
  pod.unknown = node;
  unknown_.insert(id);
  touched_.push_back(id);
}

void UnknownBinds::known(PodId pod) {
  if (!of(pod)) return;
  pods_[pod.value].unknown = NodeId::none();
  unknown_.erase(pod);
  touched_.push_back(pod);
}

void UnknownBinds::all_known() {
  const std::set<PodId> all = unknown_;
  for (const PodId pod : all) known(pod);
}

uint64_t UnknownBinds::state_hash() const {
  uint64_t out = 0;
  for (const PodId pod : unknown_) out = combine(combine(out, pod.value), of(pod).value);
  return out;
}

}  // namespace inquest::replayer
