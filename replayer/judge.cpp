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

// Something that the truth holds and the view does not.
bool is_missing(Verdict verdict) {
  return verdict == Verdict::kMissingScheduled || verdict == Verdict::kMissingQueued ||
         verdict == Verdict::kMissingNode;
}

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
  look_once(noted_pods_, looked_pods_,
            [&](PodId pod, Cure cause) { look(scene, pod, grown(pods_, pod.value), cause); });
  look_once(noted_nodes_, looked_nodes_,
            [&](NodeId node, Cure cause) { look(scene, node, grown(nodes_, node.value), cause); });
}

// What is noted again within an instant is as it was at the first look.
template <typename Id, typename Look>
void Judge::look_once(std::vector<Noted<Id>>& noted, std::vector<uint64_t>& looked, const Look& look) {
  for (const Noted<Id>& one : noted) {
    if (std::exchange(grown(looked, one.id.value), instant_) != instant_) look(one.id, one.cause);
  }
  noted.clear();
}

std::array<Judge::Case, Judge::kPodVerdicts> Judge::cases_of(const Scene& scene, PodId pod) {
  const auto& [truth, core, binds, away] = scene;
  const scheduler::ScheduledPod* scheduled = core.scheduled().find(pod);
  const scheduler::AssumedPod* assumed = core.assumed().find(pod);
  const auto queued = core.queued().state(pod);
  const bool held = truth.holds(pod);
  const NodeId node = truth.node_of(pod);
  const bool in_queue = queued == scheduler::QueuedStore::State::kQueued;
  const bool waits = queued != scheduler::QueuedStore::State::kAbsent || core.in_flight(pod);
  const bool wants_queue =
      held && !node && core.ours(truth.facts(pod)) && !truth.facts(pod).gated && !truth.facts(pod).deletion.known();
  const Case in_scheduled = scheduled == nullptr ? Case{} : Case{true, scheduled->node, scheduled->shape, {}};
  const Case in_assumed = assumed == nullptr ? Case{} : Case{true, assumed->node, assumed->shape, {}};
  const auto wrong = [&](const Case& store) { return node && store.holds && store.where != node; };
  const auto only_if = [](bool holds, Case of) {
    of.holds = of.holds && holds;
    return of;
  };
  const bool missing = node && scheduled == nullptr && assumed == nullptr;
  return {only_if(!held, in_scheduled),
          only_if(!held, in_assumed),
          Case{in_queue && (!held || node), node, {}, {}},
          missing ? Case{true, node, truth.facts(pod).shape, {}} : Case{},
          Case{wants_queue && !waits, {}, {}, {}},
          wrong(in_scheduled) ? in_scheduled : only_if(wrong(in_assumed), in_assumed),
          only_if(assumed != nullptr && assumed->charged, in_scheduled),
          Case{binds.of(pod).known(), binds.of(pod), {}, {}}};
}

std::array<Judge::Case, Judge::kNodeVerdicts> Judge::cases_of(const Scene& scene, NodeId node) {
  const auto& [truth, core, binds, away] = scene;
  const bool in_view = core.books().book(node).known;
  const bool in_truth = truth.has_node(node);
  const Misfit view_over = core.books().overcommit(node);
  const Misfit truth_over = truth.books().overcommit(node);
  return {Case{in_view && !in_truth, node, {}, {}}, Case{in_truth && !in_view, node, {}, {}},
          Case{!view_over.fits(), node, {}, view_over}, Case{!truth_over.fits(), node, {}, truth_over},
          Case{core.books().negative(node), node, {}, {}}};
}

template <typename Id, size_t N>
void Judge::look(const Scene& scene, Id id, Slots<N>& slots, Cure cause) {
  constexpr bool kPod = std::is_same_v<Id, PodId>;
  const std::array<Case, N> cases = cases_of(scene, id);
  for (size_t i = 0; i < N; ++i) {
    const auto verdict = static_cast<Verdict>(kPod ? i : kPodVerdicts + i);
    const auto& [holds, where, takes, misfit] = cases[i];
    if (holds == (slots[i] != 0) || (holds && scene.away && is_missing(verdict))) continue;
    Episode opening{verdict, {}, where, {}, takes, {}, 0, cause, misfit, {}, {}};
    if constexpr (kPod) opening.pod = id;
    update(slots[i], holds, opening, cause);
  }
}

void Judge::changed(const Scene& scene, PodId pod, Cure cause) {
  if (differs() && pod.value < pods_.size()) mark(scene, pod, pods_[pod.value], cause);
}

void Judge::changed(const Scene& scene, NodeId node, Cure cause) {
  if (differs() && node.value < nodes_.size()) mark(scene, node, nodes_[node.value], cause);
}

template <typename Id, size_t N>
void Judge::mark(const Scene& scene, Id id, const Slots<N>& slots, Cure cause) {
  if (std::all_of(slots.begin(), slots.end(), [](uint32_t slot) { return slot == 0; })) return;
  const std::array<Case, N> cases = cases_of(scene, id);
  for (size_t i = 0; i < N; ++i) {
    if (slots[i] == 0) continue;
    std::optional<Cure>& ended_by = episodes_[slots[i] - 1].ended_by;
    if (cases[i].holds) {
      ended_by.reset();
    } else if (!ended_by) {
      ended_by = cause;
    }
  }
}

void Judge::update(uint32_t& slot, bool holds, const Episode& opening, Cure cause) {
  if (holds == (slot != 0)) return;
  if (!holds) return close(slot, now_, episodes_[slot - 1].ended_by.value_or(cause));
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
         {Verdict::kStaleView, {}, {}, lane, {}, {}, 0, Cure::kTruth, {}, {}, {}}, Cure::kFrame);
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
