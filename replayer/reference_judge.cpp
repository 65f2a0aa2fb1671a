#include "replayer/reference_judge.h"

#include <algorithm>

namespace inquest::replayer {

// --- Truth

std::vector<ReferenceTruth::Point> ReferenceTruth::advance(Time now) {
  points_.clear();
  while (next_ < recording_->events().size() && recording_->events()[next_].at <= now) {
    take(recording_->events()[next_++]);
  }
  return points_;
}

void ReferenceTruth::take(const Event& event) {
  const auto list = [&] { return recording_->lists()[event.index]; };
  switch (event.kind) {
    case EventKind::kPod:
      return pod(event.verb, recording_->pods()[event.index], event.in_view);
    case EventKind::kNode: {
      const NodeFacts& node = recording_->nodes()[event.index];
      nodes_.erase(node.node);
      if (event.verb != Verb::kDeleted) nodes_.emplace(node.node, node);
      return;
    }
    case EventKind::kPodsListed:
      return pods_listed(recording_->pods().subspan(list().first, list().count), event.in_view);
    case EventKind::kNodesListed:
      return nodes_listed(recording_->nodes().subspan(list().first, list().count));
    case EventKind::kBindRequest:
      return request(event.index);
    case EventKind::kBindAnswer:
      return answer(event.index);
    case EventKind::kBookmark:
    case EventKind::kAttemptFailed:
      return;
  }
}

// A version is news unless it, or a later one, is known. That a stream goes back is time travel; that it comes behind
// another one is not.
void ReferenceTruth::pod(Verb verb, const PodFacts& pod, bool in_view) {
  const auto held = pods_.find(pod.pod), gone = gone_.find(pod.pod);
  const ResourceVersion known = held != pods_.end() ? held->second.rv : gone != gone_.end() ? gone->second.rv : 0;
  ResourceVersion& reached = reached_[in_view][pod.pod];
  const bool back = pod.rv < reached && verb != Verb::kDeleted;
  const bool has_shown_its_end = gone != gone_.end() && reached >= known;
  reached = std::max(reached, pod.rv);
  if (gone != gone_.end()) {
    const bool returns = verb != Verb::kDeleted && (pod.rv > known || back || has_shown_its_end);
    if (returns) points_.push_back({Verdict::kTimeTravel, pod.pod});
    if (in_view && !returns) shown_[pod.pod] = verb == Verb::kDeleted ? std::nullopt : std::optional(pod);
    return;
  }
  if (verb == Verb::kDeleted) {
    pods_.erase(pod.pod);
    gone_[pod.pod] = pod;
    if (in_view) shown_[pod.pod] = std::nullopt;
    return;
  }
  if (held != pods_.end() && pod.rv < known && back) {
    points_.push_back({Verdict::kTimeTravel, pod.pod});
    return;
  }
  if (in_view) shown_[pod.pod] = pod;
  if (held != pods_.end() && pod.rv <= known) return;
  PodFacts now = pod;
  if (!now.node && accepted_.count(pod.pod) > 0) now.node = accepted_[pod.pod];
  pods_[pod.pod] = now;
}

void ReferenceTruth::pods_listed(std::span<const PodFacts> pods, bool in_view) {
  std::map<PodId, PodFacts> listed;
  for (const PodFacts& pod : pods) listed[pod.pod] = pod;
  for (const auto& [pod, facts] : std::map<PodId, PodFacts>(pods_)) {
    if (listed.count(pod) > 0) continue;
    gone_[pod] = facts;
    pods_.erase(pod);
  }
  for (const PodFacts& pod : pods) {
    const auto held = pods_.find(pod.pod);
    const bool older = held != pods_.end() && pod.rv < held->second.rv;
    if (gone_.count(pod.pod) > 0 || older) {
      points_.push_back({Verdict::kTimeTravel, pod.pod});
    } else if (held == pods_.end() || pod.rv > held->second.rv) {
      PodFacts now = pod;
      if (!now.node && accepted_.count(pod.pod) > 0) now.node = accepted_[pod.pod];
      pods_[pod.pod] = now;
    }
    if (in_view) reached_[true][pod.pod] = std::max(reached_[true][pod.pod], pod.rv);
  }
  if (!in_view) return;
  shown_.clear();
  for (const auto& [pod, facts] : pods_) shown_[pod] = facts;
}

void ReferenceTruth::nodes_listed(std::span<const NodeFacts> nodes) {
  nodes_.clear();
  for (const NodeFacts& node : nodes) nodes_[node.node] = node;
}

void ReferenceTruth::request(uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  if (won_by_[bind.pod].count(bind.scheduler) == 0) return;
  doubled_.insert(index);
  points_.push_back({Verdict::kDoubleBind, bind.pod});
}

void ReferenceTruth::answer(uint32_t index) {
  const RecordedBind& bind = recording_->binds()[index];
  if (!bind.won()) return;
  const PodId pod = bind.applied_to;
  const bool again = !won_by_[pod].empty();
  won_by_[pod].insert(bind.scheduler);
  if (again) {
    if (doubled_.count(index) == 0) points_.push_back({Verdict::kDoubleBind, pod});
    return;
  }
  accepted_[pod] = bind.node;
  const auto held = pods_.find(pod);
  if (held != pods_.end() && !held->second.node) held->second.node = bind.node;
}

bool ReferenceTruth::behind() const {
  return std::any_of(shown_.begin(), shown_.end(), [&](const auto& entry) {
    const auto& [pod, shown] = entry;
    const auto held = pods_.find(pod);
    if (!shown || held == pods_.end()) return shown.has_value() != (held != pods_.end());
    return shown->rv != held->second.rv || shown->node != held->second.node;
  });
}

// --- Judge

namespace {

scheduler::CoreConfig core_config(const Recording& recording, const RunConfig& config, std::vector<StringId> own) {
  return {config.policy, recording.start(), std::move(own), config.seed};
}

}  // namespace

ReferenceJudge::ReferenceJudge(const Recording& recording, const RunConfig& config, std::vector<StringId> own)
    : recording_(&recording),
      follow_(config.mode == Mode::kFollow),
      lag_(config.lag),
      policy_(config.policy),
      model_(recording.catalog(), core_config(recording, config, std::move(own))),
      truth_(recording) {}

void ReferenceJudge::stepped(const World& world, const scheduler::Input& input,
                             std::span<const scheduler::Effect> effects) {
  truth_moves(world);
  scheduler::ReferenceModel::Observed observed;
  observed.in_line = in_line_;
  const bool decides = std::get_if<scheduler::Decide>(&input) != nullptr;
  for (const scheduler::Effect& effect : effects) {
    if (!decides) break;
    if (const auto* event = std::get_if<scheduler::ReportEvent>(&effect)) observed.taken = event->pod;
    if (const auto* bind = std::get_if<scheduler::BindPod>(&effect)) {
      observed.taken = bind->pod;
      observed.chosen = bind->node;
    }
  }
  const auto flights = model_.flights;
  model_.step(world.clock(), input, observed);
  take_nodes(input);
  in_line_.clear();
  for (const auto& [slot, pod] : model_.queued) {
    if (world.core().queued().state(pod) == scheduler::QueuedStore::State::kQueued) in_line_.insert(pod);
  }
  for (const PodId pod : model_.expired) {
    const auto flight = flights.find(pod);
    const bool open = flight != flights.end() && flight->second.open > 0;
    const auto held = pods_.find(pod);
    const bool bound = held != pods_.end() && !held->second.terminal() && held->second.node;
    const auto seen = std::any_of(model_.scheduled.begin(), model_.scheduled.end(),
                                  [&](const auto& entry) { return entry.second.pod == pod; });
    if (open || (bound && !seen)) found_.push_back({Verdict::kEarlyExpire, pod, {}, world.now(), world.now(), {}, {}});
  }
  moment(world, world.cause());
  compare_stores(world);
}

// Nodes of the view, which the model does not keep.
void ReferenceJudge::take_nodes(const scheduler::Input& input) {
  if (const auto* changed = std::get_if<scheduler::NodeChanged>(&input)) {
    view_nodes_.erase(changed->node.node);
    if (changed->verb != Verb::kDeleted) view_nodes_[changed->node.node] = changed->node;
  } else if (const auto* listed = std::get_if<scheduler::NodesListed>(&input)) {
    if (listed->kind == scheduler::ListKind::kPeriodic && !policy_.relist.nodes) return;
    view_nodes_.clear();
    for (const NodeFacts& node : listed->nodes) view_nodes_[node.node] = node;
  } else if (std::get_if<scheduler::Restarted>(&input) != nullptr) {
    view_nodes_.clear();
  }
}

// What happened since the last step is the truth's doing.
void ReferenceJudge::truth_moves(const World& world) {
  if (follow_) {
    for (const auto& [verdict, pod] : truth_.advance(world.now())) {
      found_.push_back({verdict, pod, {}, world.now(), world.now(), {}, {}});
    }
    pods_ = truth_.pods();
    nodes_ = truth_.nodes();
  } else {
    pods_.clear();
    nodes_.clear();
    for (const PodFacts& pod : world.truth().pods()) pods_[pod.pod] = pod;
    for (const NodeFacts& node : world.truth().nodes()) nodes_[node.node] = node;
  }
  moment(world, Cure::kTruth);
}

void ReferenceJudge::moment(const World& world, Cure cause) {
  const std::map<Key, NodeId> holds = holding(world);
  for (const auto& [key, episode] : open_)
    holds.count(key) > 0 ? (void)ended_.erase(key) : (void)ended_.emplace(key, cause);
}

void ReferenceJudge::instant_over(const World& world) {
  truth_moves(world);
  const bool after_end = world.now() > recording_->end();
  const std::map<Key, NodeId> holds = holding(world);
  for (const auto& [key, cause] : ended_) {
    const Episode episode = open_.at(key);
    open_.erase(key);
    const auto& [verdict, pod, node] = key;
    if (verdict == Verdict::kStaleView) {
      end_stale_view(episode, std::min(world.now(), recording_->end()));
    } else if (world.now() - episode.birth > lag_) {
      found_.push_back({verdict, pod, episode.where, episode.birth, world.now(), cause, after_end});
    }
  }
  ended_.clear();
  for (const auto& [key, where] : holds) open_.emplace(key, Episode{where, world.now()});
}

// It is the stream's own frame that ends it; beyond the trace nobody knows.
void ReferenceJudge::end_stale_view(const Episode& episode, Time end) {
  if (end - episode.birth <= lag_) return;
  found_.push_back({Verdict::kStaleView, {}, {}, episode.birth, end, Cure::kFrame, false});
}

// While a scheduler is away its stores are empty, and what they lack is no news.
std::map<ReferenceJudge::Key, NodeId> ReferenceJudge::holding(const World& world) const {
  std::map<Key, NodeId> out;
  for (uint32_t pod = 0; pod < recording_->catalog().pods(); ++pod) look_at_pod(world, {pod}, out);
  look_at_nodes(out);
  if (follow_ && world.now() <= recording_->end() && truth_.behind()) out[{Verdict::kStaleView, {}, {}}] = {};
  std::erase_if(out, [&](const auto& entry) {
    const Verdict verdict = std::get<Verdict>(entry.first);
    const bool missing =
        verdict == Verdict::kMissingScheduled || verdict == Verdict::kMissingQueued || verdict == Verdict::kMissingNode;
    return missing && world.away() && open_.count(entry.first) == 0;
  });
  return out;
}

void ReferenceJudge::look_at_pod(const World& world, PodId pod, std::map<Key, NodeId>& out) const {
  const auto slot = policy_.key == scheduler::PodKey::kUid ? pod.value : recording_->catalog().key_of(pod).value;
  const auto s = model_.scheduled.find(slot);
  const auto a = model_.assumed.find(slot);
  const auto q = model_.queued.find(slot);
  const bool in_s = s != model_.scheduled.end() && s->second.pod == pod;
  const bool in_a = a != model_.assumed.end() && a->second.bound.pod == pod;
  const bool waits = q != model_.queued.end() && q->second == pod;
  const bool in_q = waits && in_line_.count(pod) > 0;
  const auto flight = model_.flights.find(pod);
  const bool in_flight = flight != model_.flights.end() && flight->second.open > 0;
  const auto g = pods_.find(pod);
  const bool in_g = g != pods_.end() && !g->second.terminal();
  const NodeId node = in_g ? g->second.node : NodeId::none();
  const auto holds = [&](Verdict verdict, NodeId where) { out[{verdict, pod, {}}] = where; };
  if (in_s && !in_g) holds(Verdict::kZombieScheduled, s->second.node);
  if (in_a && !in_g) holds(Verdict::kZombieAssumed, a->second.bound.node);
  if (in_q && (!in_g || node)) holds(Verdict::kGhostQueued, {});
  if (node && !in_s && !in_a) holds(Verdict::kMissingScheduled, node);
  const bool ours = in_g && world.core().ours(g->second) && !g->second.gated && !g->second.deletion.known();
  if (ours && !node && !waits && !in_flight) holds(Verdict::kMissingQueued, {});
  const bool s_wrong = in_s && node && s->second.node != node, a_wrong = in_a && node && a->second.bound.node != node;
  if (s_wrong || a_wrong) holds(Verdict::kWrongNode, s_wrong ? s->second.node : a->second.bound.node);
}

void ReferenceJudge::look_at_nodes(std::map<Key, NodeId>& out) const {
  Charges view, truth;
  for (const auto& [slot, entry] : model_.scheduled) view[entry.node].push_back({entry.pod, entry.shape});
  for (const auto& [slot, entry] : model_.assumed) {  // what the scheduled store holds is charged there
    if (model_.scheduled.count(slot) == 0) view[entry.bound.node].push_back({entry.bound.pod, entry.bound.shape});
  }
  for (const auto& [pod, facts] : pods_) {
    if (facts.node && !facts.terminal()) truth[facts.node].push_back({pod, facts.shape});
  }
  for (uint32_t i = 0; i < recording_->catalog().nodes(); ++i) {
    const NodeId node{i};
    const auto seen = view_nodes_.find(node), held = nodes_.find(node);
    const bool in_view = seen != view_nodes_.end(), in_truth = held != nodes_.end();
    if (in_view && !in_truth) out[{Verdict::kGhostNode, {}, node}] = node;
    if (in_truth && !in_view) out[{Verdict::kMissingNode, {}, node}] = node;
    if (in_view && exceeds(seen->second, view[node])) out[{Verdict::kOvercommitView, {}, node}] = node;
    if (in_truth && exceeds(held->second, truth[node])) out[{Verdict::kOvercommitTruth, {}, node}] = node;
  }
}

bool ReferenceJudge::exceeds(const NodeFacts& node, const std::vector<std::pair<PodId, ShapeId>>& pods) const {
  const Catalog& catalog = recording_->catalog();
  const Allocatable& room = catalog.allocatable(node.allocatable);
  int64_t cpu = 0, memory = 0;
  std::multiset<uint16_t> ports;  // the days of the tests have no other kind
  for (const auto& [pod, shape_id] : pods) {
    const PodShape& shape = catalog.shape(shape_id);
    cpu += shape.requests.cpu_milli;
    memory += shape.requests.memory;
    for (const HostPort& port : shape.ports) ports.insert(port.port);
  }
  const bool twice = std::any_of(ports.begin(), ports.end(), [&](uint16_t port) { return ports.count(port) > 1; });
  return twice || static_cast<int64_t>(pods.size()) > room.pods || cpu > room.resources.cpu_milli ||
         memory > room.resources.memory;
}

// --- Side by side

void ReferenceJudge::mistake(const World& world, const std::string& what) {
  if (mistakes_.size() > 5) return;
  std::string out("+");
  out.append(std::to_string((world.now() - recording_->start()).ns / 1'000'000)).append(" ms @");
  mistakes_.push_back(out.append(std::to_string(world.seq())).append(": ").append(what));
}

void ReferenceJudge::compare_stores(const World& world) {
  const scheduler::Core& core = world.core();
  const auto same = [&](const char* store, size_t held, size_t wanted) {
    if (held != wanted) mistake(world, std::string(store).append(" holds another number of pods"));
  };
  same("scheduled", core.scheduled().pods().size(), model_.scheduled.size());
  same("assumed", core.assumed().pods().size(), model_.assumed.size());
  same("queued", core.queued().pods().size(), model_.queued.size());
  for (const auto& [slot, entry] : model_.scheduled) {
    const auto* held = core.scheduled().find(entry.pod);
    if (held == nullptr || held->node != entry.node || held->shape != entry.shape) mistake(world, "scheduled differs");
  }
  for (const auto& [slot, entry] : model_.assumed) {
    const auto* held = core.assumed().find(entry.bound.pod);
    if (held == nullptr || held->node != entry.bound.node || held->deadline != entry.deadline) {
      mistake(world, "assumed differs");
    }
  }
  for (const auto& [slot, pod] : model_.queued) {
    if (core.queued().at(pod) != pod) mistake(world, "queued differs");
  }
  std::map<PodId, PodFacts> held;
  for (const PodFacts& pod : world.truth().pods()) held[pod.pod] = pod;
  const auto alike = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.rv == b.second.rv && a.second.node == b.second.node;
  };
  if (!std::equal(held.begin(), held.end(), pods_.begin(), pods_.end(), alike)) mistake(world, "the truth differs");
}

std::string ReferenceJudge::words(const Found& found) const {
  const Catalog& catalog = recording_->catalog();
  const auto offset = [&](Time time) { return std::to_string((time - recording_->start()).ns / 1'000'000); };
  std::string out(name_of(found.verdict));
  if (found.verdict == Verdict::kOvercommitTruth) out += " in truth";
  if (found.pod) {
    out.append(" ").append(catalog.name(catalog.key_of(found.pod))).append("/").append(catalog.uid(found.pod));
  }
  if (found.node) out.append(" on ").append(catalog.node_name(found.node));
  out.append(" from ").append(offset(found.birth)).append(" to ");
  out.append(found.end ? offset(*found.end) : "never").append(" by ").append(name_of(found.cure));
  return out.append(found.after_end ? " after end" : "");
}

std::vector<std::string> ReferenceJudge::findings(Time end) {
  std::vector<std::string> out;
  const auto stale = open_.find({Verdict::kStaleView, {}, {}});
  if (stale != open_.end()) end_stale_view(stale->second, recording_->end());
  open_.erase({Verdict::kStaleView, {}, {}});
  for (const Found& found : found_) out.push_back(words(found));
  for (const auto& [key, episode] : open_) {
    const auto& [verdict, pod, node] = key;
    if (end - episode.birth >= lag_) out.push_back(words({verdict, pod, episode.where, episode.birth, {}, {}, {}}));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// What comes of binds that nobody knows the end of, of silence and of the other uid is not looked at here; nor are,
// where the core decides by itself, verdicts about recorded binds and frames.
bool ReferenceJudge::judges(Verdict verdict) const {
  switch (verdict) {
    case Verdict::kUnknownBind:
    case Verdict::kStuck:
    case Verdict::kWrongUid:
      return false;
    case Verdict::kDoubleBind:
    case Verdict::kTimeTravel:
      return follow_;
    default:
      return true;
  }
}

std::vector<std::string> ReferenceJudge::words(const Outcome& outcome) const {
  std::vector<std::string> out;
  for (const Finding& finding : outcome.findings) {
    const bool placeless = finding.verdict == Verdict::kGhostQueued || is_point(finding.verdict);
    if (!judges(finding.verdict)) continue;
    const Cure cure = is_point(finding.verdict) ? Cure::kNever : finding.cure;
    out.push_back(words({finding.verdict, finding.pod, placeless ? NodeId::none() : finding.node, finding.birth,
                         finding.end, cure, finding.after_end}));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace inquest::replayer
