#include "replayer/judge.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/grown.h"
#include "base/hash.h"

namespace inquest::replayer {

using scheduler::Misfit;

namespace {

bool is_zombie(Verdict verdict) { return verdict == Verdict::kZombieScheduled || verdict == Verdict::kZombieAssumed; }

// It holds room on a node where the truth does not have it.
bool intrudes(Verdict verdict) { return is_zombie(verdict) || verdict == Verdict::kWrongNode; }

// What went wrong with the bind itself: of all that befell its pod in that instant it is what the rest follows from.
bool comes_of_a_bind(Verdict verdict) { return verdict == Verdict::kUnknownBind || verdict == Verdict::kWrongUid; }

// A zombie is assumed either by an answer that came too late, or because its delete never reached the assumed store.
Race race_of(Verdict verdict, Cure born_by) {
  if (verdict != Verdict::kZombieAssumed) return Race::kNone;
  return born_by == Cure::kAnswer || born_by == Cure::kDecision ? Race::kDeletedBeforeAssumed
                                                                : Race::kDeletedBeforePurge;
}

}  // namespace

void Judge::settle(const Scene& scene, Time now, trace::Seq seq, Phase phase) {
  now_ = now;
  seq_ = seq;
  phase_ = phase;
  ++instant_;
  look_once(noted_pods_, looked_pods_, [&](PodId pod, Cure cause) { look_at_pod(scene, pod, cause); });
  look_once(noted_nodes_, looked_nodes_, [&](NodeId node, Cure cause) { look_at_node(scene, node, cause); });
}

// What is noted again within an instant is as it was at the first look.
template <typename Id, typename Look>
void Judge::look_once(std::vector<Noted<Id>>& noted, std::vector<uint64_t>& looked, const Look& look) {
  for (const Noted<Id>& one : noted) {
    if (std::exchange(grown(looked, one.id.value), instant_) != instant_) look(one.id, one.cause);
  }
  noted.clear();
}

void Judge::look_at_pod(const Scene& scene, PodId pod, Cure cause) {
  const auto& [truth, core, binds] = scene;
  const scheduler::ScheduledPod* scheduled = core.scheduled().find(pod);
  const scheduler::AssumedPod* assumed = core.assumed().find(pod);
  const auto queued = core.queued().state(pod);
  const bool held = truth.holds(pod);
  const NodeId node = truth.node_of(pod);
  const bool in_queue = queued == scheduler::QueuedStore::State::kQueued;
  const bool waits = queued != scheduler::QueuedStore::State::kAbsent || core.in_flight(pod);
  const bool wants_queue =
      held && !node && core.ours(truth.facts(pod)) && !truth.facts(pod).gated && !truth.facts(pod).deletion.known();
  const NodeId viewed = scheduled != nullptr ? scheduled->node : assumed != nullptr ? assumed->node : NodeId::none();
  const ShapeId shape = scheduled != nullptr ? scheduled->shape
                        : assumed != nullptr ? assumed->shape
                        : held               ? truth.facts(pod).shape
                                             : ShapeId::none();
  const bool wrong =
      node && ((scheduled != nullptr && scheduled->node != node) || (assumed != nullptr && assumed->node != node));
  const auto check = [&](Verdict verdict, bool holds, NodeId where, ShapeId takes) {
    update(grown(pods_, pod.value)[static_cast<size_t>(verdict)], holds,
           {verdict, pod, where, {}, takes, {}, 0, cause, {}, {}}, cause);
  };
  check(Verdict::kZombieScheduled, scheduled != nullptr && !held, viewed, shape);
  check(Verdict::kZombieAssumed, assumed != nullptr && !held, viewed, shape);
  check(Verdict::kGhostQueued, in_queue && (!held || node), node, ShapeId::none());
  check(Verdict::kMissingScheduled, node && scheduled == nullptr && assumed == nullptr, node, shape);
  check(Verdict::kMissingQueued, wants_queue && !waits, NodeId::none(), ShapeId::none());
  check(Verdict::kWrongNode, wrong, viewed, shape);
  check(Verdict::kDoubleCount, scheduled != nullptr && assumed != nullptr && assumed->charged, viewed, shape);
  check(Verdict::kUnknownBind, binds.of(pod).known(), binds.of(pod), ShapeId::none());
}

void Judge::look_at_node(const Scene& scene, NodeId node, Cure cause) {
  const auto& [truth, core, binds] = scene;
  const bool in_view = core.books().book(node).known;
  const bool in_truth = truth.has_node(node);
  const Misfit view_over = core.books().overcommit(node);
  const Misfit truth_over = truth.books().overcommit(node);
  const auto check = [&](Verdict verdict, bool holds, Misfit misfit) {
    const size_t slot = static_cast<size_t>(verdict) - kPodVerdicts;
    update(grown(nodes_, node.value)[slot], holds, {verdict, {}, node, {}, {}, {}, 0, cause, misfit, {}}, cause);
  };
  check(Verdict::kGhostNode, in_view && !in_truth, {});
  check(Verdict::kMissingNode, in_truth && !in_view, {});
  check(Verdict::kOvercommitView, !view_over.fits(), view_over);
  check(Verdict::kOvercommitTruth, !truth_over.fits(), truth_over);
  check(Verdict::kNegative, core.books().negative(node), {});
}

void Judge::update(uint32_t& slot, bool holds, const Episode& opening, Cure cause) {
  if (holds == (slot != 0)) return;
  if (!holds) return close(slot, now_, cause);
  if (free_.empty()) {
    episodes_.emplace_back();
    free_.push_back(static_cast<uint32_t>(episodes_.size() - 1));
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  episodes_[index] = opening;
  episodes_[index].birth = now_;
  episodes_[index].birth_seq = seq_;
  open_ += hash_of(episodes_[index]);
  if (intrudes(opening.verdict)) intruders_.emplace(Intruder{opening.node, now_, opening.pod, opening.verdict}, index);
  slot = index + 1;
}

uint64_t Judge::hash_of(const Episode& episode) {
  const uint64_t what =
      static_cast<uint64_t>(episode.verdict) << 8 | (episode.lane ? static_cast<uint64_t>(*episode.lane) : 0);
  return combine(combine(combine(what, episode.pod.value), episode.node.value),
                 static_cast<uint64_t>(episode.birth.ns));
}

void Judge::close(uint32_t& slot, std::optional<Time> end, Cure cause) {
  Episode& episode = episodes_[slot - 1];
  open_ -= hash_of(episode);
  if (end && *end - episode.birth <= lag_) {
    refused_within_lag_ += episode.refusals.size();
  } else {
    Finding& finding = findings_.emplace_back();
    finding.verdict = episode.verdict;
    finding.pod = episode.pod;
    finding.node = episode.node;
    finding.lane = episode.lane;
    finding.holds = episode.holds;
    finding.birth = episode.birth;
    finding.birth_seq = episode.birth_seq;
    finding.end = end;
    finding.cure = cause;
    finding.after_end = end && phase_ == Phase::kAfterEnd;
    finding.misfit = episode.misfit;
    finding.race = race_of(episode.verdict, episode.born_by);
    finding.would_refuse = std::move(episode.refusals);
  }
  if (intrudes(episode.verdict)) intruders_.erase({episode.node, episode.birth, episode.pod, episode.verdict});
  episode = {};
  free_.push_back(slot - 1);
  slot = 0;
}

void Judge::behind(Lane lane, bool behind, Time now, trace::Seq seq) {
  now_ = now;
  seq_ = seq;
  update(behind_[static_cast<size_t>(lane)], behind,
         {Verdict::kStaleView, {}, {}, lane, {}, {}, 0, Cure::kTruth, {}, {}}, Cure::kFrame);
}

void Judge::stuck(Lane lane, Time birth, std::optional<Time> end, Cure cure, trace::Seq seq, Phase phase) {
  if (end && *end - birth <= lag_) return;
  Finding& finding = findings_.emplace_back();
  finding.verdict = Verdict::kStuck;
  finding.lane = lane;
  finding.birth = birth;
  finding.birth_seq = seq;
  finding.end = end;
  finding.cure = cure;
  finding.after_end = end && phase == Phase::kAfterEnd;
}

void Judge::point(Verdict verdict, PodId pod, NodeId node, ShapeId holds, Time now, trace::Seq seq, PodId other) {
  INQUEST_CHECK(is_point(verdict), name_of(verdict));
  Finding& finding = findings_.emplace_back();
  finding.verdict = verdict;
  finding.pod = pod;
  finding.node = node;
  finding.birth = now;
  finding.birth_seq = seq;
  finding.end = now;
  finding.cure = Cure::kTruth;
  finding.holds = holds;
  finding.other = other;
}

void Judge::refused(const Scene& scene, const scheduler::WouldRefuse& refusal, Time now) {
  // Of a node that the trace never showed nothing can be said.
  if (refusal.misfit.kind == Misfit::Kind::kNoSuchNode && !scene.truth.has_node(refusal.node)) return;
  Episode* to_blame = culprit(scene, refusal);
  if (to_blame == nullptr) {
    ++refused_within_lag_;
    return;
  }
  to_blame->refusals.push_back({now, refusal.pod, refusal.node, refusal.misfit});
}

// Nullptr: nothing wrong stands there.
Judge::Episode* Judge::culprit(const Scene& scene, const scheduler::WouldRefuse& refusal) {
  const PodId holder = refusal.misfit.holder;
  const auto in_view = [&](PodId pod) {  // it may have left within this instant, which is not over
    return scene.core.scheduled().find(pod) != nullptr || scene.core.assumed().find(pod) != nullptr;
  };
  if (holder) {
    Episode* oldest = nullptr;
    for (size_t verdict = 0; holder.value < pods_.size() && verdict < kPodVerdicts; ++verdict) {
      const uint32_t slot = pods_[holder.value][verdict];
      if (slot == 0 || !intrudes(static_cast<Verdict>(verdict)) || episodes_[slot - 1].node != refusal.node) continue;
      if (oldest == nullptr || episodes_[slot - 1].birth < oldest->birth) oldest = &episodes_[slot - 1];
    }
    return oldest;
  }
  const Intruder first{refusal.node, Time{INT64_MIN}, PodId{0}, Verdict::kZombieScheduled};
  for (auto at = intruders_.lower_bound(first); at != intruders_.end() && std::get<NodeId>(at->first) == refusal.node;
       ++at) {
    if (in_view(std::get<PodId>(at->first))) return &episodes_[at->second];
  }
  return nullptr;
}

std::vector<Finding> Judge::open(Time now) const {
  Judge copy = *this;
  copy.lag_ = {};
  std::erase_if(copy.findings_, [](const Finding& finding) { return finding.end.has_value(); });
  return copy.finish(now);
}

std::vector<Finding> Judge::finish(Time end) {
  now_ = end;
  const auto close_open = [&](auto& tables) {
    for (auto& slots : tables) {
      for (uint32_t& slot : slots) {
        if (slot == 0) continue;
        // Time ends here, and it still holds: it outlives a bound that ends in this instant.
        const bool outlived = end - episodes_[slot - 1].birth >= lag_;
        close(slot, outlived ? std::nullopt : std::optional(end), Cure::kNever);
      }
    }
  };
  close_open(pods_);
  close_open(nodes_);
  std::array<std::array<uint32_t, kLanes>, 1> streams{behind_};
  close_open(streams);
  std::sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    const bool a_later = !comes_of_a_bind(a.verdict), b_later = !comes_of_a_bind(b.verdict);
    return std::tie(a.birth, a_later, a.verdict, a.pod, a.node, a.lane) <
           std::tie(b.birth, b_later, b.verdict, b.pod, b.node, b.lane);
  });
  nest(findings_);
  return std::move(findings_);
}

// A node that exceeds in the view while a zombie holds room on it exceeds because of the zombie; one that exceeds in
// truth does so in the view by right; and what befell one pod in one instant is one event with several faces. Of
// several that explain a finding the first is its root. Findings come in order of birth, so one that had ended before
// some birth explains nothing later: each is looked at once, however many there are.
void Judge::nest(std::vector<Finding>& findings) {
  std::map<std::pair<PodId, Time>, size_t> events;  // the first root about the pod in that instant
  std::map<NodeId, std::deque<size_t>> crowding;    // roots that explain an overcommit of the node
  for (size_t i = 0; i < findings.size(); ++i) {
    Finding& finding = findings[i];
    const auto point_to = [&](size_t root) { finding.root = std::min(root, finding.root.value_or(root)); };
    if (finding.verdict == Verdict::kOvercommitView) {
      std::deque<size_t>& roots = crowding[finding.node];
      const auto over = [&](size_t root) { return findings[root].end && *findings[root].end < finding.birth; };
      while (!roots.empty() && over(roots.front())) roots.pop_front();
      if (!roots.empty()) point_to(roots.front());
    }
    const auto event = events.find({finding.pod, finding.birth});
    if (finding.pod && event != events.end()) point_to(event->second);
    // What a stream holds back shows in the pod that it is about; where it shows in none, the stream itself is at
    // fault.
    if (finding.lane && i > 0 && findings[i - 1].birth == finding.birth && !is_point(findings[i - 1].verdict)) {
      point_to(findings[i - 1].root.value_or(i - 1));
    }
    if (finding.root) continue;
    if (finding.pod) events.emplace(std::pair{finding.pod, finding.birth}, i);
    const bool explains = is_zombie(finding.verdict) || finding.verdict == Verdict::kOvercommitTruth;
    if (explains) crowding[finding.node].push_back(i);
  }
}

}  // namespace inquest::replayer
